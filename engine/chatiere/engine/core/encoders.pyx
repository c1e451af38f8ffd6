"""Encoders of observations for learners. A plan of flat terms describes a game, so the same loops encode all games."""

import numpy as np

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from chatiere.engine.core.bits cimport lowest_bit
from chatiere.engine.core.output cimport writable_rows

cdef enum:
    # The bit patterns of 1 as a float32 and as a float16.
    ONE_32 = 0x3F800000
    ONE_16 = 0x3C00

ctypedef struct Term:
    # Adjacent numbers of an observation. Their features are adjacent as well.
    uint32_t first  # the index of the first feature
    uint32_t packed  # the index in packed rows of the first byte (for counts) or the first bit (otherwise)
    uint32_t scale  # for counts, the index of the entry for 0 in the table of scaled numbers
    uint16_t place  # the place of the first number
    uint16_t count  # the number of numbers
    uint16_t width  # the number of features for each number
    uint8_t shift
    uint8_t mask

ctypedef struct Terms:
    # A list of terms of one kind.
    const Term* items
    Py_ssize_t count

ctypedef struct Span:
    # A range of adjacent features.
    uint32_t first
    uint32_t count

ctypedef struct Plan:
    Py_ssize_t num_features
    Py_ssize_t packed_size
    const Span* sparse  # the features of categories and bits, most of which are 0
    Py_ssize_t num_sparse
    Terms runs  # terms of adjacent flags
    Terms flags  # terms of single flags
    Terms counts
    Terms categories
    Terms bits

ctypedef fused Real:
    # An integer with the bits of a float32 or a float16.
    uint32_t
    uint16_t


cdef inline uint8_t number_of(const Term* term, uint8_t byte) noexcept nogil:
    return byte >> term.shift & term.mask


cdef void encode_row(const Plan* plan, const uint8_t* row, Real one, const Real* scaled, Real* features) noexcept nogil:
    # Encode an observation as real numbers. Apart from the numbers, the loops read only local variables, because the
    # compiler would otherwise have to assume that features and terms overlap.
    cdef Term term
    cdef const uint8_t* bytes
    cdef const Real* of_number
    cdef Real* place
    cdef Py_ssize_t i
    cdef int j
    cdef uint8_t number
    for i in range(plan.num_sparse):
        memset(features + plan.sparse[i].first, 0, plan.sparse[i].count * sizeof(Real))
    for i in range(plan.runs.count):
        term = plan.runs.items[i]
        bytes = row + term.place
        place = features + term.first
        for j in range(term.count):
            place[j] = <Real> -bytes[j] & one
    for i in range(plan.flags.count):
        term = plan.flags.items[i]
        features[term.first] = <Real> -number_of(&term, row[term.place]) & one
    for i in range(plan.counts.count):
        term = plan.counts.items[i]
        bytes = row + term.place
        place = features + term.first
        of_number = scaled + term.scale
        for j in range(term.count):
            place[j] = of_number[number_of(&term, bytes[j])]
    for i in range(plan.categories.count):
        term = plan.categories.items[i]
        bytes = row + term.place
        place = features + term.first
        for j in range(term.count):
            place[number_of(&term, bytes[j])] = one
            place += term.width
    for i in range(plan.bits.count):
        term = plan.bits.items[i]
        bytes = row + term.place
        place = features + term.first
        for j in range(term.count):
            number = number_of(&term, bytes[j])
            while number:
                place[lowest_bit(number)] = one
                number &= number - 1
            place += term.width


