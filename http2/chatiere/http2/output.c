/* The output of a connection: copied bytes, lent pieces between them, and writing both to the socket. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

/* The maximum size of an output buffer that is kept for reuse, in bytes. */
#define MAX_CAPACITY (1024 * 1024)
/* The maximum number of pieces that one call of sendmsg writes. */
#define MAX_PIECES 64
/* The number of unsent bytes above which a client is considered slow to read its responses. */
#define SLOW (256 * 1024)

void piece_release(struct shared *shared, struct piece *piece) {
    if (piece->lender == NULL) {
        free(piece);
        return;
    }
    piece->next = shared->released;
    shared->released = piece;
}

int output_put(struct connection *connection, const uint8_t *data, size_t size) {
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

int output_put_lent(struct connection *connection, const uint8_t *data, size_t size, void *lender) {
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

void output_keep_begun_piece(struct stream *stream) {
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

/* Return the position in the output (see piece.place) of the first byte that has not been sent. */
static uint64_t sent_place(const struct connection *connection) {
    return connection->out_place - (connection->out_end - connection->out_begin);
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
                piece_release(connection->shared, lent);
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
            if (output_put(connection, frame, (size_t)size) != 0)
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

size_t connection_copied(const struct connection *connection) {
    return connection->out_end - connection->out_begin;
}
