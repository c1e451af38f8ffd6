"""Games and positions for Python programs. They play in process by the same rules as the service.

Names and constants are those of OpenSpiel if it has the same concept.
"""

from collections.abc import Mapping
from dataclasses import replace

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.limits cimport INT_MAX
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memset

from chatiere.engine.core.description import Limits
from chatiere.engine.core.errors import EngineError, FaultText, Reason
from chatiere.engine.core.integers import must_be, shown

from chatiere.engine.core.game cimport (
    BAD_FLAG,
    BODY_WORDS,
    CHANCE,
    CHANCE_IS_PENDING,
    GAME_IS_OVER,
    INVALID,
    MAX_LEGAL,
    MAX_OUTCOMES,
    MAX_SEATS,
    NO_CHANCE_IS_PENDING,
    NO_SUCH_ACTION,
    NO_SUCH_OUTCOME,
    NO_SUCH_SEAT,
    NOT_YOUR_TURN,
    OK,
    OTHER_GAME,
    OTHER_PACKED_VERSION,
    OTHER_PLAYERS,
    OTHER_RULES_VERSION,
    PLY_TOO_HIGH,
    SAMPLED_CHANCE_IS_PENDING,
    STREAM_NOT_ZERO,
    TERMINAL,
    TWO_RULES_VERSIONS,
    VIEW_WORDS,
    Events,
    rules_version_of,
)
from chatiere.engine.core.game cimport Limits as GameLimits
from chatiere.engine.core.integers cimport integer_in, read_u64, require_integer
from chatiere.engine.core.moves cimport count_paths, draw, make_move, playout, weigh_actions
from chatiere.engine.core.packed cimport Header, check_body, check_packed, count_plies, max_ply, note_max_plies
from chatiere.engine.core.stream cimport stream_at

CHANCE_PLAYER = CHANCE
INVALID_PLAYER = INVALID
TERMINAL_PLAYER = TERMINAL

# Map the kernel's error codes that all games share to their texts.
COMMON_FAULTS = {
    GAME_IS_OVER: FaultText(Reason.GAME_OVER, "the game is over: nobody can move", key="rule.game_is_over"),
    CHANCE_IS_PENDING: FaultText(
        Reason.CHANCE_PENDING,
        "a chance event is pending: apply one of its outcomes before a seat can act",
        key="rule.chance_is_pending",
    ),
    NO_CHANCE_IS_PENDING: FaultText(
        Reason.NO_CHANCE_PENDING,
        "no chance event is pending: a seat has to act, with one of its legal actions",
        key="rule.no_chance_is_pending",
    ),
    NO_SUCH_ACTION: FaultText(
        Reason.INVALID_ACTION, "the game has no action with that dense id", key="rule.no_such_action"
    ),
    NO_SUCH_OUTCOME: FaultText(
        Reason.IMPOSSIBLE_OUTCOME,
        "not a possible outcome of the pending chance event: apply one that is listed",
        key="rule.no_such_outcome",
    ),
    NO_SUCH_SEAT: FaultText(Reason.INVALID_SEAT, "the game has no such seat", "seat", key="rule.no_such_seat"),
    NOT_YOUR_TURN: FaultText(Reason.WRONG_TURN, "it is another seat's turn", "seat", key="rule.not_your_turn"),
    OTHER_GAME: FaultText(
        Reason.INVALID_STATE, "not a packed state of this game", "header.game", key="state.other_game"
    ),
    OTHER_RULES_VERSION: FaultText(
        Reason.UNSUPPORTED_RULES_VERSION,
        "the version of the rules is not supported",
        "rules_version",
        key="state.other_rules_version",
    ),
    OTHER_PACKED_VERSION: FaultText(
        Reason.INVALID_STATE,
        "the state is packed in a different form",
        "header.packed_version",
        key="state.other_packed_version",
    ),
    TWO_RULES_VERSIONS: FaultText(
        Reason.INVALID_STATE,
        "the header and the body name different versions of the rules",
        "header.rules_version",
        key="state.two_rules_versions",
    ),
    BAD_FLAG: FaultText(
        Reason.INVALID_STATE, "the header has a flag other than 0 and 1", "header.sampled", key="state.bad_flag"
    ),
    STREAM_NOT_ZERO: FaultText(
        Reason.INVALID_STATE,
        "a state with explicit chance has no random stream",
        "header.sampled",
        key="state.stream_not_zero",
    ),
    OTHER_PLAYERS: FaultText(
        Reason.INVALID_PLAYERS, "the state has a different number of seats", key="state.other_players"
    ),
    SAMPLED_CHANCE_IS_PENDING: FaultText(
        Reason.INVALID_STATE,
        "a state with sampled chance cannot be at a chance event",
        key="state.sampled_chance_is_pending",
    ),
    PLY_TOO_HIGH: FaultText(
        Reason.INVALID_STATE,
        "no game with this number of players has that many decisions",
        "header.ply",
        key="state.ply_too_high",
    ),
}


