"""The games in OpenSpiel: importing this module registers `chatiere_<game>` for every game.

import chatiere.envs.openspiel
import pyspiel

state = pyspiel.load_game("chatiere_discat(players=3)").new_initial_state()

The parameters are `players` and the game's options, with the names in the rules file. A flag is a bool. A number is an
integer. -1 means that an option without a numeric default is not given. A list is text with a space between numbers ("1
2 3 5"). A list of one number needs a space after the number, because OpenSpiel would otherwise read the text as an
integer. Chance is explicit, and rewards are given at the end.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, NamedTuple, NoReturn, Self

import numpy as np
from google.protobuf import text_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from chatiere import engine
from chatiere.engine import CHANCE_PLAYER, EngineError, EventLog, Game, Position
from chatiere.engine.wire import Reader, fill
from chatiere.v1 import game_pb2

try:
    import pyspiel
except ImportError as error:
    raise ImportError("chatiere.envs.openspiel needs OpenSpiel: pip install chatiere[openspiel]") from error

# The number of the viewer that sees only public information.
_SPECTATOR = -1
# The value of a numeric parameter that is not given and has no default.
_NOT_GIVEN = -1

# A linked list of moves, the last move first: (the earlier moves or None, the actor, the move, the move's events).
_Moves = tuple[Any, int, int, EventLog]


class _Start(NamedTuple):
    # The position before the first move: a new game, or a position drawn for a seat. A drawn position keeps the history
    # of that seat. The other seats' histories contain only the events that spectators have seen.
    position: Position
    seat: int | None = None
    history: str = ""
    seen_by_all: str = ""


class _Course:
    # A position and the moves that led to it. Clones share all objects except the position, because the position is
    # changed in place.
    __slots__ = ("_histories", "moves", "position", "start")

    def __init__(self, start: _Start) -> None:
        self.start = start
        self.position = start.position.clone()
        self.moves: _Moves | None = None
        # The histories computed so far. Map each viewer to the moves that the history covers, and to the history's
        # text.
        self._histories: dict[int, tuple[_Moves | None, str]] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = self.__class__.__new__(self.__class__)
        copied.start = self.start
        copied.position = self.position.clone()
        copied.moves = self.moves
        copied._histories = self._histories.copy()
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickle a list of moves, because the links of a long game would exceed pickle's recursion limit. The events are
        # computed again from the moves.
        made = []
        last = self.moves
        while last is not None:
            last, _, move, _ = last
            made.append(move)
        return _replayed, (self.start, made[::-1])

    def apply(self, move: int) -> None:
        events = EventLog()
        mover = self.position.current_player()
        self.position.apply(move, events)
        self.moves = (self.moves, mover, move, events)

    def history(self, viewer: int) -> str:
        # Return the events shown to a seat or the spectator, and the seat's own actions, from the start on.
        start = self.start
        beginning = start.history if viewer == start.seat else start.seen_by_all
        known, text = self._histories.get(viewer, (None, beginning))
        pieces = []
        last = self.moves
        while last is not known and last is not None:
            before, mover, move, events = last
            pieces.append(_text_of(viewer, mover, move, events))
            last = before
        text += "".join(reversed(pieces))
        self._histories[viewer] = self.moves, text
        return text

    def resample(self, seat: int, seed: int) -> _Start:
        drawn = self.position.resample(seat, seed)
        return _Start(drawn, seat, self.history(seat), self.history(_SPECTATOR))


def _replayed(start: _Start, moves: list[int]) -> _Course:
    course = _Course(start)
    for move in moves:
        course.apply(move)
    return course


def _text_of(viewer: int, mover: int, move: int, events: EventLog) -> str:
    # Numbers are used instead of labels, because different events always have different numbers.
    text = f"{move}! " if mover == viewer >= 0 else ""
    for kind, seat, seen_by, values in events:
        about = "" if seat is None else seat
        if seen_by is None:
            text += f"{kind}@{about}{values} "
        else:
            text += f"{kind}@{about}{values if viewer in seen_by else '?'}{_digits(seen_by)} "
    return text


@cache
def _digits(seats: frozenset[int]) -> str:
    return "".join(map(str, sorted(seats)))


class ChatiereGame(pyspiel.Game):  # type: ignore[misc]  # pyspiel has no types
    """A game with a number of players and options, made by `pyspiel.load_game`. Each game has its own subclass."""

    _game: ClassVar[Game]
    _type: ClassVar[Any]

    def __init__(self, params: Mapping[str, Any]) -> None:
        """Initialize a game with all its parameters. Raises pyspiel.SpielError naming an invalid parameter."""
        game, game_type = self._game, self._type
        params = {name: _listed(value.split()) if isinstance(value, str) else value for name, value in params.items()}
        players = params["players"]
        try:
            options = _read_options(game, game_type, params)
            self._start = _Start(game.new_game(players, options))
            self._limits = game.limits(players, options)
        except EngineError as error:
            raise pyspiel.SpielError(f"{game_type.short_name}: parameter {error.field}: {error}") from error
        info = pyspiel.GameInfo(
            num_distinct_actions=game.num_distinct_actions,
            max_chance_outcomes=_outcome_ids(game),
            num_players=players,
            min_utility=self._limits.min_utility,
            max_utility=self._limits.max_utility,
            utility_sum=0.0,
            max_game_length=self._limits.max_game_length,
        )
        # Omit defaults from the game's name, because the name would otherwise be several lines long.
        defaults = game_type.parameter_specification
        given = {name: value for name, value in params.items() if name == "players" or value != defaults[name]}
        super().__init__(game_type, info, given)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return a function and an argument to load the game by name. pyspiel's pickling would lose the attributes."""
        return _load, (str(self),)

    def new_initial_state(self) -> "ChatiereState":
        """Return the state at the beginning of a game."""
        return ChatiereState(self, self._start)

    def information_state_tensor_shape(self) -> NoReturn:
        """Raise pyspiel.SpielError, as `ChatiereState.information_state_tensor` does."""
        _refuse_information_state_tensor()

    information_state_tensor_size = information_state_tensor_shape

    def max_chance_nodes_in_history(self) -> int:
        """Return the largest number of chance events in a game."""
        return self._limits.max_chance_nodes_in_history

    def make_py_observer(self, iig_obs_type: Any = None, params: Mapping[str, Any] | None = None) -> Any:
        """Return an observer of one player's knowledge, a ChatiereObserver.

        Args:
            iig_obs_type: The type of the observations. With perfect recall, the observer has a string but no tensor.
                Without perfect recall (the default), it has both.
            params: Must be empty.

        Returns:
            The observer. None for a type that omits public information or the player's own information, or that
            includes other players' information.
        """
        # If C++ code passes no type, it passes the parameters as the first argument.
        unknown = params or (iig_obs_type if isinstance(iig_obs_type, Mapping) else None)
        if unknown:
            raise pyspiel.SpielError(f"{self}: observers have no parameters, such as {next(iter(unknown))!r}")
        perfect_recall = False
        if iig_obs_type:
            if not iig_obs_type.public_info or iig_obs_type.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
                return None
            perfect_recall = iig_obs_type.perfect_recall
        return ChatiereObserver(self._game, perfect_recall)


