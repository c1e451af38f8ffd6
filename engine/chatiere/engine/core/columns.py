"""The columns of batches: requests for columns, and the results (see `chatiere.engine.core.batch`)."""

from collections.abc import Mapping
from typing import Any, NamedTuple, SupportsIndex

from chatiere.engine.core.errors import Reason

# The largest number of a batch's faults that are returned with their texts.
MAX_FAULTS_TOLD = 20


class Columns(NamedTuple):
    """The columns of PositionColumns to return in addition to `states`, `actors` and `final`.

    Attributes:
        legal: True to get `legal_offsets`, `legal_ids` and `weights`.
        scores: True to get `totals` and `returns`.
        observations: True to get `observations` and, with restarts, `final_observations`.
        final_scores: True to get `totals` and `returns`, but with totals of 0 where the game is not over. In some
            games, computing the totals of an unfinished game takes longer than making the moves.
    """

    legal: bool = False
    scores: bool = False
    observations: bool = False
    final_scores: bool = False


class Restart(NamedTuple):
    """A request to restart games that end, with the same seed and another game number.

    Attributes:
        options: The game's options, by the names in the rules file; options that are not set have their defaults. None:
            all defaults.
        stride: The number added to the game number, 1 or more.
    """

    options: Mapping[str, Any] | None = None
    stride: SupportsIndex = 1


class PositionColumns(NamedTuple):
    """The positions of n games, as columns.

    Attributes:
        states: uint8 (n, packed_size), the packed states; unchanged for failed items. A memoryview if the states were
            overwritten.
        actors: int8 (n,), the seat to act, -1 at a chance event, -4 when the game is over, -3 for a broken state, whose
            other columns are 0 and which has no legal ids.
        legal_offsets: uint32 (n + 1,). Item i has the legal ids from legal_offsets[i] to before legal_offsets[i + 1].
        legal_ids: uint16 (legal_offsets[n],), the dense ids of the legal actions, ascending, or the outcomes at a
            chance event.
        weights: uint32 (legal_offsets[n],), the weights of outcomes at chance events, 1 for actions; empty if no item
            is at a chance event.
        totals: int32 (n, players), as in Position; for a restarted game, of the game that ended.
        returns: float32 (n, players), as in Position; for a restarted game, of the game that ended.
        final: uint8 (n,), 1 if the game is over, or was over before it was restarted.
        observations: uint8 (n, observation_length), the observation of the seat to act; 0 if no seat has to act.
        final_observations: uint8 (r, players, observation_length), the observations of every seat at the end of the r
            restarted games.
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
    """The results of random playouts of each of n states.

    Attributes:
        mean_returns: float64 (n, players), the mean returns over all playouts.
        wins: uint32 (n, players), the number of playouts with the seat among the winners.
        decisions: uint64 (n,), the number of decisions in all playouts.
    """

    mean_returns: bytes
    wins: bytes
    decisions: bytes


class EvaluationColumns(NamedTuple):
    """The values of the legal actions at n states for the seats to act, estimated by random playouts.

    Attributes:
        actors: int8 (n,), as in PositionColumns.
        legal_offsets: uint32 (n + 1,), as in PositionColumns, but only decisions have legal ids.
        legal_ids: uint16 (legal_offsets[n],), the dense ids of the legal actions, ascending.
        mean_returns: float64 (legal_offsets[n],), the acting seat's mean return over all playouts after that action; 0
            for failed items.
        counts: uint32 (legal_offsets[n],), the number of these playouts; 0 for failed items.
    """

    actors: bytes
    legal_offsets: bytes
    legal_ids: bytes
    mean_returns: bytes
    counts: bytes


class ScoreColumns(NamedTuple):
    """The scores of n states.

    Attributes:
        totals: int32 (n, players), the scores if the game stopped now.
        final: uint8 (n,), 1 if the game is over.
        ranks: uint8 (n, players), as in Position; 0 until the game is over.
        returns: float32 (n, players), as in Position; 0 until the game is over.
    """

    totals: bytes
    final: bytes
    ranks: bytes
    returns: bytes


class ItemFault(NamedTuple):
    """The fault of an item, with the texts of EngineError.

    Attributes:
        item: The number of the item, from 0.
        reason: The reason of the error.
        message: The message of the error.
        field: The path to the error, which begins with the column's name.
        rule: The rules file and heading that the error cites; empty if no rule of a game was broken.
    """

    item: int
    reason: Reason
    message: str
    field: str
    rule: str


class FaultColumns(NamedTuple):
    """The failed items.

    Attributes:
        reasons: uint8 (n,), 0 or the Reason's number; empty if no item failed.
        items: The first MAX_FAULTS_TOLD faults.
    """

    reasons: bytes
    items: tuple[ItemFault, ...]


NO_FAULTS = FaultColumns(b"", ())
