/* A fuzzer of conversations for the C of http2/: no socket, no clock and no Python, so a seed makes the same again. */
#ifndef CHATIERE_FUZZ_H
#define CHATIERE_FUZZ_H

#include "endpoint.h"

/* Bytes of the longest message that is sent. */
#define MAX_SENT (700 * 1024)
#define MAX_HEARD 64

/* What has been done in all conversations, to show that they reach everything. */
struct counts {
    uint64_t conversations, connections, bytes_sent, bytes_received, calls, faults, messages, answers, refusals, resets;
    uint64_t moves, drains;
};
extern struct counts counts_of_all;

/* Chance, from a conversation's seed. */
void seed_chance(uint64_t seed);
uint64_t word(void);
unsigned below(unsigned number);
bool one_in(unsigned number);
/* End the program with a finding. */
_Noreturn void fail(const char *what);

/* Bytes, and where their frames begin. */
struct script {
    uint8_t *bytes;
    size_t size, capacity;
    size_t *starts;
    size_t count, starts_capacity;
};

/* Add to a script what an end says, whole and then mostly damaged. */
void say(struct script *to, bool is_client, const char *const *paths, unsigned path_count);
void script_clear(struct script *script);

/* A stream as the other end has heard of it. */
struct heard_stream {
    int32_t id;
    bool has_ended;
    unsigned prefix_size;
    uint8_t prefix[5];
    size_t left, at; /* of the message that comes */
};

/* The other end of a played socket. */
struct wire {
    struct script script;
    size_t come;     /* bytes that have come so far */
    size_t read;     /* of these, those that were read */
    size_t space;    /* bytes that the other end takes until it is full */
    unsigned address;
    bool is_waiting; /* to be accepted */
    bool is_accepted;
    bool has_ended;  /* the other end says nothing more */
    bool is_reset;
    bool is_shut;    /* nothing more is sent to it */
    bool is_closed;
    /* What it hears. */
    uint8_t head[9];
    unsigned head_size;
    unsigned preface_left;
    size_t frame_left, padding;
    struct heard_stream heard[MAX_HEARD];
    unsigned heard_count;
    struct heard_stream *current;
};

/* The system, as far as http2/ calls it. */
extern double played_now;
int play_listening(void);
int play_connected(struct wire *wire);
void play_connect(struct wire *wire);
/* Check that nothing is left open. */
void play_end(void);

/* The service behind an endpoint: calls, and what is done with them by chance. */
extern const uint8_t *pattern;
struct service {
    struct call *calls;
    unsigned call_count;
    struct message *kept; /* taken messages */
    struct endpoint *second;
};
/* Look at what has changed since the endpoint's last turn. */
void service_look(struct service *service, struct endpoint *endpoint);
/* Do something with some call. */
void service_act(struct service *service);
/* End all calls. */
void service_finish(struct service *service);
void service_forget_messages(struct service *service);

/* Bytes of the messages of a conversation that were sent, and of those that are lent now. */
extern size_t sent_bytes, lent_bytes;
/* Copy or lend a message to send. `call`: NULL at the client's end. */
void send_message(struct stream *stream, struct call *call);
/* Take back what has been sent. */
void give_back(struct shared *shared);
void stream_take_some(struct stream *stream);

#endif
