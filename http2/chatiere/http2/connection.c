#include "connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

/* The maximum sizes of a frame and of a window in HTTP/2, in bytes. */
#define MAX_FRAME ((1 << 24) - 1)
#define MAX_WINDOW 2147483647
/* The flow-control window of a server's connection, in bytes. */
#define CONNECTION_WINDOW (16 * 1024 * 1024)
/* Frames are serialized only while fewer than this number of bytes wait for the socket. */
#define ENOUGH (64 * 1024)
/* The maximum size of an output buffer that is kept for reuse, in bytes. */
#define MAX_CAPACITY (1024 * 1024)
/* The maximum number of bytes that are allocated for a message before its first byte arrives. It is limited because a
 * client may declare a false length. */
#define TRUSTED (2 * 1024 * 1024)
#define MAX_TRAILERS 8
/* The minimum number of bytes that are read directly into a message, instead of into the buffer. */
#define LEAST_DIRECT 4096
/* The maximum number of pieces that one call of sendmsg writes. */
#define MAX_PIECES 64
/* The maximum number of frames that wait in libnghttp2. Without this limit, a client that does not read its responses
 * could make the queue grow indefinitely. */
#define MAX_QUEUED 10000
/* UPDATES is the number of WINDOW_UPDATE frames that may answer a DATA frame: one for the stream and one for the
 * connection. MAX_UPDATES limits the number of answers that are expected at the same time. */
#define UPDATES 2
#define MAX_UPDATES 10000
/* The maximum size of a DATA frame that a server sends, in bytes. It is limited because libnghttp2 allocates a buffer
 * of the frame's size for each connection, although the buffer is not used. */
#define MAX_DATA_FRAME (256 * 1024)
/* The number of unsent bytes above which a client is considered slow to read its responses. */
#define SLOW (256 * 1024)

#define NO_COPY (NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE)
#define FIELD(name, value)                                                                                             \
    { (uint8_t *)(name), (uint8_t *)(value), sizeof(name) - 1, sizeof(value) - 1, NO_COPY }

static void mark_ready(struct stream *stream) {
    if (stream->is_ready)
        return;
    struct shared *shared = stream->connection->shared;
    stream->is_ready = true;
    stream->next_ready = NULL;
    if (shared->last_ready != NULL)
        shared->last_ready->next_ready = stream;
    else
        shared->first_ready = stream;
    shared->last_ready = stream;
}

struct stream *next_ready(struct shared *shared) {
    struct stream *found = shared->first_ready;
    if (found == NULL)
        return NULL;
    shared->first_ready = found->next_ready;
    if (shared->first_ready == NULL)
        shared->last_ready = NULL;
    found->is_ready = false;
    return found;
}

struct stream *next_finished(struct shared *shared) {
    struct stream *found = shared->finished;
    if (found != NULL)
        shared->finished = found->next_ready;
    return found;
}

static void mark_changed(struct connection *connection) {
    if (connection->is_changed)
        return;
    connection->is_changed = true;
    connection->next_changed = connection->shared->changed;
    connection->shared->changed = connection;
}

struct connection *next_changed(struct shared *shared) {
    struct connection *found = shared->changed;
    if (found == NULL)
        return NULL;
    shared->changed = found->next_changed;
    found->is_changed = false;
    return found;
}

/* Memory */

static void release(struct shared *shared, struct piece *piece) {
    if (piece->lender == NULL) {
        free(piece);
        return;
    }
    piece->next = shared->released;
    shared->released = piece;
}

void message_free(struct message *message) {
    if (message == NULL)
        return;
    if (message->held != NULL)
        *message->held -= message->capacity;
    free(message);
}

static struct message *message_new(struct shared *shared, size_t size) {
    size_t capacity = size < TRUSTED ? size : TRUSTED;
    struct message *found = malloc(sizeof(struct message) + capacity);
    if (found == NULL)
        return NULL;
    found->next = NULL;
    found->size = size;
    found->capacity = capacity;
    found->held = &shared->held;
    shared->held += capacity;
    return found;
}

/* Allocate more memory for a message. Returns NULL, and leaves the message unchanged, if there is no memory. */
static struct message *message_grown(struct message *before) {
    size_t capacity = before->capacity * 2 < before->size ? before->capacity * 2 : before->size;
    struct message *grown = realloc(before, sizeof(struct message) + capacity);
    if (grown == NULL)
        return NULL;
    *grown->held += capacity - grown->capacity;
    grown->capacity = capacity;
    return grown;
}

int fields_add(struct fields *fields, const char *name, size_t name_size, const char *value, size_t value_size) {
    uint32_t sizes[2] = {(uint32_t)name_size, (uint32_t)value_size};
    size_t needed = fields->size + sizeof(sizes) + name_size + value_size;
    if (needed > fields->capacity) {
        size_t capacity = needed < 512 ? 512 : 2 * needed;
        uint8_t *data = realloc(fields->data, capacity);
        if (data == NULL)
            return NGHTTP2_ERR_NOMEM;
        fields->data = data;
        fields->capacity = capacity;
    }
    uint8_t *at = fields->data + fields->size;
    memcpy(at, sizes, sizeof(sizes));
    memcpy(at + sizeof(sizes), name, name_size);
    memcpy(at + sizeof(sizes) + name_size, value, value_size);
    fields->size = needed;
    return 0;
}

/* Convert at most `most` fields to nghttp2's form. Returns the number of converted fields. */
static size_t fields_list(const struct fields *fields, nghttp2_nv *list, size_t most, uint8_t flags) {
    size_t count = 0;
    uint8_t *at = fields->data;
    while (count < most && at < fields->data + fields->size) {
        uint32_t sizes[2];
        memcpy(sizes, at, sizeof(sizes));
        at += sizeof(sizes);
        list[count++] = (nghttp2_nv){at, at + sizes[0], sizes[0], sizes[1], flags};
        at += sizes[0] + sizes[1];
    }
    return count;
}

