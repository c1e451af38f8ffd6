/* The bytes that an end of a connection sends: frames of several calls, most of which are then damaged. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#define MAX_STREAMS 8
#define MAX_BLOCK (64 * 1024)
#define PICK(choices) (choices)[below(sizeof(choices) / sizeof((choices)[0]))]

/* An end that writes its script. */
struct speaker {
    struct script *script;
    bool is_client;
    const char *const *paths;
    unsigned path_count;
    nghttp2_hd_deflater *deflater;
    int32_t last;              /* the last stream */
    int32_t open[MAX_STREAMS];
    size_t owed[MAX_STREAMS]; /* the rest of a message that has begun */
    unsigned open_count;
};

static uint8_t zeros[256 * 1024];
static char letters[20 * 1024];

static void add(struct script *script, const void *data, size_t size) {
    if (script->size + size > script->capacity) {
        script->capacity = 2 * (script->size + size) + 1024;
        script->bytes = realloc(script->bytes, script->capacity);
    }
    if (size > 0)
        memcpy(script->bytes + script->size, data, size);
    script->size += size;
}

static void add_start(struct script *script) {
    if (script->count == script->starts_capacity) {
        script->starts_capacity = 2 * script->count + 32;
        script->starts = realloc(script->starts, script->starts_capacity * sizeof(size_t));
    }
    script->starts[script->count++] = script->size;
}

void script_clear(struct script *script) {
    free(script->bytes);
    free(script->starts);
    memset(script, 0, sizeof(*script));
}

static void add_frame(struct script *script, uint8_t type, uint8_t flags, int32_t id, const void *payload,
                      size_t size) {
    uint8_t head[9] = {(uint8_t)(size >> 16), (uint8_t)(size >> 8), (uint8_t)size, type, flags,
                       (uint8_t)(id >> 24), (uint8_t)(id >> 16), (uint8_t)(id >> 8), (uint8_t)id};
    add_start(script);
    add(script, head, sizeof(head));
    add(script, payload, size);
}

static nghttp2_nv field(const char *name, const char *value) {
    return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value), NGHTTP2_NV_FLAG_NONE};
}

static void put_number(uint8_t *to, uint32_t number) {
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(number >> (24 - 8 * i));
}

