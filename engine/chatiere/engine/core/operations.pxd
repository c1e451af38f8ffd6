# The core's interface to a game: a packed state without pointers, and functions that operate on it.
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t

from chatiere.engine.core.stream cimport Stream


cdef extern from "<assert.h>" nogil:
    # Assertions are active only in the debug build, without NDEBUG. Conditions with calls must not use `and`, `or` or
    # `if`, because Cython would evaluate the calls before the assertion, even in release builds.
    void debug_assert "assert"(bint condition) noexcept


cdef enum:
    # The actor at a position is a seat, counted from 0, or one of these values. They have the same numbers as in
    # OpenSpiel (spiel_globals.h, where -2 is for simultaneous moves).
    CHANCE = -1
    INVALID = -3  # the state is invalid; only in batches
    TERMINAL = -4
    # The number of a viewer without a seat.
    SPECTATOR = -1
    # The value of a seat in packed states if there is no seat.
    NO_SEAT = 0xFF
    # The set of all seats, as bits.
    EVERY_SEAT = 0xFF

cdef inline int distance_to(int seat, int other, int players) noexcept nogil:
    # Return the number of seats from `seat` to `other`, clockwise.
    return other - seat + (players if other < seat else 0)

cdef inline int seat_at(int seat, int distance, int players) noexcept nogil:
    # Return the seat that is `distance` seats clockwise from `seat`. The distance must be at most one round of the
    # table.
    return seat + distance - (players if seat + distance >= players else 0)

cdef enum:
    # Bounds for all games: sizes of states and lists, and numbers of events of one move or chance event.
    MAX_SEATS = 6
    BODY_WORDS = 256  # the size in words of 8 bytes
    VIEW_WORDS = 512
    MAX_LEGAL = 7168
    MAX_OUTCOMES = 128
    MAX_EVENTS = 256
    MAX_EVENT_VALUES = 8

cdef enum Fault:
    # Error codes that all games' kernels share. game.pyx has their texts. A game's own codes begin at 100, and the
    # game package has their texts. All codes fit in a byte.
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
    # A move by a seat whose turn it is not. It is refused before it reaches a kernel.
    NOT_YOUR_TURN

cdef enum:
    # The value of Event.seen_by if all seats and spectators may see the event's values.
    EVERYBODY = 0xFF

ctypedef struct Event:
    uint8_t kind  # in the game's own numbering
    int8_t seat  # the seat that the event concerns, or -1
    uint8_t seen_by  # the set of seats that may see the values, or `EVERYBODY`
    uint8_t count  # the number of values
    uint16_t values[MAX_EVENT_VALUES]

ctypedef struct Events:
    # The events of one move or chance event, in order.
    uint16_t count
    Event items[MAX_EVENTS]

cdef inline void add_event(
    Events* events, int kind, int seat, int seen_by, const uint16_t* values, int count
) noexcept nogil:
    # Append an event. Does nothing if `events` is NULL, as in batches.
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
    # Bounds for all games with a number of players.
    int max_game_length  # the number of decisions
    int max_chance_nodes  # the number of chance events
    int max_chance_outcomes  # the number of outcomes of one chance event


