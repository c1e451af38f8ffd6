/* A stream: its headers, the pieces that it sends, its response and its end. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

#define NO_COPY (NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE)
#define FIELD(name, value)                                                                                             \
    { (uint8_t *)(name), (uint8_t *)(value), sizeof(name) - 1, sizeof(value) - 1, NO_COPY }

void stream_mark_ready(struct stream *stream) {
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

size_t fields_list(const struct fields *fields, nghttp2_nv *list, size_t most, uint8_t flags) {
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

struct stream *stream_new(struct connection *connection) {
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
        piece_release(shared, piece);
    }
    stream->last_piece = NULL;
    stream->connection->to_send -= stream->to_send;
    stream->to_send = 0;
}

void stream_close(struct stream *stream, uint32_t error) {
    struct connection *connection = stream->connection;
    if (stream->owner != NULL && !stream->is_watched && !stream->is_ready) {
        stream->next_ready = connection->shared->finished;
        connection->shared->finished = stream;
    } else {
        stream_mark_ready(stream);
    }
    stream->is_closed = true;
    stream->error = error;
    output_keep_begun_piece(stream);
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
    messages_drop(stream);
    free(stream->head.data);
    free(stream->tail.data);
    free(stream);
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
    connection_mark_changed(stream->connection);
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
    connection_mark_changed(stream->connection);
    return nghttp2_submit_response(stream->connection->session, stream->id, head, language[0] ? 3 : 2, &source);
}

int stream_finish(struct stream *stream) {
    if (stream->connection == NULL || stream->is_finished)
        return 0;
    stream->is_finished = true;
    messages_drop(stream);
    connection_mark_changed(stream->connection);
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
    messages_drop(stream);
    connection_mark_changed(stream->connection);
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
    connection_mark_changed(connection);
    return stream;
}

void stream_reset(struct stream *stream, uint32_t error) {
    if (stream->connection == NULL)
        return;
    connection_mark_changed(stream->connection);
    nghttp2_submit_rst_stream(stream->connection->session, NGHTTP2_FLAG_NONE, stream->id, error);
}
