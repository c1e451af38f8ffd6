"""Evaluation of networks in integers, without the GIL. net.h describes the computation."""

import numpy as np

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from chatiere.engine.core.operations cimport MAX_LEGAL, MAX_SEATS, debug_assert

cdef extern from "net.h" nogil:
    bint net_evaluate(
        const Net* net,
        const uint8_t* observation,
        const uint16_t* legal,
        int32_t count,
        int32_t* logits,
        int32_t* values,
    ) noexcept

ONE = NET_ONE
OUTPUT_ONE = NET_OUTPUT_ONE
MAX_FIRST = NET_MAX_FIRST
MAX_SECOND = NET_MAX_SECOND
MAX_SLOTS = NET_MAX_SLOTS
# The NumPy dtypes of the structs NetField and NetRun.
FIELD = np.dtype(
    [("first", np.uint32), ("kind", np.uint8), ("shift", np.uint8), ("mask", np.uint8), ("largest", np.uint8)]
)
RUN = np.dtype(
    [("first", np.uint32), ("row", np.uint32), ("group", np.uint32), ("kind", np.uint16), ("size", np.uint16)]
)
OWN_ROW, SLOT, PLAY = NET_OWN_ROW, NET_SLOT, NET_PLAY

# Priors

cdef enum:
    # The number of weights: exp(-x) for x from 0 to below 16, in steps of 1 / 32.
    STEPS = 512
    STEP_SHIFT = 12  # NET_OUTPUT_ONE / 32
    PRIOR_SHIFT = 8

# The weights of a softmax. They are integers, because the last digit of exp() differs between C libraries.
cdef uint32_t[STEPS] weights_below
cdef uint64_t power = 1 << 32
cdef int step
for step in range(STEPS):
    weights_below[step] = max(<uint64_t> 1, (power - 1) >> PRIOR_SHIFT)
    # The factor is exp(-1 / 32), in units of 2^-32.
    power = power * 4_162_825_044 >> 32


cdef double judge(
    const Net* net, const uint8_t* observation, const uint16_t* legal, int count, double* priors, double* values
) noexcept nogil:
    # Evaluate a position. Fills `priors` with a prior above 0 for each legal action: the softmax of the logits in steps
    # of 1 / 32. Fills `values` with the seats' expected returns, clockwise from the actor. Returns the exact sum of the
    # priors.
    cdef int32_t logits[MAX_LEGAL]
    cdef int32_t returns[MAX_SEATS]
    cdef int32_t best
    cdef int64_t below
    cdef uint64_t total = 0
    cdef int i
    cdef bint done = net_evaluate(net, observation, legal, count, logits, returns)
    debug_assert(done)
    best = logits[0]
    for i in range(1, count):
        best = max(best, logits[i])
    for i in range(count):
        below = (<int64_t> best - logits[i]) >> STEP_SHIFT
        priors[i] = weights_below[min(below, <int64_t> STEPS - 1)]
        total += weights_below[min(below, <int64_t> STEPS - 1)]
    for i in range(net.num_values):
        values[i] = min(max(<double> returns[i] / NET_OUTPUT_ONE, -1.0), net.num_values - 1.0)
    return <double> total


cdef Py_ssize_t first_wrong(
    const uint32_t* offsets, Py_ssize_t count, const uint16_t* ids, uint32_t num_ids, int num_actions
) noexcept nogil:
    # Return the first invalid row, or -1 if all rows are valid. A row is invalid if it has no actions, or if its
    # actions are not ascending or are out of range.
    cdef Py_ssize_t i
    cdef uint32_t j
    for i in range(count):
        if offsets[i] >= offsets[i + 1] or offsets[i + 1] > num_ids:
            return i
        for j in range(offsets[i] + 1, offsets[i + 1]):
            if ids[j - 1] >= ids[j]:
                return i
        if ids[offsets[i + 1] - 1] >= num_actions:
            return i
    return -1