cdef class Kernel:
    """A kernel's operations, from which a Game is made."""


cdef Kernel wrap_operations(const Operations* ops, dict weights, pack_weights):
    cdef Kernel kernel = Kernel()
    note_max_plies(ops)
    kernel.ops = ops
    kernel.weights = weights
    kernel.pack_weights = pack_weights
    return kernel


cdef Stream read_stream(seed, game_number) except *:
    # Return the stream of a seed and a game number. Raises EngineError: INVALID_SEED.
    cdef uint64_t first = read_u64("seed", seed)
    return stream_at(first, read_u64("game_number", game_number), 0)


cdef class Game:
    """The rules of one game, with methods that begin and unpack positions.

        >>> from chatiere.engine import game
        >>> discat = game("discat")
        >>> discat.min_players, discat.max_players
        (2, 6)
        >>> position = discat.new_game(2, seed=7)
        >>> discat.unpack(position.pack()) == position
        True
    """

    def __init__(self, Kernel kernel not None, description, codec=None):
        """Initialize a game.

        Args:
            kernel: The kernel's operations.
            description: The Description of the game.
            codec: The codec that converts options and returns labels. None means that the description's functions are
                used instead.
        """
        if kernel.ops.body_size > 8 * BODY_WORDS or kernel.ops.view_size > 8 * VIEW_WORDS:
            raise ValueError("a state or view exceeds BODY_WORDS or VIEW_WORDS")  # uncovered: every game stays below
        if kernel.ops.body_size % sizeof(uint64_t):
            raise ValueError("a body is not whole words of 8 bytes")  # uncovered: every game complies
        self.ops = kernel.ops
        self.kernel = kernel
        self.description = replace(
            description, min_players=kernel.ops.min_players, max_players=kernel.ops.max_players
        )
        if codec is not None:
            self.description = replace(
                self.description,
                encode_options=codec.encode_options,
                options_of=codec.options_of,
                action_label=codec.action_label,
                outcome_label=codec.outcome_label,
            )
        self.default_options = {}

    def __repr__(self):
        return f"<Game {self.name}>"

    def __reduce__(self):
        from chatiere.engine import game

        if self.other_weights is None:
            return game, (self.name,)
        return _with_playout_weights, (self.name, self.other_weights)

    @property
    def name(self):
        """The game's name in the API and in file names, such as "discat"."""
        return self.description.name

    @property
    def rules_version(self):
        """The newest version, 1 … 255, of the rules and of the meaning of dense ids."""
        return self.ops.rules_version

    @property
    def rules_versions(self):
        """The versions of the rules that this engine plays, as an ascending range."""
        return range(self.ops.oldest_rules_version, self.ops.rules_version + 1)

    @property
    def packed_version(self):
        """The version, 1 … 255, of the form of packed states."""
        return self.ops.packed_version

    @property
    def min_players(self):
        """The smallest number of players."""
        return self.ops.min_players

    @property
    def max_players(self):
        """The largest number of players."""
        return self.ops.max_players

    @property
    def num_distinct_actions(self):
        """The number of dense ids. They count from 0, and are the same for every number of players."""
        return self.ops.num_actions

    @property
    def observation_length(self):
        """The length of an observation in uint8s. It is the same for every number of players."""
        return self.ops.observation_length

    @property
    def packed_size(self):
        """The size of a packed state in bytes."""
        return sizeof(Header) + self.ops.body_size

    @property
    def zero_sum(self):
        """True for every game, because the returns of all seats sum to 0."""
        return True

    @property
    def lowest_total_wins(self):
        """True if totals are penalties, so that the lowest total wins."""
        return self.description.lowest_total_wins

    @property
    def playout_weights(self):
        """The weights of the playout policy, as a dict by name. They are the kernel's weights, unless replaced."""
        return dict(self.kernel.weights if self.other_weights is None else self.other_weights)

    def with_playout_weights(self, weights):
        """Return the same game with other weights for the playout policy, which `flat` and `ismcts` use for playouts.

        Args:
            weights: A mapping from each name in `playout_weights` to an integer: from 0 to 255 for `decisions`, from
                -128 to 127 for the other names.

        Raises:
            ValueError: If a name is unknown or absent, or a weight is outside its range.
        """
        cdef Game other = Game(self.kernel, self.description)
        if set(weights) != set(self.kernel.weights):
            raise ValueError(f"weights must have the names {', '.join(self.kernel.weights)}")
        for name, weight in weights.items():
            lowest, highest = (0, 255) if name == "decisions" else (-128, 127)
            if integer_in(weight, lowest, highest) is None:
                raise ValueError(must_be(name, weight, lowest, highest))
        other.other_weights = {name: int(weights[name]) for name in self.kernel.weights}
        other.packed_weights = self.kernel.pack_weights(other.other_weights)
        other.own_ops = self.kernel.ops[0]
        other.own_ops.weights = <const char*> other.packed_weights
        other.ops = &other.own_ops
        return other

    def limits(self, players, options=None):
        """Return the Limits of games with a number of players and options.

        Args:
            players: The number of players, `min_players` … `max_players`.
            options: The game's options, by the names in the rules file; options that are not set have their defaults.
                None means all defaults.

        Raises:
            EngineError: INVALID_PLAYERS, INVALID_OPTION.
        """
        cdef int seats = self.read_players(players)
        cdef bytes encoded = self.encode_options(seats, options)
        return self.limits_of(seats, <const char*> encoded)

    def limits_of_any_options(self, players):
        """Return Limits that are valid for any options.

        Args:
            players: The number of players, `min_players` … `max_players`.

        Raises:
            EngineError: INVALID_PLAYERS.
        """
        return self.limits_of(self.read_players(players), NULL)

    cdef limits_of(self, int players, const void* options):
        cdef GameLimits limits
        self.ops.limits(players, options, &limits)
        # Each of w winners gets players / w - 1, and every other seat gets -1.
        return Limits(
            limits.max_game_length, limits.max_chance_nodes, limits.max_chance_outcomes, -1.0, players - 1.0
        )

    cdef Position empty_position(self):
        cdef Position position = Position.__new__(Position)
        position.game = self
        return position

    def new_game(
        self, players, options=None, *, seed=None, game_number=0, rules_version=None, EventLog events=None
    ):
        """Begin a game.

        Args:
            players: The number of players, `min_players` … `max_players`.
            options: The game's options, by the names in the rules file; options that are not set have their defaults.
                None means all defaults.
            seed: The seed of the stream (seed, game_number) from which chance is sampled, 0 … 2**64 - 1. None means
                explicit chance.
            game_number: The game number of this stream, 0 … 2**64 - 1.
            rules_version: The version of the rules to play under, one of `rules_versions`. None means the newest.
            events: An EventLog to which events are appended. None means no log.

        Returns:
            The position at the first decision or, with explicit chance, at the first chance event or decision.

        Raises:
            EngineError: INVALID_PLAYERS, INVALID_OPTION, INVALID_SEED, UNSUPPORTED_RULES_VERSION.
        """
        cdef Position position = self.empty_position()
        cdef bytes encoded
        cdef int seats = self.read_players(players)
        cdef int version = self.read_rules_version(rules_version)
        if seed is not None:
            position.sampled = True
            position.stream = read_stream(seed, game_number)
        elif game_number != 0:
            raise EngineError(Reason.INVALID_SEED, "a game number needs a seed", field="game_number")
        encoded = self.encode_options(seats, options)
        self.ops.start(position.body, seats, version, <const char*> encoded)
        if seed is not None:
            position.run_on(events)
        return position

    def unpack(self, packed):
        """Return the position of a packed state.

        Args:
            packed: The packed state, as returned by `Position.pack`. It is checked.

        Raises:
            EngineError: INVALID_STATE, UNSUPPORTED_RULES_VERSION.
        """
        cdef Position position = self.empty_position()
        cdef const uint8_t[::1] data = memoryview(packed)
        cdef Header header
        cdef int fault
        if data.shape[0] != self.packed_size:
            raise EngineError(
                Reason.INVALID_STATE,
                f"a packed {self.name} state has {self.packed_size} bytes, not {data.shape[0]}",
                metadata={"expected_size": str(self.packed_size), "size": str(data.shape[0])},
            )
        memcpy(&header, &data[0], sizeof(Header))
        memcpy(position.body, &data[sizeof(Header)], self.ops.body_size)
        fault = check_packed(self.ops, &header, position.body)
        if fault == OTHER_RULES_VERSION:
            self.check_rules_version(header.rules_version)
        if fault != OK:
            self.refuse_state(fault)
        position.sampled = header.sampled
        position.stream = stream_at(header.seed, header.game_number, header.drawn)
        position.plies = header.ply
        return position

    def position(self, bytes body not None, stream=None, ply=0):
        """Return the position of a body that a codec has read.

        Args:
            body: The body of a packed state. It is checked.
            stream: (seed, game number, words drawn), each 0 … 2**64 - 1, if chance is sampled. None means explicit
                chance.
            ply: The number of decisions made so far, at most the maximum of any game with the same number of players.
                It is checked.

        Raises:
            EngineError: INVALID_STATE, INVALID_SEED, UNSUPPORTED_RULES_VERSION.
        """
        cdef Stream drawn
        cdef Position position
        if stream is None:
            position = self.position_of(body, NULL)
        else:
            try:
                seed, game_number, words = stream
            except (TypeError, ValueError):
                raise EngineError(
                    Reason.INVALID_SEED,
                    f"stream must be (seed, game number, words drawn), not {shown(stream)}",
                    field="stream",
                ) from None
            drawn = read_stream(seed, game_number)
            drawn.drawn = read_u64("drawn", words)
            position = self.position_of(body, &drawn)
        position.set_ply(ply)
        return position

    cdef Position position_of(self, bytes body, const Stream* stream):
        cdef Position position = self.empty_position()
        if len(body) != self.ops.body_size:
            raise EngineError(Reason.INVALID_STATE, f"the body of a {self.name} state has {self.ops.body_size} bytes")
        memcpy(position.body, <const char*> body, self.ops.body_size)
        self.check_rules_version(rules_version_of(position.body))
        if stream != NULL:
            position.sampled = True
            position.stream = stream[0]
        return position.checked()

    def encode_options(self, players, options):
        """Convert options to the kernel's struct.

        Args:
            players: The number of players, `min_players` … `max_players`.
            options: The game's options, by the names in the rules file; options that are not set have their defaults.
                None means all defaults.

        Raises:
            EngineError: INVALID_OPTION.
        """
        if options is not None and not isinstance(options, Mapping):
            raise EngineError(Reason.INVALID_OPTION, "options must be a mapping of names to values", field="options")
        if options:
            return self.description.encode_options(players, options)
        # Cache the default options, because batches that begin games need them often.
        if players not in self.default_options:
            self.default_options[players] = self.description.encode_options(players, {})
        return self.default_options[players]

    cpdef int read_players(self, players) except -1:
        """Return a number of players as an int. Raises INVALID_PLAYERS if the game does not allow it."""
        number = integer_in(players, self.ops.min_players, self.ops.max_players)
        if number is None:
            raise EngineError(
                Reason.INVALID_PLAYERS,
                f"{self.name}: {must_be('players', players, self.ops.min_players, self.ops.max_players)}",
                field="players",
                metadata={"min_players": str(self.ops.min_players), "max_players": str(self.ops.max_players)},
            )
        return number

    def fault_text(self, fault):
        """Return the FaultText of a kernel's error code."""
        return COMMON_FAULTS.get(fault) or self.description.faults[fault]

    def refuse_state(self, fault):
        """Raise the EngineError for a kernel's error code about a state."""
        text = self.fault_text(fault)
        raise EngineError(text.reason, text.message, field=text.field, rule=text.rule, key=text.key)

    def check_rules_version(self, version):
        """Raise UNSUPPORTED_RULES_VERSION unless this engine plays the version."""
        if version not in self.rules_versions:
            played = ", ".join(map(str, self.rules_versions))
            raise EngineError(
                Reason.UNSUPPORTED_RULES_VERSION,
                f"unsupported version {version} of the rules of {self.name}; supported: {played}",
                field="rules_version",
                metadata={"supported": played},
            )

    cdef int read_rules_version(self, version) except -1:
        if version is None:
            return self.ops.rules_version
        number = require_integer("rules_version", version)
        self.check_rules_version(number)
        return number


