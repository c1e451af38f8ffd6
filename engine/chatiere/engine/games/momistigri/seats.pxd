# Momistigri: who is beside whom.
from libc.stdint cimport uint8_t

from chatiere.engine.games.momistigri.cards cimport MAX_PLAYERS

# [0 clockwise, 1 counter-clockwise][the seats still in the round, as bits][seat]: the nearest other seat in the round,
# else the seat itself. Written once, when the module is loaded.
cdef uint8_t BESIDE[2][1 << MAX_PLAYERS][MAX_PLAYERS]
