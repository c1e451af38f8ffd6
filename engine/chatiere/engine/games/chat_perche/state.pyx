"""Chat perché: the constants of the packed state, and distances in the tree (rules file: "Moving a cat")."""

from libc.stdlib cimport abs


cdef int distance(int start, int end) noexcept:
    # Return the number of steps on the only path between two spaces of the tree, or from the start (45) to a space.
    cdef int height = 0, out = 0, end_height = end, end_out = 0
    if end >= TRUNK_SPACES:
        end_height = branch_of(end) % TRUNK_SPACES
        end_out = (end - TRUNK_SPACES) % BRANCH_SPACES + 1
    if start == START:
        return end_height + 1 + end_out
    if start >= TRUNK_SPACES:
        out = (start - TRUNK_SPACES) % BRANCH_SPACES + 1
        if end >= TRUNK_SPACES and branch_of(start) == branch_of(end):
            return abs(end_out - out)
        height = branch_of(start) % TRUNK_SPACES
    else:
        height = start
    return out + abs(end_height - height) + end_out


cdef bint is_forward(int start, int end) noexcept:
    # Return True if all steps of the path are up the trunk or outward.
    if start == START:
        return True
    if start >= TRUNK_SPACES:
        return end > start and branch_of(start) == branch_of(end)
    return (end if end < TRUNK_SPACES else branch_of(end) % TRUNK_SPACES) >= start


cdef void write_tables() noexcept:
    cdef int start, end, steps
    for start in range(SPACES + 1):
        for end in range(SPACES):
            DISTANCE[start][end] = distance(start, end)
            for steps in range(1, MAX_STEPS):
                if 0 < distance(start, end) <= steps:
                    REACH[0][start][steps] |= space_bit(end)
                    if is_forward(start, end):
                        REACH[1][start][steps] |= space_bit(end)


write_tables()


def neighbours(int space):
    """Return the spaces that are one step from a space, or from the start (45)."""
    return [end for end in range(SPACES) if DISTANCE[space][end] == 1]