static struct stream *stream_new(struct connection *connection) {
    struct stream *found = calloc(1, sizeof(struct stream));
    if (found == NULL)
        return NULL;
    found->connection = connection;
    found->path = -1;
    found->timeout = -1;
    found->next = connection->streams;
    if (found->next != NULL)
        found->next->before = found;
    connection->streams = found;
    connection->stream_count++;
    return found;
}

static void drop_pieces(struct stream *stream, struct shared *shared) {
    while (stream->first_piece != NULL) {
        struct piece *piece = stream->first_piece;
        stream->first_piece = piece->next;
        release(shared, piece);
    }
    stream->last_piece = NULL;
    stream->connection->to_send -= stream->to_send;
    stream->to_send = 0;
}

/* If the output already contains part of a lent piece, release the lender's memory only after that part has been sent.
 * The part is the one that ends where the rest of the piece begins. */
static void keep_begun_piece(struct stream *stream) {
    struct piece *rest = stream->first_piece;
    if (rest == NULL || rest->lender == NULL)
        return;
    for (struct piece *lent = stream->connection->first_lent; lent != NULL; lent = lent->next) {
        if (lent->lender == NULL && lent->data + lent->size == rest->data) {
            lent->lender = rest->lender;
            rest->lender = NULL;
            return;
        }
    }
}

static void drop_coming(struct stream *stream) {
    if (stream->coming != NULL)
        stream->held -= stream->coming->capacity;
    message_free(stream->coming);
    stream->coming = NULL;
}

static void drop_messages(struct stream *stream) {
    drop_coming(stream);
    while (stream->first != NULL) {
        struct message *message = stream->first;
        stream->first = message->next;
        stream->held -= message->capacity;
        message_free(message);
    }
    stream->last = NULL;
    stream->waiting = 0;
}

static void stream_close(struct stream *stream, uint32_t error) {
    struct connection *connection = stream->connection;
    if (stream->owner != NULL && !stream->is_watched && !stream->is_ready) {
        stream->next_ready = connection->shared->finished;
        connection->shared->finished = stream;
    } else {
        mark_ready(stream);
    }
    stream->is_closed = true;
    stream->error = error;
    keep_begun_piece(stream);
    drop_pieces(stream, connection->shared);
    if (connection->current == stream)
        connection->current = NULL;
    if (stream->before != NULL)
        stream->before->next = stream->next;
    else
        connection->streams = stream->next;
    if (stream->next != NULL)
        stream->next->before = stream->before;
    connection->stream_count--;
    stream->connection = NULL;
}

void stream_free(struct stream *stream) {
    drop_messages(stream);
    free(stream->head.data);
    free(stream->tail.data);
    free(stream);
}

/* Receiving */

static void set_fault(struct stream *stream, enum fault fault) {
    if (stream->fault != FAULT_NONE)
        return;
    stream->fault = fault;
    /* Further bytes of the stream are skipped. Complete messages received earlier can still be taken. */
    drop_coming(stream);
    mark_ready(stream);
}

static bool is(const uint8_t *data, size_t size, const char *text, size_t text_size) {
    return size == text_size && memcmp(data, text, size) == 0;
}
#define IS(data, size, text) is(data, size, text, sizeof(text) - 1)

bool is_reserved(const uint8_t *name, size_t size) {
    return name[0] == ':' || IS(name, size, "te") || IS(name, size, "content-type") || IS(name, size, "grpc-timeout") ||
           IS(name, size, "grpc-encoding") || IS(name, size, "grpc-accept-encoding");
}

/* Return the value of a grpc-timeout in seconds; a negative number if it is malformed. */
static double read_timeout(const uint8_t *text, size_t size) {
    if (size < 2 || size > 9)
        return -1;
    double number = 0;
    for (size_t i = 0; i < size - 1; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        number = 10 * number + (text[i] - '0');
    }
    switch (text[size - 1]) {
    case 'H': return 3600 * number;
    case 'M': return 60 * number;
    case 'S': return number;
    case 'm': return 1e-3 * number;
    case 'u': return 1e-6 * number;
    case 'n': return 1e-9 * number;
    default: return -1;
    }
}

/* Return whether a content type, apart from its parameters, means gRPC with protobuf messages. */
static bool is_grpc_type(const uint8_t *value, size_t size) {
    const char type[] = "application/grpc", proto[] = "+proto";
    size_t place = sizeof(type) - 1;
    if (size < place || memcmp(value, type, place) != 0)
        return false;
    if (size - place >= sizeof(proto) - 1 && memcmp(value + place, proto, sizeof(proto) - 1) == 0)
        place += sizeof(proto) - 1;
    return place == size || value[place] == ';' || value[place] == ' ';
}

