"""Discat: the stories of hands, and resampling (rules file: Public and hidden).

The *story* of a hand is its history as the other seats see it. They see when the hand gains and loses cards, but not
which of its cards remain. A state agrees with the public information if some history leads to it. In this history, each
hand gets its cards at known times. The cards come from the unknown part of the pile or from the queue (the cards that
were put under the pile). Cards that are played or put under the pile leave at known times. A seat never passes while
its hand holds a card that it could play. For one hand, the history is a matching of cards to times of arrival. In
addition, a seat that has to play holds a card that it can play.

A seat knows the cards that it put under the pile or drew from the queue. A card that went through the queue between two
other hands may be any card in the matchings of both.
"""

from libc.stdint cimport uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy, memset

from chatiere.engine.core.operations cimport NO_SEAT, OK, seat_at
from chatiere.engine.core.stream cimport next_word, number_below
from .state cimport (
    BONUS, BONUS_GROUP, DEALT, EXCHANGE, MAX_CARD, MAX_EXCHANGES, MAX_PLAYERS, PASS, PLAY, DiscatFault, Layout, State,
    card_in_slot, card_under, cards_in_use, constraint_of, exchanged_in, has_card, points_up, put_card, put_card_under,
    respects, turns_in, with_card,
)

cdef enum:
    MAX_ARRIVALS = 224  # the maximum of a hand, with the cards dealt; arrive() handles forged states with more
    NEVER = 0xFFFF
    NOT_REDRAWN = 0xFF
    ANY_CARD = 0
    # The places of hidden cards that are not in hands. The place of a hand is the number of its seat.
    IN_QUEUE = MAX_PLAYERS
    IN_PILE = IN_QUEUE + 1
    SHUFFLES = 16  # the number of shuffles tried before the search and the walk
    WALK = 24  # the number of steps of the walk for each hidden card
    NOW_AND_THEN = 0x7F  # the bits of a random word that are tested; all are 0 with probability 1/128
    ANY_NUMBER = 0xFFFF  # no limit on the number of misfits
    SEARCH = 100_000  # the maximum number of steps, about 50 milliseconds; states of random play need a few hundred

cdef enum Fate:
    # The fate of a card that left a hand.
    PLAYED
    QUEUED
    REDRAWN
    FORGOTTEN  # redrawn so long ago that State.cards no longer has the card

ctypedef struct Arrival:
    uint16_t time
    uint8_t redraw  # the index among the redrawn cards kept, or NOT_REDRAWN for a card of the unknown part of the pile

ctypedef struct Leaving:
    uint16_t time
    uint8_t fate
    uint8_t what  # the card played, or the place in the queue or among the redrawn cards, oldest first

ctypedef struct Showing:
    # A pass. It showed that the hand had no card above the constraint (or below the constraint, if `up` is 0).
    uint16_t time
    uint8_t constraint
    uint8_t up

ctypedef struct Story:
    # The public history of one hand. A time is the number of earlier changes of the hand and passes.
    uint16_t now
    uint16_t arrivals
    uint16_t leavings
    uint16_t showings
    uint8_t size
    Arrival arrived[MAX_ARRIVALS]
    Leaving left[MAX_ARRIVALS]
    Showing shown[MAX_CARD + 1]

ctypedef struct Play:
    uint8_t seat
    uint8_t first  # the place of the play's lowest card in State.cards
    uint8_t top  # the place of the play's top in State.cards
    uint8_t refill  # the number of cards that the seat drew, including the bonus

ctypedef struct History:
    int plays
    int put_under
    Play played[MAX_CARD]
    uint8_t put_by[MAX_EXCHANGES]  # the seats that put cards under the pile, in order of time
    Draws draws

ctypedef struct Hidden:
    # The places that a seat cannot see: first the places with stories, then the unknown part of the pile.
    int viewer
    int with_story
    int places
    uint8_t where[MAX_CARD]
    uint8_t slot[MAX_CARD]
    uint8_t story_seat[MAX_CARD]
    uint8_t cards[MAX_CARD]  # the cards in all these places, ascending

ctypedef struct Deal:
    State state
    uint8_t cards[MAX_CARD]  # the card at each hidden place
    int misfits[MAX_PLAYERS]  # the number of misfits in the hand of each seat except the viewer
    int total


# The public history

