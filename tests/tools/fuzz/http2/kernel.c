/* Simulated system calls for http2/: the linker replaces the real ones (--wrap). */
#include "fuzz.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

/* Smaller descriptors belong to the process. */
#define FIRST 100000
#define MAX_OPEN 64

enum kind { FREE, POLL, EVENT, LISTENING, CONNECTED };

struct played {
    enum kind kind;
    struct wire *wire;
    uint64_t wakeups;
    /* The epoll descriptor that waits for it, or 0. */
    int poll;
    struct epoll_event wanted;
};

double played_now;
static struct played table[MAX_OPEN];
static struct wire *waiting[MAX_OPEN];
static unsigned waiting_count;

static int open_one(enum kind kind, struct wire *wire) {
    for (int i = 0; i < MAX_OPEN; i++) {
        if (table[i].kind == FREE) {
            table[i] = (struct played){.kind = kind, .wire = wire};
            return FIRST + i;
        }
    }
    fail("too many descriptors");
}

static struct played *find(int fd, enum kind kind) {
    if (fd < FIRST || fd >= FIRST + MAX_OPEN || table[fd - FIRST].kind != kind)
        fail("a system call with a wrong descriptor");
    return &table[fd - FIRST];
}

static int failed(int error) {
    errno = error;
    return -1;
}

int play_listening(void) { return open_one(LISTENING, NULL); }

int play_connected(struct wire *wire) { return open_one(CONNECTED, wire); }

void play_connect(struct wire *wire) {
    wire->is_waiting = true;
    waiting[waiting_count++] = wire;
}

void play_end(void) {
    for (int i = 0; i < MAX_OPEN; i++)
        if (table[i].kind != FREE)
            fail("a descriptor is left open");
    waiting_count = 0;
}

/* Checks of the bytes that the other end receives: the order of frames, and the contents of messages. */

static struct heard_stream *heard_of(struct wire *wire, int32_t id) {
    for (unsigned i = 0; i < wire->heard_count; i++)
        if (wire->heard[i].id == id)
            return &wire->heard[i];
    return NULL;
}

static void hear_head(struct wire *wire) {
    const uint8_t *head = wire->head;
    uint8_t type = head[3], flags = head[4];
    int32_t id = (int32_t)((uint32_t)head[5] << 24 | (uint32_t)head[6] << 16 | (uint32_t)head[7] << 8 | head[8]);
    wire->frame_left = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
    struct heard_stream *stream = heard_of(wire, id);
    wire->current = NULL;
    if (type > NGHTTP2_CONTINUATION || id < 0 || (id == 0) != (type == NGHTTP2_SETTINGS || type == NGHTTP2_PING ||
        type == NGHTTP2_GOAWAY || (type == NGHTTP2_WINDOW_UPDATE && id == 0)))
        fail("an unknown frame is sent");
    if (type == NGHTTP2_HEADERS && stream == NULL && wire->heard_count < MAX_HEARD) {
        stream = &wire->heard[wire->heard_count++];
        *stream = (struct heard_stream){.id = id};
    } else if (type == NGHTTP2_DATA && stream == NULL && wire->heard_count < MAX_HEARD) {
        fail("data is sent before headers");
    }
    if (stream == NULL || (type != NGHTTP2_HEADERS && type != NGHTTP2_DATA))
        return;
    if (stream->has_ended)
        fail("more is sent of a stream that has ended");
    stream->has_ended = flags & NGHTTP2_FLAG_END_STREAM;
    if (type == NGHTTP2_DATA)
        wire->current = stream;
    if (stream->has_ended && type == NGHTTP2_HEADERS && (stream->prefix_size > 0 || stream->left > 0))
        fail("trailers are sent inside a message");
}

