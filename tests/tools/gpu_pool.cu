// A pool of games with sampled chance: a thread for each game on a GPU, a loop over the games on the CPU. KERNEL is the
// header that gpu_check.py writes for a game: write_tables() and, as macros in upper case, the game's operations.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

using Py_ssize_t = ptrdiff_t;

#ifdef __CUDACC__
#define DEVICE __device__
#define ENTRY extern "C" __global__ void
#define EACH(i, n) if (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n))
// CUDA does not have these functions in device code.
#define __builtin_ctzll(bits) (__ffsll(bits) - 1)
#define memchr chatiere_find
#define memcmp chatiere_compare
#define memmove chatiere_move
#else
#define DEVICE
#define ENTRY extern "C" void
#define EACH(i, n) for (int i = 0; i < (n); i++)
#endif

DEVICE const void* chatiere_find(const void* bytes, int value, size_t size) {
    auto* byte = static_cast<const uint8_t*>(bytes);
    while (size && *byte != value) byte++, size--;
    return size ? byte : nullptr;
}

DEVICE int chatiere_compare(const void* first, const void* second, size_t size) {
    auto *one = static_cast<const uint8_t*>(first), *other = static_cast<const uint8_t*>(second);
    while (size && *one == *other) one++, other++, size--;
    return size ? *one - *other : 0;
}

DEVICE void chatiere_move(void* target, const void* source, size_t size) {
    auto* to = static_cast<uint8_t*>(target);
    auto* from = static_cast<const uint8_t*>(source);
    for (size_t i = 0; to < from && i < size; i++) to[i] = from[i];
    for (size_t i = size; to > from && i-- > 0;) to[i] = from[i];
}

// Scalar forms of the functions with GCC's vectors or assembler in core/bits.pxd and core/clearing.pxd.
DEVICE void chatiere_spread_16(uint64_t bits, uint8_t* flags) {
    for (int i = 0; i < 16; i++) flags[i] = bits >> i & 1;
}
DEVICE void chatiere_spread_32(uint64_t bits, uint8_t* flags) {
    chatiere_spread_16(bits, flags);
    chatiere_spread_16(bits >> 16, flags + 16);
}
DEVICE void chatiere_clear(void* place, size_t size) { memset(place, 0, size); }

#include KERNEL

struct Game {
    __pyx_t_8chatiere_6engine_4core_6packed_Header header;
    uint64_t body[BODY_SIZE / 8];
};

// Resolve chance events from the game's stream.
DEVICE void settle(Game& game) {
    auto& header = game.header;
    auto stream = __pyx_f_8chatiere_6engine_4core_6stream_stream_at(header.seed, header.game_number, header.drawn);
    while (ACTOR(game.body) == __pyx_e_8chatiere_6engine_4core_10operations_CHANCE)
        APPLY_OUTCOME(game.body, SAMPLE_OUTCOME(game.body, &stream), nullptr);
    header.drawn = stream.drawn;
}

ENTRY tables() {
    EACH(i, 1) write_tables();
}

ENTRY start(Game* games, int n, int players, const void* options) {
    EACH(i, n) {
        START(games[i].body, players, games[i].header.rules_version, options);
        settle(games[i]);
    }
}

ENTRY step(Game* games, int n, const uint16_t* actions, int32_t* faults) {
    EACH(i, n) {
        faults[i] = APPLY(games[i].body, actions[i], nullptr);
        games[i].header.ply += faults[i] == 0;
        settle(games[i]);
    }
}

// Ranks are written at the end of a game.
ENTRY look(const Game* games, int n, int32_t* actors, int32_t* counts, uint16_t* actions, int32_t* totals, uint8_t* ranks) {
    constexpr int row = __pyx_e_8chatiere_6engine_4core_10operations_MAX_LEGAL;
    constexpr int seats = __pyx_e_8chatiere_6engine_4core_10operations_MAX_SEATS;
    EACH(i, n) {
        actors[i] = ACTOR(games[i].body);
        counts[i] = actors[i] < 0 ? 0 : LEGAL_ACTIONS(games[i].body, actions + i * row);
        TOTALS(games[i].body, totals + i * seats);
        if (END(games[i].body)) RANKS(games[i].body, ranks + i * seats);
    }
}

ENTRY observe(const Game* games, int n, int seat, uint8_t* values) {
    EACH(i, n) {
        uint64_t view[(VIEW_SIZE + 7) / 8];
        VIEW(games[i].body, seat, view);
        OBSERVE(view, seat, values + i * OBSERVATION_LENGTH);
    }
}
