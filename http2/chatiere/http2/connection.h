/* gRPC messages over one HTTP/2 connection, for both clients and servers, with libnghttp2 (https://nghttp2.org).
 *
 * The functions never block and do not depend on Python. The owner of a connection calls `connection_read` when the
 * socket is readable, handles the streams that have become ready, and calls `connection_write` when it is writable.
 * gRPC over HTTP/2: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md.
 */
#ifndef CHATIERE_CONNECTION_H
#define CHATIERE_CONNECTION_H

#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of requests that a client may send on a stream before they are taken, in addition to one message. This is also
 * the size of the largest DATA frame, because a client could never send a larger frame completely. */
#define STREAM_WINDOW (4 * 1024 * 1024)
/* Messages of a stream that may wait to be taken. The number is limited because a small message takes more memory than
 * its bytes. */
#define MAX_WAITING 16384
/* Bytes of a header list, counted as in RFC 9113, 6.5.2, above which a call is refused. */
#define MAX_HEADERS (16 * 1024)
/* Bytes of a header list, counted in the same way, above which the connection is ended after that refusal. */
#define MAX_DECODED (64 * 1024)
/* The maximum size in bytes, on the wire, of a header list or of any frame other than DATA; a larger one ends the
 * connection. */
#define MAX_ENCODED (32 * 1024)
/* The cost of frames to a server, in units of a few nanoseconds. Each byte of a header list, counted as for
 * MAX_HEADERS, costs 1; the other costs follow. */
/* The cost of each byte of headers on the wire. */
#define COST_OF_ENCODED 4
/* The cost of each HEADERS frame. */
#define COST_OF_HEADERS 256
/* The cost of each frame that a client can send without effort, such as PING, and of each KiB of it. */
#define COST_OF_FRAME 16384

/* The number of streams ended by the client, and of ranges of streams skipped by it, that are remembered. */
#define MAX_GONE 32

/* Faults of a call in HTTP/2 or in gRPC's framing; see stream.fault. */
enum fault {
    FAULT_NONE,
    FAULT_HTTP_METHOD,   /* not POST */
    FAULT_CONTENT_TYPE,  /* neither application/grpc nor application/grpc+proto */
    FAULT_TIMEOUT,       /* malformed grpc-timeout */
    FAULT_HEADERS,       /* above MAX_HEADERS */
    FAULT_ENCODING,      /* unknown grpc-encoding, or a message compressed with the declared encoding */
    FAULT_COMPRESSED,    /* a message is compressed, but grpc-encoding declares no compression */
    FAULT_SIZE,          /* a message exceeds the size limit */
    FAULT_COUNT,         /* more than MAX_WAITING messages wait */
    FAULT_PREFIX,        /* the first byte of a message's prefix is neither 0 nor 1 */
    FAULT_BREAKS_OFF,    /* the stream ends inside a message */
};

/* A message received completely or in part; free it with `message_free`. */
struct message {
    struct message *next;
    size_t size;
    size_t capacity; /* bytes allocated for `content` so far */
    size_t *held; /* the counter that includes `capacity` until the message is taken; then NULL */
    _Alignas(16) uint8_t content[];
};

/* Bytes to send. If a piece has a lender, the bytes are in the lender's memory, which is released after sending. */
struct piece {
    struct piece *next;
    const uint8_t *data;
    size_t size;
    void *lender;
    uint64_t place; /* the position in the connection's output: the number of copied bytes before the piece */
    uint8_t own[];
};

struct connection;

/* A list of names and values. Each entry is two lengths (uint32_t), the name and the value. */
struct fields {
    uint8_t *data;
    size_t size;
    size_t capacity;
};

