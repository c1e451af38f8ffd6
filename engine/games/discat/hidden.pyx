"""Discat: public and hidden. What the plays and passes tell, and resampling.

A hand is a set to the others: they see when it gains and loses cards, not which of its cards stayed. A state agrees with
what has been shown if every seat *could* have come to hold its hand: its cards came one at a time, at known moments;
cards that it played, or put under the pile, left at known moments; between coming and leaving, a card met no pass of
that seat that would have made it playable. That is a matching of cards to moments of arrival. And a seat whose turn it
is to play holds a card that it can play.

A card put under the pile that has been drawn since is unknown to the matching (it may be any card). The seat that put it
there knows whose hand it went to, until that hand puts a card under the pile.
"""

from libc.stdint cimport uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy, memset

from chatiere.engine.core.game cimport OK
from chatiere.engine.core.stream cimport next_word, number_below
from chatiere.engine.games.discat.state cimport (
    BONUS,
    BONUS_GROUP,
    CARD,
    DEALT,
    LARGEST_CARD,
    PASS,
    PLAY,
    TOP,
    DiscatFault,
    State,
    Table,
    cards_in_use,
    constraint_of,
    has_card,
    points_up,
    put_card,
    respects,
)

cdef enum:
    MAX_ARRIVALS = 224  # 5 dealt, and at most 2 for each of the 90 plays and the 90 passes
    NEVER = 0xFFFF
    ANY_CARD = 0
    # Where a card of the queue or the unknown part of the draw pile lies; else a seat.
    IN_QUEUE = 6
    IN_PILE = 7
    SHUFFLES = 16  # tries, before the walk
    WALK = 24  # steps for each hidden card

ctypedef struct Leaving:
    # A card that left a hand: which one, or its place in the queue (oldest first), or neither is known now.
    uint16_t time
    uint8_t card
    uint8_t queue_place  # only where queued
    uint8_t queued

ctypedef struct Showing:
    # A pass: the hand held no card above (or below) the constraint.
    uint16_t time
    uint8_t constraint
    uint8_t up

ctypedef struct Story:
    # What all have seen of one hand, in its own time.
    uint16_t now
    uint16_t arrivals
    uint16_t leavings
    uint16_t showings
    uint8_t size
    uint16_t arrived[MAX_ARRIVALS]
    Leaving left[MAX_ARRIVALS]
    Showing shown[LARGEST_CARD + 1]


# What the plays and passes tell

cdef void read_table(const State* state, Table* table) noexcept nogil:
    cdef uint8_t exchangers[5 * LARGEST_CARD]
    cdef int owner = state.first_seat, start = 0, exchanged = 0
    cdef int place, i, number, seat, passes
    cdef int tops[6]  # 1 + where each personal pile's top lies
    memset(table, 0, sizeof(Table))
    memset(tops, 0, sizeof(tops))
    for place in range(state.laid):
        if state.cards[place] & TOP == 0:
            continue
        for i in range(start, place + 1):
            table.owner[i] = owner
        if place + 1 - start == BONUS_GROUP:
            table.in_bonus_pile[start] = 1
        tops[owner] = place + 1
        passes = state.passes[place] & 7
        for number in range(passes):
            seat = (owner + 1 + number) % state.players
            if tops[seat]:
                table.face_down[tops[seat] - 1] = 1
            if state.passes[place] >> (3 + number) & 1:
                exchangers[exchanged] = seat
                exchanged += 1
        if passes == state.players - 1 and (place + 1 < state.laid or (state.phase == PLAY and state.active == owner)):
            table.face_down[place] = 1
        start = place + 1
        owner = (owner + passes + 1) % state.players
    # The pass under way has turned its top already.
    if state.phase == PASS and tops[state.active]:
        table.face_down[tops[state.active] - 1] = 1
    table.exchanges = exchanged
    for i in range(state.queue_length):
        table.queue_seat[i] = exchangers[exchanged - state.queue_length + i]


cdef void arrive(Story* story) noexcept nogil:
    story.now += 1
    story.size += 1
    # A forged state may tell of more than fits: its hands then contradict it.
    if story.arrivals < MAX_ARRIVALS:
        story.arrived[story.arrivals] = story.now
        story.arrivals += 1


cdef void leave(Story* story, int card, int queue_place) noexcept nogil:
    cdef Leaving* leaving
    story.now += 1
    story.size -= 1
    if story.leavings < MAX_ARRIVALS:
        leaving = &story.left[story.leavings]
        story.leavings += 1
        leaving.time = story.now
        leaving.card = card
        leaving.queued = queue_place >= 0
        leaving.queue_place = queue_place if queue_place >= 0 else 0


cdef void show(Story* story, const State* state, int constraint) noexcept nogil:
    cdef Showing* showing
    story.now += 1
    if story.showings <= LARGEST_CARD:
        showing = &story.shown[story.showings]
        story.showings += 1
        showing.time = story.now
        showing.constraint = constraint
        showing.up = points_up(state, constraint)