ctypedef struct Operations:
    # The operations of a game. Every `body` has body_size bytes (a multiple of 8) and is aligned to 8. The first byte
    # is the number of players. The second byte is the version of the rules under which the game is played. Only apply,
    # apply_outcome, settle, start and resample write to a body, and they do not write if they return a fault. All
    # functions except check require a body that has passed check. check requires a version that the kernel plays.
    uint8_t number  # the number of the game in packed states
    # The versions of the rules that the kernel plays: all from the oldest to the newest.
    uint8_t oldest_rules_version
    uint8_t rules_version
    uint8_t packed_version  # the version of the form of bodies
    uint16_t body_size
    uint16_t view_size
    uint16_t num_actions
    uint16_t observation_length
    uint8_t min_players
    uint8_t max_players
    # Begin a game. `options` is the game's own struct, already checked.
    void (*start)(void* body, int players, int rules_version, const void* options) noexcept nogil
    # Compute bounds for the length of games under any version. `options` is as above, or NULL for any options.
    void (*limits)(int players, const void* options, Limits* limits) noexcept nogil
    # Return the seat to act, CHANCE or TERMINAL.
    int (*actor)(const void* body) noexcept nogil
    # At a decision, list the legal dense ids in ascending order, and return their number. `ids` has space for MAX_LEGAL
    # ids, and all of this space may be written to.
    int (*legal_actions)(const void* body, uint16_t* ids) noexcept nogil
    # Draw one of these ids uniformly. Only the index of the id, a number below the number of ids, is drawn from the
    # stream. NULL unless this is faster than listing the ids.
    int (*sample_action)(const void* body, Stream* stream) noexcept nogil
    # Return the reason why the game is over: a number of the game's EndKind enum, or 0 if the game is not over.
    int (*end)(const void* body) noexcept nogil
    # Return the seat that caused the end. Called only if the game is over.
    int (*ended_by)(const void* body) noexcept nogil
    # Make a decision. Called at decisions, and at the end of a game. At the end, it returns GAME_IS_OVER.
    int (*apply)(void* body, int action, Events* events) noexcept nogil
    # At a chance event, list the possible outcomes and their weights, in ascending order of the outcomes, and return
    # their number. Both arrays have space for MAX_OUTCOMES entries, and all of this space may be written to.
    int (*chance_outcomes)(const void* body, uint16_t* outcomes, uint32_t* weights) noexcept nogil
    # Draw one of these outcomes by weight, as the rules specify: draw a number below the sum of the weights, and
    # subtract the weights in ascending order of the outcomes until the number is below a weight. This is faster in
    # games that need not list the outcomes.
    int (*sample_outcome)(const void* body, Stream* stream) noexcept nogil
    # Resolve a chance event. Called only if a chance event is pending.
    int (*apply_outcome)(void* body, int outcome, Events* events) noexcept nogil
    # Resolve chance events by the stream until a seat has to act or the game is over, and return the resulting actor.
    # This draws the same numbers and gives the same body as repeated calls to sample_outcome and apply_outcome.
    # moves.settle makes these calls, and can be used for any game.
    int (*settle)(const Operations* ops, void* body, Stream* stream) noexcept nogil
    # Compute the scores that the seats would have if the game ended now.
    void (*totals)(const void* body, int32_t* totals) noexcept nogil
    # Compute each seat's rank, counted from 1, if the game is over.
    void (*ranks)(const void* body, uint8_t* ranks) noexcept nogil
    # Compute the knowledge of a seat, as a struct of view_size bytes for the game's `observe`.
    void (*view)(const void* body, int seat, void* view) noexcept nogil
    # Compute the observation from that struct, as numbers from 0 to 255.
    void (*observe)(const void* view, int seat, uint8_t* values) noexcept nogil
    # Redraw the facts that are hidden from the seat, uniformly over the bodies that agree with the seat's knowledge. No
    # draw depends on hidden facts. Bodies that the seat cannot distinguish therefore become the same body, and use the
    # same number of words of the stream.
    int (*resample)(void* body, int seat, Stream* stream) noexcept nogil
    # Return OK, or the fault if an invariant of the rules, or a bound that memory safety requires, does not hold.
    int (*check)(const void* body) noexcept nogil
    # The playout policy: compute scores of the legal actions at a decision, using the game's own struct of weights. An
    # action whose score is higher by 4 is twice as likely. moves.draw_action converts scores to likelihoods.
    void (*advise)(
        const void* body, const void* weights, const uint16_t* ids, int count, int16_t* scores
    ) noexcept nogil
    # The default weights. The first byte is the number of decisions at the beginning of a playout that the policy
    # makes. 255 means all decisions.
    const void* weights


cdef inline int rules_version_of(const void* body) noexcept nogil:
    return (<const uint8_t*> body)[1]

cdef inline bint is_played(const Operations* ops, int64_t rules_version) noexcept nogil:
    return ops.oldest_rules_version <= rules_version <= ops.rules_version