cdef void read_history(const State* state, Layout* layout, History* history) noexcept nogil:
    # Read the plays and passes. They determine the owner of each card, and the seat that drew each card.
    cdef int tops[MAX_PLAYERS]  # 1 + the place of each personal pile's top, or 0
    cdef Draws* draws = &history.draws
    cdef int players = state.players, owner = state.first_seat, start = 0, place, code, turns, number, seat, draw, i
    memset(layout, 0, sizeof(Layout))
    memset(tops, 0, sizeof(tops))
    begin_draws(state, draws)
    history.plays = history.put_under = 0
    for place in range(state.laid):
        layout.owner[place] = owner
        code = state.codes[place]
        if code == 0:
            continue
        turns = turns_in(code)
        layout.in_bonus_pile[start] = place + 1 - start == BONUS_GROUP
        tops[owner] = place + 1
        history.played[history.plays] = Play(
            seat=owner, first=start, top=place, refill=draw_after_play(state, owner, start, place, draws)
        )
        history.plays += 1
        for number in range(turns - 1):
            seat = seat_at(owner, 1 + number, players)
            turn_top(layout, tops[seat])
            if exchanged_in(code, number):
                history.put_by[history.put_under] = seat
                history.put_under += 1
        if turns == players and (place + 1 < state.laid or (state.phase == PLAY and state.active == owner)):
            turn_top(layout, tops[owner])
        start = place + 1
        owner = seat_at(owner, turns, players)
    # A seat whose pass is in progress has already turned its top.
    if state.phase == PASS:
        turn_top(layout, tops[state.active])
    # Do not count a pending draw.
    draws.drawn -= state.phase == EXCHANGE
    for i in range(state.queue_length):
        layout.queue_seat[i] = history.put_by[history.put_under - state.queue_length + i]
    for i in range(state.redrawn_count):
        draw = first_redraw(state, forgotten(state, history)) + i
        seat = taker_of(draws, draw)
        layout.redraws[i].giver = history.put_by[forgotten(state, history) + i]
        layout.redraws[i].taker = seat
        layout.redraws[i].surely_held = seat != NO_SEAT and draw >= draws.before_put[seat]


cdef void read_layout(const State* state, Layout* layout) noexcept nogil:
    cdef History history
    read_history(state, layout, &history)


cdef inline void turn_top(Layout* layout, int top) noexcept nogil:
    # Turn a top face down. `top` is 1 + its place, or 0 if there is no top.
    if top:
        layout.face_down[top - 1] = 1


cdef inline int forgotten(const State* state, const History* history) noexcept nogil:
    # Return the number of redrawn cards that State.cards no longer has.
    return history.put_under - state.queue_length - state.redrawn_count


cdef void arrive(Story* story, int redraw) noexcept nogil:
    story.now += 1
    story.size += 1
    # Ignore arrivals beyond the capacity. Only a forged state can exceed the capacity, and the hands in this state
    # contradict its history.
    if story.arrivals < MAX_ARRIVALS:
        story.arrived[story.arrivals].time = story.now
        story.arrived[story.arrivals].redraw = redraw
        story.arrivals += 1


cdef void leave(Story* story, int fate, int what) noexcept nogil:
    story.now += 1
    story.size -= 1
    if story.leavings < MAX_ARRIVALS:
        story.left[story.leavings].time = story.now
        story.left[story.leavings].fate = fate
        story.left[story.leavings].what = what
        story.leavings += 1


cdef void show(Story* story, const State* state, int constraint) noexcept nogil:
    cdef Showing* showing
    story.now += 1
    if story.showings <= MAX_CARD:
        showing = &story.shown[story.showings]
        story.showings += 1
        showing.time = story.now
        showing.constraint = constraint
        showing.up = points_up(state, constraint)


cdef void draw(const State* state, Story* story, int redraw) noexcept nogil:
    # Record that the hand drew a card. If the card is among the redrawn cards kept, `redraw` is its index.
    arrive(story, redraw if 0 <= redraw < state.redrawn_count else <int> NOT_REDRAWN)


cdef void put_under(const State* state, Story* story, int redraw) noexcept nogil:
    # Record that a card of the hand was put under the pile. If the card is among the redrawn cards kept or in the
    # queue, `redraw` is its index among both.
    if redraw < 0:
        leave(story, FORGOTTEN, 0)
    elif redraw < state.redrawn_count:
        leave(story, REDRAWN, redraw)
    else:
        leave(story, QUEUED, redraw - state.redrawn_count)


