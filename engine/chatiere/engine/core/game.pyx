"""Games for Python programs: the rules of one game, with methods that begin and unpack positions."""

from collections.abc import Mapping
from dataclasses import replace

from libc.stdint cimport uint64_t

from chatiere.engine.core.description import Limits
from chatiere.engine.core.errors import EngineError, FaultText, Reason
from chatiere.engine.core.integers import must_be, shown

from chatiere.engine.core.events cimport EventLog
from chatiere.engine.core.integers cimport integer_in, read_u64, require_integer
from chatiere.engine.core.operations cimport (
    BAD_FLAG,
    BODY_WORDS,
    CHANCE_IS_PENDING,
    GAME_IS_OVER,
    NO_CHANCE_IS_PENDING,
    NO_SUCH_ACTION,
    NO_SUCH_OUTCOME,
    NO_SUCH_SEAT,
    NOT_YOUR_TURN,
    OTHER_GAME,
    OTHER_PACKED_VERSION,
    OTHER_PLAYERS,
    OTHER_RULES_VERSION,
    PLY_TOO_HIGH,
    SAMPLED_CHANCE_IS_PENDING,
    STREAM_NOT_ZERO,
    TWO_RULES_VERSIONS,
    VIEW_WORDS,
)
from chatiere.engine.core.operations cimport Limits as GameLimits
from chatiere.engine.core.packed cimport Header, note_max_plies
from chatiere.engine.core.position cimport Position, empty_position, position_of, read_stream, unpacked
from chatiere.engine.core.stream cimport Stream

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
        return game(self.name).with_playout_weights, (self.other_weights,)

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
        cdef Position position = empty_position(self)
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
        return unpacked(self, packed)

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
            position = position_of(self, body, NULL)
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
            position = position_of(self, body, &drawn)
        position.set_ply(ply)
        return position

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
