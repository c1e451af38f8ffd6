/* A fuzzer of conversations for http2/'s C code. Without sockets, clock and Python, a seed determines everything. */
#ifndef CHATIERE_FUZZ_H
#define CHATIERE_FUZZ_H

#include "endpoint.h"

/* The size of the longest message that is sent, in bytes. */
#define MAX_SENT (700 * 1024)
#define MAX_HEARD 64

/* Counts of events in all conversations. They show that the conversations cover everything. */
struct counts {
    uint64_t conversations, connections, bytes_sent, bytes_received, calls, faults, messages, answers, refusals, resets;
    uint64_t moves, drains;
};
extern struct counts counts_of_all;

/* Random numbers from a conversation's seed. */
void seed_chance(uint64_t seed);
uint64_t word(void);
unsigned below(unsigned number);
bool one_in(unsigned number);
/* End the program with a finding. */
_Noreturn void fail(const char *what);

/* Bytes to send, with the offsets of their frames. */
struct script {
    uint8_t *bytes;
    size_t size, capacity;
    size_t *starts;
    size_t count, starts_capacity;
};

/* Add an end's frames to a script, whole and then mostly damaged. */
void say(struct script *to, bool is_client, const char *const *paths, unsigned path_count);
void script_clear(struct script *script);

/* A stream as the other end knows it. */
struct heard_stream {
    int32_t id;
    bool has_ended;
    unsigned prefix_size;
    uint8_t prefix[5];
    size_t left, at; /* in the message that is being received */
};

/* The other end of a simulated socket. */
struct wire {
    struct script script;
    size_t come;     /* bytes received so far */
    size_t read;     /* the number of these bytes that were read */
    size_t space;    /* bytes that the other end accepts until it is full */
    unsigned address;
    bool is_waiting; /* to be accepted */
    bool is_accepted;
    bool has_ended;  /* the other end sends no more bytes */
    bool is_reset;
    bool is_shut;    /* no more bytes are sent to it */
    bool is_closed;
    /* The frame being received. */
    uint8_t head[9];
    unsigned head_size;
    unsigned preface_left;
    size_t frame_left, padding;
    struct heard_stream heard[MAX_HEARD];
    unsigned heard_count;
    struct heard_stream *current;
};

/* The part of the system that http2/ calls. */
extern double played_now;
int play_listening(void);
int play_connected(struct wire *wire);
void play_connect(struct wire *wire);
/* Check that no stream and no connection is left open. */
void play_end(void);

/* The service behind an endpoint. It handles calls at random. */
extern const uint8_t *pattern;
struct service {
    struct call *calls;
    unsigned call_count;
    struct message *kept; /* messages that were taken */
    struct endpoint *second;
};
/* Handle the changes since the endpoint's last turn. */
void service_look(struct service *service, struct endpoint *endpoint);
/* Perform a random operation on a random call. */
void service_act(struct service *service);
/* End all calls. */
void service_finish(struct service *service);
void service_forget_messages(struct service *service);

/* The number of bytes of messages sent in a conversation, and of bytes that are lent now. */
extern size_t sent_bytes, lent_bytes;
/* Send a message. Its bytes are copied or lent. `call` is NULL at the client's end. */
void send_message(struct stream *stream, struct call *call);
/* Release the messages that were sent. */
void give_back(struct shared *shared);
void stream_take_some(struct stream *stream);

#endif
