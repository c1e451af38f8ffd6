"""The columns of batches: which ones are requested, and the results (see `chatiere.engine.core.batch`)."""

from collections.abc import Mapping
from typing import Any, NamedTuple, SupportsIndex

from chatiere.engine.core.errors import Reason

# The number of a batch's faults that are given with their texts.
MAX_FAULTS_TOLD = 20


class Columns(NamedTuple):
    """The columns of PositionColumns to return besides `states`, `actors` and `final`.

    `legal`: `legal_offsets`, `legal_ids`, `weights`. `scores`: `totals`, `returns`. `observations`: `observations` and,
    with restarts, `final_observations`. `final_scores`: as `scores`, but with totals of 0 where the game is not over:
    in some games the totals on the way take longer than the moves.
    """

    legal: bool = False
    scores: bool = False
    observations: bool = False
    final_scores: bool = False


class Restart(NamedTuple):
    """A request to restart games that end, with the same seed and `stride` (1 or more) added to the game number.

    `options`: the options of the new games, by name; None: all defaults.
    """

    options: Mapping[str, Any] | None = None
    stride: SupportsIndex = 1


class PositionColumns(NamedTuple):
    """The positions of n games, in columns with these dtypes and shapes:

    `states` uint8 (n, packed_size); unchanged for failed items. A memoryview if the states were overwritten.
    `actors` int8 (n,): the seat to act, -1 at a chance event, -4 when the game is over, -3 for a broken state, whose
    other columns are 0 and which has no legal ids.
    `legal_offsets` uint32 (n + 1,): item i has the legal ids from legal_offsets[i] to before legal_offsets[i + 1].
    `legal_ids` uint16: dense ids of the legal actions, ascending, or the outcomes at a chance event.
    `weights` uint32: the weights of outcomes at chance events, 1 for actions; empty if no item is at a chance event.
    `totals` int32 (n, players), `returns` float32 (n, players): as in Position; of the ended game, if restarted.
    `final` uint8 (n,): 1 if the game is over, or was before it was restarted.
    `observations` uint8 (n, observation_length): the observation of the seat to act; 0 if there is none.
    `final_observations` uint8 (r, players, observation_length): of every seat at the end of the r restarted games.
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
    """The results of k random playouts of each of n states.

    `mean_returns` float64 (n, players); `wins` uint32 (n, players): the number of playouts with the seat among the
    winners; `decisions` uint64 (n,): the number of decisions in all k playouts.
    """

    mean_returns: bytes
    wins: bytes
    decisions: bytes


class EvaluationColumns(NamedTuple):
    """The worth of the legal actions at n states to the seats to act, by random playouts.

    `actors` int8 (n,), `legal_offsets` uint32 (n + 1,), `legal_ids` uint16: as in PositionColumns, but only decisions
    have legal ids. For each of these: `mean_returns` float64, the acting seat's mean return over all playouts after
    that action; `counts` uint32, the number of these playouts. Both are 0 for failed items.
    """

    actors: bytes
    legal_offsets: bytes
    legal_ids: bytes
    mean_returns: bytes
    counts: bytes


class ScoreColumns(NamedTuple):
    """The scores at n states.

    `totals` int32 (n, players): the scores if the game stopped now; `final` uint8 (n,): 1 if the game is over; `ranks`
    uint8 (n, players) and `returns` float32 (n, players): 0 if it is not.
    """

    totals: bytes
    final: bytes
    ranks: bytes
    returns: bytes


class ItemFault(NamedTuple):
    """The fault of item number `item`, with the texts of EngineError; `field` begins with the column's name."""

    item: int
    reason: Reason
    message: str
    field: str
    rule: str


class FaultColumns(NamedTuple):
    """The failed items.

    `reasons` uint8 (n,): 0 or the Reason's number; empty if no item failed. `items`: the first MAX_FAULTS_TOLD faults.
    """

    reasons: bytes
    items: tuple[ItemFault, ...]


NO_FAULTS = FaultColumns(b"", ())
