#include "endpoint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* The size of the read buffer, in bytes. Frames may be larger. */
#define BUFFER (16 * 1024)
/* The number of bytes read from a connection, and the cost of its frames, after which the next connection is read. */
#define SHARE (1024 * 1024)
#define SHARE_OF_COST 1000000
/* The cost of a new connection, in the same unit as the costs of frames. */
#define COST_OF_CONNECTION 16384
/* A connection whose debt exceeds this fraction of the maximum is read with pauses. */
#define PATIENT 0.125
/* While processor time is scarce, connections from an address whose debt exceeds this fraction of the maximum are not
 * read. */
#define IMPATIENT 0.01
/* The length of a pause in reading, in seconds. */
#define PAUSE 0.005
/* How long processor time is considered scarce, in seconds, after a turn of at least `long_turn` seconds. */
#define SHORTAGE 1.0
#define MAX_EVENTS 256
/* AWAKE is the maximum time in seconds that a wait polls before it sleeps. A wait polls only if the previous wait took
 * less than QUICK seconds. Without polling, the server and a client with one call in flight would sleep alternately on
 * two cores, and waking up takes longer than a call. */
#define AWAKE 50e-6
#define QUICK 120e-6
/* The maximum time in seconds that a client may leave its responses unread. This limit is high, because a client may be
 * busy training a policy. */
#define PATIENCE 600.0
/* The time in seconds within which a client can read the reason why the server ends its connection. */
#define FAREWELL 1.0
/* The minimum time between two checks of all connections, in seconds. */
#define LOOK 0.25
/* The maximum number of bytes in the output buffers of all connections together. */
#define MAX_UNSENT (64 * 1024 * 1024)
/* The maximum number of connections that are accepted from a listening socket between two waits. */
#define MAX_ACCEPTED 64
/* The error NGHTTP2_ERR_TOO_MANY_CONTINUATIONS of nghttp2 1.61. Distributions have backported it to nghttp2 1.52. */
#define TOO_MANY_CONTINUATIONS (-905)
/* TCP keepalive: seconds of silence before the first probe, seconds between probes, and the number of probes. */
static const int KEEPALIVE[][2] = {{TCP_KEEPIDLE, 60}, {TCP_KEEPINTVL, 10}, {TCP_KEEPCNT, 3}};

/* A connection to a client. */
struct peer {
    struct connection *connection;
    struct peer *next, *before;  /* in the endpoint's list of peers, the oldest first */
    struct endpoint *endpoint;
    struct in6_addr address;
    struct account *account;
    struct debt debt;            /* the debt of this connection; `account` has the debt of the client's address */
    struct peer *next_paused, *before_paused;
    double reads_at;             /* the time when reading resumes; 0 if reading is not paused */
    char name[80];
    size_t copied;               /* this connection's share of the endpoint's `unsent`, in bytes */
    double used;                 /* the last time when the connection had a call */
    double moved;                /* the last time when output was sent, or when no output waited */
    double told_at;              /* the time when the client was notified of the connection's end; 0 if it was not */
    double drains_at;            /* the time when the client is to be asked to use another connection */
    bool is_drained;             /* the client has been asked to use another connection */
    double leaves;               /* the time when the socket will be closed; 0 if the connection is not ending */
    bool is_written;             /* epoll watches whether the socket is writable */
};

double monotonic(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const char *peer_name(const struct connection *connection) {
    return ((const struct peer *)connection->owner)->name;
}

/* Name a peer on a Unix socket after the user and the process that connected. */
static void name_user(struct peer *peer, int fd) {
    struct ucred user = {.uid = UINT32_MAX};
    socklen_t size = sizeof(user);
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &size);
    /* Represent the user by a multicast address, which no other client can have. */
    peer->address = (struct in6_addr){.s6_addr = {[0] = 0xFF}};
    memcpy(peer->address.s6_addr + 4, &user.uid, 4);
    snprintf(peer->name, sizeof(peer->name), "unix:%u:%d", user.uid, user.pid);
}