static void look_at_header(struct stream *stream, const uint8_t *name, size_t name_size, const uint8_t *value,
                           size_t value_size) {
    if (IS(name, name_size, ":path")) {
        const struct shared *shared = stream->connection->shared;
        for (int i = 0; i < shared->path_count; i++)
            if (is(value, value_size, shared->paths[i], strlen(shared->paths[i])))
                stream->path = i;
    } else if (IS(name, name_size, ":method")) {
        stream->is_method_post = IS(value, value_size, "POST");
    } else if (IS(name, name_size, "content-type")) {
        stream->is_type_grpc = is_grpc_type(value, value_size);
    } else if (IS(name, name_size, "grpc-encoding")) {
        stream->is_encoded = !IS(value, value_size, "identity");
        stream->is_encoding_known =
            !stream->is_encoded || IS(value, value_size, "gzip") || IS(value, value_size, "deflate");
    } else if (IS(name, name_size, "grpc-timeout")) {
        stream->timeout = read_timeout(value, value_size);
        if (stream->timeout < 0)
            set_fault(stream, FAULT_TIMEOUT);
    }
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *data) {
    struct connection *connection = data;
    connection->decoded = 0;
    if (!connection->is_server || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    struct stream *stream = stream_new(connection);
    if (stream == NULL)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    stream->id = frame->hd.stream_id;
    return nghttp2_session_set_stream_user_data(session, stream->id, stream);
}

/* Mark a connection to be ended because of too many bytes of headers. `begun` is the stream of the request to refuse
 * before the connection ends, or 0 if the headers do not begin a request. */
static void set_excess_of_headers(struct connection *connection, int32_t begun) {
    connection->excess = "too large a frame other than DATA, or too many bytes of headers";
    connection->refused = begun;
}

/* Add a header to the size of its list and to the cost. Above a limit, returns an error, which stops decoding. */
static int count_header(struct connection *connection, const nghttp2_frame *frame, size_t size) {
    bool begins = connection->is_server && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
    connection->decoded += size + 32;
    connection->cost += size + 32;
    if (connection->decoded > MAX_DECODED)
        set_excess_of_headers(connection, begins ? frame->hd.stream_id : 0);
    else if (connection->cost > connection->max_cost)
        connection->excess = "frames that cost too much";
    return connection->excess == NULL ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_size,
                     const uint8_t *value, size_t value_size, uint8_t flags, void *data) {
    (void)flags;
    struct connection *connection = data;
    struct stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    int error = count_header(connection, frame, name_size + value_size);
    if (error != 0 || stream == NULL)
        return error;
    if (connection->decoded > MAX_HEADERS) {
        set_fault(stream, FAULT_HEADERS);
        return 0;
    }
    /* A client's trailers have no meaning in gRPC. */
    if (connection->is_server && frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    if (connection->is_server)
        look_at_header(stream, name, name_size, value, value_size);
    if (fields_add(&stream->head, (const char *)name, name_size, (const char *)value, value_size) != 0)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    return 0;
}

/* Count a header that HTTP/2 does not allow and libnghttp2 ignores. */
static int on_invalid_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                             size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags, void *data) {
    (void)session, (void)name, (void)value, (void)flags;
    return count_header(data, frame, name_size + value_size);
}

static void end_messages(struct stream *stream) {
    stream->has_ended = true;
    if (stream->prefix_size > 0)
        set_fault(stream, FAULT_BREAKS_OFF);
    mark_ready(stream);
}

/* Add the cost of a frame whose header has been received. */
static void spend(struct connection *connection, size_t size) {
    uint8_t type = connection->head[3], flags = connection->head[4];
    if (type == NGHTTP2_HEADERS)
        connection->cost += COST_OF_HEADERS + COST_OF_ENCODED * size;
    else if (type == NGHTTP2_CONTINUATION)
        connection->cost += COST_OF_FRAME + COST_OF_ENCODED * size;
    else if (type == NGHTTP2_WINDOW_UPDATE && connection->updates > 0)
        connection->updates--;
    else if (type != NGHTTP2_DATA || flags & NGHTTP2_FLAG_PADDED || (size == 0 && !(flags & NGHTTP2_FLAG_END_STREAM)))
        connection->cost += COST_OF_FRAME * (1 + size / 1024);
}

static bool is_of_headers(uint8_t type) {
    return type == NGHTTP2_HEADERS || type == NGHTTP2_CONTINUATION;
}

/* Check the size of a frame whose header has been received, before its body is processed. */
static void look_at_size(struct connection *connection, size_t size) {
    uint8_t type = connection->head[3];
    if (type == NGHTTP2_HEADERS)
        connection->encoded = 0;
    if (is_of_headers(type))
        connection->encoded += size;
    /* libnghttp2 itself refuses frames above STREAM_WINDOW. */
    if (type != NGHTTP2_DATA && type <= NGHTTP2_CONTINUATION && size <= STREAM_WINDOW &&
        (size > MAX_ENCODED || connection->encoded > MAX_ENCODED))
        set_excess_of_headers(connection, is_of_headers(type) ? connection->beginning : 0);
}

/* Remember that the client has ended or reset a stream. The client must not send further frames on this stream. */
static void remember_gone(struct connection *connection, int32_t id) {
    connection->gone[connection->gone_count++ % MAX_GONE] = id;
}

/* Check the stream id of a client's HEADERS frame. The client must not have skipped this id (RFC 9113, 5.1.1). */
static void look_at_begun(struct connection *connection, int32_t id) {
    if (id > connection->last_begun) {
        if (id > connection->last_begun + 2) {
            unsigned place = connection->skipped_count++ % MAX_GONE;
            connection->skipped[place].first = connection->last_begun + 2;
            connection->skipped[place].last = id - 2;
        }
        connection->last_begun = id;
        return;
    }
    for (int i = 0; i < MAX_GONE; i++)
        connection->is_skipped_used |= connection->skipped[i].first <= id && id <= connection->skipped[i].last;
}

/* Check the stream id of a frame whose header has been received. */
static void look_at_stream(struct connection *connection) {
    const uint8_t *head = connection->head;
    int32_t id = (int32_t)((head[5] & 0x7Fu) << 24 | (uint32_t)head[6] << 16 | (uint32_t)head[7] << 8 | head[8]);
    if (head[3] == NGHTTP2_RST_STREAM)
        remember_gone(connection, id);
    if (head[3] == NGHTTP2_HEADERS)
        connection->beginning = id & 1 && id > connection->last_begun ? id : 0;
    if (head[3] == NGHTTP2_HEADERS && id & 1)
        look_at_begun(connection, id);
    if (id != 0 && (head[3] == NGHTTP2_DATA || head[3] == NGHTTP2_HEADERS))
        for (int i = 0; i < MAX_GONE; i++)
            connection->is_gone_used |= connection->gone[i] == id;
}

static bool is_block_open(const struct connection *connection) {
    uint8_t type = connection->head[3], flags = connection->head[4];
    return connection->head_size == sizeof(connection->head) && !(flags & NGHTTP2_FLAG_END_HEADERS) &&
           is_of_headers(type);
}

/* Track where frames begin and end, because libnghttp2 has no callback for frames that it ignores. */
static void walk(struct connection *connection, size_t size, const uint8_t *at) {
    while (size > 0) {
        size_t part;
        if (connection->preface_left > 0) {
            part = connection->preface_left < size ? connection->preface_left : size;
            connection->preface_left -= (unsigned)part;
        } else if (connection->body_left > 0) {
            part = connection->body_left < size ? connection->body_left : size;
            connection->body_left -= part;
        } else {
            bool goes_on = is_block_open(connection);
            if (connection->head_size == sizeof(connection->head))
                connection->head_size = 0;
            if (connection->head_size == 0 && !goes_on)
                connection->began_at = connection->shared->now;
            part = sizeof(connection->head) - connection->head_size;
            if (part > size)
                part = size;
            memcpy(connection->head + connection->head_size, at, part);
            connection->head_size += (unsigned)part;
            if (connection->head_size == sizeof(connection->head)) {
                const uint8_t *head = connection->head;
                connection->body_left = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
                spend(connection, connection->body_left);
                look_at_stream(connection);
                look_at_size(connection, connection->body_left);
            }
        }
        at += part;
        size -= part;
    }
}

bool connection_is_part_way(const struct connection *connection) {
    if (is_block_open(connection))
        return true;
    if (connection->body_left > 0)
        return connection->head[3] != NGHTTP2_DATA;
    return connection->head_size > 0 && connection->head_size < sizeof(connection->head);
}

static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *head, void *data) {
    struct connection *connection = data;
    connection->current = NULL;
    if (head->type == NGHTTP2_DATA && !(head->flags & NGHTTP2_FLAG_PADDED)) {
        connection->current = nghttp2_session_get_stream_user_data(session, head->stream_id);
        connection->frame_left = head->length;
    }
    return 0;
}

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *data) {
    struct connection *connection = data;
    if (frame->hd.type == NGHTTP2_SETTINGS) {
        connection->has_begun = true;
        return 0;
    }
    if (frame->hd.type == NGHTTP2_GOAWAY) {
        size_t size = frame->goaway.opaque_data_len;
        if (size >= sizeof(connection->words))
            size = sizeof(connection->words) - 1;
        if (size > 0) {
            memcpy(connection->words, frame->goaway.opaque_data, size);
            connection->words[size] = 0;
        }
        connection->last_taken = frame->goaway.last_stream_id;
        return 0;
    }
    if (frame->hd.type == NGHTTP2_PING && frame->hd.flags & NGHTTP2_FLAG_ACK && connection->is_draining)
        connection_drain_now(connection);
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
        return 0;
    struct stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (stream == NULL)
        return 0;
    if (frame->hd.type == NGHTTP2_HEADERS) {
        if (connection->is_server && !stream->is_method_post)
            set_fault(stream, FAULT_HTTP_METHOD);
        else if (connection->is_server && !stream->is_type_grpc)
            set_fault(stream, FAULT_CONTENT_TYPE);
        else if (stream->is_encoded && !stream->is_encoding_known)
            set_fault(stream, FAULT_ENCODING);
        stream->has_head = true;
        mark_ready(stream);
    }
    if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
        end_messages(stream);
    return 0;
}