static uint32_t some_number(void) {
    static const uint32_t NUMBERS[] = {0,     1,     5,       100,        4096,       16384,
                                       65535, 65536, 1 << 20, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    return one_in(4) ? (uint32_t)word() : PICK(NUMBERS);
}

static void say_settings(struct speaker *speaker) {
    uint8_t payload[6 * 6];
    unsigned count = below(4);
    for (unsigned i = 0; i < count; i++) {
        static const uint8_t KINDS[] = {1, 2, 3, 4, 4, 4, 5, 6, 8, 9};
        uint8_t kind = PICK(KINDS);
        uint32_t value = some_number();
        /* Otherwise most calls would be refused. */
        if (kind == NGHTTP2_SETTINGS_ENABLE_PUSH && !one_in(16))
            value = 0;
        if (kind == NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE && !one_in(16))
            value &= 0x7FFFFFFF;
        if (kind == NGHTTP2_SETTINGS_MAX_FRAME_SIZE && !one_in(16))
            value = 16384 + value % ((1 << 24) - 16384);
        payload[6 * i] = 0;
        payload[6 * i + 1] = kind;
        put_number(payload + 6 * i + 2, value);
    }
    add_frame(speaker->script, NGHTTP2_SETTINGS, 0, 0, payload, 6 * count);
}

/* Most clients send this first. */
static void say_large_windows(struct speaker *speaker) {
    uint8_t payload[6] = {0, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE};
    put_number(payload + 2, 1 << 24);
    add_frame(speaker->script, NGHTTP2_SETTINGS, 0, 0, payload, 6);
    add_frame(speaker->script, NGHTTP2_WINDOW_UPDATE, 0, 0, payload + 2, 4);
}

/* A header block in one frame or several. */
static void say_block(struct speaker *speaker, uint8_t flags, int32_t id, const uint8_t *block, size_t size) {
    uint8_t type = NGHTTP2_HEADERS;
    uint8_t payload[MAX_BLOCK + 6];
    while (one_in(6) && size > 1) {
        size_t part = 1 + below((unsigned)size - 1);
        add_frame(speaker->script, type, type == NGHTTP2_HEADERS ? flags : 0, id, block, part);
        type = NGHTTP2_CONTINUATION;
        flags = 0;
        block += part;
        size -= part;
    }
    size_t begin = 0;
    if (type == NGHTTP2_HEADERS && one_in(12)) {
        put_number(payload, below(20));
        payload[4] = (uint8_t)word();
        flags |= NGHTTP2_FLAG_PRIORITY;
        begin = 5;
    }
    memcpy(payload + begin, block, size);
    add_frame(speaker->script, type, flags | NGHTTP2_FLAG_END_HEADERS, id, payload, begin + size);
}

static size_t deflate(struct speaker *speaker, uint8_t *block, const nghttp2_nv *list, size_t count) {
    ssize_t size = nghttp2_hd_deflate_hd(speaker->deflater, block, MAX_BLOCK, list, count);
    return size < 0 ? 0 : (size_t)size;
}

static void say_request(struct speaker *speaker) {
    static const char *const TYPES[] = {"application/grpc+proto", "application/grpcx", "text/plain", ""};
    static const char *const TIMEOUTS[] = {"10S", "1H", "99999999m", "5n", "", "S", "-1S", "123456789S", "5x"};
    static const char *const METHODS[] = {"POST", "GET", "OPTIONS", "CONNECT"};
    static const char *const NAMES[] = {"authorization", "x-request-id", "accept-language", "user-agent", "te",
                                        "trace-bin"};
    static const char *const BAD_NAMES[] = {"X-Upper", "connection", ":path", ""};
    nghttp2_nv list[16];
    size_t count = 0;
    uint8_t block[MAX_BLOCK];
    list[count++] = field(":method", one_in(24) ? PICK(METHODS) : "POST");
    list[count++] = field(":scheme", "http");
    list[count++] = field(":path", one_in(16) ? "/elsewhere" : speaker->paths[below(speaker->path_count)]);
    if (!one_in(16))
        list[count++] = field(":authority", "localhost");
    if (!one_in(32))
        list[count++] = field("content-type", one_in(8) ? PICK(TYPES) : "application/grpc");
    if (one_in(8))
        list[count++] = field("grpc-timeout", PICK(TIMEOUTS));
    while (one_in(2) && count < 12) {
        list[count] = field(one_in(16) ? PICK(BAD_NAMES) : PICK(NAMES), "");
        list[count].value = (uint8_t *)letters;
        list[count++].valuelen = one_in(400) ? below(sizeof(letters)) : below(40);
    }
    bool is_bomb = one_in(2000);
    if (is_bomb) {
        list[count] = field("x-bomb", "");
        list[count].value = (uint8_t *)letters;
        list[count++].valuelen = 100 + below(2900);
    }
    size_t size = deflate(speaker, block, list, count);
    if (is_bomb) {
        /* Refer to the last field repeatedly. Each reference is one byte long. */
        size_t times = below(one_in(4) ? 16000 : 40);
        memset(block + size, 0xBE, times);
        size += times;
    }
    speaker->last += one_in(32) ? 2 * (int32_t)below(50) : 2;
    bool is_all = one_in(12);
    say_block(speaker, is_all ? NGHTTP2_FLAG_END_STREAM : 0, speaker->last, block, size);
    if (!is_all && speaker->open_count < MAX_STREAMS) {
        speaker->owed[speaker->open_count] = 0;
        speaker->open[speaker->open_count++] = speaker->last;
    }
}

static void say_response(struct speaker *speaker, unsigned which, bool is_end) {
    static const char *const STATUSES[] = {"200", "100", "103", "404", "503", "20", "abc"};
    nghttp2_nv list[6];
    size_t count = 0;
    uint8_t block[MAX_BLOCK];
    if (!is_end || one_in(4))
        list[count++] = field(":status", one_in(8) ? PICK(STATUSES) : "200");
    if (!is_end)
        list[count++] = field("content-type", "application/grpc");
    if (is_end)
        list[count++] = field("grpc-status", "0");
    if (one_in(2)) {
        list[count] = field("x-more", "");
        list[count].value = (uint8_t *)letters;
        list[count++].valuelen = one_in(200) ? below(sizeof(letters)) : below(40);
    }
    size_t size = deflate(speaker, block, list, count);
    say_block(speaker, is_end ? NGHTTP2_FLAG_END_STREAM : 0, speaker->open[which], block, size);
}

static void say_trailers(struct speaker *speaker, unsigned which) {
    nghttp2_nv list[] = {field("x-trailer", "value")};
    uint8_t block[MAX_BLOCK];
    size_t size = deflate(speaker, block, list, 1);
    say_block(speaker, NGHTTP2_FLAG_END_STREAM, speaker->open[which], block, size);
}

/* A message that is longer than announced, or thousands of empty messages. */
static void say_much(struct speaker *speaker, unsigned which) {
    uint8_t prefix[5] = {0};
    bool is_long = one_in(2);
    put_number(prefix + 1, is_long ? 12 * sizeof(zeros) : 0);
    add_frame(speaker->script, NGHTTP2_DATA, 0, speaker->open[which], prefix, sizeof(prefix));
    for (int i = is_long ? 12 : 1; i > 0; i--)
        add_frame(speaker->script, NGHTTP2_DATA, 0, speaker->open[which], zeros, is_long ? sizeof(zeros) : 5 * 17000);
    speaker->owed[which] = 0;
}

/* A message or a part of one. Parts of other messages may be sent before the rest. */
static void say_data(struct speaker *speaker, unsigned which, bool is_end) {
    static uint8_t payload[sizeof(zeros) + 1024];
    size_t size = 0, padding = one_in(10) ? below(256) : 0;
    bool is_padded = padding > 0 || one_in(50);
    if (is_padded)
        payload[size++] = (uint8_t)padding;
    if (speaker->owed[which] == 0 && !(is_end && one_in(2))) {
        unsigned messages = 1 + (one_in(8) ? below(20) : 0);
        while (messages-- > 0) {
            uint32_t length = below(50);
            if (messages == 0 && one_in(60))
                length = below(one_in(10) ? sizeof(zeros) : 20000);
            payload[size] = one_in(60) ? (uint8_t)word() : 0;
            put_number(payload + size + 1, one_in(60) ? some_number() : length);
            size += 5;
            if (messages == 0) {
                speaker->owed[which] = length;
            } else {
                memset(payload + size, 0, length);
                size += length;
            }
        }
    }
    size_t part = speaker->owed[which];
    if (one_in(4) && part > 0)
        part = below((unsigned)part);
    memset(payload + size, 0, part + padding);
    speaker->owed[which] -= part;
    uint8_t flags = (uint8_t)((is_padded ? NGHTTP2_FLAG_PADDED : 0) | (is_end ? NGHTTP2_FLAG_END_STREAM : 0));
    add_frame(speaker->script, NGHTTP2_DATA, flags, speaker->open[which], payload, size + part + padding);
}

static void close_stream(struct speaker *speaker, unsigned which) {
    speaker->open_count--;
    speaker->open[which] = speaker->open[speaker->open_count];
    speaker->owed[which] = speaker->owed[speaker->open_count];
}

/* A frame that does not belong to a message. */
static void say_aside(struct speaker *speaker, int32_t id) {
    uint8_t payload[64];
    for (size_t i = 0; i < sizeof(payload); i++)
        payload[i] = 0;
    struct script *script = speaker->script;
    switch (below(9)) {
    case 0: say_settings(speaker); break;
    case 1: add_frame(script, NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, NULL, 0); break;
    case 2: add_frame(script, NGHTTP2_PING, one_in(2) ? NGHTTP2_FLAG_ACK : 0, 0, payload, 8); break;
    case 3:
    case 4:
        put_number(payload, one_in(8) ? some_number() : 1 + below(1 << 20));
        add_frame(script, NGHTTP2_WINDOW_UPDATE, 0, one_in(2) ? 0 : id, payload, 4);
        break;
    case 5:
        put_number(payload, below(12));
        payload[4] = (uint8_t)word();
        add_frame(script, NGHTTP2_PRIORITY, 0, id, payload, 5);
        break;
    case 6:
        put_number(payload, one_in(2) ? 0 : (uint32_t)id);
        memcpy(payload + 8, "farewell", 8);
        if (one_in(3))
            add_frame(script, NGHTTP2_GOAWAY, 0, 0, payload, 8 + below(50));
        break;
    case 7:
        put_number(payload, below(14));
        if (one_in(3))
            add_frame(script, NGHTTP2_PUSH_PROMISE, NGHTTP2_FLAG_END_HEADERS, id, payload, 4 + below(4));
        break;
    default:
        add_frame(script, (uint8_t)(9 + below(12)), (uint8_t)word(), one_in(2) ? 0 : id, payload, below(60));
        break;
    }
}

static void say_step(struct speaker *speaker) {
    uint8_t code[4];
    unsigned which = speaker->open_count > 0 ? below(speaker->open_count) : 0;
    unsigned kind = below(16);
    if (speaker->is_client && (speaker->open_count == 0 || kind < 3)) {
        say_request(speaker);
    } else if (speaker->open_count == 0 || kind >= 12) {
        say_aside(speaker, speaker->open_count > 0 ? speaker->open[which] : speaker->last);
    } else if (!speaker->is_client && kind < 2) {
        say_response(speaker, which, false);
    } else if (kind < 8 && speaker->owed[which] == 0 && one_in(2000)) {
        say_much(speaker, which);
    } else if (kind < 8) {
        say_data(speaker, which, false);
    } else if (kind == 8) {
        put_number(code, below(14));
        add_frame(speaker->script, NGHTTP2_RST_STREAM, 0, speaker->open[which], code, 4);
        close_stream(speaker, which);
    } else {
        if (!speaker->is_client)
            say_response(speaker, which, true);
        else if (kind == 9)
            say_trailers(speaker, which);
        else
            say_data(speaker, which, true);
        close_stream(speaker, which);
    }
}

/* Add a frame of another script in one of the ways in which it can be wrong. */
static void add_damaged(struct script *to, const uint8_t *frame, size_t size) {
    static const uint8_t BYTES[] = {0, 1, 127, 128, 255};
    uint8_t noise[64], *at;
    size_t begin = to->size;
    for (size_t i = 0; i < sizeof(noise); i++)
        noise[i] = (uint8_t)word();
    switch (below(10)) {
    case 0: return;
    case 1:
        /* Some frames are repeated thousands of times. */
        for (unsigned i = one_in(500) ? below(size < 64 ? 20000 : 300) : 1 + below(3); i > 0; i--) {
            add_start(to);
            add(to, frame, size);
        }
        return;
    case 2: add_frame(to, (uint8_t)below(12), noise[0], (int32_t)below(10), noise + 1, below(sizeof(noise) - 1)); break;
    case 3: add(to, noise, below(sizeof(noise))); break;
    case 4:
        /* The frame is truncated, and has the correct length. */
        if (size > 9) {
            size_t rest = below((unsigned)size - 9);
            add_frame(to, frame[3], frame[4], 0, frame + 9, rest);
            memcpy(to->bytes + begin + 5, frame + 5, 4);
            return;
        }
        break;
    case 5: size = below((unsigned)size + 1); break;
    default: break;
    }
    add_start(to);
    begin = to->size;
    add(to, frame, size);
    at = to->bytes + begin;
    if (size < 9)
        return;
    switch (below(6)) {
    case 0: at[below(9)] = PICK(BYTES); break;
    case 1: at[4] ^= (uint8_t)(1u << below(8)); break;
    case 2: at[8] = (uint8_t)below(16); break;
    case 3: at[3] = (uint8_t)below(11); break;
    default:
        for (unsigned i = 1 + below(4); i > 0; i--) {
            size_t place = below((unsigned)(one_in(2) && size > 40 ? 40 : size));
            at[place] = one_in(2) ? PICK(BYTES) : at[place] ^ (uint8_t)(1u << below(8));
        }
    }
}

static void add_rest_damaged(struct script *to, const struct script *from) {
    static const unsigned RATES[] = {2, 4, 8, 8, 16};
    unsigned rate = PICK(RATES);
    /* Some scripts are valid up to a place in the middle. */
    size_t whole = one_in(20) ? 0 : 1 + below((unsigned)from->count);
    for (size_t i = 0; i < from->count; i++) {
        size_t each = i;
        if (i >= whole && one_in(4 * rate))
            each = below((unsigned)from->count);
        size_t begin = from->starts[each], end = each + 1 < from->count ? from->starts[each + 1] : from->size;
        if (i >= whole && one_in(rate)) {
            add_damaged(to, from->bytes + begin, end - begin);
        } else {
            add_start(to);
            add(to, from->bytes + begin, end - begin);
        }
    }
    if (one_in(8))
        to->size = below((unsigned)to->size + 1);
}

void say(struct script *to, bool is_client, const char *const *paths, unsigned path_count) {
    struct script whole = {0};
    struct speaker speaker = {&whole, is_client, paths, path_count, .last = -1};
    if (letters[0] == 0)
        memset(letters, 'y', sizeof(letters));
    if (nghttp2_hd_deflate_new(&speaker.deflater, 4096) != 0)
        fail("no memory");
    if (is_client) {
        add_start(&whole);
        add(&whole, NGHTTP2_CLIENT_MAGIC, NGHTTP2_CLIENT_MAGIC_LEN);
    } else {
        speaker.last = speaker.open[0] = 1;
        speaker.open_count = 1;
    }
    say_settings(&speaker);
    if (one_in(2))
        say_large_windows(&speaker);
    for (unsigned i = 1 + below(1 + below(30)); i > 0; i--)
        say_step(&speaker);
    nghttp2_hd_deflate_del(speaker.deflater);
    if (one_in(4)) {
        *to = whole;
        return;
    }
    add_rest_damaged(to, &whole);
    script_clear(&whole);
}