static void name_peer(struct peer *peer, int fd, const struct sockaddr_in6 *found) {
    char text[INET6_ADDRSTRLEN];
    if (found->sin6_family == AF_UNIX) {
        name_user(peer, fd);
        return;
    }
    if (found->sin6_family == AF_INET) {
        const struct sockaddr_in *old = (const struct sockaddr_in *)found;
        peer->address = (struct in6_addr){.s6_addr = {[10] = 0xFF, [11] = 0xFF}};
        memcpy(peer->address.s6_addr + 12, &old->sin_addr, 4);
    } else {
        peer->address = found->sin6_addr;
    }
    int port = ntohs(found->sin6_port);
    if (IN6_IS_ADDR_V4MAPPED(&peer->address)) {
        inet_ntop(AF_INET, peer->address.s6_addr + 12, text, sizeof(text));
        snprintf(peer->name, sizeof(peer->name), "ipv4:%s:%d", text, port);
    } else {
        inet_ntop(AF_INET6, &peer->address, text, sizeof(text));
        snprintf(peer->name, sizeof(peer->name), "ipv6:%%5B%s%%5D:%d", text, port);
    }
}

static void link_peer(struct peer *peer, struct endpoint *endpoint) {
    peer->endpoint = endpoint;
    peer->next = NULL;
    peer->before = endpoint->last_peer;
    if (endpoint->last_peer != NULL)
        endpoint->last_peer->next = peer;
    else
        endpoint->peers = peer;
    endpoint->last_peer = peer;
    endpoint->peer_count++;
    endpoint->unsent += peer->copied;
}

static void leave_paused(struct peer *peer) {
    struct endpoint *endpoint = peer->endpoint;
    if (peer->reads_at == 0)
        return;
    peer->reads_at = 0;
    if (peer->before_paused != NULL)
        peer->before_paused->next_paused = peer->next_paused;
    else
        endpoint->paused = peer->next_paused;
    if (peer->next_paused != NULL)
        peer->next_paused->before_paused = peer->before_paused;
    else
        endpoint->last_paused = peer->before_paused;
}

static void enter_paused(struct peer *peer) {
    struct endpoint *endpoint = peer->endpoint;
    peer->reads_at = endpoint->shared.now + PAUSE;
    peer->next_paused = NULL;
    peer->before_paused = endpoint->last_paused;
    if (endpoint->last_paused != NULL)
        endpoint->last_paused->next_paused = peer;
    else
        endpoint->paused = peer;
    endpoint->last_paused = peer;
}

static void unlink_peer(struct peer *peer) {
    struct endpoint *endpoint = peer->endpoint;
    leave_paused(peer);
    endpoint->unsent -= peer->copied;
    if (peer->before != NULL)
        peer->before->next = peer->next;
    else
        endpoint->peers = peer->next;
    if (peer->next != NULL)
        peer->next->before = peer->before;
    else
        endpoint->last_peer = peer->before;
    endpoint->peer_count--;
}

static void peer_end(struct peer *peer) {
    /* Closing the socket does not remove it from epoll while a forked process still holds it. */
    epoll_ctl(peer->endpoint->poll, EPOLL_CTL_DEL, peer->connection->fd, NULL);
    close(peer->connection->fd);
    connection_free(peer->connection);
    unlink_peer(peer);
    account_close(peer->endpoint->accounts, peer->account);
    free(peer);
}

bool endpoint_adopt(struct endpoint *endpoint, struct connection *connection) {
    struct peer *peer = connection->owner;
    struct epoll_event event = {.events = EPOLLIN | (peer->is_written ? EPOLLOUT : 0), .data.ptr = peer};
    if (epoll_ctl(endpoint->poll, EPOLL_CTL_ADD, connection->fd, &event) != 0)
        return false;
    epoll_ctl(peer->endpoint->poll, EPOLL_CTL_DEL, connection->fd, &event);
    unlink_peer(peer);
    link_peer(peer, endpoint);
    connection_move(connection, &endpoint->shared);
    return true;
}

/* Update the events for which epoll watches the peer. */
static void peer_watch(struct peer *peer) {
    uint32_t wanted = (peer->reads_at == 0 ? EPOLLIN : 0u) | (peer->is_written ? EPOLLOUT : 0u);
    struct epoll_event event = {.events = wanted, .data.ptr = peer};
    epoll_ctl(peer->endpoint->poll, EPOLL_CTL_MOD, peer->connection->fd, &event);
}

static void want_write(struct peer *peer, bool is_wanted) {
    if (peer->is_written == is_wanted)
        return;
    peer->is_written = is_wanted;
    peer_watch(peer);
}