static void message_has_come(struct stream *stream) {
    struct message *message = stream->coming;
    stream->coming = NULL;
    stream->prefix_size = 0;
    if (stream->waiting == MAX_WAITING && stream->connection->is_server) {
        stream->held -= message->capacity;
        message_free(message);
        set_fault(stream, FAULT_COUNT);
        return;
    }
    if (stream->last != NULL)
        stream->last->next = message;
    else
        stream->first = message;
    stream->last = message;
    stream->waiting++;
    mark_ready(stream);
}

static size_t max_size_of(const struct stream *stream) {
    const struct shared *shared = stream->connection->shared;
    return shared->max_sizes != NULL && stream->path >= 0 ? shared->max_sizes[stream->path] : shared->max_size;
}

static int begin_message(struct stream *stream) {
    const uint8_t *prefix = stream->prefix;
    size_t size = (size_t)prefix[1] << 24 | (size_t)prefix[2] << 16 | (size_t)prefix[3] << 8 | prefix[4];
    if (prefix[0] != 0) {
        set_fault(stream, prefix[0] != 1 ? FAULT_PREFIX : stream->is_encoded ? FAULT_ENCODING : FAULT_COMPRESSED);
    } else if (size > max_size_of(stream)) {
        set_fault(stream, FAULT_SIZE);
    } else {
        stream->coming = message_new(stream->connection->shared, size);
        stream->come = 0;
        if (stream->coming == NULL)
            return NGHTTP2_ERR_NOMEM;
        stream->held += stream->coming->capacity;
        if (size == 0)
            message_has_come(stream);
    }
    return 0;
}

/* Process received bytes of messages. Bytes that were read directly into the message are not copied. */
static int take_bytes(struct stream *stream, const uint8_t *at, size_t size) {
    const uint8_t *end = at + size;
    while (at < end && stream->fault == FAULT_NONE && !(stream->is_finished && stream->connection->is_server)) {
        if (stream->prefix_size < sizeof(stream->prefix)) {
            stream->prefix[stream->prefix_size++] = *at++;
            if (stream->prefix_size == sizeof(stream->prefix) && begin_message(stream) != 0)
                return NGHTTP2_ERR_NOMEM;
            continue;
        }
        struct message *message = stream->coming;
        if (stream->come == message->capacity) {
            size_t before = message->capacity;
            message = message_grown(message);
            if (message == NULL)
                return NGHTTP2_ERR_NOMEM;
            stream->held += message->capacity - before;
            stream->coming = message;
        }
        size_t part = message->capacity - stream->come;
        if (part > (size_t)(end - at))
            part = (size_t)(end - at);
        uint8_t *target = message->content + stream->come;
        if (target != at)
            memcpy(target, at, part);
        stream->come += part;
        at += part;
        if (stream->come == message->size)
            message_has_come(stream);
    }
    return 0;
}