cdef void encode_rows(
    const Plan* plan,
    const uint8_t* rows,
    Py_ssize_t count,
    Py_ssize_t length,
    Real one,
    const Real* scaled,
    Real* features,
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        encode_row(plan, rows + i * length, one, scaled, features + i * plan.num_features)


cdef inline uint8_t bits_of(uint64_t flags) noexcept nogil:
    # Return the bits of eight bytes that are 0 or 1. The product gathers them in the highest byte.
    return flags * <uint64_t> 0x0102040810204080 >> 56


cdef inline void put_bits(uint8_t* packed, uint32_t place, uint32_t bits) noexcept nogil:
    # Set the given bits (at most eight), beginning at a place.
    bits <<= place & 7
    packed[place >> 3] |= bits
    # Write the next byte only if some of its bits have to be set, because the byte may be beyond the row.
    if bits >> 8:
        packed[(place >> 3) + 1] |= bits >> 8


cdef void pack_row(const Plan* plan, const uint8_t* row, uint8_t* packed) noexcept nogil:
    cdef Term term
    cdef const uint8_t* bytes
    cdef uint64_t eight
    cdef Py_ssize_t i
    cdef int j
    memset(packed, 0, plan.packed_size)
    for i in range(plan.runs.count):
        term = plan.runs.items[i]
        bytes = row + term.place
        for j in range(0, term.count - 7, 8):
            memcpy(&eight, bytes + j, 8)
            put_bits(packed, term.packed + j, bits_of(eight))
        if term.count & 7:
            j = term.count & ~7
            eight = 0
            memcpy(&eight, bytes + j, term.count & 7)
            put_bits(packed, term.packed + j, bits_of(eight))
    for i in range(plan.flags.count):
        term = plan.flags.items[i]
        put_bits(packed, term.packed, number_of(&term, row[term.place]))
    for i in range(plan.counts.count):
        term = plan.counts.items[i]
        bytes = row + term.place
        for j in range(term.count):
            packed[term.packed + j] = number_of(&term, bytes[j])
    for i in range(plan.categories.count):
        term = plan.categories.items[i]
        bytes = row + term.place
        for j in range(term.count):
            put_bits(packed, term.packed + number_of(&term, bytes[j]), 1)
            term.packed += term.width
    for i in range(plan.bits.count):
        term = plan.bits.items[i]
        bytes = row + term.place
        for j in range(term.count):
            put_bits(packed, term.packed, number_of(&term, bytes[j]))
            term.packed += term.width


cdef void pack_rows(
    const Plan* plan, const uint8_t* rows, Py_ssize_t count, Py_ssize_t length, uint8_t* packed
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        pack_row(plan, rows + i * length, packed + i * plan.packed_size)


cdef Py_ssize_t list_row(
    const Plan* plan, const uint8_t* row, const float* scaled, int32_t* found, float* values
) noexcept nogil:
    # List the features of an observation that are not 0, and return their number. Features that may be 0 are written
    # in any case, and the next feature overwrites them if they are, because branches would take longer.
    cdef Term term
    cdef const uint8_t* bytes
    cdef Py_ssize_t total = 0, i
    cdef int j
    cdef uint8_t number
    for i in range(plan.runs.count):
        term = plan.runs.items[i]
        bytes = row + term.place
        for j in range(term.count):
            found[total] = term.first + j
            total += bytes[j]
    for i in range(plan.flags.count):
        term = plan.flags.items[i]
        found[total] = term.first
        total += number_of(&term, row[term.place])
    for i in range(plan.categories.count):
        term = plan.categories.items[i]
        bytes = row + term.place
        for j in range(term.count):
            found[total + j] = term.first + j * term.width + number_of(&term, bytes[j])
        total += term.count
    for i in range(plan.bits.count):
        term = plan.bits.items[i]
        bytes = row + term.place
        for j in range(term.count):
            number = number_of(&term, bytes[j])
            while number:
                found[total] = term.first + lowest_bit(number)
                total += 1
                number &= number - 1
            term.first += term.width
    for i in range(total):
        values[i] = 1
    for i in range(plan.counts.count):
        term = plan.counts.items[i]
        bytes = row + term.place
        for j in range(term.count):
            number = number_of(&term, bytes[j])
            found[total] = term.first + j
            values[total] = scaled[term.scale + number]
            total += number != 0
    return total


cdef void list_rows(
    const Plan* plan,
    const uint8_t* rows,
    Py_ssize_t count,
    Py_ssize_t length,
    const float* scaled,
    int32_t* offsets,
    int32_t* numbers,
    float* values,
) noexcept nogil:
    cdef Py_ssize_t total = 0, i
    for i in range(count):
        total += list_row(plan, rows + i * length, scaled, numbers + total, values + total)
        offsets[i + 1] = total


cdef Py_ssize_t first_wrong(
    const uint8_t* rows, Py_ssize_t count, const uint8_t* largest, Py_ssize_t length
) noexcept nogil:
    # Return the first row with a number that is larger than allowed at its place, or -1.
    cdef const uint8_t* row = rows
    cdef Py_ssize_t i, j
    cdef uint8_t wrong
    for i in range(count):
        wrong = 0
        for j in range(length):
            wrong |= row[j] > largest[j]
        if wrong:
            return i
        row += length
    return -1


cdef int check_numbers(const uint8_t[:, ::1] observations, const uint8_t[::1] largest) except -1:
    # Raise ValueError if a number is larger than allowed at its place. There must be at least one observation.
    cdef Py_ssize_t wrong
    with nogil:
        wrong = first_wrong(&observations[0, 0], observations.shape[0], &largest[0], observations.shape[1])
    if wrong >= 0:
        for place, (number, highest) in enumerate(zip(observations[wrong], largest)):
            if number > highest:
                raise ValueError(f"number {place} of observation {wrong} is {number}, above {highest}")
    return 0


cdef Terms terms_of(terms):
    cdef const uint8_t[::1] data = terms.view(np.uint8)
    cdef Terms found
    found.count = len(terms)
    found.items = <const Term*> &data[0] if found.count else NULL
    return found


# The dtype of the struct Term, for the plans that observation.py makes.
TERM = np.dtype(
    [
        ("first", np.uint32),
        ("packed", np.uint32),
        ("scale", np.uint32),
        ("place", np.uint16),
        ("count", np.uint16),
        ("width", np.uint16),
        ("shift", np.uint8),
        ("mask", np.uint8),
    ],
    align=True,
)

# The dtype of the struct Span, for the same plans.
SPAN = np.dtype([("first", np.uint32), ("count", np.uint32)])


cdef class Encoder:
    """An encoder that converts observations to rows of features according to a plan."""

    cdef Plan plan
    cdef Py_ssize_t most
    # The objects to which the pointers in the plan refer.
    cdef object terms
    cdef const uint8_t[::1] largest
    cdef const uint32_t[::1] scaled_32
    cdef const uint16_t[::1] scaled_16

    def __init__(self, largest, num_features, most, packed_size, scaled, sparse, runs, flags, counts, categories, bits):
        """Store a plan.

        Args:
            largest: uint8 (length,), the largest number allowed at each place of an observation.
            num_features: The length of a row of real numbers.
            most: The largest number of features of a row that are not 0.
            packed_size: The length of a packed row in bytes.
            scaled: float32, the table of scaled numbers.
            sparse: The features of categories and bits, an array of dtype SPAN.
            runs: The terms of adjacent flags, an array of dtype TERM. The places and features of all terms must be
                within their rows.
            flags: The terms of single flags, an array of dtype TERM.
            counts: The terms of counts, an array of dtype TERM.
            categories: The terms of categories, an array of dtype TERM.
            bits: The terms of bits, an array of dtype TERM.
        """
        cdef const uint8_t[::1] of_sparse = sparse.view(np.uint8)
        self.largest = largest
        self.scaled_32 = scaled.view(np.uint32)
        self.scaled_16 = scaled.astype(np.float16).view(np.uint16)
        self.plan.num_features = num_features
        self.plan.packed_size = packed_size
        self.most = most
        self.terms = (sparse, runs, flags, counts, categories, bits)
        self.plan.num_sparse = len(sparse)
        self.plan.sparse = <const Span*> &of_sparse[0] if self.plan.num_sparse else NULL
        self.plan.runs = terms_of(runs)
        self.plan.flags = terms_of(flags)
        self.plan.counts = terms_of(counts)
        self.plan.categories = terms_of(categories)
        self.plan.bits = terms_of(bits)

    def encode(self, const uint8_t[:, ::1] observations, out):
        """Encode observations into an array. See ObservationLayout.

        Args:
            observations: uint8 (n, length), the observations.
            out: The array to fill, in C order: float32 or float16 (n, num_features). For packed features, uint8 (n,
                packed_size).

        Raises:
            ValueError: If an array has another form, or a number is larger than allowed. Nothing is written then.
        """
        cdef Py_ssize_t count = observations.shape[0], length = observations.shape[1]
        cdef const uint8_t* rows = NULL
        cdef uint8_t[::1] written
        cdef object forms = (
            ("float32", self.plan.num_features),
            ("float16", self.plan.num_features),
            ("uint8", self.plan.packed_size),
        )
        view, form = writable_rows("out", out, count, forms)
        if not count:
            return
        rows = &observations[0, 0]
        written = view
        check_numbers(observations, self.largest)
        if form[0] == "float32":
            with nogil:
                encode_rows[uint32_t](
                    &self.plan, rows, count, length, ONE_32, &self.scaled_32[0], <uint32_t*> &written[0]
                )
        elif form[0] == "float16":
            with nogil:
                encode_rows[uint16_t](
                    &self.plan, rows, count, length, ONE_16, &self.scaled_16[0], <uint16_t*> &written[0]
                )
        else:
            with nogil:
                pack_rows(&self.plan, rows, count, length, &written[0])

    def nonzero(self, const uint8_t[:, ::1] observations, uint8_t[::1] out):
        """List the features of observations that are not 0. See ObservationLayout.sparse.

        Args:
            observations: uint8 (n, length), the observations.
            out: The memory for three arrays: offsets, int32 (n + 1,); numbers, int32 (n × most + 1,); and values,
                float32 of the same length. The last number and value are not used.

        Raises:
            ValueError: If a number is larger than allowed.
        """
        cdef Py_ssize_t count = observations.shape[0]
        cdef int32_t* offsets = <int32_t*> &out[0]
        cdef int32_t* numbers = offsets + count + 1
        cdef float* values = <float*> (numbers + count * self.most + 1)
        offsets[0] = 0
        if not count:
            return
        check_numbers(observations, self.largest)
        with nogil:
            list_rows(
                &self.plan,
                &observations[0, 0],
                count,
                observations.shape[1],
                <const float*> &self.scaled_32[0],
                offsets,
                numbers,
                values,
            )


# Windows

# The maximum side length of a board.
MAX_SIDE = 64

cdef enum:
    SIDES = 64

ctypedef struct Run:
    # Adjacent numbers that are copied to the cropped observation. For a board, only the place in each observation is
    # used.
    uint16_t place
    uint16_t cropped
    uint16_t count

ctypedef struct Outside:
    # A field of a board, and the counts of its numbers outside the window.
    uint16_t board  # the place of the board
    uint16_t counts  # the place of the first count, which is for number 1 of a category or for bit 0
    uint8_t shift
    uint8_t largest
    uint8_t are_bits

ctypedef struct Crop:
    int side
    int window
    const Run* boards
    Py_ssize_t num_boards
    const Run* rest
    Py_ssize_t num_rest
    const Outside* outside
    Py_ssize_t num_outside
    Py_ssize_t corner  # the place of the window's first row and column


cdef inline int first_shown(const uint8_t* laid, const Crop* crop) noexcept nogil:
    # Return the first row (or column) of the window. The rows that are not empty are in the middle of the window.
    # `laid` marks these rows.
    cdef int first = 0, last = crop.side - 1
    while first < last and not laid[first]:
        first += 1
    if not laid[first]:
        return (crop.side - crop.window) >> 1
    while first < last and not laid[last]:
        last -= 1
    return min(max((first + last + 1 - crop.window) >> 1, 0), crop.side - crop.window)


cdef void count_outside(const Crop* crop, const uint8_t* row, uint8_t* cropped, int top, int left) noexcept nogil:
    cdef const Outside* outside
    cdef uint8_t* counts
    cdef Py_ssize_t i
    cdef int y, x, number, bit
    for i in range(crop.num_outside):
        outside = &crop.outside[i]
        counts = cropped + outside.counts
        for y in range(crop.side):
            for x in range(crop.side):
                if top <= y < top + crop.window and left <= x < left + crop.window:
                    continue
                number = row[outside.board + y * crop.side + x] >> outside.shift
                if outside.are_bits:
                    for bit in range(8):
                        if (number & outside.largest) >> bit & 1:
                            counts[bit] = min(counts[bit] + 1, crop.window)
                elif 0 < number <= outside.largest:
                    counts[number - 1] = min(counts[number - 1] + 1, crop.window)


cdef void crop_row(const Crop* crop, const uint8_t* row, uint8_t* cropped, Py_ssize_t length) noexcept nogil:
    cdef uint8_t rows[SIDES]
    cdef uint8_t columns[SIDES]
    cdef const uint8_t* numbers
    cdef Py_ssize_t i
    cdef int y, x, top, left, window = crop.window
    cdef uint8_t any_laid, outside = 0
    memset(cropped, 0, length)
    memset(rows, 0, SIDES)
    memset(columns, 0, SIDES)
    for i in range(crop.num_boards):
        for y in range(crop.side):
            numbers = row + crop.boards[i].place + y * crop.side
            any_laid = 0
            for x in range(crop.side):
                any_laid |= numbers[x]
                columns[x] |= numbers[x]
            rows[y] |= any_laid
    top = first_shown(rows, crop)
    left = first_shown(columns, crop)
    cropped[crop.corner] = top
    cropped[crop.corner + 1] = left
    for i in range(crop.num_boards):
        for y in range(window):
            numbers = row + crop.boards[i].place + (top + y) * crop.side + left
            memcpy(cropped + crop.boards[i].cropped + y * window, numbers, window)
    for i in range(crop.num_rest):
        memcpy(cropped + crop.rest[i].cropped, row + crop.rest[i].place, crop.rest[i].count)
    for i in range(crop.side):
        if not top <= i < top + window:
            outside |= rows[i]
        if not left <= i < left + window:
            outside |= columns[i]
    if outside:
        count_outside(crop, row, cropped, top, left)


# The dtypes of the structs Run and Outside, for the plans that compact.py makes.
RUN = np.dtype([("place", np.uint16), ("cropped", np.uint16), ("count", np.uint16)])
OUTSIDE = np.dtype(
    [
        ("board", np.uint16),
        ("counts", np.uint16),
        ("shift", np.uint8),
        ("largest", np.uint8),
        ("are_bits", np.uint8),
    ],
    align=True,
)


cdef class Cropper:
    """A converter from observations with boards (squares of numbers) to observations with windows of these boards."""

    cdef Crop plan
    cdef Py_ssize_t length
    cdef const uint8_t[::1] largest
    # The objects to which the pointers in the plan refer.
    cdef object places

    def __init__(self, largest, side, window, boards, rest, outside, corner, length):
        """Store a plan. All places must be within their observations.

        Args:
            largest: uint8 (length,), the largest number allowed at each place of an observation.
            side: The side length of a board, at most MAX_SIDE.
            window: The side length of a window.
            boards: The boards, an array of dtype RUN.
            rest: The other parts, an array of dtype RUN.
            outside: The fields whose numbers outside the window are counted, an array of dtype OUTSIDE.
            corner: The place of the window's first row and column in a cropped observation.
            length: The length of a cropped observation in uint8s.
        """
        cdef const uint8_t[::1] of_boards = boards.view(np.uint8)
        cdef const uint8_t[::1] of_rest = rest.view(np.uint8)
        cdef const uint8_t[::1] of_outside = outside.view(np.uint8)
        self.largest = largest
        self.places = (boards, rest, outside)
        self.length = length
        self.plan.side = side
        self.plan.window = window
        self.plan.corner = corner
        self.plan.boards = <const Run*> &of_boards[0]
        self.plan.num_boards = len(boards)
        self.plan.rest = <const Run*> &of_rest[0]
        self.plan.num_rest = len(rest)
        self.plan.outside = <const Outside*> &of_outside[0]
        self.plan.num_outside = len(outside)

    def crop(self, const uint8_t[:, ::1] observations, uint8_t[:, ::1] out):
        """Crop observations into an array.

        Args:
            observations: uint8 (n, length of a whole observation), the observations.
            out: uint8 (n, length), the array to fill, in C order.

        Raises:
            ValueError: If a number is larger than allowed.
        """
        cdef Py_ssize_t count = observations.shape[0], i
        if not count:
            return
        check_numbers(observations, self.largest)
        with nogil:
            for i in range(count):
                crop_row(&self.plan, &observations[i, 0], &out[i, 0], self.length)
