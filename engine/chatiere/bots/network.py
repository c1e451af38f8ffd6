"""Bots that play by a policy: a Python function, a network in integers, or a network in ONNX.

ONNX networks need the extra `chatiere[onnx]`.
"""

from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chatiere.bots.bot import Bot, BotError, Decisions, Judgement
from chatiere.bots.integer_network import OUTPUT_ONE
from chatiere.bots.network_file import NetworkFile

Policy = Callable[[NDArray[np.uint8], NDArray[np.bool_]], Any]
"""A function that returns the logits of all actions, (n, num_distinct_actions), in any form that NumPy can convert to
an array. Its arguments are the observations, uint8 (n, observation_length), and the masks, bool (n,
num_distinct_actions). A mask is True for legal actions. Logits of illegal actions are ignored."""

_ONNX_KINDS: dict[str, type[np.generic]] = {
    "tensor(uint8)": np.uint8,
    "tensor(bool)": np.bool_,
    "tensor(float)": np.float32,
    "tensor(int64)": np.int64,
}


def draw(
    legal_offsets: NDArray[np.uint32], probabilities: NDArray[np.floating], luck: NDArray[np.uint64]
) -> NDArray[np.intp]:
    """Draw one of the legal actions of each decision.

    Args:
        legal_offsets: uint32 (n + 1,), as in Decisions.
        probabilities: A probability for each legal id. The sum for each decision is above 0.
        luck: (n,), random numbers, uniform over 0 … 2**64 - 1.

    Returns:
        The indices of the drawn actions in the legal ids, (n,).
    """
    offsets = legal_offsets.astype(np.intp)
    sums = np.concatenate([[0], probabilities.cumsum(dtype=np.float64)])
    # The numbers are at most 1 - 2 ** -32. Their distance from 1 exceeds the rounding error of the sums.
    uniform = (luck >> np.uint64(32)) / 2**32
    drawn = sums[offsets[:-1]] + uniform * (sums[offsets[1:]] - sums[offsets[:-1]])
    found: NDArray[np.intp] = np.clip(np.searchsorted(sums[1:], drawn, side="right"), offsets[:-1], offsets[1:] - 1)
    return found


class LogitsBot(Bot):
    """A bot that draws actions by the softmax of their logits."""

    needs_observations = True
    is_reproducible = True

    def __init__(self, temperature: float) -> None:
        """Create a bot.

        Args:
            temperature: The number by which logits are divided, 0 or more. With 0, the bot chooses the most likely
                action. Among equals, it chooses the action with the lowest dense id.

        Raises:
            ValueError: If the temperature is out of range.
        """
        if not 0 <= temperature < np.inf:
            raise ValueError(f"temperature must be a number, 0 or more, not {temperature}")
        self._temperature = temperature

    @abstractmethod
    def logits(self, decisions: Decisions) -> NDArray[np.floating]:
        """Return a logit for each of `Decisions.legal_ids`. Raises BotError."""

    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """See Bot.choose."""
        return self.judge(decisions).actions

    def judge(self, decisions: Decisions) -> Judgement:
        """See Bot.judge. Shares are probabilities, and there are no values. Raises BotError for bad logits."""
        offsets, ids = decisions.legal_offsets, decisions.legal_ids
        rows = np.repeat(np.arange(len(decisions)), decisions.legal_counts())
        logits = self.logits(decisions).astype(np.float64)
        best = np.maximum.reduceat(logits, offsets[:-1])
        if not np.isfinite(best).all():
            raise BotError(f"{type(self).__name__}: logits must be finite; -inf only for some of the legal actions")
        if self._temperature:
            weights = np.exp((logits - best[rows]) / self._temperature)
        else:
            weights = (ids == decisions.best_actions(logits)[rows]).astype(np.float64)
        shares = weights / np.add.reduceat(weights, offsets[:-1])[rows]
        actions = ids[draw(offsets, shares, decisions.luck)]
        return Judgement(actions, np.full(len(ids), np.nan), shares)


