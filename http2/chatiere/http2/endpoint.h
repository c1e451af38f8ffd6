/* The server's end of HTTP/2: listening sockets and their connections, handled by one thread with epoll. */
#ifndef CHATIERE_ENDPOINT_H
#define CHATIERE_ENDPOINT_H

#include "accounts.h"
#include "connection.h"

#define MAX_LISTENING 16

struct peer;

struct endpoint {
    struct shared shared;
    int poll;
    int wakeup;
    int listening[MAX_LISTENING];
    int listening_count;
    bool is_listening;      /* new connections are accepted now */
    bool is_draining;
    size_t max_connections;
    uint32_t max_streams;   /* per connection */
    double greeting;        /* the time in seconds within which a client must send its settings or complete a frame */
    double idle;            /* the maximum time in seconds that a connection may have no call */
    double max_age;         /* the age in seconds (+/- 10 %) at which a client is asked to use another connection */
    double age_grace;       /* the time in seconds after `max_age` within which calls must finish */
    uint64_t random;        /* the state of the random generator that varies `max_age` */
    double long_turn;       /* the seconds of work between two waits after which processor time is considered scarce */
    double turned_at;       /* the time when the last wait ended */
    const void *heard;      /* the source of the last wait's event; NULL unless there was exactly one event */
    bool is_quick;          /* the last wait was short and had the same source as before, so the next one polls first */
    double short_until;     /* the time until which processor time is considered scarce */
    struct accounts *accounts; /* owned by the caller */
    struct peer *peers, *last_peer;
    struct peer *paused, *last_paused; /* peers that are temporarily not read, in the order in which reading resumes */
    size_t peer_count;
    double looked_at;       /* the time of the last check of all connections */
    int trouble;            /* the errno of the last failure to accept a connection; the owner resets it to 0 */
    double drained_at;
    size_t unsent;          /* the number of bytes in the output buffers of all connections */
    uint8_t *buffer;
};

/* Create an endpoint. It then owns the listening sockets. On failure, returns NULL and sets errno. */
struct endpoint *endpoint_new(const int *listening, int count, const size_t *max_sizes, const char *const *paths,
                              int path_count, struct accounts *accounts);
/* End all connections. Their streams are closed, but exist until `stream_free`. */
void endpoint_end_all(struct endpoint *endpoint);
/* Free an endpoint, after `endpoint_end_all`. */
void endpoint_free(struct endpoint *endpoint);
/* Write pending output, wait for at most `seconds`, and read input. Returns false on a fatal error. */
bool endpoint_turn(struct endpoint *endpoint, double seconds);
/* End the wait of `endpoint_turn`. May be called from any thread. */
void endpoint_wake(struct endpoint *endpoint);
/* Move a connection to this endpoint; see `connection_move`. On failure, returns false without moving it. */
bool endpoint_adopt(struct endpoint *endpoint, struct connection *connection);
/* Accept no more connections, and ask all clients to begin no more calls. */
void endpoint_drain(struct endpoint *endpoint);
/* Return the client's address in gRPC's notation; unix:UID:PID on a Unix socket. */
const char *peer_name(const struct connection *connection);
double monotonic(void);

#endif