cdef bint read_stories(const State* state, const History* history, Story* stories) noexcept nogil:
    # Read the story of each hand. Returns False if the plays and passes do not lead to the sizes of the hands.
    cdef int put = -forgotten(state, history), drawn = -first_redraw(state, -put), constraint = 0
    cdef int last_drawn = drawn + history.draws.drawn, code, number, place, seat, i, _
    cdef const Play* play
    for seat in range(state.players):
        stories[seat].now = stories[seat].size = 0
        stories[seat].arrivals = stories[seat].leavings = stories[seat].showings = 0
        for _ in range(DEALT if state.laid else state.hand_size[seat]):
            arrive(&stories[seat], NOT_REDRAWN)
    for i in range(history.plays):
        play = &history.played[i]
        code = state.codes[play.top]
        constraint = state.cards[play.top]
        for place in range(play.first, play.top + 1):
            leave(&stories[play.seat], PLAYED, state.cards[place])
        for _ in range(play.refill):
            draw(state, &stories[play.seat], drawn)
            drawn += 1
        for number in range(turns_in(code) - 1):
            seat = seat_at(play.seat, 1 + number, state.players)
            show(&stories[seat], state, constraint)
            if exchanged_in(code, number):
                put_under(state, &stories[seat], put)
                put += 1
                if drawn < last_drawn:
                    draw(state, &stories[seat], drawn)
                    drawn += 1
    if state.phase == BONUS or state.phase == PASS:
        show(&stories[state.active], state, constraint)
    for seat in range(state.players):
        if (
            stories[seat].size != state.hand_size[seat]
            or stories[seat].arrivals != stories[seat].leavings + stories[seat].size
        ):
            return False
    return True


# The states that agree

cdef int last_forbidden(const Story* story, int card, int before) noexcept nogil:
    # Return the last time before `before` at which a pass showed that the hand did not have the card, or 0 if none did.
    cdef const Showing* showing
    cdef int i
    for i in range(story.showings - 1, -1, -1):
        showing = &story.shown[i]
        if showing.time < before and (card > showing.constraint if showing.up else card < showing.constraint):
            return showing.time
    return 0


cdef int card_that_left(const State* state, const Leaving* leaving) noexcept nogil:
    if leaving.fate == PLAYED:
        return leaving.what
    if leaving.fate == QUEUED:
        return card_under(state, state.redrawn_count + leaving.what)
    return card_under(state, leaving.what) if leaving.fate == REDRAWN else ANY_CARD


cdef bint knows(const State* state, const Layout* layout, int viewer, int redraw) noexcept nogil:
    # Return True if the viewer put this redrawn card under the pile, or drew it.
    return card_under(state, redraw) != ANY_CARD and (
        layout.redraws[redraw].giver == viewer or layout.redraws[redraw].taker == viewer
    )


cdef int count_misfits(
    const State* state, const Layout* layout, int seat, const Story* story, int viewer, int most
) noexcept nogil:
    # Match as many cards of the hand as possible to arrivals. A card can be matched to an arrival after the last pass
    # that excluded the card, and before the card left. Returns the number of arrivals without a card, plus 1 if the
    # seat has no playable card although it must play. Counting stops above `most`. The largest matching is found by
    # taking the arrivals in order, and matching each to the waiting card that leaves first. A card that arrived from
    # the queue, or left for the queue and was redrawn, may be known to the viewer. It is then matched as itself,
    # otherwise as any card.
    cdef uint16_t after[MAX_ARRIVALS]
    cdef uint16_t until[MAX_ARRIVALS]  # ascending; 0 for a card that was matched
    cdef uint8_t cards[MAX_ARRIVALS]
    cdef uint8_t met[MAX_ARRIVALS]
    cdef const Leaving* leaving
    cdef int count = 0, first_open = 0, i, j, redraw, last_any = 0
    cdef int misfits = seat == state.active and not shows_it_can_play(state)
    for i in range(story.leavings):
        leaving = &story.left[i]
        cards[count] = card_that_left(state, leaving)
        if leaving.fate == REDRAWN and not knows(state, layout, viewer, leaving.what):
            cards[count] = ANY_CARD
        until[count] = leaving.time
        if cards[count] == ANY_CARD:
            last_any = leaving.time
        after[count] = 0 if cards[count] == ANY_CARD else last_forbidden(story, cards[count], until[count])
        count += 1
    for i in range(state.hand_size[seat]):
        cards[count] = card_in_slot(state.hand[seat], i)
        until[count] = NEVER
        after[count] = last_forbidden(story, cards[count], NEVER)
        count += 1
    for i in range(story.arrivals):
        if misfits > most:
            return misfits
        met[i] = 0
        redraw = story.arrived[i].redraw
        # An unknown card that left later may be the card that arrived here. This card may even have left and arrived
        # again.
        if redraw == NOT_REDRAWN or last_any > story.arrived[i].time or not knows(state, layout, viewer, redraw):
            continue
        j = 0
        while j < count and (cards[j] != card_under(state, redraw) or until[j] <= story.arrived[i].time):
            j += 1
        met[i] = 1
        if j == count or after[j] >= story.arrived[i].time:
            misfits += 1
        else:
            until[j] = 0
    for i in range(story.arrivals):
        if misfits > most:
            return misfits
        if met[i]:
            continue
        # Skip cards that left earlier. They were matched, or remain unmatched.
        while first_open < count and until[first_open] < story.arrived[i].time:
            first_open += 1
        j = first_open
        while j < count and (until[j] == 0 or after[j] >= story.arrived[i].time):
            j += 1
        if j == count:
            misfits += 1
        else:
            until[j] = 0
    return misfits