static void hear_content(struct heard_stream *stream, const uint8_t *at, size_t size) {
    while (size > 0) {
        size_t part = 1;
        if (stream->left > 0) {
            part = size < stream->left ? size : stream->left;
            if (memcmp(at, pattern + (stream->id & 255) + stream->at, part) != 0)
                fail("a message is sent with other bytes");
            stream->at += part;
            stream->left -= part;
        } else {
            stream->prefix[stream->prefix_size++] = *at;
            if (stream->prefix_size == sizeof(stream->prefix)) {
                const uint8_t *prefix = stream->prefix;
                stream->left = (size_t)prefix[1] << 24 | (size_t)prefix[2] << 16 | (size_t)prefix[3] << 8 | prefix[4];
                stream->at = stream->prefix_size = 0;
                if (prefix[0] != 0 || stream->left > MAX_SENT)
                    fail("a message is sent with another prefix");
            }
        }
        at += part;
        size -= part;
    }
}

static void hear(struct wire *wire, const uint8_t *at, size_t size) {
    counts_of_all.bytes_received += size;
    while (size > 0) {
        size_t part;
        if (wire->preface_left > 0) {
            part = size < wire->preface_left ? size : wire->preface_left;
            wire->preface_left -= (unsigned)part;
        } else if (wire->frame_left > 0) {
            part = size < wire->frame_left ? size : wire->frame_left;
            if (wire->current != NULL)
                hear_content(wire->current, at, part);
            wire->frame_left -= part;
        } else {
            part = sizeof(wire->head) - wire->head_size;
            if (part > size)
                part = size;
            memcpy(wire->head + wire->head_size, at, part);
            wire->head_size += (unsigned)part;
            if (wire->head_size == sizeof(wire->head)) {
                wire->head_size = 0;
                hear_head(wire);
            }
        }
        at += part;
        size -= part;
    }
}

/* The calls */

ssize_t __wrap_recv(int fd, void *buffer, size_t size, int flags) {
    struct wire *wire = find(fd, CONNECTED)->wire;
    (void)flags;
    if (wire->is_reset)
        return failed(ECONNRESET);
    size_t part = wire->come - wire->read;
    if (part == 0)
        return wire->has_ended ? 0 : failed(one_in(32) ? EINTR : EAGAIN);
    if (part > size)
        part = size;
    memcpy(buffer, wire->script.bytes + wire->read, part);
    wire->read += part;
    return (ssize_t)part;
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags) {
    struct wire *wire = find(fd, CONNECTED)->wire;
    size_t sent = 0, most = wire->space;
    (void)flags;
    if (wire->is_shut)
        fail("something is sent after the end");
    if (wire->is_reset)
        return failed(EPIPE);
    if (most > 0 && one_in(8))
        most = 1 + below(most < 4096 ? (unsigned)most : 4096);
    if (most == 0)
        return failed(one_in(32) ? EINTR : EAGAIN);
    for (size_t i = 0; i < message->msg_iovlen && sent < most; i++) {
        const struct iovec *each = &message->msg_iov[i];
        size_t part = each->iov_len < most - sent ? each->iov_len : most - sent;
        hear(wire, each->iov_base, part);
        sent += part;
    }
    if (sent == 0)
        fail("nothing is sent");
    wire->space -= sent;
    return (ssize_t)sent;
}

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags) {
    static const int ERRORS[] = {EMFILE, ENFILE, ENOMEM, ECONNABORTED, EINTR};
    find(fd, LISTENING);
    (void)flags;
    if (waiting_count == 0)
        return failed(EAGAIN);
    if (one_in(100))
        return failed(ERRORS[below(5)]);
    struct wire *wire = waiting[--waiting_count];
    if (wire->address & 1) {
        struct sockaddr_in old = {.sin_family = AF_INET, .sin_port = htons(50051)};
        old.sin_addr.s_addr = htonl(0x7F000000u + wire->address);
        memcpy(address, &old, sizeof(old));
        *size = sizeof(old);
    } else {
        struct sockaddr_in6 found = {.sin6_family = AF_INET6, .sin6_port = htons(50051)};
        found.sin6_addr.s6_addr[0] = 0xFD;
        found.sin6_addr.s6_addr[15] = (uint8_t)wire->address;
        memcpy(address, &found, sizeof(found));
        *size = sizeof(found);
    }
    wire->is_waiting = false;
    wire->is_accepted = true;
    return open_one(CONNECTED, wire);
}

int __wrap_epoll_create1(int flags) {
    (void)flags;
    return open_one(POLL, NULL);
}