def _with_playout_weights(name, weights):
    from chatiere.engine import game

    return game(name).with_playout_weights(weights)


cdef class Position:
    """A state of a game, returned by `Game.new_game` or `Game.unpack`. `apply` changes it in place.

        >>> from chatiere.engine import game
        >>> position = game("discat").new_game(2, seed=7)
        >>> position.current_player(), position.is_chance_node()
        (1, False)
        >>> while not position.is_terminal():
        ...     position.apply(position.legal_actions()[0])
        >>> len(position.returns()), position.legal_actions()
        (2, [])
    """

    def __init__(self):
        """Raise TypeError, because only a Game makes positions."""
        raise TypeError("make a Position with Game.new_game or Game.unpack")

    def __repr__(self):
        return f"<Position of {self.game.name}, {self.num_players()} players, current player {self.current_player()}>"

    def __eq__(self, other):
        return isinstance(other, Position) and self.pack() == other.pack()

    def __hash__(self):
        return hash(self.pack())

    def __reduce__(self):
        return self.game.unpack, (self.pack(),)

    cdef Stream* stream_in_use(self) noexcept nogil:
        return &self.stream if self.sampled else NULL

    cdef run_on(self, EventLog events):
        # With sampled chance, continue to the next decision. Chance events are resolved one at a time, because their
        # number is not bounded.
        cdef Events log
        if events is None:
            self.game.ops.settle(self.game.ops, self.body, &self.stream)
            return
        while self.game.ops.actor(self.body) == CHANCE:
            log.count = 0
            draw(self.game.ops, self.body, &self.stream, &log)
            events.add(&log)

    def rules_version(self):
        """Return the version of the rules under which the game is played."""
        return rules_version_of(self.body)

    def num_players(self):
        """Return the number of players."""
        return (<const uint8_t*> self.body)[0]

    def is_sampled(self):
        """Return True if chance is sampled from the position's random stream, or False if chance is explicit."""
        return bool(self.sampled)

    def random_stream(self):
        """Return (seed, game number, words drawn so far) if chance is sampled, otherwise None."""
        return (self.stream.key[0], self.stream.key[1], self.stream.drawn) if self.sampled else None

    def ply(self):
        """Return the number of decisions made so far. Chance events do not count."""
        return self.plies

    cdef int set_ply(self, ply) except -1:
        cdef uint32_t most = max_ply(self.game.ops, self.body)
        number = integer_in(ply, 0, most)
        if number is None:
            raise EngineError(
                Reason.INVALID_STATE,
                f"{must_be('ply', ply, 0, most)}: {self.game.fault_text(PLY_TOO_HIGH).message}",
                field="ply",
            )
        self.plies = number
        return 0

    def current_player(self):
        """Return the seat to act, CHANCE_PLAYER (-1) or TERMINAL_PLAYER (-4)."""
        return self.game.ops.actor(self.body)

    def is_chance_node(self):
        """Return True if a chance event is pending."""
        return self.game.ops.actor(self.body) == CHANCE

    def is_terminal(self):
        """Return True if the game is over."""
        return self.game.ops.actor(self.body) == TERMINAL

    def legal_actions(self):
        """Return the legal dense ids, ascending; empty unless a seat has to act."""
        cdef uint16_t ids[MAX_LEGAL]
        cdef int i, count
        if self.game.ops.actor(self.body) < 0:
            return []
        count = self.game.ops.legal_actions(self.body, ids)
        return [ids[i] for i in range(count)]

    def action_likelihoods(self):
        """Return the playout policy's probabilities of the legal actions, as proportional positive integers.

        `flat` and `ismcts` use the policy for playouts. The policy may use information that is hidden from the seat.

        Returns:
            An integer for each of `legal_actions`; empty unless a seat has to act.
        """
        cdef uint16_t ids[MAX_LEGAL]
        cdef uint32_t likelihoods[MAX_LEGAL]
        cdef int i, count
        if self.game.ops.actor(self.body) < 0:
            return []
        count = self.game.ops.legal_actions(self.body, ids)
        weigh_actions(self.game.ops, self.body, ids, count, likelihoods)
        return [likelihoods[i] for i in range(count)]

    def chance_outcomes(self):
        """Return the outcomes of the pending chance event, with their weights.

        Returns:
            (outcome, weight) for each outcome, ascending; empty if no chance event is pending. Weights are the smallest
            integers that are proportional to the probabilities, whereas OpenSpiel returns the probabilities themselves.
        """
        cdef uint16_t outcomes[MAX_OUTCOMES]
        cdef uint32_t weights[MAX_OUTCOMES]
        cdef int i, count
        if self.game.ops.actor(self.body) != CHANCE:
            return []
        count = self.game.ops.chance_outcomes(self.body, outcomes, weights)
        return [(outcomes[i], weights[i]) for i in range(count)]

    def apply(self, move, EventLog events=None):
        """Make a move. With sampled chance, the game then continues to the next decision.

        Args:
            move: The dense id of an action or, at a chance event, the outcome.
            events: An EventLog to which events are appended. None means no log.

        Raises:
            EngineError: INVALID_ACTION, ILLEGAL_ACTION, IMPOSSIBLE_OUTCOME, GAME_OVER. The position is unchanged then.
        """
        cdef Events log
        cdef int fault
        cdef int number = id_of("move", move)
        log.count = 0
        fault = make_move(self.game.ops, self.body, NULL, &self.plies, number, NULL if events is None else &log)
        if fault != OK:
            self.refuse_move(fault, move)
        if events is not None:
            events.add(&log)
        if self.sampled:
            self.run_on(events)

    cpdef int require_decision(self) except -1:
        """Raise CHANCE_PENDING or GAME_OVER unless a seat has to act."""
        cdef int actor = self.game.ops.actor(self.body)
        if actor == CHANCE:
            self.refuse_move(CHANCE_IS_PENDING, None)
        if actor == TERMINAL:
            self.refuse_move(GAME_IS_OVER, None)
        return 0

    def require_turn(self, seat):
        """Raise WRONG_TURN, CHANCE_PENDING or GAME_OVER unless it is a seat's turn to act."""
        self.require_decision()
        if seat != self.current_player():
            self.refuse_move(NOT_YOUR_TURN, None)

    cdef int require_action(self, int action) except -1:
        self.require_decision()
        if not 0 <= action < self.game.ops.num_actions:
            raise EngineError(
                Reason.INVALID_ACTION, f"dense ids are 0 to {self.game.ops.num_actions - 1}", key="rule.no_such_action"
            )
        return 0

    def refuse_move(self, fault, move):
        """Raise the EngineError for a kernel's error code about a move."""
        text = self.game.fault_text(fault)
        actor = self.current_player()
        metadata = {"actor": "chance" if actor == CHANCE else "nobody" if actor == TERMINAL else str(actor)}
        if move is not None:
            metadata["move"] = shown(move)
        turn = f" (seat {actor} is to act)" if actor >= 0 else ""
        raise EngineError(
            text.reason,
            text.message + turn,
            field=text.field,
            rule=text.rule,
            metadata=metadata,
            key=text.key,
            parts=text.parts,
        )

    def child(self, move):
        """Return the position after a move, and leave this position unchanged. Raises the same errors as `apply`."""
        cdef Position position = self.clone()
        position.apply(move)
        return position

    def clone(self):
        """Return an independent copy."""
        cdef Position position = self.game.empty_position()
        memcpy(position.body, self.body, self.game.ops.body_size)
        position.sampled = self.sampled
        position.stream = self.stream
        position.plies = self.plies
        return position

    def end(self):
        """Return the reason why the game is over, as a number of `Description.ends`, or None if it is not over."""
        return self.game.ops.end(self.body) or None

    def ended_by(self):
        """Return the seat that brought about the end of the game, or None if the game is not over."""
        return self.game.ops.ended_by(self.body) if self.game.ops.end(self.body) else None

    def totals(self):
        """Return the score that each seat would have if the game ended now."""
        cdef int32_t totals[MAX_SEATS]
        self.game.ops.totals(self.body, totals)
        return [totals[seat] for seat in range(self.num_players())]

    def ranks(self):
        """Return each seat's rank, 1 + the number of seats ahead of it, or None if the game is not over."""
        cdef uint8_t ranks[MAX_SEATS]
        if self.game.ops.actor(self.body) != TERMINAL:
            return None
        self.game.ops.ranks(self.body, ranks)
        return [ranks[seat] for seat in range(self.num_players())]

    def winners(self):
        """Return the seats of rank 1, ascending, or None if the game is not over."""
        ranks = self.ranks()
        return None if ranks is None else [seat for seat, rank in enumerate(ranks) if rank == 1]

    def returns(self):
        """Return n/w - 1 for each of w winners among n seats, -1 for other seats, or zeros until the game is over."""
        winners = self.winners()
        if winners is None:
            return [0.0] * self.num_players()
        gain = self.num_players() / len(winners) - 1.0
        return [gain if seat in winners else -1.0 for seat in range(self.num_players())]

    cdef int read_seat(self, seat) except -1:
        # Return a seat as an int. Raises EngineError: INVALID_SEAT.
        cdef int players = (<const uint8_t*> self.body)[0]
        number = integer_in(seat, 0, players - 1)
        if number is None:
            raise EngineError(
                Reason.INVALID_SEAT,
                must_be("seat", seat, 0, players - 1),
                field="seat",
                metadata={"players": str(players)},
            )
        return number

    def observation(self, seat):
        """Return the observation of a seat, in the layout of `Description.observation`.

        Args:
            seat: The observing seat.

        Returns:
            uint8 (observation_length,) as bytes. `numpy.frombuffer(position.observation(0), "u1")` is an array of them.

        Raises:
            EngineError: INVALID_SEAT.
        """
        cdef uint64_t view[VIEW_WORDS]
        cdef bytes values
        cdef int viewer = self.read_seat(seat)
        # Writing to a new bytes object is permitted before other code receives it.
        values = PyBytes_FromStringAndSize(NULL, self.game.ops.observation_length)
        self.game.ops.view(self.body, viewer, view)
        self.game.ops.observe(view, seat, <uint8_t*> <char*> values)
        return values

    def resample(self, seat, seed, game_number=0):
        """Draw a position uniformly from the positions that agree with a seat's knowledge of this position.

        The draw depends only on the stream (seed, game_number) and on the seat's knowledge. If chance is sampled, the
        later chance outcomes of the new position come from the same stream.

        Args:
            seat: The seat whose knowledge is kept.
            seed: The seed of the stream, 0 … 2**64 - 1.
            game_number: The game number of the stream, 0 … 2**64 - 1.

        Raises:
            EngineError: INVALID_SEAT, INVALID_SEED; INVALID_STATE if the state cannot be reached by playing.
        """
        cdef Position position = self.clone()
        cdef int viewer = self.read_seat(seat)
        cdef Stream stream = read_stream(seed, game_number)
        cdef int fault = self.game.ops.resample(position.body, viewer, &stream)
        if fault != OK:
            self.game.refuse_state(fault)
        if self.sampled:
            position.stream = stream
        return position

    def check(self):
        """Raise INVALID_STATE if the rules' invariants do not hold. Positions made by the engine always pass."""
        cdef int fault = check_body(self.game.ops, self.body, self.sampled)
        if fault != OK:
            self.game.refuse_state(fault)

    cdef Position checked(self):
        self.check()
        return self

    def pack(self):
        """Return the packed state, `Game.packed_size` bytes with a header (game, versions, ply, stream) and a body."""
        cdef Header header
        memset(&header, 0, sizeof(Header))
        header.game = self.game.ops.number
        header.rules_version = rules_version_of(self.body)
        header.packed_version = self.game.ops.packed_version
        header.ply = self.plies
        if self.sampled:
            header.sampled = 1
            header.seed = self.stream.key[0]
            header.game_number = self.stream.key[1]
            header.drawn = self.stream.drawn
        return (<const char*> &header)[:sizeof(Header)] + (<const char*> self.body)[:self.game.ops.body_size]

    def options(self):
        """Return the options of the game that differ from their defaults, by name."""
        return self.game.description.options_of(self)

    def action_label(self, action, language="en"):
        """Return the label of a legal dense id.

        Args:
            action: The dense id of the action.
            language: The language of the label, "en" or "fr".

        Raises:
            ValueError: If the language is not supported.
        """
        return self.game.description.action_label(self, id_of("action", action), language)

    def outcome_label(self, outcome, language="en"):
        """Return the label of a possible chance outcome.

        Args:
            outcome: The outcome.
            language: The language of the label, "en" or "fr".

        Raises:
            ValueError: If the language is not supported.
        """
        return self.game.description.outcome_label(self, require_integer("outcome", outcome), language)

    def playout(self, seed, game_number=0):
        """Play uniformly random legal actions to the end of the game. This changes the position.

        Chance outcomes and actions are drawn from the stream (seed, game_number).

        Args:
            seed: The seed of the stream, 0 … 2**64 - 1.
            game_number: The game number of the stream, 0 … 2**64 - 1.

        Returns:
            The number of decisions made.
        """
        cdef Stream stream = read_stream(seed, game_number)
        cdef uint64_t decisions
        with nogil:
            decisions = playout(self.game.ops, self.body, &stream)
        count_plies(self.game.ops, self.body, &self.plies, decisions)
        return decisions

    def perft(self, depth):
        """Return the number of sequences of moves from this position. A game that ends earlier counts as one sequence.

        With explicit chance, each outcome counts as a move, regardless of its weight. With sampled chance, only
        decisions count.

        Args:
            depth: The number of moves in a sequence, 0 or more.

        Raises:
            ValueError: If `depth` is out of range.
        """
        cdef uint64_t paths
        cdef int moves
        number = integer_in(depth, 0, INT_MAX)
        if number is None:
            raise ValueError(must_be("depth", depth, 0, INT_MAX))
        moves = number
        with nogil:
            paths = count_paths(self.game.ops, self.body, self.stream_in_use(), moves)
        return paths


cdef int id_of(name, value) except? -2:
    # Return an action or outcome as an int, or -1 if it is out of range in every game. The number -1 is never valid.
    # Raises TypeError.
    number = require_integer(name, value)
    return number if -1 <= number <= 0xFFFF else -1