/* Stop reading a peer temporarily. */
static void peer_pause(struct peer *peer) {
    enter_paused(peer);
    peer_watch(peer);
}

static void peer_go_on(struct peer *peer) {
    if (peer->reads_at == 0)
        return;
    leave_paused(peer);
    /* Let the pause reduce the debt by at most PAUSE seconds of the pace, even if it was longer. Otherwise, the debt of
     * a client that floods the server might never reach the maximum. */
    if (peer->debt.at < peer->endpoint->shared.now - PAUSE)
        peer->debt.at = peer->endpoint->shared.now - PAUSE;
    peer_watch(peer);
}

/* Close the connection after the client has had time to read the reason. An immediate close could discard the reason.
 * */
static void peer_leave(struct peer *peer) {
    if (peer->leaves != 0)
        return;
    peer->leaves = peer->endpoint->shared.now + FAREWELL;
    shutdown(peer->connection->fd, SHUT_WR);
    peer_go_on(peer);
}

/* Write pending output. Returns false if the connection must be ended. */
static bool peer_write(struct peer *peer) {
    struct connection *connection = peer->connection;
    if (peer->leaves != 0)
        return true;
    size_t before = connection->unsent + connection->to_send;
    if (connection_write(connection) < 0)
        return false;
    size_t copied = connection_copied(connection);
    peer->endpoint->unsent += copied - peer->copied;
    peer->copied = copied;
    if (connection->unsent + connection->to_send < before)
        peer->moved = peer->endpoint->shared.now;
    want_write(peer, connection->unsent > 0);
    if (connection_is_over(connection))
        peer_leave(peer);
    return true;
}

/* Return the HTTP/2 error code for an error of nghttp2. */
static uint32_t error_of(long error) {
    switch (error) {
    case NGHTTP2_ERR_FLOODED:
    case NGHTTP2_ERR_TOO_MANY_SETTINGS:
    case TOO_MANY_CONTINUATIONS:
        return NGHTTP2_ENHANCE_YOUR_CALM;
    default:
        return NGHTTP2_PROTOCOL_ERROR;
    }
}

/* Return whether processor time is scarce: calls had to wait for a recent turn of at least `long_turn` seconds. */
static bool is_short(struct endpoint *endpoint) {
    double now = monotonic();
    endpoint->shared.now = now;
    if (now - endpoint->turned_at >= endpoint->long_turn)
        endpoint->short_until = now + SHORTAGE;
    return now < endpoint->short_until;
}

/* Return the debt of a peer's address; 0 while processor time is not scarce. */
static double owed_by_address(const struct peer *peer) {
    struct endpoint *endpoint = peer->endpoint;
    return is_short(endpoint) ? account_owed(endpoint->accounts, peer->account, 0, endpoint->shared.now) : 0;
}

/* Read once if the debts allow it. Returns the result of connection_read, or 0 if the peer must not be read now. */
static long read_once(struct peer *peer) {
    struct connection *connection = peer->connection;
    struct endpoint *endpoint = peer->endpoint;
    double max_debt = accounts_max_debt(endpoint->accounts);
    double owed = owed_by_address(peer);
    double own = accounts_owed(endpoint->accounts, &peer->debt, 0, endpoint->shared.now);
    if (owed > IMPATIENT * max_debt) {
        peer_pause(peer);
        return 0;
    }
    if (owed < own)
        owed = own;
    connection->max_cost = owed < max_debt ? (uint64_t)(max_debt - owed) : 0;
    connection->cost = 0;
    long count = connection_read(connection, endpoint->buffer, BUFFER);
    account_owed(endpoint->accounts, peer->account, (double)connection->cost, endpoint->shared.now);
    own = accounts_owed(endpoint->accounts, &peer->debt, (double)connection->cost, endpoint->shared.now);
    if (count > 0 && own > PATIENT * max_debt)
        peer_pause(peer);
    return count;
}

