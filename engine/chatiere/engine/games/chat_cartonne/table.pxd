# Chat Cartonne: the cards on the table, to and from their messages.
from chatiere.engine.wire.reader cimport Message, Span
from chatiere.engine.wire.writer cimport Writer
from chatiere.engine.games.chat_cartonne.state cimport State

cdef put_card(Writer out, int field, const State* state, int place, int cell)
# A card with the walls and contents that it shows.
cdef put_card_view(Writer out, const State* state, int place, int cell)
cdef read_table(State* state, const Message* message)