cdef bint read_stories(const State* state, const Table* table, Story* stories) noexcept nogil:
    # False if the plays and passes do not lead to the hand sizes.
    cdef int players = state.players
    cdef int owner = state.first_seat, pile = cards_in_use(players) - DEALT * players
    cdef int popped = table.exchanges - state.queue_length, exchanged = 0
    cdef int place, number, seat, passes, i, constraint = 0, actor = owner
    for seat in range(players):
        memset(&stories[seat], 0, sizeof(Story))
        for i in range(DEALT if state.laid else state.hand_size[seat]):
            arrive(&stories[seat])
    for place in range(state.laid):
        leave(&stories[table.owner[place]], state.cards[place] & CARD, -1)
        if state.cards[place] & TOP == 0:
            continue
        owner = actor = table.owner[place]
        constraint = state.cards[place] & CARD
        passes = state.passes[place] & 7
        number = 0
        while True:
            # The turn of `actor` is told up to its refill, which the last turn may not have come to.
            if place + 1 == state.laid and number == passes:
                break
            while stories[actor].size < DEALT and pile > 0:
                arrive(&stories[actor])
                pile -= 1
            if number == passes:
                break
            if number == 0 and pile > 0:
                arrive(&stories[owner])
                pile -= 1
            actor = (owner + 1 + number) % players
            show(&stories[actor], state, constraint)
            if state.passes[place] >> (3 + number) & 1:
                leave(&stories[actor], ANY_CARD, exchanged - popped)
                exchanged += 1
                if not (place + 1 == state.laid and number + 1 == passes):
                    arrive(&stories[actor])
            number += 1
    if state.laid:
        # What of the last turn has come to pass.
        while stories[actor].size < state.hand_size[actor]:
            arrive(&stories[actor])
        if state.phase == BONUS or state.phase == PASS:
            show(&stories[state.active], state, constraint)
    for seat in range(players):
        if (
            stories[seat].size != state.hand_size[seat]
            or stories[seat].arrivals != stories[seat].leavings + stories[seat].size
        ):
            return False
    return True


# The states that agree

cdef int last_forbidden(const Story* story, int card, int before) noexcept nogil:
    # When this hand last showed, before that time, that it did not hold the card; 0 for never.
    cdef const Showing* showing
    cdef int i
    for i in range(story.showings - 1, -1, -1):
        showing = &story.shown[i]
        if showing.time < before and (card > showing.constraint if showing.up else card < showing.constraint):
            return showing.time
    return 0


cdef bint agrees(const State* state, int seat, const Story* story) noexcept nogil:
    # Whether each card of the seat can be matched to an arrival after it was last forbidden and before it left. Taking
    # arrivals in order and giving each to the waiting card that leaves first finds such a matching if there is one.
    cdef uint16_t after[MAX_ARRIVALS]
    cdef uint16_t until[MAX_ARRIVALS]
    cdef const Leaving* leaving
    cdef int cards = 0, first_open = 0, i, j, card
    for i in range(story.leavings):
        leaving = &story.left[i]
        card = state.cards[LARGEST_CARD - 1 - leaving.queue_place] if leaving.queued else leaving.card
        after[cards] = 0 if card == ANY_CARD else last_forbidden(story, card, leaving.time)
        until[cards] = leaving.time
        cards += 1
    for i in range(state.hand_size[seat]):
        after[cards] = last_forbidden(story, state.hand[seat][i], NEVER)
        until[cards] = NEVER
        cards += 1
    for i in range(story.arrivals):
        while first_open < cards and until[first_open] == 0:
            first_open += 1
        j = first_open
        while j < cards and (until[j] == 0 or after[j] >= story.arrived[i]):
            j += 1
        if j == cards or until[j] < story.arrived[i]:
            return False
        until[j] = 0
    return seat != state.active or shows_it_can_play(state)


cdef bint shows_it_can_play(const State* state) noexcept nogil:
    # The active seat has not passed, so it holds a card that respects the constraint.
    cdef int constraint = constraint_of(state), slot
    if state.phase != PLAY or constraint == 0:
        return True
    for slot in range(state.hand_size[state.active]):
        if respects(state, constraint, state.hand[state.active][slot]):
            return True
    return False


cdef void write_card(State* state, const uint8_t* where, const uint8_t* slot, int place, int card) noexcept nogil:
    if where[place] < IN_QUEUE:
        state.hand[where[place]][slot[place]] = card
    elif where[place] == IN_QUEUE:
        state.cards[LARGEST_CARD - 1 - slot[place]] = card


cdef int holder(const Table* table, int where, int slot) noexcept nogil:
    # Whose story tells of that place; -1 for nobody's.
    if where == IN_QUEUE:
        return table.queue_seat[slot]
    return where if where < IN_QUEUE else -1