static int on_data_chunk(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes, size_t size,
                         void *data) {
    struct connection *connection = data;
    /* `spend` added a cost for a padded frame, because such a frame may have no data. This frame has data, so reduce
     * the cost. */
    if (flags & NGHTTP2_FLAG_PADDED && connection->cost >= COST_OF_FRAME)
        connection->cost -= COST_OF_FRAME;
    connection->frame_left -= size < connection->frame_left ? size : connection->frame_left;
    if (nghttp2_session_consume_connection(session, size) != 0)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    struct stream *stream = nghttp2_session_get_stream_user_data(session, id);
    if (stream == NULL)
        return nghttp2_session_consume_stream(session, id, size) == 0 ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
    stream->unconsumed += size;
    if (take_bytes(stream, bytes, size) != 0) {
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_ENHANCE_YOUR_CALM);
        set_fault(stream, FAULT_SIZE);
    }
    /* While a message waits, do not enlarge the window, so that the client can fill it only once. */
    if (stream->waiting == 0 || stream->fault != FAULT_NONE || !connection->is_server) {
        size = stream->unconsumed;
        stream->unconsumed = 0;
        if (nghttp2_session_consume_stream(session, id, size) != 0)
            return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    return 0;
}

struct message *stream_take(struct stream *stream) {
    struct message *message = stream->first;
    if (message == NULL)
        return NULL;
    stream->first = message->next;
    if (stream->first == NULL)
        stream->last = NULL;
    stream->waiting--;
    *message->held -= message->capacity;
    message->held = NULL;
    stream->held -= message->capacity;
    if (stream->waiting == 0 && stream->unconsumed > 0 && stream->connection != NULL) {
        nghttp2_session_consume_stream(stream->connection->session, stream->id, stream->unconsumed);
        stream->unconsumed = 0;
        mark_changed(stream->connection);
    }
    return message;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t error, void *data) {
    (void)data;
    struct stream *stream = nghttp2_session_get_stream_user_data(session, id);
    if (stream != NULL) {
        if (stream->has_ended)
            remember_gone(stream->connection, id);
        stream_close(stream, error);
    }
    return 0;
}

/* Return the position in the output (see piece.place) of the first byte that has not been sent. */
static uint64_t sent_place(const struct connection *connection) {
    return connection->out_place - (connection->out_end - connection->out_begin);
}

long connection_read(struct connection *connection, uint8_t *buffer, size_t size) {
    struct stream *stream = connection->current;
    uint8_t *target = buffer;
    if (stream != NULL && stream->coming != NULL && connection->frame_left >= LEAST_DIRECT) {
        size_t capacity = stream->coming->capacity - stream->come;
        if (capacity > connection->frame_left)
            capacity = connection->frame_left;
        if (capacity >= LEAST_DIRECT) {
            target = stream->coming->content + stream->come;
            size = capacity;
        }
    }
    ssize_t count = recv(connection->fd, target, size, MSG_DONTWAIT);
    if (count == 0)
        connection->is_at_end = true;
    if (count <= 0)
        return count == 0 || errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
    if (connection->is_server)
        walk(connection, (size_t)count, target);
    mark_changed(connection);
    if (connection->excess != NULL)
        return NGHTTP2_ERR_FLOODED;
    long error = nghttp2_session_mem_recv(connection->session, target, (size_t)count);
    if (connection->excess != NULL)
        return NGHTTP2_ERR_FLOODED;
    if (error < 0)
        return error;
    if (connection->is_gone_used)
        nghttp2_session_terminate_session(connection->session, NGHTTP2_STREAM_CLOSED);
    if (connection->is_skipped_used)
        nghttp2_session_terminate_session(connection->session, NGHTTP2_PROTOCOL_ERROR);
    if (connection->cost > connection->max_cost)
        connection->excess = "frames that cost too much";
    if (nghttp2_session_get_outbound_queue_size(connection->session) > MAX_QUEUED)
        connection->excess = "frames whose answers are not taken";
    return connection->excess == NULL ? count : NGHTTP2_ERR_FLOODED;
}

/* Sending */

static int put(struct connection *connection, const uint8_t *data, size_t size) {
    if (connection->out_begin == connection->out_end)
        connection->out_begin = connection->out_end = 0;
    if (connection->out_end + size > connection->out_capacity) {
        size_t used = connection->out_end - connection->out_begin;
        if (used > 0)
            memmove(connection->out, connection->out + connection->out_begin, used);
        connection->out_begin = 0;
        connection->out_end = used;
        if (used + size > connection->out_capacity) {
            size_t capacity = 2 * (used + size);
            uint8_t *out = realloc(connection->out, capacity);
            if (out == NULL)
                return NGHTTP2_ERR_NOMEM;
            connection->out = out;
            connection->out_capacity = capacity;
        }
    }
    memcpy(connection->out + connection->out_end, data, size);
    connection->out_end += size;
    connection->out_place += size;
    connection->unsent += size;
    return 0;
}

static int put_lent(struct connection *connection, const uint8_t *data, size_t size, void *lender) {
    struct piece *piece = malloc(sizeof(struct piece));
    if (piece == NULL)
        return NGHTTP2_ERR_NOMEM;
    *piece = (struct piece){NULL, data, size, lender, connection->out_place};
    if (connection->last_lent != NULL)
        connection->last_lent->next = piece;
    else
        connection->first_lent = piece;
    connection->last_lent = piece;
    connection->unsent += size;
    return 0;
}

