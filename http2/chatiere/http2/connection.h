/* gRPC messages over one HTTP/2 connection, for both clients and servers, with libnghttp2 (https://nghttp2.org).
 *
 * The functions never block and do not depend on Python. Functions with the result type `int` return 0 or a negative
 * error code of nghttp2. The owner of a connection calls `connection_read` when the socket is readable, handles the
 * streams that have become ready, and calls `connection_write` when the socket is writable.
 * The protocol: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md.
 */
#ifndef CHATIERE_CONNECTION_H
#define CHATIERE_CONNECTION_H

#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The flow-control window of a server's streams, in bytes. While a complete message waits to be taken, a client can
 * send at most this number of further bytes on the stream. This is also the maximum size of a DATA frame, because a
 * client could never send the whole of a larger frame. */
#define STREAM_WINDOW (4 * 1024 * 1024)
/* The maximum number of messages of a stream that wait to be taken. A limit in bytes would not be enough, because each
 * message needs memory in addition to its content. */
#define MAX_WAITING 16384
/* The maximum size of a header list in bytes, counted as in RFC 9113, 6.5.2. A call with a larger list is refused. */
#define MAX_HEADERS (16 * 1024)
/* The size of a header list in bytes, counted in the same way, above which the connection is ended as well. */
#define MAX_DECODED (64 * 1024)
/* The maximum size, in bytes on the wire, of a header list and of each frame other than DATA. The server ends a
 * connection that exceeds it. */
#define MAX_ENCODED (32 * 1024)
/* The costs of received frames to a server. A unit of cost is a few nanoseconds of work. Each byte of a header list,
 * counted as for MAX_HEADERS, costs one unit. The constants below are the other costs. */
/* The cost of each byte of a HEADERS or CONTINUATION frame on the wire. */
#define COST_OF_ENCODED 4
/* The cost of each HEADERS frame. */
#define COST_OF_HEADERS 256
/* The cost of each frame that is cheap for a client to send, such as PING. Each KiB of payload adds the same cost. */
#define COST_OF_FRAME 16384

/* The number of streams that a connection remembers because the client has ended them. A connection also remembers this
 * number of ranges of stream ids that the client has skipped. */
#define MAX_GONE 32

/* Faults of a call: errors in its headers or in the framing of its messages, and exceeded limits. */
enum fault {
    FAULT_NONE,
    FAULT_HTTP_METHOD,   /* the HTTP method is not POST */
    FAULT_CONTENT_TYPE,  /* the content type is neither application/grpc nor application/grpc+proto */
    FAULT_TIMEOUT,       /* grpc-timeout is malformed */
    FAULT_HEADERS,       /* the header list is larger than MAX_HEADERS */
    FAULT_ENCODING,      /* grpc-encoding is unknown, or a message is compressed as grpc-encoding declares */
    FAULT_COMPRESSED,    /* a message is compressed, but grpc-encoding declares no compression */
    FAULT_SIZE,          /* a message exceeds the size limit, or there is no memory for it */
    FAULT_COUNT,         /* more than MAX_WAITING messages wait to be taken */
    FAULT_PREFIX,        /* the first byte of a message's prefix is neither 0 nor 1 */
    FAULT_BREAKS_OFF,    /* the stream ends inside a message */
};

/* A message that has been received completely or in part. Free it with `message_free`. */
struct message {
    struct message *next;
    size_t size;
    size_t capacity; /* bytes allocated for `content` so far */
    size_t *held; /* the counter of held memory that includes `capacity`; NULL once the message has been taken */
    _Alignas(16) uint8_t content[];
};

/* Bytes to send. If `lender` is not NULL, the lender owns the memory at `data` and gets it back after the bytes have
 * been sent or dropped. */
struct piece {
    struct piece *next;
    const uint8_t *data;
    size_t size;
    void *lender;
    uint64_t place; /* the position of a lent piece in the output: the number of bytes of `out` before it */
    uint8_t own[];  /* the bytes, if they were copied */
};

struct connection;

/* A list of headers in one block of memory. An entry consists of the name's length and the value's length (each a
 * uint32_t), the name, and the value. */
struct fields {
    uint8_t *data;
    size_t size;
    size_t capacity;
};

