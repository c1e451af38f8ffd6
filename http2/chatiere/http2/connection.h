/* gRPC's messages over one HTTP/2 connection, by libnghttp2 (https://nghttp2.org): the same for both ends.
 *
 * Nothing here waits, and nothing here knows Python. Whoever owns a connection reads (`connection_read`) when the socket
 * is readable, looks at the streams that have become ready, and writes (`connection_write`) when it is writable.
 * gRPC over HTTP/2: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md.
 */
#ifndef CHATIERE_CONNECTION_H
#define CHATIERE_CONNECTION_H

#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a stream's requests that a client may send before they are taken, beside one message; and of a frame of them,
 * as a larger one would never be sent whole. */
#define STREAM_WINDOW (4 * 1024 * 1024)
/* Messages of a stream that may wait: small ones take more memory than their bytes. */
#define MAX_WAITING 16384
/* Bytes of a list of headers, counted as in RFC 9113, 6.5.2: above these a call is refused. */
#define MAX_HEADERS (16 * 1024)
/* Above these its connection ends: bytes so counted; bytes as they come, and those of any of HTTP/2's frames but DATA. */
#define MAX_DECODED (64 * 1024)
#define MAX_ENCODED (32 * 1024)
/* What frames cost a server, in some nanoseconds. A byte of headers, counted as above, costs 1; beside that, a byte of
 * them as it comes, their frame, and a frame that costs the client nothing, such as PING, or a KiB of it: */
#define COST_OF_ENCODED 4
#define COST_OF_HEADERS 256
#define COST_OF_FRAME 16384

/* Streams that are remembered to have been ended by the client, and ranges of them that it has skipped. */
#define MAX_GONE 32

/* What is wrong with a call, as far as HTTP/2 and gRPC's framing go; stream.fault. */
enum fault {
    FAULT_NONE,
    FAULT_HTTP_METHOD,   /* not POST */
    FAULT_CONTENT_TYPE,  /* not application/grpc */
    FAULT_TIMEOUT,       /* grpc-timeout cannot be read */
    FAULT_HEADERS,       /* above MAX_HEADERS */
    FAULT_COMPRESSED,    /* a message is compressed */
    FAULT_SIZE,          /* a message is above the connection's limit */
    FAULT_COUNT,         /* above MAX_WAITING */
    FAULT_PREFIX,        /* a message's prefix is neither that of a plain nor of a compressed message */
    FAULT_BREAKS_OFF,    /* the stream ends inside a message */
};

/* A message that has come whole or in part; `message_free` takes it. */
struct message {
    struct message *next;
    size_t size;
    size_t capacity; /* bytes allocated for `content` so far */
    size_t *held; /* where `capacity` is counted until it is taken */
    _Alignas(16) uint8_t content[];
};

/* Bytes to send. A piece with a lender lies in the lender's memory, which is released once it was sent. */
struct piece {
    struct piece *next;
    const uint8_t *data;
    size_t size;
    void *lender;
    uint64_t place; /* in the connection's output: bytes before it that are not lent */
    uint8_t own[];
};

struct connection;

/* Names and values, one after another: two lengths (uint32_t), the name, the value. */
struct fields {
    uint8_t *data;
    size_t size;
    size_t capacity;
};

struct stream {
    struct connection *connection; /* NULL once the connection has ended */
    struct stream *next, *before; /* the connection's others */
    struct stream *next_ready;
    void *owner; /* whoever looks after it; NULL: nobody yet */
    int32_t id;
    int path;            /* the index of its path among the connection's; -1: none of them */
    double timeout;      /* grpc-timeout in seconds; negative: none */
    enum fault fault;
    bool has_head;       /* its headers are whole */
    bool is_ready;       /* in the list of ready streams */
    bool is_watched;     /* its owner wants to know at once when it is closed */
    bool has_ended;      /* the other end sends nothing more */
    bool is_closed;      /* nothing is sent or received any more */
    bool is_answered;    /* its headers or its end have been sent by this end */
    bool is_finished;    /* its end is to follow the last piece */
    bool waits;          /* for more to send */
    bool is_method_post, is_type_grpc;
    uint32_t error;      /* HTTP/2's error with which it was closed */
    struct fields head;  /* received, pseudo-headers and trailers among them */
    struct fields tail;  /* trailers to send */
    /* The message that comes, and those that have come. */
    uint8_t prefix[5];
    unsigned prefix_size;
    struct message *coming;
    size_t come;
    struct message *first, *last;
    unsigned waiting;
    size_t unconsumed;   /* bytes not yet given back to the stream's window */
    /* Pieces to send. */
    struct piece *first_piece, *last_piece;
    size_t to_send;
    size_t held;         /* bytes of messages that have come, in part or whole, and were not taken */
};

/* What several connections share. */
struct shared {
    struct stream *first_ready, *last_ready;
    struct stream *finished;    /* closed streams whose owners need not know at once */
    struct connection *changed; /* connections that may have something to write */
    struct piece *released;     /* pieces whose lenders are to be told */
    size_t held;         /* bytes of messages that have come and were not taken */
    double now;          /* seconds; the owner keeps it */
    size_t max_size;     /* bytes of a message that comes */
    const size_t *max_sizes; /* the same by path; NULL: `max_size` for all */
    const char *const *paths;
    int path_count;
};