def _refuse_information_state_tensor() -> NoReturn:
    raise pyspiel.SpielError(
        "there is no information_state_tensor, because the length of a history has no useful bound: use "
        "observation_tensor, or information_state_string, which has perfect recall"
    )


def _load(name: str) -> Any:
    # Pickle calls this function. Before the call, pickle imports this module and thereby registers the games.
    return pyspiel.load_game(name)


class ChatiereState(pyspiel.State):  # type: ignore[misc]  # pyspiel has no types
    """A state of a game, with the events shown to each player.

    Invalid moves and arguments raise pyspiel.SpielError and leave the state unchanged.
    """

    # C++ code calls most of these methods, as for all games in Python. `legal_actions` and `is_chance_node` could be
    # inherited, but the overrides spare Python callers the detour through C++.

    def __init__(self, game: ChatiereGame, start: _Start) -> None:
        """Initialize a state. ChatiereGame.new_initial_state returns new states."""
        super().__init__(game)
        # This is the only attribute, because `clone` copies and pickle saves every attribute.
        self._course = _Course(start)

    def current_player(self) -> int:
        """Return the seat to act, or pyspiel.PlayerId.CHANCE or TERMINAL, as an int."""
        return self._course.position.current_player()

    def is_terminal(self) -> bool:
        """Return True if the game is over."""
        return self._course.position.is_terminal()

    def is_chance_node(self) -> bool:
        """Return True if a chance event is pending."""
        return self._course.position.is_chance_node()

    def legal_actions(self, player: int | None = None) -> list[int]:
        """Return the legal actions.

        Args:
            player: The player. None means the seat to act.

        Returns:
            The dense ids in ascending order, or at a chance event the outcomes. An empty list if another player has to
            act: at a chance event, for every seat, as in OpenSpiel's games in C++.
        """
        position = self._course.position
        actor = position.current_player()
        if player is not None and player != actor:
            return []
        if actor == CHANCE_PLAYER:
            return [outcome for outcome, _ in position.chance_outcomes()]
        return position.legal_actions()

    def legal_actions_mask(self, player: int | None = None) -> list[int]:
        """Return 1 for each of `legal_actions`, and 0 for each other action or, at a chance event, outcome."""
        if player is not None and player != self.current_player():
            return [] if self.is_terminal() else [0] * self._course.position.game.num_distinct_actions
        mask: list[int] = super().legal_actions_mask()
        return mask

    def _legal_actions(self, player: int) -> list[int]:
        return self._course.position.legal_actions()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return (outcome, probability) for all outcomes of the pending chance event, ascending; otherwise []."""
        weighted = self._course.position.chance_outcomes()
        total = sum([weight for _, weight in weighted])
        return [(outcome, weight / total) for outcome, weight in weighted]

    def _apply_action(self, action: int) -> None:
        try:
            self._course.apply(action)
        except EngineError as error:
            raise pyspiel.SpielError(f"action {action}: {error}") from error

    def _action_to_string(self, player: int, action: int) -> str:
        position = self._course.position
        if player != position.current_player() or action not in self.legal_actions():
            raise pyspiel.SpielError(f"action {action} is not legal for player {player}")
        return position.outcome_label(action) if player == CHANCE_PLAYER else position.action_label(action)

    def returns(self) -> list[float]:
        """Return n/w - 1 for each of w winners among n players, and -1 for each loser. Zeros until the game is over."""
        return self._course.position.returns()

    def information_state_tensor(self, player: int | None = None) -> NoReturn:
        """Raise pyspiel.SpielError that names what to use instead. OpenSpiel would return an empty tensor."""
        _refuse_information_state_tensor()

    def resample_from_infostate(self, player: int, probability_sampler: Callable[[], float]) -> "ChatiereState":
        """Return a state drawn uniformly from the states that agree with everything a player knows.

        The player's information state string stays the same. The other players' strings begin anew, because the true
        strings would reveal hidden information. Each new string has the public events before the draw, the events shown
        to that player after the draw, and the player's observation. `history()` also begins at the draw.

        Args:
            player: The player.
            probability_sampler: A function that returns a random number from 0 to below 1. It is called once.
        """
        number = probability_sampler()
        if not 0 <= number < 1:
            raise pyspiel.SpielError(f"probability_sampler must return numbers from 0 to below 1, not {number}")
        try:
            start = self._course.resample(player, int(number * 2**53))
        except EngineError as error:
            raise pyspiel.SpielError(str(error)) from error
        return ChatiereState(self.get_game(), start)

    def __str__(self) -> str:
        """Return the whole state, including hidden information, as text."""
        position = self._course.position
        codec = engine.codec(position.game.name)
        state = fill(_message(game_pb2.State(), position.game), codec.put_state, position)
        return text_format.MessageToString(state, use_short_repeated_primitives=True)


class ChatiereObserver:
    """An observer of one player's knowledge, as `open_spiel.python.observation.make_observation` returns it.

    Attributes:
        tensor: float32, the numbers 0 … 255 of the observation in the layout of the game's description. With perfect
            recall there is no tensor, because the length of a history has no useful bound.
        dict: The parts of the tensor by name, as views. Empty with perfect recall.
    """

    def __init__(self, game: Game, perfect_recall: bool) -> None:
        """Initialize an observer of a game."""
        self._parts = game.description.observation
        self._perfect_recall = perfect_recall
        self.dict = {}
        self.tensor = None
        if not perfect_recall:
            self.tensor = np.zeros(game.observation_length, np.float32)
            for part in self._parts:
                size = int(np.prod(part.shape))
                self.dict[part.name] = self.tensor[part.offset : part.offset + size].reshape(part.shape)

    def set_from(self, state: ChatiereState, player: int) -> None:
        """Write the observation of a player into `tensor`."""
        if self.tensor is not None:
            self.tensor[:] = np.frombuffer(_observation(state, player), np.uint8)

    def string_from(self, state: ChatiereState, player: int) -> str:
        """Return a player's knowledge as text.

        Without perfect recall, the text is the player's observation: the name of each part, with the numbers other than
        0 and their places. With perfect recall, it is the player, the player's history, and the observation in
        hexadecimal. The history has the player's own actions ("17! ") and the events shown to the player. The text of
        an event consists of the kind, "@", the seat and the values. If the values are hidden from the player, "?"
        replaces the values. If the values are not public, the players who may see the values follow.
        """
        observation = _observation(state, player)
        if self._perfect_recall:
            return f"{player}: {state._course.history(player)}{observation.hex()}"
        lines = []
        for part in self._parts:
            numbers = observation[part.offset : part.offset + int(np.prod(part.shape))]
            listed = " ".join([f"{place}:{number}" for place, number in enumerate(numbers) if number])
            lines.append(f"{part.name} {listed}")
        return "\n".join(lines)


def _observation(state: ChatiereState, player: int) -> bytes:
    try:
        return state._course.position.observation(player)
    except EngineError as error:
        raise pyspiel.SpielError(f"player: {error}") from error


def _message(envelope: Message, game: Game) -> Any:
    # Return the game's own message in an envelope. The envelope is a State or Options message.
    return getattr(envelope, game.name)


def _outcome_ids(game: Game) -> int:
    # Return the highest outcome plus 1. This is the length of OpenSpiel's masks. The game's limits cannot be used,
    # because they have only the number of outcomes of one event.
    cards = [piece.number for piece in game.description.pieces if piece.kind == "card"]
    return max(game.max_players, 1 + max(cards))


def _listed(numbers: Sequence[object]) -> str:
    # Return a list as text for a game's name. A space follows a single number, so that OpenSpiel does not read it as an
    # integer.
    text = " ".join(map(str, numbers))
    return f"{text} " if len(numbers) == 1 else text


def _is_list(field: FieldDescriptor) -> bool:
    return field.is_repeated or field.message_type is not None


def _parameters(game: Game) -> dict[str, Any]:
    # Return the default of each parameter. The type of the default determines the type of the parameter.
    fields = _message(game_pb2.Options(), game).DESCRIPTOR.fields_by_name
    defaults: dict[str, Any] = {"players": game.min_players}
    for option in game.description.options:
        field, values = fields[option.name], option.default_values
        if _is_list(field):
            defaults[option.name] = _listed(values)
        elif field.type == FieldDescriptor.TYPE_BOOL:
            defaults[option.name] = bool(values[0])
        else:
            defaults[option.name] = values[0] if values else _NOT_GIVEN
    return defaults


def _read_options(game: Game, game_type: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    # Return the options that differ from their defaults. The message distinguishes flags, numbers and lists.
    message = _message(game_pb2.Options(), game)
    for name, default in game_type.parameter_specification.items():
        value = params[name]
        if name == "players" or value == default:
            continue
        try:
            _fill_field(message, message.DESCRIPTOR.fields_by_name[name], value)
        except ValueError as error:
            raise pyspiel.SpielError(f"{game_type.short_name}: parameter {name}: {error}") from error
    return engine.codec(game.name).read_options(Reader(message))


def _fill_field(message: Message, field: FieldDescriptor, value: Any) -> None:
    if not _is_list(field):
        setattr(message, field.name, value)
        return
    numbers = [int(number) for number in value.split()]
    if field.message_type is not None:
        # A list that may be empty is a separate message.
        inner = getattr(message, field.name)
        inner.SetInParent()
        (field,) = field.message_type.fields
        message = inner
    elif not numbers:
        raise ValueError("it needs numbers, with spaces between them")
    getattr(message, field.name).extend(numbers)


def _register(game: Game) -> None:
    kind = pyspiel.GameType
    game_type = kind(
        short_name=f"chatiere_{game.name}",
        long_name=f"Chatière: {game.description.title}",
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=kind.ChanceMode.EXPLICIT_STOCHASTIC,
        information=kind.Information.IMPERFECT_INFORMATION,
        utility=kind.Utility.ZERO_SUM,
        reward_model=kind.RewardModel.TERMINAL,
        max_num_players=game.max_players,
        min_num_players=game.min_players,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=_parameters(game),
    )
    # Register a class instead of a function. OpenSpiel releases registered objects after the interpreter has shut down,
    # and freeing an object at that point would crash. A class contains a reference to itself, so it is not freed.
    made = type(game_type.short_name, (ChatiereGame,), {"_game": game, "_type": game_type})
    pyspiel.register_game(game_type, made)


for _game in engine.games():
    _register(_game)
