/* A server's end of HTTP/2: listening sockets and their connections, served by one thread with epoll. */
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
    double greeting;        /* seconds within which a client must begin, and complete each of its frames */
    double idle;            /* seconds that a connection may be without a call */
    double max_age;         /* seconds after which a client is asked to use another connection, within 10 % */
    double age_grace;       /* seconds for its calls to finish after that */
    uint64_t random;        /* the state of the random generator for these 10 % */
    double long_turn;       /* seconds of work between two waits above which processor time counts as short */
    double turned_at;       /* the time when the last wait ended */
    const void *heard;      /* the source of the only event of the last wait; NULL for no event or several */
    bool is_quick;          /* the same source soon ended the last two waits, so the next wait polls first */
    double short_until;     /* the time until which processor time counts as short */
    struct accounts *accounts; /* owned by the caller */
    struct peer *peers, *last_peer;
    struct peer *paused, *last_paused; /* peers that are temporarily not read, in the order in which reading resumes */
    size_t peer_count;
    double looked_at;       /* the last time when all connections were checked */
    int trouble;            /* errno of the last connection that could not be accepted; 0 if none since it was reset */
    double drained_at;
    size_t unsent;          /* copied bytes of responses and frames that clients have not taken yet */
    uint8_t *buffer;
};

/* Create an endpoint that owns the listening sockets. Returns NULL with errno on failure. */
struct endpoint *endpoint_new(const int *listening, int count, const size_t *max_sizes, const char *const *paths,
                              int path_count, struct accounts *accounts);
/* End all connections. Their streams are then ready, and exist until `stream_free`. */
void endpoint_end_all(struct endpoint *endpoint);
/* Free an endpoint, after `endpoint_end_all`. */
void endpoint_free(struct endpoint *endpoint);
/* Write pending output, wait for at most `seconds`, and read input. Returns false on a fatal error. */
bool endpoint_turn(struct endpoint *endpoint, double seconds);
/* End the wait; may be called from any thread. */
/* End the wait, from any thread. */
void endpoint_wake(struct endpoint *endpoint);
/* Move a connection to this endpoint; see `connection_move`. On failure, returns false without moving it. */
bool endpoint_adopt(struct endpoint *endpoint, struct connection *connection);
/* Accept no more connections, and ask all clients to begin no more calls. */
void endpoint_drain(struct endpoint *endpoint);
/* The client's address in gRPC's notation; unix:UID:PID on a Unix socket. */
const char *peer_name(const struct connection *connection);
double monotonic(void);

#endif
