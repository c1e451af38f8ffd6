/* Runs millions of conversations of clients with an endpoint, and of a service with a client. After each of them, all
 * memory must be released, no message may be lost, and all connections must be closed. */
#include "fuzz.h"

#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_CLIENTS 6
/* The time limit in seconds for this number of conversations. */
#define LIMIT 60
#define TOGETHER 256
/* The bytes of memory that a connection may use in addition to the script and the connection's messages. Up to 10,000
 * frames may wait in libnghttp2. */
#define MAX_MEMORY (4 * 1024 * 1024)
/* The same for our client. It allows frames of 16 MB, and libnghttp2 needs 8 bytes for each 6 of a SETTINGS frame. */
#define MAX_MEMORY_OF_CLIENT (24 * 1024 * 1024)
#define MAX_TURNS 4000

/* From sanitizer/allocator_interface.h. gcc does not provide this header. */
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *at);
int __real_clock_gettime(clockid_t clock, struct timespec *now);

static const char *const PATHS[] = {"/chatiere.v1.GameService/Apply", "/chatiere.v1.BatchService/Play", "/"};
#define PATH_COUNT 3

struct counts counts_of_all;
const uint8_t *pattern;
static uint64_t current_seed, state;

void seed_chance(uint64_t seed) { state = seed; }

/* SplitMix64. */
uint64_t word(void) {
    uint64_t mixed = state += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return mixed ^ mixed >> 31;
}

unsigned below(unsigned number) { return number == 0 ? 0 : (unsigned)((word() >> 32) * number >> 32); }

bool one_in(unsigned number) { return below(number) == 0; }

/* The program itself searches for leaks after each conversation, and at the end. */
const char *__asan_default_options(void) {
    return "detect_leaks=1:quarantine_size_mb=8:malloc_context_size=5";
}

static void tell_seed(void) {
    fprintf(stderr, "a finding: make fuzz-http2 SEED=%llu COUNT=1\n", (unsigned long long)current_seed);
}

void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    tell_seed();
    __sanitizer_print_stack_trace();
    _exit(1);
}

static void on_alarm(int signal) {
    (void)signal;
    fail("a conversation does not end");
}

