/* The service behind an endpoint, like chatiere.http2.server. It handles calls at random. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

/* Smaller pieces of messages are copied. */
#define COPIED 1024

struct call {
    struct call *next, *before;
    struct service *service;
    struct stream *stream; /* NULL once it is over */
    unsigned loans;
    bool has_moved;
};

struct loan {
    struct call *call;
    size_t size;
    uint8_t content[];
};

size_t sent_bytes, lent_bytes;

static void check(int error) {
    if (error != 0)
        fail("no memory, says libnghttp2");
}

static void call_free(struct call *call) {
    if (call->stream != NULL || call->loans > 0)
        return;
    if (call->before != NULL)
        call->before->next = call->next;
    else
        call->service->calls = call->next;
    if (call->next != NULL)
        call->next->before = call->before;
    call->service->call_count--;
    free(call);
}

static struct call *call_new(struct service *service, struct stream *stream) {
    struct call *found = calloc(1, sizeof(struct call));
    found->service = service;
    found->stream = stream;
    found->next = service->calls;
    if (found->next != NULL)
        found->next->before = found;
    service->calls = found;
    service->call_count++;
    counts_of_all.calls++;
    counts_of_all.faults += stream->fault != FAULT_NONE;
    free(stream->head.data);
    stream->head = (struct fields){0};
    stream->owner = found;
    stream->is_watched = one_in(2);
    return found;
}

static void call_is_over(struct stream *stream) {
    struct call *call = stream->owner;
    if (call->stream != stream || !stream->is_closed || stream->connection != NULL)
        fail("a stream is finished twice");
    call->stream = NULL;
    stream_free(stream);
    call_free(call);
}

void send_message(struct stream *stream, struct call *call) {
    static const unsigned SIZES[] = {1, 20, 20, 200, 200, 200, 5000, 150 * 1024, MAX_SENT};
    size_t size = below(SIZES[below(one_in(8) ? 9 : 7)]);
    check(stream_begin_message(stream, size));
    const uint8_t *content = pattern + (stream->id & 255);
    sent_bytes += size;
    while (size > 0) {
        size_t part = one_in(2) ? size : 1 + below((unsigned)size);
        if (part < COPIED || one_in(4)) {
            check(stream_copy(stream, content, part));
        } else {
            struct loan *found = malloc(sizeof(struct loan) + part);
            found->call = call;
            found->size = part;
            lent_bytes += part;
            if (call != NULL)
                call->loans++;
            memcpy(found->content, content, part);
            check(stream_lend(stream, found->content, part, found));
        }
        content += part;
        size -= part;
    }
}

void give_back(struct shared *shared) {
    while (shared->released != NULL) {
        struct piece *released = shared->released;
        shared->released = released->next;
        struct loan *found = released->lender;
        struct call *call = found->call;
        lent_bytes -= found->size;
        free(released);
        free(found);
        if (call != NULL) {
            call->loans--;
            call_free(call);
        }
    }
}

static void finish(struct stream *stream) {
    for (unsigned i = below(4); i > 0; i--)
        check(fields_add(&stream->tail, "grpc-status", 11, "0", 1));
    check(stream_finish(stream));
}

void stream_take_some(struct stream *stream) {
    struct message *found;
    for (unsigned i = below(one_in(50) ? 2000 : 8); i > 0 && (found = stream_take(stream)) != NULL; i--) {
        counts_of_all.messages++;
        message_free(found);
    }
}

/* Take a message, and keep it beyond the call. */
static void keep(struct service *service, struct stream *stream) {
    struct message *found = stream_take(stream);
    if (found == NULL)
        return;
    counts_of_all.messages++;
    found->next = service->kept;
    service->kept = found;
}

void service_forget_messages(struct service *service) {
    while (service->kept != NULL) {
        struct message *found = service->kept;
        service->kept = found->next;
        message_free(found);
    }
}

/* Move a call as Call.move does. */
static void move(struct call *call, struct endpoint *to) {
    struct connection *connection = call->stream->connection;
    if (to == NULL || connection == NULL || connection->stream_count != 1 || connection->first_lent != NULL ||
        connection->shared == &to->shared)
        return;
    if (endpoint_adopt(to, connection)) {
        call->has_moved = true;
        counts_of_all.moves++;
    }
}

/* Perform a random operation on a call. */
static void act(struct call *call) {
    struct stream *stream = call->stream;
    if (stream == NULL)
        return;
    bool is_open = stream->connection != NULL && !stream->is_finished;
    switch (below(12)) {
    case 0:
    case 1: stream_take_some(stream); break;
    case 2: keep(call->service, stream); break;
    case 3: stream->is_watched = !stream->is_watched; break;
    case 4:
    case 5:
    case 6:
        if (!is_open || (connection_is_behind(stream->connection) && !one_in(8)))
            break;
        check(stream_answer(stream, one_in(2) ? "" : "fr"));
        send_message(stream, call);
        check(stream_push(stream));
        counts_of_all.answers++;
        break;
    case 7:
        if (is_open) {
            check(stream_answer(stream, ""));
            send_message(stream, call);
            finish(stream);
            counts_of_all.answers++;
        }
        break;
    case 8:
        if (is_open)
            finish(stream);
        break;
    case 9:
        check(stream_refuse(stream, "415"));
        counts_of_all.refusals++;
        break;
    case 10:
        stream_reset(stream, below(14));
        counts_of_all.resets++;
        break;
    default: break;
    }
}

void service_act(struct service *service) {
    if (service->call_count == 0)
        return;
    struct call *found = service->calls;
    for (unsigned i = below(service->call_count); i > 0; i--)
        found = found->next;
    act(found);
}

void service_finish(struct service *service) {
    for (struct call *each = service->calls; each != NULL; each = each->next)
        if (each->stream != NULL)
            finish(each->stream);
}

void service_look(struct service *service, struct endpoint *endpoint) {
    struct stream *found;
    give_back(&endpoint->shared);
    while ((found = next_finished(&endpoint->shared)) != NULL)
        call_is_over(found);
    while ((found = next_ready(&endpoint->shared)) != NULL) {
        struct call *call = found->owner;
        if (call != NULL) {
            if (found->is_watched)
                act(call);
        } else if (found->is_closed) {
            /* It was closed before the service has handled it. */
            stream_free(found);
            continue;
        } else if (!found->has_head) {
            continue;
        } else {
            call = call_new(service, found);
            if (peer_name(found->connection)[0] != 'i')
                fail("a client without a name");
            if (one_in(8))
                move(call, service->second);
            else if (!one_in(4))
                act(call);
            if (call->has_moved) {
                call->has_moved = false;
                continue;
            }
        }
        if (found->is_closed)
            call_is_over(found);
    }
    give_back(&endpoint->shared);
}