struct stream {
    struct connection *connection; /* NULL once the connection has ended */
    struct stream *next, *before; /* in the connection's list of streams */
    struct stream *next_ready;
    void *owner; /* the object that handles the stream; NULL until one is assigned */
    int32_t id;
    int path;            /* the index of the path in `shared.paths`; -1 if it is not among them */
    double timeout;      /* the grpc-timeout in seconds; negative if the client sent no timeout */
    enum fault fault;
    bool has_head;       /* all headers have been received */
    bool is_ready;       /* in the list of ready streams */
    bool is_watched;     /* the owner must be notified immediately when the stream closes */
    bool has_ended;      /* the other end has finished sending */
    bool is_closed;      /* neither end can send any more */
    bool is_answered;    /* the server has begun its response */
    bool is_finished;    /* the stream ends after its last piece has been sent */
    bool waits;          /* sending is deferred until there is more to send */
    bool is_method_post, is_type_grpc;
    /* `is_encoded`: grpc-encoding declares a compression. `is_encoding_known`: it declares a known encoding. A call
     * that declares a known compression is accepted, because clients may leave small messages uncompressed. */
    bool is_encoded, is_encoding_known;
    uint32_t error;      /* the HTTP/2 error code with which the stream was closed */
    struct fields head;  /* headers received, including pseudo-headers and trailers */
    struct fields tail;  /* trailers to send */
    /* The message being received, and the messages received completely. */
    uint8_t prefix[5];
    unsigned prefix_size;
    struct message *coming;
    size_t come;         /* the number of bytes of `coming` received so far */
    struct message *first, *last;
    unsigned waiting;
    size_t unconsumed;   /* bytes received for which the stream's window has not been enlarged yet */
    /* Pieces to send. */
    struct piece *first_piece, *last_piece;
    size_t to_send;
    size_t held;         /* bytes allocated for messages that have not been taken, including `coming` */
};

/* State shared by several connections. */
struct shared {
    struct stream *first_ready, *last_ready;
    struct stream *finished;    /* closed streams whose owners need no immediate notification */
    struct connection *changed; /* connections that may have something to write */
    struct piece *released;     /* pieces whose memory can be returned to their lenders */
    size_t held;         /* bytes allocated for messages that have not been taken, in all streams */
    double now;          /* the time in seconds, which the owner keeps up to date */
    size_t max_size;     /* the maximum size of a received message, in bytes */
    const size_t *max_sizes; /* the maximum size for each path; NULL to use `max_size` for all paths */
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
    bool is_draining;    /* the client has been asked to begin no more calls, and has not acknowledged this yet */
    struct connection *next_changed;
    struct stream *streams;
    size_t stream_count;
    /* The output: the bytes in `out`, and lent pieces (memory that belongs to the lender) at positions between them. */
    uint8_t *out;
    size_t out_begin, out_end, out_capacity;
    uint64_t out_place;  /* the number of bytes ever put into `out` */
    struct piece *first_lent, *last_lent;
    size_t unsent;       /* the number of bytes of the output that have not been sent */
    size_t to_send;      /* the size in bytes of the streams' pieces that are not in the output yet */
    size_t left;         /* the sum of `unsent` and `to_send` after the last write */
    /* The DATA frame being received: its stream, and the number of bytes that have not been received. */
    struct stream *current;
    size_t frame_left;
    /* The frame being received, as parsed from the raw bytes: the part of its header received so far, the number of
     * missing bytes of its body, and the time when the frame began. `preface_left` is the number of missing bytes of
     * the client's connection preface. */
    uint8_t head[9];
    unsigned head_size;
    size_t body_left;
    unsigned preface_left;
    double began_at;
    int32_t gone[MAX_GONE]; /* the streams that the client has ended or reset most recently */
    unsigned gone_count;
    bool is_gone_used;   /* the client has sent another HEADERS or DATA frame on a stream in `gone` */
    int32_t last_begun;  /* the largest id of a stream that the client has begun */
    int32_t beginning;   /* the stream that the last HEADERS frame began; 0 if the frame belongs to an earlier stream */
    struct { int32_t first, last; } skipped[MAX_GONE]; /* ranges of stream ids that the client has skipped */
    unsigned skipped_count;
    bool is_skipped_used; /* the client has used a stream id in one of these ranges */
    /* The size of the header list being received: on the wire, and as counted by RFC 9113. */
    size_t encoded, decoded;
    /* The cost of the frames received since the owner last reset it. Above `max_cost`, the connection is ended. */
    uint64_t cost, max_cost;
    const char *excess;  /* a description of the limit that the client has exceeded; NULL if it has exceeded no limit */
    int32_t refused;     /* the stream of a request with too many bytes of headers; 0 if there is no such request */
    unsigned updates;    /* the number of WINDOW_UPDATE frames that cost nothing, because they answer DATA frames */
    /* From the other end's GOAWAY frame: the last stream that the other end handles (-1 until a GOAWAY frame arrives),
     * and the debug data. */
    int32_t last_taken;
    char words[200];
    /* The owner's data. */
    void *owner;
};

