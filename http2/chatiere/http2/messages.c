/* The messages that a stream receives. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* The maximum number of bytes that are allocated for a message before its first byte arrives. It is limited because a
 * client may declare a false length. */
#define TRUSTED (2 * 1024 * 1024)

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

static void drop_coming(struct stream *stream) {
    if (stream->coming != NULL)
        stream->held -= stream->coming->capacity;
    message_free(stream->coming);
    stream->coming = NULL;
}

void messages_drop(struct stream *stream) {
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

void stream_set_fault(struct stream *stream, enum fault fault) {
    if (stream->fault != FAULT_NONE)
        return;
    stream->fault = fault;
    /* Further bytes of the stream are skipped. Complete messages received earlier can still be taken. */
    drop_coming(stream);
    stream_mark_ready(stream);
}

void messages_end(struct stream *stream) {
    stream->has_ended = true;
    if (stream->prefix_size > 0)
        stream_set_fault(stream, FAULT_BREAKS_OFF);
    stream_mark_ready(stream);
}

static void message_has_come(struct stream *stream) {
    struct message *message = stream->coming;
    stream->coming = NULL;
    stream->prefix_size = 0;
    if (stream->waiting == MAX_WAITING && stream->connection->is_server) {
        stream->held -= message->capacity;
        message_free(message);
        stream_set_fault(stream, FAULT_COUNT);
        return;
    }
    if (stream->last != NULL)
        stream->last->next = message;
    else
        stream->first = message;
    stream->last = message;
    stream->waiting++;
    stream_mark_ready(stream);
}

static size_t max_size_of(const struct stream *stream) {
    const struct shared *shared = stream->connection->shared;
    return shared->max_sizes != NULL && stream->path >= 0 ? shared->max_sizes[stream->path] : shared->max_size;
}

static int begin_message(struct stream *stream) {
    const uint8_t *prefix = stream->prefix;
    size_t size = (size_t)prefix[1] << 24 | (size_t)prefix[2] << 16 | (size_t)prefix[3] << 8 | prefix[4];
    if (prefix[0] != 0) {
        stream_set_fault(stream, prefix[0] != 1 ? FAULT_PREFIX : stream->is_encoded ? FAULT_ENCODING : FAULT_COMPRESSED);
    } else if (size > max_size_of(stream)) {
        stream_set_fault(stream, FAULT_SIZE);
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

int messages_take_bytes(struct stream *stream, const uint8_t *at, size_t size) {
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
        connection_mark_changed(stream->connection);
    }
    return message;
}
