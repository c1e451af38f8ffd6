"""Compact observations for games with large boards. They contain only a window of each board, around the pieces on it.

compact = CompactObservations(game("chat_cartonne").description)
layout = ObservationLayout(compact)
layout.features(compact.crop(batch.observations))
"""

import math

import numpy as np
from numpy.typing import NDArray

from chatiere.engine.core.encoders import MAX_SIDE, OUTSIDE, RUN, Cropper
from chatiere.engine.core.observation import Described, DescribedField, ObservationLayout, rows_of
from chatiere.engine.core.observation_parts import ObservationField, ObservationKind, ObservationPart

# The minimum side length of a board.
_MIN_SIDE = 16


class CompactObservations:
    """The layout of compact observations. They contain only a window of each board.

    Boards are parts that are squares of 16 × 16 or more. The side of the window is half the side of the board. The
    window has the same place on all boards of an observation. The rows and columns that are not empty are in the middle
    of the window, unless the edges of the board prevent this. Two parts are added at the end. `window` has the first
    row and the first column of the window. `outside` counts the numbers outside the window. For each field of a board,
    it has the count of each category from 1 on, or the count of each bit. A count is at most the window's side.

    ObservationLayout accepts CompactObservations in place of a description.
    """

    def __init__(self, description: Described) -> None:
        """Read the layout of a game's observations.

        Args:
            description: A game's Description, or the GameInfo of ListGames.

        Raises:
            ValueError: If no part is a board, or the boards have different sizes.
        """
        boards = [part for part in description.observation if is_board(tuple(part.shape))]
        if not boards:
            raise ValueError(f"no part of the observation is a board, a square with a side of {_MIN_SIDE} or more")
        sides = {shape for part in boards for shape in part.shape}
        side = max(sides)
        if len(sides) > 1 or side > MAX_SIDE:
            raise ValueError(f"boards must have the same side, at most {MAX_SIDE}, not {sorted(sides)}")
        self.window = side // 2
        """The side of a window."""
        self.length = 0
        """The length of a compact observation in uint8s."""
        self._whole_length = 0
        parts: list[ObservationPart] = []
        runs: dict[bool, list[tuple[int, int, int]]] = {True: [], False: []}
        for part in description.observation:
            is_cut = part in boards
            shape = (self.window, self.window) if is_cut else tuple(part.shape)
            moved = self.length - self._whole_length
            fields = tuple(_moved(field, moved, self.window if is_cut else None) for field in part.fields)
            parts.append(ObservationPart(part.name, "", self.length, shape, fields))
            runs[is_cut].append((self._whole_length, self.length, math.prod(shape)))
            self.length += math.prod(shape)
            self._whole_length += math.prod(part.shape)
        corner = self.length
        parts.append(_counts("window", corner, [("row", 1), ("column", 1)], side - self.window))
        self.length += 2
        counted = [(field, _num_counts(field)) for part in boards for field in part.fields]
        parts.append(_counts("outside", self.length, [(field.name, many) for field, many in counted], self.window))
        outside = []
        for field, many in counted:
            is_bits = field.kind == ObservationKind.BITS
            outside.append((field.offset, self.length, field.first_bit, field.largest, is_bits))
            self.length += many
        self.observation = tuple(parts)
        """The parts of a compact observation, as in a Description but without meanings."""
        self._cropper = Cropper(
            ObservationLayout(description).largest,
            side,
            self.window,
            np.array(runs[True], RUN),
            np.array(runs[False], RUN),
            np.array(outside, OUTSIDE),
            corner,
            self.length,
        )

    def crop(self, observations: NDArray[np.uint8] | bytes) -> NDArray[np.uint8]:
        """Return the compact form of observations.

        Args:
            observations: uint8 (…, observation_length), the observations, or the bytes of one observation.

        Returns:
            uint8 (…, length).

        Raises:
            ValueError: If `observations` has another shape or dtype, or has a number above the largest.
        """
        rows, shape = rows_of(observations, self._whole_length)
        cropped = np.empty((len(rows), self.length), np.uint8)
        self._cropper.crop(rows, cropped)
        return cropped.reshape(*shape, self.length)


def is_board(shape: tuple[int, ...]) -> bool:
    """Return True if a part of an observation with this shape is a board."""
    return len(shape) == 2 and shape[0] == shape[1] >= _MIN_SIDE


def _num_counts(field: DescribedField) -> int:
    return field.largest.bit_length() if field.kind == ObservationKind.BITS else field.largest


def _moved(field: DescribedField, moved: int, window: int | None) -> ObservationField:
    # Return the field at another offset. The field of a board becomes the field of a window.
    shape, strides = (tuple(field.shape), tuple(field.strides)) if window is None else ((window, window), (window, 1))
    offset = field.offset + moved
    return ObservationField(
        field.name, ObservationKind(field.kind), field.largest, offset, shape, strides, field.first_bit, field.num_bits
    )


def _counts(part: str, offset: int, counts: list[tuple[str, int]], largest: int) -> ObservationPart:
    fields, begun = [], offset
    for name, many in counts:
        shape = () if many == 1 else (many,)
        strides = () if many == 1 else (1,)
        fields.append(ObservationField(f"{part}.{name}", ObservationKind.COUNT, largest, begun, shape, strides))
        begun += many
    return ObservationPart(part, "", offset, (begun - offset,), tuple(fields))
