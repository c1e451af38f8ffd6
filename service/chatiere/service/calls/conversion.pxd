from chatiere.engine.core.position cimport Position
from chatiere.engine.wire.reader cimport Reader

cpdef of(Position position)
cpdef as_included(Reader parts, Position position)
cpdef Position read_state(Reader state)
cpdef apply_action(Reader action, Position position, events)
cdef list _read_seat_names(Reader parts, int players, game)
cdef tuple _read_action(Reader action, Position position)