int __wrap_epoll_ctl(int fd, int action, int which, struct epoll_event *event) {
    find(fd, POLL);
    if (which < FIRST || which >= FIRST + MAX_OPEN || table[which - FIRST].kind == FREE)
        fail("a wrong descriptor is waited for");
    struct played *played = &table[which - FIRST];
    if (action == EPOLL_CTL_ADD && played->kind == CONNECTED && one_in(200))
        return failed(ENOSPC);
    if (action == EPOLL_CTL_ADD && played->poll != fd) {
        /* While a connection moves, both descriptors wait for it. The later one counts. */
        played->poll = fd;
        played->wanted = *event;
    } else if (action == EPOLL_CTL_MOD && played->poll == fd) {
        played->wanted = *event;
    } else if (action == EPOLL_CTL_DEL) {
        if (played->poll == fd)
            played->poll = 0;
    } else {
        fail("a descriptor is waited for twice or not at all");
    }
    return 0;
}

static uint32_t readiness(const struct played *played) {
    const struct wire *wire = played->wire;
    switch (played->kind) {
    case EVENT: return played->wakeups > 0 ? EPOLLIN : 0;
    case LISTENING: return waiting_count > 0 ? EPOLLIN : 0;
    case CONNECTED:
        if (wire->is_reset)
            return EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP;
        return (wire->come > wire->read || wire->has_ended ? EPOLLIN : 0) | (wire->space > 0 ? EPOLLOUT : 0) |
               (wire->has_ended && wire->is_shut ? EPOLLHUP : 0);
    default: return 0;
    }
}

int __wrap_epoll_wait(int fd, struct epoll_event *events, int most, int milliseconds) {
    find(fd, POLL);
    if (one_in(64))
        return failed(EINTR);
    int count = 0;
    unsigned first = below(MAX_OPEN);
    for (unsigned i = 0; i < MAX_OPEN && count < most; i++) {
        const struct played *each = &table[(first + i) % MAX_OPEN];
        if (each->kind == FREE || each->poll != fd)
            continue;
        uint32_t ready = readiness(each) & (each->wanted.events | EPOLLERR | EPOLLHUP);
        if (ready != 0)
            events[count++] = (struct epoll_event){.events = ready, .data = each->wanted.data};
    }
    if (count == 0 && milliseconds > 0)
        played_now += 1e-3 * milliseconds;
    return count;
}

int __wrap_eventfd(unsigned count, int flags) {
    (void)count, (void)flags;
    return open_one(EVENT, NULL);
}

ssize_t __wrap_read(int fd, void *buffer, size_t size) {
    struct played *played = find(fd, EVENT);
    if (size != sizeof(played->wakeups))
        return failed(EINVAL);
    if (played->wakeups == 0)
        return failed(EAGAIN);
    memcpy(buffer, &played->wakeups, size);
    played->wakeups = 0;
    return (ssize_t)size;
}

ssize_t __wrap_write(int fd, const void *buffer, size_t size) {
    (void)buffer;
    find(fd, EVENT)->wakeups++;
    return (ssize_t)size;
}

int __wrap_close(int fd) {
    if (fd < FIRST || fd >= FIRST + MAX_OPEN || table[fd - FIRST].kind == FREE)
        fail("a descriptor is closed twice");
    if (table[fd - FIRST].wire != NULL)
        table[fd - FIRST].wire->is_closed = true;
    table[fd - FIRST].kind = FREE;
    return 0;
}

int __wrap_shutdown(int fd, int how) {
    find(fd, CONNECTED)->wire->is_shut |= how == SHUT_WR;
    return 0;
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t size) {
    (void)level, (void)name, (void)value, (void)size;
    find(fd, CONNECTED);
    return 0;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now) {
    (void)clock;
    now->tv_sec = (time_t)played_now;
    now->tv_nsec = (long)(1e9 * (played_now - (double)now->tv_sec));
    return 0;
}

int __wrap_sched_yield(void) {
    played_now += 1e-6;
    return 0;
}

ssize_t __wrap_getrandom(void *buffer, size_t size, unsigned flags) {
    (void)flags;
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)buffer)[i] = (uint8_t)word();
    return (ssize_t)size;
}
