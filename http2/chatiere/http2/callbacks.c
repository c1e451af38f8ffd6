/* The callbacks of nghttp2: headers, messages and ends of streams that arrive, and the data to send. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* UPDATES is the number of WINDOW_UPDATE frames that may answer a DATA frame: one for the stream and one for the
 * connection. MAX_UPDATES limits the number of answers that are expected at the same time. */
#define UPDATES 2
#define MAX_UPDATES 10000
/* The maximum size of a DATA frame that a server sends, in bytes. It is limited because libnghttp2 allocates a buffer
 * of the frame's size for each connection, although the buffer is not used. */
#define MAX_DATA_FRAME (256 * 1024)

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
            stream_set_fault(stream, FAULT_TIMEOUT);
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

/* Add a header to the size of its list and to the cost. Above a limit, returns an error, which stops decoding. */
static int count_header(struct connection *connection, const nghttp2_frame *frame, size_t size) {
    bool begins = connection->is_server && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
    connection->decoded += size + 32;
    connection->cost += size + 32;
    if (connection->decoded > MAX_DECODED)
        frames_set_excess_of_headers(connection, begins ? frame->hd.stream_id : 0);
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
        stream_set_fault(stream, FAULT_HEADERS);
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
            stream_set_fault(stream, FAULT_HTTP_METHOD);
        else if (connection->is_server && !stream->is_type_grpc)
            stream_set_fault(stream, FAULT_CONTENT_TYPE);
        else if (stream->is_encoded && !stream->is_encoding_known)
            stream_set_fault(stream, FAULT_ENCODING);
        stream->has_head = true;
        stream_mark_ready(stream);
    }
    if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
        messages_end(stream);
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
    if (messages_take_bytes(stream, bytes, size) != 0) {
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_ENHANCE_YOUR_CALM);
        stream_set_fault(stream, FAULT_SIZE);
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

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t error, void *data) {
    (void)data;
    struct stream *stream = nghttp2_session_get_stream_user_data(session, id);
    if (stream != NULL) {
        if (stream->has_ended)
            frames_remember_gone(stream->connection, id);
        stream_close(stream, error);
    }
    return 0;
}

ssize_t on_read(nghttp2_session *session, int32_t id, uint8_t *buffer, size_t size, uint32_t *flags,
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
    int error = output_put(connection, head, 9);
    while (size > 0 && error == 0) {
        struct piece *piece = stream->first_piece;
        size_t part = piece->size < size ? piece->size : size;
        bool is_last = part == piece->size;
        if (piece->lender == NULL)
            error = output_put(connection, piece->data, part);
        else
            error = output_put_lent(connection, piece->data, part, is_last ? piece->lender : NULL);
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
        stream_mark_ready(stream);
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

nghttp2_session_callbacks *callbacks_new(void) {
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
