/* A connection, from its settings to its end, and reading from its socket. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* The maximum sizes of a frame and of a window in HTTP/2, in bytes. */
#define MAX_FRAME ((1 << 24) - 1)
#define MAX_WINDOW 2147483647
/* The flow-control window of a server's connection, in bytes. */
#define CONNECTION_WINDOW (16 * 1024 * 1024)
/* The minimum number of bytes that are read directly into a message, instead of into the buffer. */
#define LEAST_DIRECT 4096
/* The maximum number of frames that wait in libnghttp2. Without this limit, a client that does not read its responses
 * could make the queue grow indefinitely. */
#define MAX_QUEUED 10000

void connection_mark_changed(struct connection *connection) {
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
    connection_mark_changed(found);
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
    connection_mark_changed(connection);
}

void connection_free(struct connection *connection) {
    leave_changed(connection);
    nghttp2_session_del(connection->session);
    while (connection->streams != NULL)
        stream_close(connection->streams, NGHTTP2_CANCEL);
    while (connection->first_lent != NULL) {
        struct piece *lent = connection->first_lent;
        connection->first_lent = lent->next;
        piece_release(connection->shared, lent);
    }
    free(connection->out);
    free(connection);
}

bool connection_is_over(const struct connection *connection) {
    return connection->unsent == 0 && !nghttp2_session_want_read(connection->session) &&
           !nghttp2_session_want_write(connection->session);
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
        frames_walk(connection, (size_t)count, target);
    connection_mark_changed(connection);
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
    if (output_put(connection, head, sizeof(head)) == 0)
        output_put(connection, (const uint8_t *)fields, size);
}

void connection_leave(struct connection *connection, uint32_t error, const char *words) {
    int32_t last = nghttp2_session_get_last_proc_stream_id(connection->session);
    connection_mark_changed(connection);
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
    connection_mark_changed(connection);
}

void connection_drain_now(struct connection *connection) {
    const char words[] = "begin new calls on another connection";
    if (!connection->is_draining)
        return;
    connection->is_draining = false;
    nghttp2_submit_goaway(connection->session, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(connection->session), NGHTTP2_NO_ERROR,
                          (const uint8_t *)words, sizeof(words) - 1);
    connection_mark_changed(connection);
}