static ssize_t on_read(nghttp2_session *session, int32_t id, uint8_t *buffer, size_t size, uint32_t *flags,
                       nghttp2_data_source *source, void *data) {
    (void)buffer, (void)data;
    struct stream *stream = source->ptr;
    size_t count = stream->to_send < size ? stream->to_send : size;
    if (count == 0 && !stream->is_finished) {
        stream->waits = true;
        return NGHTTP2_ERR_DEFERRED;
    }
    *flags = NGHTTP2_DATA_FLAG_NO_COPY;
    if (stream->is_finished && count == stream->to_send) {
        nghttp2_nv trailers[MAX_TRAILERS];
        size_t number = fields_list(&stream->tail, trailers, MAX_TRAILERS, NGHTTP2_NV_FLAG_NO_INDEX);
        *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
        if (nghttp2_submit_trailer(session, id, trailers, number) != 0)
            return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    return (ssize_t)count;
}

static ssize_t on_read_length(nghttp2_session *session, uint8_t type, int32_t id, int32_t connection_window,
                              int32_t stream_window, uint32_t largest_frame, void *data) {
    (void)type, (void)connection_window, (void)stream_window;
    struct stream *stream = nghttp2_session_get_stream_user_data(session, id);
    size_t size = stream == NULL ? 0 : stream->to_send;
    if (size > largest_frame)
        size = largest_frame;
    if (size > MAX_DATA_FRAME && ((const struct connection *)data)->is_server)
        size = MAX_DATA_FRAME;
    return size > 0 ? (ssize_t)size : 1;
}

static int on_send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head, size_t size,
                        nghttp2_data_source *source, void *data) {
    (void)session, (void)frame;
    struct connection *connection = data;
    struct stream *stream = source->ptr;
    if (connection->unsent >= ENOUGH)
        return NGHTTP2_ERR_WOULDBLOCK;
    int error = put(connection, head, 9);
    while (size > 0 && error == 0) {
        struct piece *piece = stream->first_piece;
        size_t part = piece->size < size ? piece->size : size;
        bool is_last = part == piece->size;
        if (piece->lender == NULL)
            error = put(connection, piece->data, part);
        else
            error = put_lent(connection, piece->data, part, is_last ? piece->lender : NULL);
        if (error != 0)
            break;
        size -= part;
        stream->to_send -= part;
        connection->to_send -= part;
        piece->data += part;
        piece->size -= part;
        if (is_last) {
            stream->first_piece = piece->next;
            if (stream->first_piece == NULL)
                stream->last_piece = NULL;
            free(piece);
        }
    }
    /* Notify the stream's owner that it can send more. */
    if (stream->to_send == 0 && !stream->is_finished)
        mark_ready(stream);
    return error == 0 ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *data) {
    struct connection *connection = data;
    if (frame->hd.type == NGHTTP2_DATA && connection->updates < MAX_UPDATES)
        connection->updates += UPDATES;
    if (!connection->is_server || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        return 0;
    struct stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    /* Ask the client to stop sending, because its further data would not be read. */
    if (stream != NULL && !stream->has_ended)
        return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_NO_ERROR);
    return 0;
}

/* Fill `parts` with the next bytes to send. Returns the number of parts. */
static int next_parts(const struct connection *connection, struct iovec *parts) {
    uint64_t place = sent_place(connection);
    const struct piece *lent = connection->first_lent;
    const uint8_t *at = connection->out + connection->out_begin;
    int count = 0;
    while (count < MAX_PIECES) {
        if (lent != NULL && lent->place == place) {
            parts[count++] = (struct iovec){(void *)lent->data, lent->size};
            lent = lent->next;
            continue;
        }
        size_t size = (size_t)((lent != NULL ? lent->place : connection->out_place) - place);
        if (size == 0)
            break;
        parts[count++] = (struct iovec){(void *)at, size};
        at += size;
        place += size;
    }
    return count;
}

static void drop_sent(struct connection *connection, size_t sent) {
    connection->unsent -= sent;
    while (sent > 0) {
        struct piece *lent = connection->first_lent;
        if (lent != NULL && lent->place == sent_place(connection)) {
            size_t part = sent < lent->size ? sent : lent->size;
            lent->data += part;
            lent->size -= part;
            sent -= part;
            if (lent->size == 0) {
                connection->first_lent = lent->next;
                if (lent->next == NULL)
                    connection->last_lent = NULL;
                release(connection->shared, lent);
            }
            continue;
        }
        size_t size = connection->out_end - connection->out_begin;
        if (lent != NULL && size > (size_t)(lent->place - sent_place(connection)))
            size = (size_t)(lent->place - sent_place(connection));
        if (size > sent)
            size = sent;
        connection->out_begin += size;
        sent -= size;
    }
}

static long write_all(struct connection *connection) {
    while (!connection->is_broken) {
        const uint8_t *frame;
        ssize_t size = 1;
        while (connection->unsent < ENOUGH && (size = nghttp2_session_mem_send(connection->session, &frame)) > 0)
            if (put(connection, frame, (size_t)size) != 0)
                return NGHTTP2_ERR_NOMEM;
        if (size < 0)
            return size;
        if (connection->unsent == 0) {
            if (connection->out_capacity > MAX_CAPACITY) {
                free(connection->out);
                connection->out = NULL;
                connection->out_begin = connection->out_end = connection->out_capacity = 0;
            }
            return 0;
        }
        struct iovec parts[MAX_PIECES];
        struct msghdr message = {.msg_iov = parts};
        message.msg_iovlen = (size_t)next_parts(connection, parts);
        ssize_t sent = sendmsg(connection->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) {
            if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
                return 0;
            connection->is_broken = true;
            return -1;
        }
        drop_sent(connection, (size_t)sent);
    }
    return -1;
}

long connection_write(struct connection *connection) {
    long error = write_all(connection);
    connection->left = connection->unsent + connection->to_send;
    return error;
}

bool connection_is_behind(const struct connection *connection) {
    return connection->left > 0 || connection->unsent + connection->to_send > SLOW;
}