struct connection {
    struct shared *shared;
    nghttp2_session *session;
    int fd;
    bool is_server;
    bool has_begun;      /* the other end's settings have come */
    bool is_at_end;      /* the other end sends nothing more */
    bool is_broken;      /* the socket can't be written to */
    bool is_changed;     /* in the list of changed ones */
    bool is_draining;    /* begins no more calls, once the other end knows */
    struct connection *next_changed;
    struct stream *streams;
    size_t stream_count;
    /* Frames to send: those of `out`, and lent pieces among them. */
    uint8_t *out;
    size_t out_begin, out_end, out_capacity;
    uint64_t out_place;  /* bytes that have been put into `out` */
    struct piece *first_lent, *last_lent;
    size_t unsent;
    size_t to_send;      /* bytes of all streams' pieces */
    size_t left;         /* bytes that could not be sent when it was last written */
    /* The DATA frame that comes: its stream and what is missing of it. */
    struct stream *current;
    size_t frame_left;
    /* The frame that comes, which is told from the bytes alone: its head, as far as it has come, and what is missing of
     * the rest; the bytes of the client's preface that are missing; when the frame began. */
    uint8_t head[9];
    unsigned head_size;
    size_t body_left;
    unsigned preface_left;
    double began_at;
    int32_t gone[MAX_GONE];
    unsigned gone_count;
    bool is_gone_used;   /* the client has sent more of one of these */
    int32_t last_begun;  /* the largest stream that the client has begun */
    struct { int32_t first, last; } skipped[MAX_GONE];
    unsigned skipped_count;
    bool is_skipped_used; /* the client has begun one of these */
    /* The list of headers that comes: its bytes as they come, and as they are counted. */
    size_t encoded, decoded;
    /* What the frames that have come cost, which the owner resets; above `max_cost` the connection ends. */
    uint64_t cost, max_cost;
    const char *excess;  /* of what too much has come, in words; NULL: of nothing */
    unsigned updates;    /* WINDOW_UPDATEs that answer DATA, and cost nothing */
    /* GOAWAY of the other end: the last stream that it takes (-1: none came), and its words. */
    int32_t last_taken;
    char words[200];
    /* The owner's. */
    void *owner;
};

/* Begin a connection on a socket. `max_streams`: that the other end may have open. NULL: no memory. */
struct connection *connection_new(struct shared *shared, int fd, bool is_server, uint32_t max_streams);
/* End it: its streams are closed, and stay until `stream_free`. The socket is left to the caller. */
void connection_free(struct connection *connection);

/* Let it share with others. It has one stream, which is not ready, and nothing lent. */
void connection_move(struct connection *connection, struct shared *to);

/* Read once from the socket into `buffer` or where a message stays. Returns the bytes read; 0: nothing has come, or the
 * end (is_at_end); negative: an error of nghttp2 (FLOODED also for what is in excess), or -1 with errno for one of
 * the socket. */
long connection_read(struct connection *connection, uint8_t *buffer, size_t size);
/* Write what there is. Returns 0, or a negative number as above. `unsent` tells if the socket took all of it. */
long connection_write(struct connection *connection);
/* The next of the changed connections; NULL: none. */
struct connection *next_changed(struct shared *shared);
/* Tell the client to begin no more calls: those that it has begun before it knows go on. */
void connection_drain(struct connection *connection);
/* Begin no more calls, even if the client has not said that it knows. */
void connection_drain_now(struct connection *connection);
/* Whether a frame has come in part, other than one with contents of messages. */
bool connection_is_part_way(const struct connection *connection);
/* Whether the client is slow to take answers. */
bool connection_is_behind(const struct connection *connection);
/* Bytes that are copied and were not sent. */
size_t connection_copied(const struct connection *connection);
/* Whether neither end has anything more to say. */
bool connection_is_over(const struct connection *connection);
/* Tell the other end why the connection ends; nothing more is read. */
void connection_leave(struct connection *connection, uint32_t error, const char *words);

/* The next of the ready streams; NULL: none. */
struct stream *next_ready(struct shared *shared);
/* The next of the finished streams; NULL: none. */
struct stream *next_finished(struct shared *shared);
/* Take the first message that has come; NULL: none. */
struct message *stream_take(struct stream *stream);
void message_free(struct message *message);
/* Send a message of so many bytes: its pieces must follow. */
int stream_begin_message(struct stream *stream, size_t size);
/* Copy bytes to send. */
int stream_copy(struct stream *stream, const uint8_t *data, size_t size);
/* Lend bytes to send; `lender` is among the released once they were sent or can't be. */
int stream_lend(struct stream *stream, const uint8_t *data, size_t size, void *lender);
/* Let what was copied and lent be sent. */
int stream_push(struct stream *stream);
/* Add a header of a request, or a trailer. */
int fields_add(struct fields *fields, const char *name, size_t name_size, const char *value, size_t value_size);
/* Whether a header is the protocol's own, and no metadata. */
bool is_reserved(const uint8_t *name, size_t size);
/* Server: answer with HTTP's 200, gRPC's headers and, unless it is "", the language; messages may follow. */
int stream_answer(struct stream *stream, const char *language);
/* Server: end the call with the trailers in `tail`, after what is being sent. */
int stream_finish(struct stream *stream);
/* Server: answer with an HTTP status alone. */
int stream_refuse(struct stream *stream, const char *status);
/* Client: begin a call with the headers in `head`. NULL: no memory, or no further stream. */
struct stream *stream_request(struct connection *connection, const struct fields *head);
/* Reset it. */
void stream_reset(struct stream *stream, uint32_t error);
/* Give it up, once it is closed. */
void stream_free(struct stream *stream);

#endif