cdef bint shows_it_can_play(const State* state) noexcept nogil:
    # Return False if the active seat has to play but has no card that respects the constraint.
    cdef int constraint = constraint_of(state), slot
    if state.phase != PLAY or constraint == 0:
        return True
    for slot in range(state.hand_size[state.active]):
        if respects(state, constraint, card_in_slot(state.hand[state.active], slot)):
            return True
    return False


cdef void list_hidden(const State* state, const Layout* layout, int viewer, Hidden* hidden) noexcept nogil:
    # List the hidden places in an order that all seats know, and the hidden cards in ascending order. The lists then do
    # not depend on the places of the cards.
    cdef uint64_t cards[2]
    cdef int seat, i, card
    hidden.viewer = viewer
    hidden.with_story = hidden.places = 0
    memcpy(cards, state.unknown, sizeof(cards))
    for seat in range(state.players):
        for i in range(state.hand_size[seat] if seat != viewer else 0):
            put_card(cards, card_in_slot(state.hand[seat], i))
            hidden.where[hidden.with_story] = hidden.story_seat[hidden.with_story] = seat
            hidden.slot[hidden.with_story] = i
            hidden.with_story += 1
    for i in range(state.queue_length):
        if layout.queue_seat[i] != viewer:
            put_card(cards, card_under(state, state.redrawn_count + i))
            hidden.where[hidden.with_story] = IN_QUEUE
            hidden.story_seat[hidden.with_story] = layout.queue_seat[i]
            hidden.slot[hidden.with_story] = i
            hidden.with_story += 1
    for card in range(1, cards_in_use(state.players) + 1):
        if has_card(cards, card):
            if hidden.places >= hidden.with_story:
                hidden.where[hidden.places] = hidden.story_seat[hidden.places] = IN_PILE
            hidden.cards[hidden.places] = card
            hidden.places += 1


# Drawing one of these states

cdef void lay(Deal* deal, const Hidden* hidden, int place, int card) noexcept nogil:
    cdef int slot = hidden.slot[place]
    cdef uint64_t* hand
    deal.cards[place] = card
    if hidden.where[place] < IN_QUEUE:
        hand = &deal.state.hand[hidden.where[place]]
        hand[0] = hand[0] & ~(<uint64_t> 0xFF << 8 * slot) | <uint64_t> card << 8 * slot
    elif hidden.where[place] == IN_QUEUE:
        put_card_under(&deal.state, deal.state.redrawn_count + slot, card)


cdef bint count_anew(
    Deal* deal, const Hidden* hidden, const Layout* layout, const Story* stories, int seats, int most
) noexcept nogil:
    # Recount the misfits of `seats`, a set of seats. If the total exceeds `most`, the count is incomplete, and the
    # function returns False.
    cdef int seat
    for seat in range(deal.state.players):
        if seats >> seat & 1:
            deal.total -= deal.misfits[seat]
            deal.misfits[seat] = 0
    for seat in range(deal.state.players):
        if seats >> seat & 1:
            deal.misfits[seat] = count_misfits(
                &deal.state, layout, seat, &stories[seat], hidden.viewer, most - deal.total
            )
            deal.total += deal.misfits[seat]
            if deal.total > most:
                return False
    return True


cdef void shuffle(Deal* deal, const Hidden* hidden, Stream* stream) noexcept nogil:
    cdef uint8_t card
    cdef int i, j
    for i in range(hidden.with_story):
        j = i + number_below(stream, hidden.places - i)
        card = deal.cards[j]
        deal.cards[j] = deal.cards[i]
        lay(deal, hidden, i, card)