class NetworkBot(LogitsBot):
    """A bot that draws actions from the softmax of a policy's logits.

    Games can be repeated only if the policy's logits for a row do not depend on the rest of the batch. Different
    processors may round differently.
    """

    def __init__(self, policy: Policy, temperature: float = 1.0) -> None:
        """Create a bot.

        Args:
            policy: The policy (see Policy).
            temperature: See LogitsBot.

        Raises:
            ValueError: If the temperature is out of range.
        """
        super().__init__(temperature)
        self._policy = policy

    def logits(self, decisions: Decisions) -> NDArray[np.floating]:
        """See LogitsBot.logits."""
        logits = np.asarray(self._policy(decisions.observations, decisions.legal_mask()))
        wanted = (len(decisions), decisions.game.num_distinct_actions)
        if logits.shape != wanted:
            raise BotError(f"{type(self).__name__}: logits must have the shape {wanted}, not {logits.shape}")
        rows = np.repeat(np.arange(len(decisions)), decisions.legal_counts())
        legal: NDArray[np.floating] = logits[rows, decisions.legal_ids]
        return legal


class IntegerNetworkBot(LogitsBot):
    """A bot that uses an integer network. With temperature 0, its choices are the same on every processor."""

    def __init__(self, file: str | Path | NetworkFile, temperature: float = 0.0) -> None:
        """Create a bot.

        Args:
            file: The file of the network, or the network.
            temperature: See LogitsBot.

        Raises:
            NetworkFileError: If the file is not a network in integers. This error is a ValueError.
            OSError: If the file cannot be read.
            ValueError: If the temperature is out of range.
        """
        super().__init__(temperature)
        self.file = file if isinstance(file, NetworkFile) else NetworkFile.read(file)
        self._network = self.file.network()

    def logits(self, decisions: Decisions) -> NDArray[np.floating]:
        """See LogitsBot.logits. Raises BotError if the network is for another game or number of players."""
        self.file.require(decisions.game, decisions.players)
        logits, _ = self._network.evaluate(decisions.observations, decisions.legal_offsets, decisions.legal_ids)
        return logits / OUTPUT_ONE


class OnnxBot(NetworkBot):
    """A bot that draws actions from the softmax of an ONNX network's logits. The network runs on the CPU.

    The network has one or two inputs with the batch as their first dimension: observations (n, observation_length) and,
    optionally, masks (n, num_distinct_actions). Each input is uint8, bool, float32 or int64. The first output has the
    logits.
    """

    def __init__(self, file: str | Path, temperature: float = 1.0, threads: int = 1) -> None:
        """Create a bot.

        Args:
            file: The file of the network.
            temperature: See LogitsBot.
            threads: The number of threads for the network, 1 or more.

        Raises:
            ValueError: If the file is not a network of this form, or a number is out of range.
            OSError: If the file cannot be read.
            ImportError: If ONNX Runtime is not installed.
        """
        super().__init__(self._run, temperature)
        if not (isinstance(threads, int) and threads >= 1):
            raise ValueError(f"threads must be a whole number, 1 or more, not {threads}")
        self._model, self._threads = Path(file).read_bytes(), threads
        self._open()

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle: all attributes except the session."""
        return {key: value for key, value in self.__dict__.items() if key not in ("_policy", "_session")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the attributes and open the network again."""
        self.__dict__.update(state)
        self._policy = self._run
        self._open()

    def _open(self) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            raise ImportError("networks in ONNX need ONNX Runtime: pip install 'chatiere[onnx]'") from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = self._threads
        # Without this setting, ONNX Runtime would also write the exception's message to standard error.
        options.log_severity_level = 4
        try:
            self._session = onnxruntime.InferenceSession(self._model, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise ValueError(f"no network in ONNX: {error}") from error
        inputs = self._session.get_inputs()
        if not 1 <= len(inputs) <= 2 or any(each.type not in _ONNX_KINDS for each in inputs):
            found = ", ".join(f"{each.name}: {each.type}" for each in inputs)
            raise ValueError(f"its inputs must be observations and masks, as {', '.join(_ONNX_KINDS)}; it has {found}")
        self._inputs = [(each.name, _ONNX_KINDS[each.type]) for each in inputs]

    def _run(self, observations: NDArray[np.uint8], masks: NDArray[np.bool_]) -> Any:
        given = {
            name: array.astype(kind) for (name, kind), array in zip(self._inputs, (observations, masks), strict=False)
        }
        try:
            return self._session.run(None, given)[0]
        except Exception as error:
            raise BotError(f"the network does not accept the game's observations: {error}") from error
