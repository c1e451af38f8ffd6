"""The columns of batches: requests for columns, and results (see `chatiere.engine.core.batch`)."""

from collections.abc import Mapping
from typing import Any, NamedTuple, SupportsIndex

from chatiere.engine.core.errors import Reason

# The maximum number of faults in a batch that are returned with their texts.
MAX_FAULTS_TOLD = 20


class Columns(NamedTuple):
    """The columns of PositionColumns to return in addition to `states`, `actors` and `final`.

    Attributes:
        legal: True to get `legal_offsets`, `legal_ids` and `weights`.
        scores: True to get `totals` and `returns`.
        observations: True to get `observations`, and `final_observations` if games are restarted.
        final_scores: True to get `totals` and `returns`, with totals of 0 where the game is not over. This is faster
            than `scores` in games in which computing the totals of an unfinished game is slow.
    """

    legal: bool = False
    scores: bool = False
    observations: bool = False
    final_scores: bool = False


class Restart(NamedTuple):
    """A request to begin a new game in place of each game that ends, with the same seed and another game number.

    Attributes:
        options: The game's options, by the names in the rules file. Options that are not set have their defaults. None
            means all defaults.
        stride: The number added to the game number, 1 or more.
    """

    options: Mapping[str, Any] | None = None
    stride: SupportsIndex = 1


class PositionColumns(NamedTuple):
    """The positions of n games, as columns: bytes, or Blocks of a table that reuses memory.

    Attributes:
        states: uint8 (n, packed_size), the packed states. Unchanged for failed items. A memoryview if the states were
            overwritten.
        actors: int8 (n,), the seat to act, -1 at a chance event, -4 if the game is over, or -3 if the state is invalid.
            An invalid state has zeros in the other columns and no legal ids.
        legal_offsets: uint32 (n + 1,). Item i has the legal ids legal_ids[legal_offsets[i]:legal_offsets[i + 1]].
        legal_ids: uint16 (legal_offsets[n],), the dense ids of the legal actions, ascending, or the outcomes at a
            chance event.
        weights: uint32 (legal_offsets[n],), the weights of outcomes at chance events, and 1 for each action. Empty if
            no item is at a chance event.
        totals: int32 (n, players), as in Position. Where a new game began, these are the totals of the previous game.
        returns: float32 (n, players), as in Position. Where a new game began, these are the returns of the previous
            game.
        final: uint8 (n,), 1 if the game is over, or was over before a new game began in its place.
        observations: uint8 (n, observation_length), the observation of the seat to act. Zeros if no seat has to act.
        final_observations: uint8 (r, players, observation_length), every seat's observation at the end of each of the r
            games that new games have replaced.
    """

    states: bytes | memoryview
    actors: bytes
    legal_offsets: bytes
    legal_ids: bytes
    weights: bytes
    totals: bytes
    returns: bytes
    final: bytes
    observations: bytes
    final_observations: bytes


class PlayoutColumns(NamedTuple):
    """The results of random playouts of n states.

    Attributes:
        mean_returns: float64 (n, players), the mean returns over all playouts.
        wins: uint32 (n, players), the number of playouts in which the seat was among the winners.
        decisions: uint64 (n,), the number of decisions in all playouts.
    """

    mean_returns: bytes
    wins: bytes
    decisions: bytes


class EvaluationColumns(NamedTuple):
    """The values of the legal actions in n states for the acting seats, estimated by random playouts.

    Attributes:
        actors: int8 (n,), as in PositionColumns.
        legal_offsets: uint32 (n + 1,), as in PositionColumns, except that chance events have no legal ids.
        legal_ids: uint16 (legal_offsets[n],), the dense ids of the legal actions, ascending.
        mean_returns: float64 (legal_offsets[n],), the acting seat's mean return over all playouts after each action. 0
            for failed items.
        counts: uint32 (legal_offsets[n],), the number of playouts after each action. 0 for failed items.
    """

    actors: bytes
    legal_offsets: bytes
    legal_ids: bytes
    mean_returns: bytes
    counts: bytes


class ScoreColumns(NamedTuple):
    """The scores of n states.

    Attributes:
        totals: int32 (n, players), the scores that the seats would have if the game ended now.
        final: uint8 (n,), 1 if the game is over.
        ranks: uint8 (n, players), as in Position. 0 until the game is over.
        returns: float32 (n, players), as in Position. 0 until the game is over.
    """

    totals: bytes
    final: bytes
    ranks: bytes
    returns: bytes


class ItemFault(NamedTuple):
    """The fault of an item, with the texts of EngineError.

    Attributes:
        item: The number of the item, counted from 0.
        reason: The reason for the error.
        message: The message of the error.
        field: The path to the error. It begins with the column's name.
        rule: The rules file and heading that the error cites. Empty if no rule of a game was broken.
    """

    item: int
    reason: Reason
    message: str
    field: str
    rule: str


class FaultColumns(NamedTuple):
    """The faults of the items that failed.

    Attributes:
        reasons: uint8 (n,), the number of the Reason for each item that failed, and 0 for all other items. Empty if no
            item failed.
        items: The first MAX_FAULTS_TOLD faults, with their texts.
    """

    reasons: bytes
    items: tuple[ItemFault, ...]


NO_FAULTS = FaultColumns(b"", ())