struct stream {
    struct connection *connection; /* NULL once the connection has ended */
    struct stream *next, *before; /* in the connection's list of streams */
    struct stream *next_ready;
    void *owner; /* the object that handles the stream; NULL until there is one */
    int32_t id;
    int path;            /* the index of the path in `shared.paths`; -1 if it is not among them */
    double timeout;      /* grpc-timeout in seconds; negative without one */
    enum fault fault;
    bool has_head;       /* all headers have been received */
    bool is_ready;       /* in the list of ready streams */
    bool is_watched;     /* the owner must be notified immediately when the stream closes */
    bool has_ended;      /* the other end has finished sending */
    bool is_closed;      /* neither end sends any more */
    bool is_answered;    /* this end has sent headers or the end of the stream */
    bool is_finished;    /* the stream ends after the last piece */
    bool waits;          /* sending is deferred until there is more to send */
    bool is_method_post, is_type_grpc;
    bool is_encoded, is_encoding_known; /* by grpc-encoding: clients that compress leave small messages uncompressed */
    uint32_t error;      /* the HTTP/2 error code with which the stream was closed */
    struct fields head;  /* headers received, including pseudo-headers and trailers */
    struct fields tail;  /* trailers to send */
    /* The message being received, and the messages received completely. */
    uint8_t prefix[5];
    unsigned prefix_size;
    struct message *coming;
    size_t come;
    struct message *first, *last;
    unsigned waiting;
    size_t unconsumed;   /* bytes received for which the stream's window has not been enlarged yet */
    /* Pieces to send. */
    struct piece *first_piece, *last_piece;
    size_t to_send;
    size_t held;         /* bytes of messages received, completely or in part, and not taken */
};

/* State shared by several connections. */
struct shared {
    struct stream *first_ready, *last_ready;
    struct stream *finished;    /* closed streams whose owners need no immediate notification */
    struct connection *changed; /* connections that may have something to write */
    struct piece *released;     /* pieces whose memory can be given back to the lenders */
    size_t held;         /* bytes of messages received and not taken */
    double now;          /* the time in seconds, kept up to date by the owner */
    size_t max_size;     /* the largest message that may be received, in bytes */
    const size_t *max_sizes; /* the same for each path; NULL to use `max_size` for all paths */
    const char *const *paths;
    int path_count;
};

struct connection {
    struct shared *shared;
    nghttp2_session *session;
    int fd;
    bool is_server;
    bool has_begun;      /* the other end's settings have been received */
    bool is_at_end;      /* the other end has finished sending */
    bool is_broken;      /* writing to the socket has failed */
    bool is_changed;     /* in the list of changed connections */
    bool is_draining;    /* no more calls are accepted once the other end has been notified */
    struct connection *next_changed;
    struct stream *streams;
    size_t stream_count;
    /* Frames to send: the contents of `out`, with lent pieces between them. */
    uint8_t *out;
    size_t out_begin, out_end, out_capacity;
    uint64_t out_place;  /* the number of bytes ever put into `out` */
    struct piece *first_lent, *last_lent;
    size_t unsent;
    size_t to_send;      /* bytes of all streams' pieces */
    size_t left;         /* bytes that remained after the last write */
    /* The DATA frame being received: its stream, and the number of bytes missing. */
    struct stream *current;
    size_t frame_left;
    /* The frame being received, as parsed from the raw bytes: the part of its header received so far, the number of
     * bytes missing of its body and of the client's preface, and the time when the frame began. */
    uint8_t head[9];
    unsigned head_size;
    size_t body_left;
    unsigned preface_left;
    double began_at;
    int32_t gone[MAX_GONE];
    unsigned gone_count;
    bool is_gone_used;   /* the client has sent another frame on one of `gone` */
    int32_t last_begun;  /* the largest stream that the client has begun */
    int32_t beginning;   /* the stream begun by the last HEADERS frame; 0 if it began none */
    struct { int32_t first, last; } skipped[MAX_GONE];
    unsigned skipped_count;
    bool is_skipped_used; /* the client has begun one of these */
    /* The header list being received: its size on the wire, and as counted by RFC 9113. */
    size_t encoded, decoded;
    /* The cost of the frames received; the owner resets it. If it exceeds `max_cost`, the connection is ended. */
    uint64_t cost, max_cost;
    const char *excess;  /* a description of the limit that the client has exceeded; NULL if none */
    int32_t refused;     /* the stream begun by a request with too many bytes of headers, or 0 */
    unsigned updates;    /* WINDOW_UPDATE frames that are expected in answer to DATA, and cost nothing */
    /* From the other end's GOAWAY: the last stream that it handles (-1 if none was received), and its debug data. */
    int32_t last_taken;
    char words[200];
    /* The owner's data. */
    void *owner;
};