/* Read input. Returns false if the connection must be ended. */
static bool peer_read(struct peer *peer) {
    struct connection *connection = peer->connection;
    struct endpoint *endpoint = peer->endpoint;
    size_t read = 0;
    uint64_t cost = 0;
    if (peer->leaves != 0) {
        ssize_t count = recv(connection->fd, endpoint->buffer, BUFFER, MSG_DONTWAIT);
        return count > 0 || (count < 0 && errno == EAGAIN);
    }
    while (read < SHARE && cost < SHARE_OF_COST && peer->reads_at == 0) {
        long count = read_once(peer);
        if (count == 0)
            return !connection->is_at_end;
        if (count == -1)
            return false;
        if (count < 0) {
            /* Notify the client of the reason, if it still reads. */
            connection_leave(connection, error_of(count),
                             connection->excess != NULL ? connection->excess : nghttp2_strerror((int)count));
            return peer_write(peer) && (peer_leave(peer), true);
        }
        read += (size_t)count;
        cost += connection->cost;
        if (count < BUFFER && connection->frame_left == 0)
            break;
    }
    if (connection->stream_count > 0)
        peer->used = endpoint->shared.now;
    return true;
}

/* End a connection to make room for a new one. From the account (see accounts.h) with the most connections, choose the
 * oldest connection without calls or, if all its connections have calls, the oldest connection. */
static void end_one(struct endpoint *endpoint) {
    struct peer *chosen = NULL;
    size_t most = 0;
    for (struct peer *each = endpoint->peers; each != NULL; each = each->next) {
        size_t rank = 2 * account_connections(each->account);
        rank += each->connection->stream_count == 0;
        if (rank > most) {
            most = rank;
            chosen = each;
        }
    }
    if (chosen != NULL)
        peer_end(chosen);
}

static void listen_on(struct endpoint *endpoint, bool is_listening) {
    if (endpoint->is_listening == is_listening)
        return;
    endpoint->is_listening = is_listening;
    for (int i = 0; i < endpoint->listening_count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &endpoint->listening[i]};
        epoll_ctl(endpoint->poll, is_listening ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, endpoint->listening[i], &event);
    }
}

/* Return a random factor from 0.9 to 1.1, so that clients that connected together do not reconnect together. */
static double jitter(struct endpoint *endpoint) {
    /* Knuth's MMIX generator. */
    endpoint->random = endpoint->random * 6364136223846793005u + 1442695040888963407u;
    return 0.9 + 0.2 * (double)(endpoint->random >> 32) / 4294967296.0;
}

static bool peer_begin(struct endpoint *endpoint, int fd, const struct sockaddr_in6 *address) {
    int on = 1;
    /* A Unix socket does not have the TCP options. Setting them fails, and the error is ignored. */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    /* Without keepalive, a connection to a client that is no longer reachable would never end. */
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    for (size_t i = 0; i < sizeof(KEEPALIVE) / sizeof(KEEPALIVE[0]); i++)
        setsockopt(fd, IPPROTO_TCP, KEEPALIVE[i][0], &KEEPALIVE[i][1], sizeof(int));
    struct peer *found = calloc(1, sizeof(struct peer));
    if (found == NULL)
        return false;
    name_peer(found, fd, address);
    found->account = account_open(endpoint->accounts, &found->address);
    found->connection = connection_new(&endpoint->shared, fd, true, endpoint->max_streams);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = found};
    if (found->account == NULL || found->connection == NULL ||
        epoll_ctl(endpoint->poll, EPOLL_CTL_ADD, fd, &event) != 0) {
        if (found->connection != NULL)
            connection_free(found->connection);
        if (found->account != NULL)
            account_close(endpoint->accounts, found->account);
        free(found);
        return false;
    }
    found->drains_at = endpoint->shared.now + endpoint->max_age * jitter(endpoint);
    account_owed(endpoint->accounts, found->account, COST_OF_CONNECTION, endpoint->shared.now);
    found->connection->owner = found;
    found->used = found->moved = endpoint->shared.now;
    link_peer(found, endpoint);
    return true;
}

static void accept_some(struct endpoint *endpoint, int listening, int most) {
    while (most-- > 0) {
        struct sockaddr_in6 address;
        socklen_t size = sizeof(address);
        int fd = accept4(listening, (struct sockaddr *)&address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
            /* The shortage may be temporary. Accept no more connections until the next check of all connections. */
            endpoint->trouble = errno;
            end_one(endpoint);
            listen_on(endpoint, false);
            return;
        }
        if (fd < 0 && (errno == ECONNABORTED || errno == EINTR))
            continue;
        if (fd < 0)
            return;
        if (endpoint->peer_count >= endpoint->max_connections)
            end_one(endpoint);
        if (!peer_begin(endpoint, fd, &address)) {
            endpoint->trouble = errno;
            close(fd);
        }
    }
}

