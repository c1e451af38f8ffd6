"""Positions for Python programs. They play in process by the same rules as the service.

Names and constants are those of OpenSpiel if it has the same concept.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.limits cimport INT_MAX
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memset

from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.core.integers import must_be, shown

from chatiere.engine.core.integers cimport integer_in, read_u64, require_integer
from chatiere.engine.core.moves cimport count_paths, draw, make_move, playout, weigh_actions
from chatiere.engine.core.operations cimport (
    CHANCE,
    CHANCE_IS_PENDING,
    GAME_IS_OVER,
    INVALID,
    MAX_LEGAL,
    MAX_OUTCOMES,
    MAX_SEATS,
    NOT_YOUR_TURN,
    OK,
    OTHER_RULES_VERSION,
    PLY_TOO_HIGH,
    TERMINAL,
    VIEW_WORDS,
    Events,
    rules_version_of,
)
from chatiere.engine.core.packed cimport Header, check_body, check_packed, count_plies, max_ply
from chatiere.engine.core.stream cimport stream_at

CHANCE_PLAYER = CHANCE
INVALID_PLAYER = INVALID
TERMINAL_PLAYER = TERMINAL


cdef Stream read_stream(seed, game_number) except *:
    # Return the stream of a seed and a game number. Raises EngineError: INVALID_SEED.
    cdef uint64_t first = read_u64("seed", seed)
    return stream_at(first, read_u64("game_number", game_number), 0)


cdef Position empty_position(Game game):
    cdef Position position = Position.__new__(Position)
    position.game = game
    return position


cdef Position position_of(Game game, bytes body, const Stream* stream):
    cdef Position position = empty_position(game)
    if len(body) != game.ops.body_size:
        raise EngineError(Reason.INVALID_STATE, f"the body of a {game.name} state has {game.ops.body_size} bytes")
    memcpy(position.body, <const char*> body, game.ops.body_size)
    game.check_rules_version(rules_version_of(position.body))
    if stream != NULL:
        position.sampled = True
        position.stream = stream[0]
    return position.checked()


cdef Position unpacked(Game game, packed):
    cdef Position position = empty_position(game)
    cdef const uint8_t[::1] data = memoryview(packed)
    cdef Header header
    cdef int fault
    if data.shape[0] != game.packed_size:
        raise EngineError(
            Reason.INVALID_STATE,
            f"a packed {game.name} state has {game.packed_size} bytes, not {data.shape[0]}",
            metadata={"expected_size": str(game.packed_size), "size": str(data.shape[0])},
        )
    memcpy(&header, &data[0], sizeof(Header))
    memcpy(position.body, &data[sizeof(Header)], game.ops.body_size)
    fault = check_packed(game.ops, &header, position.body)
    if fault == OTHER_RULES_VERSION:
        game.check_rules_version(header.rules_version)
    if fault != OK:
        game.refuse_state(fault)
    position.sampled = header.sampled
    position.stream = stream_at(header.seed, header.game_number, header.drawn)
    position.plies = header.ply
    return position


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
        cdef Position position = empty_position(self.game)
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
