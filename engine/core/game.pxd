# What a game is to the core: a packed state without pointers and a table of functions over it.
from libc.stdint cimport int8_t, int32_t, uint8_t, uint16_t, uint32_t

from chatiere.engine.core.stream cimport Stream


cdef extern from "<assert.h>" nogil:
    # Compiled out of release builds (NDEBUG); the debug build keeps it. Without `and`, `or` or `if` around a call: Cython
    # computes those beforehand, in release builds too.
    void debug_assert "assert"(bint condition) noexcept


cdef enum:
    # Who acts at a position: a seat from 0, or one of these, as OpenSpiel numbers them (spiel_globals.h; -2 there stands for
    # simultaneous moves).
    CHANCE = -1
    BROKEN = -3  # only in batches: nobody knows
    OVER = -4
    # A view for nobody's seat.
    SPECTATOR = -1
    # In packed states: no seat.
    NO_SEAT = 0xFF

cdef inline int distance_to(int seat, int other, int players) noexcept nogil:
    # How many seats clockwise from one to the other.
    return other - seat + (players if other < seat else 0)

cdef inline int seat_at(int seat, int distance, int players) noexcept nogil:
    # The reverse: who sits so many places to the left, at most once round the table.
    return seat + distance - (players if seat + distance >= players else 0)

cdef enum:
    # Room for what any game can list, or can happen in one move or chance event.
    MAX_SEATS = 6
    BODY_WORDS = 256  # of 8 bytes
    VIEW_WORDS = 512
    MAX_LEGAL = 7168
    MAX_OUTCOMES = 128
    MAX_EVENTS = 256
    MAX_EVENT_VALUES = 8

cdef enum Fault:
    # Answers of the kernels that every game shares; position.pyx gives them their words. A game's own begin at 100,
    # and each room's FAULTS has theirs. All fit in a byte.
    OK = 0
    GAME_IS_OVER
    CHANCE_IS_PENDING
    NO_CHANCE_IS_PENDING
    NO_SUCH_ACTION
    NO_SUCH_OUTCOME
    NO_SUCH_SEAT
    # Of packed states, before the body's own check.
    OTHER_GAME
    OTHER_RULES_VERSION
    HEADER_NOT_ZERO
    STREAM_NOT_ZERO
    # After it.
    SAMPLED_CHANCE_IS_PENDING
    OTHER_PLAYERS

cdef enum:
    # Event.seen_by of what everybody may see, spectators too.
    EVERYBODY = 0xFF

ctypedef struct Event:
    uint8_t kind  # the game's own numbering
    int8_t seat  # whom it is about, -1 for nobody
    uint8_t seen_by  # bit s: seat s may see the values; or EVERYBODY
    uint8_t count  # of values
    uint16_t values[MAX_EVENT_VALUES]

ctypedef struct Events:
    # What happened in one move or chance event, in order.
    uint16_t count
    Event items[MAX_EVENTS]

cdef inline void add_event(
    Events* events, int kind, int seat, int seen_by, const uint16_t* values, int count
) noexcept nogil:
    # Batches pass NULL and pay nothing.
    cdef Event* event
    cdef int i
    if events == NULL:
        return
    debug_assert(events.count < MAX_EVENTS and count <= MAX_EVENT_VALUES)
    event = &events.items[events.count]
    events.count += 1
    event.kind = kind
    event.seat = seat
    event.seen_by = seen_by
    event.count = count
    for i in range(count):
        event.values[i] = values[i]


ctypedef struct Limits:
    # What no game of so many players exceeds.
    int max_game_length  # decisions
    int max_chance_nodes  # chance events
    int max_chance_outcomes  # of one chance event


ctypedef struct Operations:
    # Every `body` is body_size bytes (a multiple of 8), aligned to 8; its first byte is the number of players. Only apply,
    # apply_outcome, settle, start and resample write to it, and they write nothing when they answer a fault. All but check rely
    # on a body that check has passed.
    uint8_t number  # of the game, in packed states
    uint8_t rules_version
    uint16_t body_size
    uint16_t view_size
    uint16_t num_actions
    uint16_t observation_length
    uint8_t min_players
    uint8_t max_players
    # Begin a game; `options` is the game's own struct, already valid.
    void (*start)(void* body, int players, const void* options) noexcept nogil
    # How long its games can be; `options` as above, or NULL: whatever the options.
    void (*limits)(int players, const void* options, Limits* limits) noexcept nogil
    # The seat that decides, CHANCE or OVER.
    int (*actor)(const void* body) noexcept nogil
    # At a decision: the dense ids that are legal, ascending; their number. `ids` has room for MAX_LEGAL, all of which may
    # be written to.
    int (*legal_actions)(const void* body, uint16_t* ids) noexcept nogil
    # Make a decision; asked where a seat has to decide, and at the end of a game, where the answer is GAME_IS_OVER.
    int (*apply)(void* body, int action, Events* events) noexcept nogil
    # At a chance event: the outcomes that can come, ascending, with their weights; their number. Both arrays have room
    # for MAX_OUTCOMES, all of which may be written to.
    int (*chance_outcomes)(const void* body, uint16_t* outcomes, uint32_t* weights) noexcept nogil
    # One of these outcomes, drawn by its weight as the rules say: a number below the sum of weights, walked through the
    # outcomes in ascending order. A game that need not list them is faster.
    int (*sample_outcome)(const void* body, Stream* stream) noexcept nogil
    # Resolve a chance event; asked only where one is pending.
    int (*apply_outcome)(void* body, int outcome, Events* events) noexcept nogil
    # Resolve chance events by the stream until somebody decides or the game is over; who acts then. The same numbers and
    # the same body as from one sample_outcome and apply_outcome after another, which is what moves.settle does for any game.
    int (*settle)(const Operations* ops, void* body, Stream* stream) noexcept nogil
    # Scores if the game stopped now.
    void (*totals)(const void* body, int32_t* totals) noexcept nogil
    # When it is over: each seat's rank from 1.
    void (*ranks)(const void* body, uint8_t* ranks) noexcept nogil
    # What a seat may know, as `observe` of the game wants it: a struct of view_size bytes.
    void (*view)(const void* body, int seat, void* view) noexcept nogil
    # That as numbers, 0 to 255 each.
    void (*observe)(const void* view, int seat, uint8_t* values) noexcept nogil
    # Draw what the seat cannot know anew, uniformly over what agrees with all it knows. Bodies that the seat cannot tell
    # apart become the same one and take as many words: nothing drawn may begin with how the hidden things lie.
    int (*resample)(void* body, int seat, Stream* stream) noexcept nogil
    # OK, or which of the rules' invariants (or bounds that memory safety needs) the body breaks.
    int (*check)(const void* body) noexcept nogil
