/* A server's end of HTTP/2: listening sockets and their connections, waited for together by one thread (epoll). */
#ifndef CHATIERE_ENDPOINT_H
#define CHATIERE_ENDPOINT_H

#include "accounts.h"
#include "connection.h"

#define MOST_LISTENING 16

typedef struct peer peer;

typedef struct endpoint {
    shared shared;
    int poll;
    int wakeup;
    int listening[MOST_LISTENING];
    int listening_count;
    bool is_listening;      /* new connections are taken now */
    bool is_draining;
    size_t most_connections;
    uint32_t most_streams;  /* of a connection */
    double greeting;        /* seconds for a client to begin, and for each of its frames */
    double idle;            /* seconds that a connection may be without a call */
    double long_turn;       /* seconds of work between two waits that show that processor time is short */
    double turned_at;       /* the time when the last wait ended */
    double short_until;     /* the time until which processor time counts as short */
    accounts *accounts;     /* the owner's */
    peer *peers, *last_peer;
    peer *paused, *last_paused; /* those that are not read for a while, in the order in which they are again */
    size_t peer_count;
    double looked_at;       /* the last time that all connections were looked at */
    int trouble;            /* errno of the last connection that could not be taken; 0: none since it was set so */
    double drained_at;
    size_t unsent;          /* bytes of small answers and of frames that clients have not taken yet */
    uint8_t *buffer;
} endpoint;

/* Listen on sockets, which it closes. NULL with errno. */
endpoint *endpoint_new(const int *listening, int count, const size_t *longest_of, const char *const *paths,
                       int path_count, accounts *accounts);
/* End all connections. Their streams are ready then, and stay until `stream_free`. */
void endpoint_end_all(endpoint *endpoint);
/* Give it up, after `endpoint_end_all`. */
void endpoint_free(endpoint *endpoint);
/* Write what there is, wait at most so many seconds, and read what has come. Returns false if it can't go on. */
bool endpoint_turn(endpoint *endpoint, double seconds);
/* End the wait, from any thread. */
void endpoint_wake(endpoint *endpoint);
/* Take a connection from its endpoint; see `connection_move`. Returns false, and leaves it, if it can't be. */
bool endpoint_adopt(endpoint *endpoint, connection *connection);
/* Take no more connections, and tell all clients to begin no more calls. */
void endpoint_drain(endpoint *endpoint);
/* The client's address in gRPC's notation. */
const char *peer_name(const connection *connection);
double monotonic(void);

#endif
