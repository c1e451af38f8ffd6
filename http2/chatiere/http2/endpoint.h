/* A server's end of HTTP/2: listening sockets and their connections, waited for together by one thread (epoll). */
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
    bool is_listening;      /* new connections are taken now */
    bool is_draining;
    size_t max_connections;
    uint32_t max_streams;  /* of a connection */
    double greeting;        /* seconds for a client to begin, and for each of its frames */
    double idle;            /* seconds that a connection may be without a call */
    double long_turn;       /* seconds of work between two waits that show that processor time is short */
    double turned_at;       /* the time when the last wait ended */
    const void *heard;      /* what alone the last wait told of; NULL: nothing, or several */
    bool is_quick;          /* the last two told of the same, the second one soon: the next does not sleep at once */
    double short_until;     /* the time until which processor time counts as short */
    struct accounts *accounts; /* the owner's */
    struct peer *peers, *last_peer;
    struct peer *paused, *last_paused; /* those that are not read for a while, in the order in which they are again */
    size_t peer_count;
    double looked_at;       /* the last time that all connections were looked at */
    int trouble;            /* errno of the last connection that could not be taken; 0: none since it was set so */
    double drained_at;
    size_t unsent;          /* bytes of small answers and of frames that clients have not taken yet */
    uint8_t *buffer;
};

/* Listen on sockets, which it closes. NULL with errno. */
struct endpoint *endpoint_new(const int *listening, int count, const size_t *max_sizes, const char *const *paths,
                              int path_count, struct accounts *accounts);
/* End all connections. Their streams are ready then, and stay until `stream_free`. */
void endpoint_end_all(struct endpoint *endpoint);
/* Give it up, after `endpoint_end_all`. */
void endpoint_free(struct endpoint *endpoint);
/* Write what there is, wait at most so many seconds, and read what has come. Returns false if it can't go on. */
bool endpoint_turn(struct endpoint *endpoint, double seconds);
/* End the wait, from any thread. */
void endpoint_wake(struct endpoint *endpoint);
/* Take a connection from its endpoint; see `connection_move`. Returns false, and leaves it, if it can't be. */
bool endpoint_adopt(struct endpoint *endpoint, struct connection *connection);
/* Take no more connections, and tell all clients to begin no more calls. */
void endpoint_drain(struct endpoint *endpoint);
/* The client's address in gRPC's notation; at a Unix socket unix:UID:PID. */
const char *peer_name(const struct connection *connection);
double monotonic(void);

#endif
