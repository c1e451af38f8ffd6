# The core's view of a game: a packed state without pointers, and functions over it.
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t

from chatiere.engine.core.stream cimport Stream


cdef extern from "<assert.h>" nogil:
    # Active in the debug build only (NDEBUG). Conditions with calls must not use `and`, `or` or `if`: Cython evaluates
    # such calls beforehand, even in release builds.
    void debug_assert "assert"(bint condition) noexcept


cdef enum:
    # The actor at a position is a seat from 0, or one of these values, numbered as in OpenSpiel (spiel_globals.h; its
    # -2 is for simultaneous moves).
    CHANCE = -1
    INVALID = -3  # only in batches: the state is invalid
    TERMINAL = -4
    # The viewer without a seat.
    SPECTATOR = -1
    # No seat, in packed states.
    NO_SEAT = 0xFF
    # The set of all seats, as bits.
    EVERY_SEAT = 0xFF

cdef inline int distance_to(int seat, int other, int players) noexcept nogil:
    # Return the number of seats from one to the other, clockwise.
    return other - seat + (players if other < seat else 0)

cdef inline int seat_at(int seat, int distance, int players) noexcept nogil:
    # Return the seat `distance` seats clockwise of `seat`; the distance is at most one round of the table.
    return seat + distance - (players if seat + distance >= players else 0)

cdef enum:
    # Bounds that hold for all games: of states, of lists, and of the events of one move or chance event.
    MAX_SEATS = 6
    BODY_WORDS = 256  # of 8 bytes
    VIEW_WORDS = 512
    MAX_LEGAL = 7168
    MAX_OUTCOMES = 128
    MAX_EVENTS = 256
    MAX_EVENT_VALUES = 8

cdef enum Fault:
    # Error codes of the kernels shared by all games; position.pyx has their texts. A game's own codes begin at 100,
    # with texts in its game package. All fit in a byte.
    OK = 0
    GAME_IS_OVER
    CHANCE_IS_PENDING
    NO_CHANCE_IS_PENDING
    NO_SUCH_ACTION
    NO_SUCH_OUTCOME
    NO_SUCH_SEAT
    # Faults of packed states that are found before the body is checked.
    OTHER_GAME
    OTHER_RULES_VERSION
    OTHER_PACKED_VERSION
    TWO_RULES_VERSIONS
    BAD_FLAG
    STREAM_NOT_ZERO
    # Faults of packed states that are found after the body was checked.
    SAMPLED_CHANCE_IS_PENDING
    OTHER_PLAYERS
    PLY_TOO_HIGH
    # A move in the name of another seat. It is refused before it reaches a kernel.
    NOT_YOUR_TURN

cdef enum:
    # Event.seen_by if all seats and spectators may see the values.
    EVERYBODY = 0xFF

ctypedef struct Event:
    uint8_t kind  # the game's own numbering
    int8_t seat  # the seat that the event is about, or -1
    uint8_t seen_by  # bit s: seat s may see the values; or `EVERYBODY`
    uint8_t count  # of values
    uint16_t values[MAX_EVENT_VALUES]

ctypedef struct Events:
    # The events of one move or chance event, in order.
    uint16_t count
    Event items[MAX_EVENTS]

cdef inline void add_event(
    Events* events, int kind, int seat, int seen_by, const uint16_t* values, int count
) noexcept nogil:
    # Does nothing if `events` is NULL, as in batches.
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
    # Bounds of all games for a number of players.
    int max_game_length  # decisions
    int max_chance_nodes  # chance events
    int max_chance_outcomes  # of one chance event