cdef void sort_hand(State* state, int seat) noexcept nogil:
    # Marks of who knows a card stay with its arrival, so they move with the new card.
    cdef int i, j
    cdef uint8_t card, giver
    for i in range(1, state.hand_size[seat]):
        card = state.hand[seat][i]
        giver = state.giver[seat][i]
        j = i
        while j > 0 and state.hand[seat][j - 1] > card:
            state.hand[seat][j] = state.hand[seat][j - 1]
            state.giver[seat][j] = state.giver[seat][j - 1]
            j -= 1
        state.hand[seat][j] = card
        state.giver[seat][j] = giver


cdef int resample(void* body, int seat, Stream* stream) noexcept nogil:
    cdef State* state = <State*> body
    cdef State work = state[0]
    cdef Table table
    cdef Story stories[6]
    # The hidden places, those in the unknown part of the pile last, and the card now at each.
    cdef uint8_t where[LARGEST_CARD]
    cdef uint8_t slot[LARGEST_CARD]
    cdef uint8_t cards[LARGEST_CARD]
    cdef uint8_t moved[3]
    cdef uint8_t card
    cdef uint64_t unknown[2]
    cdef int places = 0, constrained, other, i, j, k, n, attempt
    cdef bint fits
    read_table(state, &table)
    if not read_stories(state, &table, stories):
        return DiscatFault.HISTORY_CONTRADICTS_HANDS
    for other in range(state.players):
        if not agrees(state, other, &stories[other]):
            return DiscatFault.HISTORY_CONTRADICTS_HANDS
    for other in range(state.players):
        for i in range(state.hand_size[other] if other != seat else 0):
            if state.giver[other][i] != seat + 1:
                where[places] = other
                slot[places] = i
                cards[places] = state.hand[other][i]
                places += 1
    for i in range(state.queue_length):
        if table.queue_seat[i] != seat:
            where[places] = IN_QUEUE
            slot[places] = i
            cards[places] = state.cards[LARGEST_CARD - 1 - i]
            places += 1
    constrained = places
    for i in range(1, cards_in_use(state.players) + 1):
        if has_card(state.unknown, i):
            where[places] = IN_PILE
            slot[places] = 0
            cards[places] = i
            places += 1
    if constrained == 0:
        return OK

    # A plain shuffle that happens to agree is a uniform draw.
    fits = False
    for attempt in range(SHUFFLES):
        for i in range(places - 1, 0, -1):
            j = number_below(stream, i + 1)
            card = cards[i]
            cards[i] = cards[j]
            cards[j] = card
        for i in range(constrained):
            write_card(&work, where, slot, i, cards[i])
        fits = True
        for other in range(state.players):
            fits = fits and (other == seat or agrees(&work, other, &stories[other]))
        if fits:
            break
    if not fits:
        # Else walk from the present state: swap two places, or turn three round, wherever the result agrees. Every step is
        # as likely as its reverse, so the walk's limit is uniform too.
        memcpy(&work, state, sizeof(State))
        for i in range(constrained):
            cards[i] = work.cards[LARGEST_CARD - 1 - slot[i]] if where[i] == IN_QUEUE else work.hand[where[i]][slot[i]]
        i = constrained
        for j in range(1, cards_in_use(state.players) + 1):
            if has_card(state.unknown, j):
                cards[i] = j
                i += 1
        for attempt in range(WALK * places):
            moved[0] = number_below(stream, constrained)
            moved[1] = number_below(stream, places)
            moved[2] = number_below(stream, places)
            n = 2 + (next_word(stream) & 1)
            if moved[0] == moved[1] or (n == 3 and (moved[2] == moved[0] or moved[2] == moved[1])):
                continue
            rotate(&work, where, slot, cards, moved, n)
            fits = True
            for k in range(n):
                other = holder(&table, where[moved[k]], slot[moved[k]])
                fits = fits and (other < 0 or other == seat or agrees(&work, other, &stories[other]))
            if not fits:
                for k in range(n - 1):
                    rotate(&work, where, slot, cards, moved, n)

    memcpy(state, &work, sizeof(State))
    memset(unknown, 0, sizeof(unknown))
    for i in range(constrained, places):
        put_card(unknown, cards[i])
    state.unknown[0] = unknown[0]
    state.unknown[1] = unknown[1]
    for other in range(state.players):
        sort_hand(state, other)
    return OK


cdef void rotate(
    State* work, const uint8_t* where, const uint8_t* slot, uint8_t* cards, const uint8_t* moved, int n
) noexcept nogil:
    # Each of the n places gets the next one's card; n times over changes nothing.
    cdef uint8_t first = cards[moved[0]]
    cdef int k
    for k in range(n):
        cards[moved[k]] = cards[moved[k + 1]] if k + 1 < n else first
        write_card(work, where, slot, moved[k], cards[moved[k]])