/* End connections that have been inactive for too long, or are too old. */
static void look_at_all(struct endpoint *endpoint) {
    double now = endpoint->shared.now;
    if (now < endpoint->looked_at + LOOK)
        return;
    endpoint->looked_at = now;
    accounts_sweep(endpoint->accounts, now);
    if (!endpoint->is_draining)
        listen_on(endpoint, true);
    for (struct peer *each = endpoint->peers, *next; each != NULL; each = next) {
        next = each->next;
        struct connection *connection = each->connection;
        bool is_part_way = !connection->has_begun || connection_is_part_way(connection);
        if (connection->stream_count > 0)
            each->used = now;
        if (connection->unsent + connection->to_send == 0)
            each->moved = now;
        if (now > each->drains_at && !each->is_drained && !endpoint->is_draining) {
            each->is_drained = true;
            connection_drain(connection);
        }
        if (endpoint->is_draining ? now > endpoint->drained_at + FAREWELL : now > each->drains_at + FAREWELL)
            connection_drain_now(connection);
        if (each->leaves != 0) {
            if (now > each->leaves)
                peer_end(each);
        } else if (each->told_at != 0 ? now > each->told_at + FAREWELL : now > each->moved + PATIENCE) {
            peer_end(each);
        } else if (is_part_way && now > connection->began_at + endpoint->greeting) {
            connection_leave(connection, NGHTTP2_NO_ERROR, "no complete frame received in time");
            each->told_at = now;
        } else if (each->is_drained && now > each->drains_at + endpoint->age_grace) {
            connection_leave(connection, NGHTTP2_NO_ERROR, "the connection is too old: begin new calls on another one");
            each->told_at = now;
        } else if (now > each->used + endpoint->idle) {
            connection_leave(connection, NGHTTP2_NO_ERROR, "the connection was idle for too long");
            each->told_at = now;
        }
    }
}

static void write_all(struct endpoint *endpoint) {
    struct connection *each;
    while ((each = next_changed(&endpoint->shared)) != NULL)
        if (!peer_write(each->owner))
            peer_end(each->owner);
    /* Limit the copied output that clients do not take, because no other limit applies to it. */
    while (endpoint->unsent > MAX_UNSENT) {
        struct peer *largest = endpoint->peers;
        for (struct peer *other = largest; other != NULL; other = other->next)
            if (other->copied > largest->copied)
                largest = other;
        peer_end(largest);
    }
}

/* Resume reading peers whose pause is over, unless their addresses still owe too much. */
static void end_pauses(struct endpoint *endpoint) {
    struct peer *last = endpoint->last_paused;
    double now = endpoint->shared.now;
    while (endpoint->paused != NULL && endpoint->paused->reads_at <= now) {
        struct peer *peer = endpoint->paused;
        if (owed_by_address(peer) > IMPATIENT * accounts_max_debt(endpoint->accounts)) {
            leave_paused(peer);
            enter_paused(peer);
        } else {
            peer_go_on(peer);
        }
        if (peer == last)
            return;
    }
}

/* Wait as epoll_wait does, for at most `seconds`. */
static int wait_for_events(struct endpoint *endpoint, struct epoll_event *events, double seconds) {
    double began = monotonic();
    int count = 0;
    if (endpoint->is_quick && seconds > AWAKE) {
        /* Yield the core to other threads that are ready to run. */
        do
            count = epoll_wait(endpoint->poll, events, MAX_EVENTS, 0);
        while (count == 0 && monotonic() < began + AWAKE && sched_yield() == 0);
    }
    /* Round up, so that work that is due after `seconds` is due when the wait ends. */
    if (count == 0)
        count = epoll_wait(endpoint->poll, events, MAX_EVENTS, (int)(1000 * seconds + 0.999));
    endpoint->shared.now = endpoint->turned_at = monotonic();
    /* Poll only while a single client causes all events. With several clients, sleeping costs little. */
    const void *heard = count == 1 ? events[0].data.ptr : NULL;
    endpoint->is_quick = heard != NULL && heard == endpoint->heard && endpoint->turned_at - began < QUICK;
    endpoint->heard = heard;
    return count;
}