int stream_begin_message(struct stream *stream, size_t size) {
    uint8_t prefix[5] = {0, (uint8_t)(size >> 24), (uint8_t)(size >> 16), (uint8_t)(size >> 8), (uint8_t)size};
    return stream_copy(stream, prefix, sizeof(prefix));
}

static void add_piece(struct stream *stream, struct piece *piece) {
    if (stream->last_piece != NULL)
        stream->last_piece->next = piece;
    else
        stream->first_piece = piece;
    stream->last_piece = piece;
    stream->to_send += piece->size;
    if (stream->connection != NULL)
        stream->connection->to_send += piece->size;
}

int stream_copy(struct stream *stream, const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    struct piece *piece = malloc(sizeof(struct piece) + size);
    if (piece == NULL)
        return NGHTTP2_ERR_NOMEM;
    *piece = (struct piece){NULL, piece->own, size, NULL, 0};
    memcpy(piece->own, data, size);
    add_piece(stream, piece);
    return 0;
}

int stream_lend(struct stream *stream, const uint8_t *data, size_t size, void *lender) {
    struct piece *piece = malloc(sizeof(struct piece));
    if (piece == NULL)
        return NGHTTP2_ERR_NOMEM;
    *piece = (struct piece){NULL, data, size, lender, 0};
    add_piece(stream, piece);
    return 0;
}

int stream_push(struct stream *stream) {
    if (stream->connection == NULL)
        return 0;
    mark_changed(stream->connection);
    if (!stream->waits)
        return 0;
    stream->waits = false;
    return nghttp2_session_resume_data(stream->connection->session, stream->id);
}

int stream_answer(struct stream *stream, const char *language) {
    if (stream->connection == NULL || stream->is_answered)
        return 0;
    nghttp2_nv head[] = {
        FIELD(":status", "200"), FIELD("content-type", "application/grpc"), FIELD("content-language", "")};
    head[2].value = (uint8_t *)language;
    head[2].valuelen = strlen(language);
    head[2].flags = NGHTTP2_NV_FLAG_NO_COPY_NAME;
    nghttp2_data_provider source = {{.ptr = stream}, on_read};
    stream->is_answered = true;
    mark_changed(stream->connection);
    return nghttp2_submit_response(stream->connection->session, stream->id, head, language[0] ? 3 : 2, &source);
}

int stream_finish(struct stream *stream) {
    if (stream->connection == NULL || stream->is_finished)
        return 0;
    stream->is_finished = true;
    drop_messages(stream);
    mark_changed(stream->connection);
    if (stream->is_answered && stream->to_send > 0)
        return stream_push(stream);
    if (stream->is_answered) {
        /* Send the trailers immediately: unlike DATA frames, they do not have to wait for the client's window. */
        nghttp2_nv trailers[MAX_TRAILERS];
        size_t number = fields_list(&stream->tail, trailers, MAX_TRAILERS, NGHTTP2_NV_FLAG_NO_INDEX);
        return nghttp2_submit_trailer(stream->connection->session, stream->id, trailers, number);
    }
    stream->is_answered = true;
    nghttp2_nv head[2 + MAX_TRAILERS] = {FIELD(":status", "200"), FIELD("content-type", "application/grpc")};
    size_t count = 2 + fields_list(&stream->tail, head + 2, MAX_TRAILERS, NGHTTP2_NV_FLAG_NO_INDEX);
    return nghttp2_submit_response(stream->connection->session, stream->id, head, count, NULL);
}

int stream_refuse(struct stream *stream, const char *status) {
    if (stream->connection == NULL || stream->is_answered)
        return 0;
    nghttp2_nv head = {(uint8_t *)":status", (uint8_t *)status, 7, 3, NGHTTP2_NV_FLAG_NONE};
    stream->is_answered = stream->is_finished = true;
    drop_messages(stream);
    mark_changed(stream->connection);
    return nghttp2_submit_response(stream->connection->session, stream->id, &head, 1, NULL);
}

struct stream *stream_request(struct connection *connection, const struct fields *head) {
    nghttp2_nv list[32];
    size_t count = fields_list(head, list, 32, NGHTTP2_NV_FLAG_NONE);
    struct stream *stream = stream_new(connection);
    if (stream == NULL)
        return NULL;
    nghttp2_data_provider source = {{.ptr = stream}, on_read};
    stream->id = nghttp2_submit_request(connection->session, NULL, list, count, &source, stream);
    if (stream->id < 0) {
        stream_close(stream, NGHTTP2_INTERNAL_ERROR);
        next_ready(connection->shared);
        stream_free(stream);
        return NULL;
    }
    mark_changed(connection);
    return stream;
}

void stream_reset(struct stream *stream, uint32_t error) {
    if (stream->connection == NULL)
        return;
    mark_changed(stream->connection);
    nghttp2_submit_rst_stream(stream->connection->session, NGHTTP2_FLAG_NONE, stream->id, error);
}

/* The connection */

static nghttp2_session_callbacks *callbacks_new(void) {
    nghttp2_session_callbacks *callbacks;
    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        return NULL;
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks, on_invalid_header);
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, on_begin_frame);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
    nghttp2_session_callbacks_set_send_data_callback(callbacks, on_send_data);
    nghttp2_session_callbacks_set_data_source_read_length_callback(callbacks, on_read_length);
    return callbacks;
}

static int session_new(struct connection *connection) {
    nghttp2_session_callbacks *callbacks = callbacks_new();
    nghttp2_option *option = NULL;
    int error = callbacks == NULL ? NGHTTP2_ERR_NOMEM : nghttp2_option_new(&option);
    if (error == 0) {
        nghttp2_option_set_no_auto_window_update(option, 1);
        /* By default, libnghttp2 keeps a thousand closed streams of a connection. `gone` has the relevant ones. */
        nghttp2_option_set_no_closed_streams(option, 1);
        /* Accept values that end in a space, such as "Bearer " without a token. The service reports a better error. */
        nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(option, 1);
        error = (connection->is_server ? nghttp2_session_server_new2 : nghttp2_session_client_new2)(
            &connection->session, callbacks, connection, option);
    }
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    return error;
}

