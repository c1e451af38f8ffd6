/* The frames that a client sends, as raw bytes: where they begin and end, their costs, sizes and stream ids. */
#include "internal.h"

#include <string.h>

void frames_set_excess_of_headers(struct connection *connection, int32_t begun) {
    connection->excess = "too large a frame other than DATA, or too many bytes of headers";
    connection->refused = begun;
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
        frames_set_excess_of_headers(connection, is_of_headers(type) ? connection->beginning : 0);
}

void frames_remember_gone(struct connection *connection, int32_t id) {
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
        frames_remember_gone(connection, id);
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

void frames_walk(struct connection *connection, size_t size, const uint8_t *at) {
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