cdef void rotate(Deal* deal, const Hidden* hidden, const uint8_t* moved, int n) noexcept nogil:
    # Move the card at each of the n places to the preceding place. After n rotations, all cards are back in their
    # places.
    cdef uint8_t first = deal.cards[moved[0]]
    cdef int k
    for k in range(n):
        lay(deal, hidden, moved[k], deal.cards[moved[k + 1]] if k + 1 < n else first)


cdef void step(
    Deal* deal, const Hidden* hidden, const Layout* layout, const Story* stories, Stream* stream
) noexcept nogil:
    # Swap the cards at two places, or rotate the cards at three places. The step is undone if the number of misfits
    # grows. While there are misfits, one additional misfit is occasionally accepted, so that the search cannot get
    # stuck.
    cdef uint8_t moved[3]
    cdef int misfits[MAX_PLAYERS]
    cdef int total = deal.total, seats = 0, i, _, n
    cdef uint64_t word
    moved[0] = number_below(stream, hidden.with_story)
    moved[1] = number_below(stream, hidden.places)
    moved[2] = number_below(stream, hidden.places)
    word = next_word(stream)
    n = 2 + (word & 1)
    if moved[0] == moved[1] or (n == 3 and (moved[2] == moved[0] or moved[2] == moved[1])):
        return
    memcpy(misfits, deal.misfits, sizeof(misfits))
    rotate(deal, hidden, moved, n)
    for i in range(n):
        if hidden.story_seat[moved[i]] != IN_PILE:
            seats |= 1 << hidden.story_seat[moved[i]]
    if not count_anew(deal, hidden, layout, stories, seats, total + (total > 0 and word >> 1 & NOW_AND_THEN == 0)):
        deal.total = total
        memcpy(deal.misfits, misfits, sizeof(misfits))
        for _ in range(n - 1):
            rotate(deal, hidden, moved, n)


cdef void sort_hand(State* state, int seat) noexcept nogil:
    cdef uint64_t hand = 0
    cdef int i
    for i in range(state.hand_size[seat]):
        hand = with_card(hand, i, card_in_slot(state.hand[seat], i))
    state.hand[seat] = hand


cdef int resample(void* body, int seat, Stream* stream) noexcept nogil:
    cdef State* state = <State*> body
    cdef Layout layout
    cdef History history
    cdef Story stories[MAX_PLAYERS]
    cdef Hidden hidden
    cdef Deal deal
    cdef int others = (1 << state.players) - 1 & ~(1 << seat), i, _, steps
    cdef bint agrees = False
    read_history(state, &layout, &history)
    if not read_stories(state, &history, stories):
        return DiscatFault.HISTORY_CONTRADICTS_HANDS
    for i in range(state.players):
        if count_misfits(state, &layout, i, &stories[i], seat, 0):
            return DiscatFault.HISTORY_CONTRADICTS_HANDS
    list_hidden(state, &layout, seat, &hidden)
    if hidden.with_story == 0:
        return OK

    # First try random shuffles, because a random shuffle that agrees is a uniform draw.
    deal.state = state[0]
    memcpy(deal.cards, hidden.cards, sizeof(deal.cards))
    for _ in range(SHUFFLES):
        shuffle(&deal, &hidden, stream)
        deal.total = 0
        memset(deal.misfits, 0, sizeof(deal.misfits))
        agrees = count_anew(&deal, &hidden, &layout, stories, others, 0)
        if agrees:
            break
    if not agrees:
        # Otherwise, search for a deal that agrees, starting from the last shuffle. Then walk randomly among the deals
        # that agree. Every step of the walk is as likely as its reverse, so the distribution approaches a uniform one.
        deal.total = 0
        memset(deal.misfits, 0, sizeof(deal.misfits))
        count_anew(&deal, &hidden, &layout, stories, others, ANY_NUMBER)
        steps = 0
        while deal.total:
            if steps == SEARCH:
                return DiscatFault.TOO_FEW_DEALS  # uncovered: no state is known to need that many steps
            step(&deal, &hidden, &layout, stories, stream)
            steps += 1
        for _ in range(WALK * hidden.places):
            step(&deal, &hidden, &layout, stories, stream)

    deal.state.unknown[0] = deal.state.unknown[1] = 0
    for i in range(hidden.with_story, hidden.places):
        put_card(deal.state.unknown, deal.cards[i])
    for i in range(state.players):
        sort_hand(&deal.state, i)
    for i in range(state.redrawn_count):
        if not knows(state, &layout, seat, i):
            put_card_under(&deal.state, i, ANY_CARD)
    memcpy(state, &deal.state, sizeof(State))
    return OK