static int say_settings(struct connection *connection, uint32_t max_streams) {
    nghttp2_settings_entry of_server[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, max_streams},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
        {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, STREAM_WINDOW},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, MAX_HEADERS},
    };
    nghttp2_settings_entry of_client[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, MAX_WINDOW},
        {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, MAX_FRAME},
    };
    int error = connection->is_server ? nghttp2_submit_settings(connection->session, NGHTTP2_FLAG_NONE, of_server, 4)
                                      : nghttp2_submit_settings(connection->session, NGHTTP2_FLAG_NONE, of_client, 3);
    if (error != 0)
        return error;
    int32_t window = connection->is_server ? CONNECTION_WINDOW : MAX_WINDOW;
    return nghttp2_session_set_local_window_size(connection->session, NGHTTP2_FLAG_NONE, 0, window);
}

struct connection *connection_new(struct shared *shared, int fd, bool is_server, uint32_t max_streams) {
    struct connection *found = calloc(1, sizeof(struct connection));
    if (found == NULL)
        return NULL;
    found->shared = shared;
    found->fd = fd;
    found->is_server = is_server;
    mark_changed(found);
    found->last_taken = -1;
    found->last_begun = -1;
    found->max_cost = UINT64_MAX;
    found->began_at = shared->now;
    found->preface_left = is_server ? NGHTTP2_CLIENT_MAGIC_LEN : 0;
    if (session_new(found) != 0 || say_settings(found, max_streams) != 0) {
        connection_free(found);
        return NULL;
    }
    return found;
}

static void leave_changed(struct connection *connection) {
    struct connection **place = &connection->shared->changed;
    if (!connection->is_changed)
        return;
    while (*place != connection)
        place = &(*place)->next_changed;
    *place = connection->next_changed;
    connection->is_changed = false;
}

static void move_message(struct message *message, struct shared *to) {
    *message->held -= message->capacity;
    message->held = &to->held;
    to->held += message->capacity;
}

void connection_move(struct connection *connection, struct shared *to) {
    leave_changed(connection);
    for (struct stream *each = connection->streams; each != NULL; each = each->next) {
        if (each->coming != NULL)
            move_message(each->coming, to);
        for (struct message *message = each->first; message != NULL; message = message->next)
            move_message(message, to);
    }
    connection->shared = to;
    mark_changed(connection);
}

void connection_free(struct connection *connection) {
    leave_changed(connection);
    nghttp2_session_del(connection->session);
    while (connection->streams != NULL)
        stream_close(connection->streams, NGHTTP2_CANCEL);
    while (connection->first_lent != NULL) {
        struct piece *lent = connection->first_lent;
        connection->first_lent = lent->next;
        release(connection->shared, lent);
    }
    free(connection->out);
    free(connection);
}

bool connection_is_over(const struct connection *connection) {
    return connection->unsent == 0 && !nghttp2_session_want_read(connection->session) &&
           !nghttp2_session_want_write(connection->session);
}

/* Refuse the request whose headers are too large. The frame is built here, because libnghttp2 has not received the
 * whole request. Its fields are literals without indexing, so that they do not depend on the state of header
 * compression. */
static void refuse_headers(struct connection *connection) {
    const char fields[] = "\x88"                                 /* :status: 200, from the static table */
                          "\x0F\x10\x10" "application/grpc"      /* content-type, its name from the static table */
                          "\x00\x0B" "grpc-status" "\x01" "8"    /* RESOURCE_EXHAUSTED */
                          "\x00\x0C" "grpc-message" "\x31" "limit exceeded: bytes of metadata (at most 16384)";
    const size_t size = sizeof(fields) - 1;
    uint32_t id = (uint32_t)connection->refused;
    uint8_t head[] = {0, 0, (uint8_t)size, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM | NGHTTP2_FLAG_END_HEADERS,
                      (uint8_t)(id >> 24), (uint8_t)(id >> 16), (uint8_t)(id >> 8), (uint8_t)id};
    _Static_assert(sizeof(fields) <= 256, "the size fits in one byte");
    _Static_assert(MAX_HEADERS == 16384, "the text states the limit");
    /* If there is no memory, the connection is ended without a refusal. */
    if (put(connection, head, sizeof(head)) == 0)
        put(connection, (const uint8_t *)fields, size);
}

void connection_leave(struct connection *connection, uint32_t error, const char *words) {
    int32_t last = nghttp2_session_get_last_proc_stream_id(connection->session);
    mark_changed(connection);
    if (connection->refused > 0) {
        refuse_headers(connection);
        /* A smaller last stream id would mean that the request was not processed, and the client would retry it. */
        last = connection->refused > last ? connection->refused : last;
    }
    /* The first GOAWAY frame has the debug data. The second one, which libnghttp2 sends unless it has already ended the
     * session, ends the session. */
    nghttp2_submit_goaway(connection->session, NGHTTP2_FLAG_NONE, last, error, (const uint8_t *)words, strlen(words));
    nghttp2_session_terminate_session2(connection->session, last, error);
}

void connection_drain(struct connection *connection) {
    connection->is_draining = true;
    nghttp2_submit_shutdown_notice(connection->session);
    nghttp2_submit_ping(connection->session, NGHTTP2_FLAG_NONE, NULL);
    mark_changed(connection);
}

void connection_drain_now(struct connection *connection) {
    const char words[] = "begin new calls on another connection";
    if (!connection->is_draining)
        return;
    connection->is_draining = false;
    nghttp2_submit_goaway(connection->session, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(connection->session), NGHTTP2_NO_ERROR,
                          (const uint8_t *)words, sizeof(words) - 1);
    mark_changed(connection);
}

size_t connection_copied(const struct connection *connection) {
    return connection->out_end - connection->out_begin;
}