/* Create a connection on a connected socket. `max_streams` is the maximum number of streams that a client may have open
 * at the same time; only a server uses it. Returns NULL if there is no memory. */
struct connection *connection_new(struct shared *shared, int fd, bool is_server, uint32_t max_streams);
/* Free a connection and close its streams. The streams exist until `stream_free`. The socket stays open. */
void connection_free(struct connection *connection);

/* Move a connection to another shared state. The connection must have no lent pieces and exactly one stream. The stream
 * must not be in the list of ready streams. */
void connection_move(struct connection *connection, struct shared *to);

/* Read once from the socket, into `buffer` or directly into a message. Returns
 * - the number of bytes read;
 * - 0 if no bytes were available, or if the other end has finished sending (`is_at_end`);
 * - -1, with errno, if reading from the socket failed;
 * - another negative number, an error code of nghttp2, if the bytes cannot be processed. NGHTTP2_ERR_FLOODED can also
 *   mean that the client has exceeded a limit (`excess`). */
long connection_read(struct connection *connection, uint8_t *buffer, size_t size);
/* Write as many bytes as the socket accepts. Returns 0, or a negative number as `connection_read` does. If the socket
 * accepted all bytes, `unsent` is 0 afterwards. */
long connection_write(struct connection *connection);
/* Remove the next connection from the list of changed connections and return it; NULL if the list is empty. */
struct connection *next_changed(struct shared *shared);
/* Ask the client to begin no more calls. Calls that the client begins before it receives this request continue. */
void connection_drain(struct connection *connection);
/* Accept no more calls, even if the client has not yet acknowledged the request that `connection_drain` sent. Does
 * nothing if `connection_drain` was not called before. */
void connection_drain_now(struct connection *connection);
/* Return whether a frame or a header list has been received only in part. Missing data of a message does not count. */
bool connection_is_part_way(const struct connection *connection);
/* Return whether the client is slow to read its responses. */
bool connection_is_behind(const struct connection *connection);
/* Return the number of bytes in the output buffer. This buffer does not contain the lent pieces. */
size_t connection_copied(const struct connection *connection);
/* Return whether the connection is over: all output has been sent, and libnghttp2 expects no further frames to send or
 * receive. */
bool connection_is_over(const struct connection *connection);
/* Tell the other end why the connection ends, as an HTTP/2 error code and debug data, and ignore further input. */
void connection_leave(struct connection *connection, uint32_t error, const char *words);

/* Remove the next stream from the list of ready streams and return it; NULL if the list is empty. */
struct stream *next_ready(struct shared *shared);
/* Remove the next stream from the list of finished streams and return it; NULL if the list is empty. */
struct stream *next_finished(struct shared *shared);
/* Remove the stream's first complete message and return it; NULL if no message waits. */
struct message *stream_take(struct stream *stream);
void message_free(struct message *message);
/* Begin to send a message of `size` bytes. The pieces of the message must follow. */
int stream_begin_message(struct stream *stream, size_t size);
/* Add a copy of the bytes as a piece to send. */
int stream_copy(struct stream *stream, const uint8_t *data, size_t size);
/* Add the bytes as a piece to send, without copying them. A piece with `lender` is in shared.released after the bytes
 * have been sent or dropped. */
int stream_lend(struct stream *stream, const uint8_t *data, size_t size, void *lender);
/* Start sending the pieces added so far. */
int stream_push(struct stream *stream);
/* Append a name and its value. */
int fields_add(struct fields *fields, const char *name, size_t name_size, const char *value, size_t value_size);
/* Return whether a header belongs to HTTP/2 or gRPC, so that it is not metadata. */
bool is_reserved(const uint8_t *name, size_t size);
/* Server: send HTTP status 200, gRPC's headers and, unless it is "", the content language. Messages may follow. */
int stream_answer(struct stream *stream, const char *language);
/* Server: end the call with the trailers in `tail`, after all pieces have been sent. */
int stream_finish(struct stream *stream);
/* Server: respond with only an HTTP status. */
int stream_refuse(struct stream *stream, const char *status);
/* Client: begin a call with the headers in `head`. Returns NULL if there is no memory or no unused stream id. */
struct stream *stream_request(struct connection *connection, const struct fields *head);
/* Reset a stream with an HTTP/2 error code. */
void stream_reset(struct stream *stream, uint32_t error);
/* Free a closed stream. */
void stream_free(struct stream *stream);

#endif