ctypedef struct Operations:
    # Every `body` has body_size bytes (a multiple of 8), aligned to 8; its first byte is the number of players, its
    # second byte the version of the rules under which it is played. Only apply, apply_outcome, settle, start and
    # resample write to it, and they do not write when they return a fault. All functions except check require a body
    # that has passed check; check requires a version that the kernel plays.
    uint8_t number  # the game's, in packed states
    # The versions of the rules that are played: all from the oldest to the newest.
    uint8_t oldest_rules_version
    uint8_t rules_version
    uint8_t packed_version  # of the form of bodies
    uint16_t body_size
    uint16_t view_size
    uint16_t num_actions
    uint16_t observation_length
    uint8_t min_players
    uint8_t max_players
    # Begin a game; `options` is the game's own struct, already checked.
    void (*start)(void* body, int players, int rules_version, const void* options) noexcept nogil
    # Bounds on the length of games under any version; `options` as above, or NULL for any options.
    void (*limits)(int players, const void* options, Limits* limits) noexcept nogil
    # The seat to act, CHANCE or TERMINAL.
    int (*actor)(const void* body) noexcept nogil
    # At a decision: list the legal dense ids, ascending; returns their number. `ids` has space for MAX_LEGAL, all of
    # which may be written to.
    int (*legal_actions)(const void* body, uint16_t* ids) noexcept nogil
    # Draw one of these ids uniformly: draw a number below their count, which is the index of the id. NULL unless this
    # is faster than listing the ids.
    int (*sample_action)(const void* body, Stream* stream) noexcept nogil
    # The reason why the game is over: a number of the game's own EndKind enum, from 1; 0 if the game is not over.
    int (*end)(const void* body) noexcept nogil
    # The seat that brought about the end; called only when the game is over.
    int (*ended_by)(const void* body) noexcept nogil
    # Make a decision; called at decisions, and at the end of a game, where it returns GAME_IS_OVER.
    int (*apply)(void* body, int action, Events* events) noexcept nogil
    # At a chance event: list the possible outcomes, ascending, with their weights; returns their number. Both arrays
    # have space for MAX_OUTCOMES, all of which may be written to.
    int (*chance_outcomes)(const void* body, uint16_t* outcomes, uint32_t* weights) noexcept nogil
    # Draw one of these outcomes by weight, as the rules specify: draw a number below the sum of weights, and walk
    # through the outcomes in ascending order. This is faster in games that need not list the outcomes.
    int (*sample_outcome)(const void* body, Stream* stream) noexcept nogil
    # Resolve a chance event; called only where one is pending.
    int (*apply_outcome)(void* body, int outcome, Events* events) noexcept nogil
    # Resolve chance events by the stream until a seat has to act or the game is over; returns the resulting actor.
    # Draws the same numbers and gives the same body as repeated calls of sample_outcome and apply_outcome, which
    # moves.settle makes for any game.
    int (*settle)(const Operations* ops, void* body, Stream* stream) noexcept nogil
    # The seats' scores if the game stopped now.
    void (*totals)(const void* body, int32_t* totals) noexcept nogil
    # Each seat's rank from 1, when the game is over.
    void (*ranks)(const void* body, uint8_t* ranks) noexcept nogil
    # The knowledge of a seat, as a struct of view_size bytes for the game's `observe`.
    void (*view)(const void* body, int seat, void* view) noexcept nogil
    # The observation made from that struct: numbers from 0 to 255.
    void (*observe)(const void* view, int seat, uint8_t* values) noexcept nogil
    # Redraw the facts hidden from the seat, uniformly over the bodies that agree with its knowledge. Bodies that the
    # seat cannot distinguish become the same body and take the same number of words; no draw depends on hidden facts.
    int (*resample)(void* body, int seat, Stream* stream) noexcept nogil
    # Return OK, or the fault for a broken invariant of the rules or for a broken bound that memory safety requires.
    int (*check)(const void* body) noexcept nogil
    # The playout policy: score the legal actions at a decision by the game's own struct of weights. Scores are in
    # quarters of a doubling: an action whose score is higher by 4 is twice as likely. moves.draw_action turns the
    # scores into likelihoods.
    void (*advise)(
        const void* body, const void* weights, const uint16_t* ids, int count, int16_t* scores
    ) noexcept nogil
    # The default weights. The first byte is the number of decisions that the policy makes at the beginning of a
    # playout; 255 stands for all.
    const void* weights


cdef inline int rules_version_of(const void* body) noexcept nogil:
    return (<const uint8_t*> body)[1]

cdef inline bint is_played(const Operations* ops, int64_t rules_version) noexcept nogil:
    return ops.oldest_rules_version <= rules_version <= ops.rules_version