bool endpoint_turn(struct endpoint *endpoint, double seconds) {
    struct epoll_event events[MAX_EVENTS];
    is_short(endpoint);
    write_all(endpoint);
    end_pauses(endpoint);
    if (endpoint->paused != NULL && seconds > PAUSE)
        seconds = PAUSE;
    if (endpoint->shared.first_ready != NULL)
        seconds = 0;
    if (endpoint->peer_count > 0 && seconds > LOOK)
        seconds = LOOK;
    int count = wait_for_events(endpoint, events, seconds);
    if (count < 0 && errno != EINTR)
        return false;
    int listening[MAX_LISTENING], listening_count = 0;
    for (int i = 0; i < count; i++) {
        void *source = events[i].data.ptr;
        if (source == &endpoint->wakeup) {
            uint64_t wakeups;
            if (read(endpoint->wakeup, &wakeups, sizeof(wakeups)) < 0)
                continue;
        } else if ((int *)source >= endpoint->listening && (int *)source < endpoint->listening + MAX_LISTENING) {
            /* Accept last, because accepting may end a connection whose event has not been handled yet. */
            listening[listening_count++] = *(int *)source;
        } else {
            struct peer *peer = source;
            bool goes_on = true;
            if (events[i].events & EPOLLOUT)
                goes_on = peer_write(peer);
            if (goes_on && peer->reads_at != 0)
                /* While reading is paused, only the end of the connection matters. */
                goes_on = !(events[i].events & (EPOLLHUP | EPOLLERR));
            else if (goes_on && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
                goes_on = peer_read(peer);
            if (!goes_on)
                peer_end(peer);
        }
    }
    for (int i = 0; i < listening_count; i++)
        accept_some(endpoint, listening[i], MAX_ACCEPTED);
    look_at_all(endpoint);
    return true;
}

void endpoint_wake(struct endpoint *endpoint) {
    uint64_t one = 1;
    /* The write can fail only if a wakeup is already pending. */
    if (write(endpoint->wakeup, &one, sizeof(one)) < 0)
        return;
}

void endpoint_drain(struct endpoint *endpoint) {
    if (endpoint->is_draining)
        return;
    /* Accept the clients that have already connected, so that they are notified as well. */
    for (int i = 0; i < endpoint->listening_count; i++)
        accept_some(endpoint, endpoint->listening[i], (int)endpoint->max_connections);
    endpoint->is_draining = true;
    listen_on(endpoint, false);
    for (int i = 0; i < endpoint->listening_count; i++)
        close(endpoint->listening[i]);
    endpoint->listening_count = 0;
    endpoint->drained_at = endpoint->shared.now;
    for (struct peer *each = endpoint->peers; each != NULL; each = each->next)
        connection_drain(each->connection);
}

struct endpoint *endpoint_new(const int *listening, int count, const size_t *max_sizes, const char *const *paths,
                              int path_count, struct accounts *accounts) {
    struct endpoint *found = calloc(1, sizeof(struct endpoint));
    if (found == NULL)
        return NULL;
    found->poll = epoll_create1(EPOLL_CLOEXEC);
    found->wakeup = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    found->buffer = malloc(BUFFER);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &found->wakeup};
    if (found->poll < 0 || found->wakeup < 0 || found->buffer == NULL ||
        epoll_ctl(found->poll, EPOLL_CTL_ADD, found->wakeup, &event) != 0) {
        endpoint_free(found);
        return NULL;
    }
    found->shared = (struct shared){
        .now = monotonic(), .max_sizes = max_sizes, .paths = paths, .path_count = path_count};
    found->turned_at = found->shared.now;
    found->random = (uint64_t)(1e9 * found->shared.now);
    found->max_age = found->age_grace = INFINITY;
    found->accounts = accounts;
    for (int i = 0; i < count && i < MAX_LISTENING; i++)
        found->listening[found->listening_count++] = listening[i];
    listen_on(found, true);
    return found;
}

void endpoint_end_all(struct endpoint *endpoint) {
    while (endpoint->peers != NULL)
        peer_end(endpoint->peers);
}

void endpoint_free(struct endpoint *endpoint) {
    for (int i = 0; i < endpoint->listening_count; i++)
        close(endpoint->listening[i]);
    if (endpoint->poll >= 0)
        close(endpoint->poll);
    if (endpoint->wakeup >= 0)
        close(endpoint->wakeup);
    free(endpoint->buffer);
    free(endpoint);
}