static double real_now(void) {
    struct timespec now;
    __real_clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Return the number of allocated bytes. */
static size_t allocated;

static void on_malloc(const volatile void *at, size_t size) {
    (void)at;
    allocated += size;
}

static void on_free(const volatile void *at) {
    if (at != NULL)
        allocated -= __sanitizer_get_allocated_size(at);
}

static void check_memory(size_t expected) {
    if (allocated > expected)
        fail("too much memory is used");
}

/* Receive more bytes: all, a few, or one. */
static void bring(struct wire *wire) {
    size_t rest = wire->script.size - wire->come;
    if (rest > 0 && !one_in(2))
        rest = 1 + below(one_in(3) ? (unsigned)rest : rest < 40 ? (unsigned)rest : 40);
    wire->come += rest;
    counts_of_all.bytes_sent += rest;
}

/* Clients with an endpoint */

static struct wire clients[MAX_CLIENTS];
static unsigned client_count;
static struct service played_service;
static struct accounts *clients_accounts;
static struct endpoint *endpoints[2]; /* the second gets connections from the first; it may be missing */

static void turn(double seconds) {
    for (int i = 0; i < 2 && endpoints[i] != NULL; i++) {
        if (!endpoint_turn(endpoints[i], i == 0 ? seconds : 0))
            fail("an endpoint can't go on");
        service_look(&played_service, endpoints[i]);
    }
}

static void endpoint_begin(int which, const int *listening, int count) {
    static const size_t MAX_SIZES[] = {100, 5000, 100000, 100000, 16 * 1024 * 1024};
    static const uint32_t STREAMS[] = {1, 3, 100, 100, 1000};
    static size_t max_sizes[2][PATH_COUNT];
    for (int i = 0; i < PATH_COUNT; i++)
        max_sizes[which][i] = MAX_SIZES[below(one_in(16) ? 5 : 4)];
    struct endpoint *found = endpoint_new(listening, count, max_sizes[which], PATHS, PATH_COUNT, clients_accounts);
    if (found == NULL)
        fail("no endpoint");
    found->max_streams = STREAMS[below(5)];
    found->max_connections = one_in(4) ? 1 + below(3) : 100;
    found->greeting = one_in(4) ? 0.2 : 10;
    found->idle = one_in(4) ? 1 : 300;
    found->max_age = one_in(4) ? 0.5 : 300;
    found->age_grace = one_in(4) ? 1 : 300;
    found->long_turn = one_in(4) ? 0 : 0.02;
    endpoints[which] = found;
}

static void endpoint_check(const struct endpoint *endpoint) {
    const struct shared *shared = &endpoint->shared;
    if (shared->held != 0)
        fail("messages are counted that are gone");
    if (endpoint->unsent != 0)
        fail("bytes to send are counted that are gone");
    if (endpoint->peer_count != 0 || endpoint->peers != NULL || endpoint->last_peer != NULL)
        fail("a connection is counted that is gone");
    if (endpoint->paused != NULL || endpoint->last_paused != NULL)
        fail("a connection is to be read again that is gone");
    if (shared->first_ready != NULL || shared->finished != NULL || shared->changed != NULL || shared->released != NULL)
        fail("something is still to be looked at");
}

static void pass_time(void) {
    static const double SECONDS[] = {0.001, 0.01, 0.3, 0.3, 1.5, 11, 400};
    played_now += SECONDS[below(one_in(8) ? 7 : 3)];
}

static void connect_client(struct wire *client) {
    client->address = 1 + below(5);
    play_connect(client);
    counts_of_all.connections++;
}

/* Perform a client's next step. Returns true if it has more bytes to send. */
static bool go_on(struct wire *client) {
    if (client->is_closed || client->has_ended || client->is_reset)
        return false;
    if (client->address == 0 && one_in(2))
        connect_client(client);
    if (client->address == 0)
        return true;
    bring(client);
    if (client->space < 4096)
        client->space += below(2) * below(20000);
    client->is_reset = one_in(200);
    return client->come < client->script.size;
}

static bool are_all_closed(void) {
    for (unsigned i = 0; i < client_count; i++) {
        const struct wire *client = &clients[i];
        bool is_coming = client->is_waiting && !endpoints[0]->is_draining;
        if (!client->is_closed && (client->is_accepted || is_coming))
            return false;
    }
    return true;
}

/* Let the clients leave, or let them send no more bytes. In both cases their connections end. */
static void leave(bool is_silent) {
    for (unsigned i = 0; i < client_count && !is_silent; i++) {
        clients[i].is_reset |= one_in(4);
        clients[i].has_ended = true;
    }
    bool are_stubborn = one_in(3);
    for (unsigned i = 0; !are_all_closed(); i++) {
        if (i == (is_silent ? MAX_TURNS : 100))
            fail("a connection is not ended");
        service_finish(&played_service);
        turn(0);
        /* The longest wait is for a client that does not read. A client that has cost too much is not read for at most
         * 100 s. */
        played_now += i < 8 ? 0.3 : is_silent ? 120 : 3;
        /* Some clients finally read the bytes that they had not read. */
        for (unsigned j = 0; j < client_count && is_silent; j++)
            clients[j].space += below(2) * below(20000);
        /* A client that reads the end of the connection may also leave. */
        for (unsigned j = 0; j < client_count && !are_stubborn; j++)
            clients[j].has_ended |= clients[j].is_shut;
    }
}

static void converse_with_endpoint(void) {
    size_t before = allocated, scripted = 0;
    int listening[] = {play_listening(), play_listening()};
    memset(clients, 0, sizeof(clients));
    memset(&played_service, 0, sizeof(played_service));
    clients_accounts = one_in(4) ? accounts_new(1e7, 1e5 * (1 + below(10))) : accounts_new(1e8, 1e8);
    if (clients_accounts == NULL)
        fail("no accounts");
    endpoint_begin(0, listening, 2);
    if (one_in(2))
        endpoint_begin(1, NULL, 0);
    played_service.second = endpoints[1];
    client_count = one_in(5) ? 2 + below(MAX_CLIENTS - 1) : 1;
    for (unsigned i = 0; i < client_count; i++) {
        say(&clients[i].script, true, PATHS, PATH_COUNT);
        clients[i].space = one_in(4) ? below(one_in(2) ? 60 : 6000) : 16 * 1024 * 1024;
    }
    scripted = allocated - before;
    bool goes_on = true;
    for (unsigned i = 0; goes_on && i < MAX_TURNS; i++) {
        goes_on = false;
        for (unsigned j = 0; j < client_count; j++)
            goes_on |= go_on(&clients[j]);
        if (one_in(8))
            pass_time();
        if (one_in(300)) {
            endpoint_drain(endpoints[endpoints[1] != NULL && one_in(4)]);
            counts_of_all.drains++;
        }
        if (one_in(20))
            endpoint_wake(endpoints[0]);
        turn(one_in(8) ? 0.1 : 0);
        for (unsigned j = below(4); j > 0; j--)
            service_act(&played_service);
        size_t held = endpoints[0]->shared.held + (endpoints[1] != NULL ? endpoints[1]->shared.held : 0);
        check_memory(before + scripted + held + 3 * sent_bytes + client_count * MAX_MEMORY);
        if (one_in(40))
            service_forget_messages(&played_service);
    }
    if (!one_in(3))
        leave(one_in(2));
    for (int i = 0; i < 2 && endpoints[i] != NULL; i++) {
        endpoint_end_all(endpoints[i]);
        service_look(&played_service, endpoints[i]);
        endpoint_check(endpoints[i]);
        endpoint_free(endpoints[i]);
        endpoints[i] = NULL;
    }
    accounts_free(clients_accounts);
    if (played_service.call_count != 0)
        fail("a call is never over");
    service_forget_messages(&played_service);
    for (unsigned i = 0; i < client_count; i++)
        script_clear(&clients[i].script);
}

/* A service with a client. The client calls http2/ in the same way as chatiere.http2.client. */

/* Read the bytes received, and write the bytes to send. Returns true if the call continues. */
static bool client_turn(struct connection *connection, struct stream *stream) {
    static uint8_t buffer[16 * 1024];
    long count;
    do
        count = connection_read(connection, buffer, sizeof(buffer));
    while (count > 0 && stream->coming != NULL);
    if (count < 0 || connection->is_at_end || stream->is_closed || stream->has_ended || stream->fault != FAULT_NONE)
        return false;
    if (connection->is_broken)
        return true;
    return connection_write(connection) >= -1 && !stream->is_closed && !connection_is_over(connection);
}

static void converse_with_client(void) {
    struct wire *service = &clients[0];
    struct shared shared = {.now = played_now, .max_size = 0xFFFFFFFF};
    struct fields head = {0};
    memset(service, 0, sizeof(*service));
    say(&service->script, false, NULL, 0);
    service->space = one_in(4) ? below(3000) : 16 * 1024 * 1024;
    service->preface_left = NGHTTP2_CLIENT_MAGIC_LEN;
    counts_of_all.connections++;
    size_t before = allocated;
    int fd = play_connected(service);
    struct connection *connection = connection_new(&shared, fd, false, 0);
    if (connection == NULL || fields_add(&head, ":method", 7, "POST", 4) != 0 ||
        fields_add(&head, ":scheme", 7, "http", 4) != 0 || fields_add(&head, ":path", 5, "/", 1) != 0)
        fail("no memory");
    struct stream *stream = stream_request(connection, &head);
    free(head.data);
    if (stream == NULL)
        fail("no memory");
    for (unsigned i = 0; i < MAX_TURNS && client_turn(connection, stream); i++) {
        if (service->come == service->script.size && one_in(4))
            service->has_ended = true;
        if (one_in(200))
            service->is_reset = true;
        bring(service);
        service->space += below(2) * below(20000);
        if (!connection->is_broken && stream->to_send == 0 && one_in(2)) {
            send_message(stream, NULL);
            if (stream_push(stream) != 0)
                fail("no memory");
        }
        if (one_in(4))
            stream_take_some(stream);
        give_back(&shared);
        check_memory(before + shared.held + 3 * sent_bytes + MAX_MEMORY_OF_CLIENT);
    }
    connection_free(connection);
    give_back(&shared);
    close(fd);
    if (one_in(2))
        stream_take_some(stream);
    stream_free(stream);
    if (shared.held != 0)
        fail("messages are counted that are gone");
    script_clear(&service->script);
}

static void converse(uint64_t seed) {
    current_seed = seed;
    seed_chance(seed);
    played_now = 1000;
    sent_bytes = 0;
    size_t before = allocated;
    if (one_in(6))
        converse_with_client();
    else
        converse_with_endpoint();
    play_end();
    if (lent_bytes != 0)
        fail("lent bytes are not given back");
    if (allocated != before)
        fail("memory is not given back");
    counts_of_all.conversations++;
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "fuzz_http2 SEED COUNT SECONDS: the first conversation's seed; 0: any number\n");
        return 2;
    }
    uint64_t seed = strtoull(arguments[1], NULL, 10), most = strtoull(arguments[2], NULL, 10);
    double seconds = strtod(arguments[3], NULL), start = real_now();
    uint8_t *bytes = malloc(MAX_SENT + 256);
    for (size_t i = 0; i < MAX_SENT + 256; i++)
        bytes[i] = (uint8_t)i;
    pattern = bytes;
    signal(SIGALRM, on_alarm);
    __sanitizer_set_death_callback(tell_seed);
    __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
    for (uint64_t i = 0; most == 0 || i < most; i++) {
        if (i % TOGETHER == 0) {
            alarm(LIMIT);
            if (seconds > 0 && real_now() - start > seconds)
                break;
        }
        converse(seed + i);
    }
    double taken = real_now() - start;
    const struct counts *done = &counts_of_all;
    const struct {
        const char *name;
        uint64_t number;
    } rows[] = {
        {"connections", done->connections}, {"bytes sent", done->bytes_sent}, {"bytes received", done->bytes_received},
        {"calls", done->calls}, {"calls with faults", done->faults}, {"messages taken", done->messages},
        {"messages sent", done->answers}, {"refusals", done->refusals}, {"resets", done->resets},
        {"connections moved", done->moves}, {"drains", done->drains},
    };
    printf("%llu conversations, %.0f a second, from seed %llu: no finding\n", (unsigned long long)done->conversations,
           (double)done->conversations / taken, (unsigned long long)seed);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        printf("%llu %s\n", (unsigned long long)rows[i].number, rows[i].name);
    free(bytes);
    return 0;
}