/* Begin a connection on a socket. `max_streams`: the number of streams that the other end may have open. Returns NULL
 * if there is no memory. */
struct connection *connection_new(struct shared *shared, int fd, bool is_server, uint32_t max_streams);
/* End a connection. Its streams are closed, but exist until `stream_free`. The socket is left open. */
void connection_free(struct connection *connection);

/* Move a connection to another shared state. It must have one stream, which is not ready, and no lent pieces. */
void connection_move(struct connection *connection, struct shared *to);

/* Read once from the socket, into `buffer` or directly into a message. Returns the number of bytes read; 0 if there
 * were none, or at the end (is_at_end); a negative error of nghttp2 (NGHTTP2_ERR_FLOODED also if a limit was exceeded);
 * or -1 with errno for an error of the socket. */
long connection_read(struct connection *connection, uint8_t *buffer, size_t size);
/* Write as much as the socket takes. Returns 0, or a negative number as above. `unsent` is 0 if the socket took all
 * bytes. */
long connection_write(struct connection *connection);
/* Take the next of the changed connections; NULL if the list is empty. */
struct connection *next_changed(struct shared *shared);
/* Ask the client to begin no more calls. Calls that it begins before it receives the notice continue. */
void connection_drain(struct connection *connection);
/* Accept no more calls, even if the client has not acknowledged the notice. */
void connection_drain_now(struct connection *connection);
/* Return whether a frame other than one with message contents has been received in part. */
bool connection_is_part_way(const struct connection *connection);
/* Return whether the client is slow to take responses. */
bool connection_is_behind(const struct connection *connection);
/* The number of copied bytes that have not been sent. */
size_t connection_copied(const struct connection *connection);
/* Return whether both ends have finished sending. */
bool connection_is_over(const struct connection *connection);
/* Send the other end the reason for ending the connection, as an HTTP/2 error code and debug data, and stop reading. */
void connection_leave(struct connection *connection, uint32_t error, const char *words);

/* Take the next of the ready streams; NULL if the list is empty. */
struct stream *next_ready(struct shared *shared);
/* Take the next of the finished streams; NULL if the list is empty. */
struct stream *next_finished(struct shared *shared);
/* Take the first message received; NULL if no message waits. */
struct message *stream_take(struct stream *stream);
void message_free(struct message *message);
/* Begin to send a message of `size` bytes; its pieces must follow. */
int stream_begin_message(struct stream *stream, size_t size);
/* Send a copy of the bytes. */
int stream_copy(struct stream *stream, const uint8_t *data, size_t size);
/* Send bytes without copying them; `lender` is put into shared.released once the bytes have been sent or dropped. */
int stream_lend(struct stream *stream, const uint8_t *data, size_t size, void *lender);
/* Start sending the pieces copied and lent so far. */
int stream_push(struct stream *stream);
/* Add a header of a request, or a trailer. */
int fields_add(struct fields *fields, const char *name, size_t name_size, const char *value, size_t value_size);
/* Return whether a header belongs to the protocol, and is not metadata. */
bool is_reserved(const uint8_t *name, size_t size);
/* Server: send HTTP status 200, gRPC's headers and, unless it is "", the content language; messages may follow. */
int stream_answer(struct stream *stream, const char *language);
/* Server: end the call with the trailers in `tail`, after the messages being sent. */
int stream_finish(struct stream *stream);
/* Server: respond with only an HTTP status. */
int stream_refuse(struct stream *stream, const char *status);
/* Client: begin a call with the headers in `head`. Returns NULL if there is no memory or no stream number left. */
struct stream *stream_request(struct connection *connection, const struct fields *head);
/* Reset a stream with an HTTP/2 error code. */
void stream_reset(struct stream *stream, uint32_t error);
/* Free a closed stream. */
void stream_free(struct stream *stream);

#endif