cdef class IntegerNetwork:
    """A network in integers, made by NetworkFile.network."""

    def __init__(
        self,
        fields,
        const uint32_t[::1] places,
        hand,
        const int16_t[:, ::1] columns,
        const int32_t[::1] first_bias,
        const int16_t[:, :, ::1] second,
        const int32_t[:, ::1] second_bias,
        runs,
        const int16_t[:, ::1] rows,
        const int32_t[::1] rows_bias,
        const int16_t[:, ::1] values,
        const int32_t[::1] values_bias,
        int num_actions,
    ):
        """Store weights that NetworkFile has checked, and the results of `fields_of` and `hand_of`."""
        cdef const uint8_t[::1] of_fields = fields.view(np.uint8)
        cdef const uint8_t[::1] of_runs = runs.view(np.uint8)
        self.arrays = (
            fields,
            np.asarray(places),
            hand,
            *map(np.asarray, (columns, first_bias, second, second_bias)),
            runs,
            *map(np.asarray, (rows, rows_bias, values, values_bias)),
        )
        self.num_actions = num_actions
        self.net.length = places.shape[0] - 1
        self.net.fields_of = &places[0]
        self.net.fields = <const NetField*> &of_fields[0]
        self.net.hand, self.net.cards = hand
        self.net.num_first = columns.shape[1]
        self.net.columns = &columns[0, 0]
        self.net.first_bias = &first_bias[0]
        self.net.num_second = second.shape[1]
        self.net.second = &second[0, 0, 0]
        self.net.second_bias = &second_bias[0, 0]
        self.net.num_runs = len(runs)
        self.net.runs = <const NetRun*> &of_runs[0]
        self.net.rows = &rows[0, 0]
        self.net.rows_bias = &rows_bias[0]
        self.net.num_values = values.shape[0]
        self.net.values = &values[0, 0]
        self.net.values_bias = &values_bias[0]

    def __reduce__(self):
        """Return the arguments with which pickle rebuilds the network."""
        return IntegerNetwork, (*self.arrays, self.num_actions)

    def evaluate(
        self,
        const uint8_t[:, ::1] observations,
        const uint32_t[::1] legal_offsets,
        const uint16_t[::1] legal_ids,
    ):
        """Evaluate n positions.

        Args:
            observations: uint8 (n, observation_length), the observations of the actors.
            legal_offsets: uint32 (n + 1,). Position i has the legal actions
                legal_ids[legal_offsets[i]:legal_offsets[i + 1]].
            legal_ids: uint16, the dense ids of the legal actions, ascending for each position.

        Returns:
            The logits of the legal actions, int32, one for each of `legal_ids`, and the seats' expected returns, int32
            (n, players), clockwise from the actor. Both are in units of 1 / OUTPUT_ONE.

        Raises:
            ValueError: If the arrays do not match, actions are not ascending, or an observation has a number that is
                larger than possible.
        """
        cdef Py_ssize_t count = observations.shape[0], wrong = -1, i
        if observations.shape[1] != self.net.length:
            raise ValueError(f"observations must have {self.net.length} numbers, not {observations.shape[1]}")
        if legal_offsets.shape[0] != count + 1 or legal_offsets[0] != 0 or legal_offsets[count] != legal_ids.shape[0]:
            raise ValueError(f"legal_offsets must be {count + 1} numbers from 0 to the length of legal_ids")
        logits = np.empty(legal_ids.shape[0], np.int32)
        values = np.empty((count, self.net.num_values), np.int32)
        if not legal_ids.shape[0]:
            if count:
                raise ValueError(f"the actions of row 0 must be ascending, from 0 to {self.num_actions - 1}")
            return logits, values
        cdef const uint8_t* rows = &observations[0, 0]
        cdef const uint32_t* offsets = &legal_offsets[0]
        cdef const uint16_t* ids = &legal_ids[0]
        cdef int32_t[::1] of_logits = logits
        cdef int32_t[:, ::1] of_values = values
        cdef int32_t* logit = &of_logits[0]
        cdef int32_t* value = &of_values[0, 0]
        with nogil:
            wrong = first_wrong(offsets, count, ids, legal_ids.shape[0], self.num_actions)
        if wrong >= 0:
            raise ValueError(f"the actions of row {wrong} must be ascending, from 0 to {self.num_actions - 1}")
        with nogil:
            for i in range(count):
                if not net_evaluate(
                    &self.net,
                    rows + i * self.net.length,
                    ids + offsets[i],
                    offsets[i + 1] - offsets[i],
                    logit + offsets[i],
                    value + i * self.net.num_values,
                ):
                    wrong = i
                    break
        if wrong >= 0:
            raise ValueError(f"a number of observation {wrong} is above the largest")
        return logits, values
