"""Loops of batches over n packed states of one game, for any game's operations.

States are checked, unless the table has just made them. Before each item, and before each playout in playouts and
evaluations, a loop checks whether it should pause or end. Faults have one byte for each item: OK or the kernel's error
code.
"""

from libc.stdlib cimport malloc, realloc
from libc.string cimport memcpy, memset

from chatiere.engine.core.cancellation cimport count_moves, must_end
from chatiere.engine.core.masks cimport put_mask
from chatiere.engine.core.moves cimport make_move, playout
from chatiere.engine.core.operations cimport (
    BODY_WORDS,
    CHANCE,
    CHANCE_IS_PENDING,
    GAME_IS_OVER,
    INVALID,
    MAX_LEGAL,
    MAX_OUTCOMES,
    MAX_SEATS,
    NO_SUCH_SEAT,
    OK,
    OTHER_PLAYERS,
    TERMINAL,
    VIEW_WORDS,
    debug_assert,
)
from chatiere.engine.core.packed cimport Header, check_packed
from chatiere.engine.core.stream cimport Stream, next_word, stream_at

ctypedef struct Item:
    # An aligned copy of a packed state, to which no other thread writes.
    Header header
    uint64_t body[BODY_WORDS]


# One item

cdef inline uint8_t* body_of(void* packed) noexcept nogil:
    return <uint8_t*> packed + sizeof(Header)


cdef int check_item(const BatchLoop* batch, const void* packed) noexcept nogil:
    # Return OK, or the fault of a packed state (aligned to 8). The state is checked unless the batch is `sound`.
    cdef const Header* header = <const Header*> packed
    cdef const uint8_t* body = <const uint8_t*> packed + sizeof(Header)
    cdef int fault
    if batch.sound:
        debug_assert(check_packed(batch.ops, header, body) == OK)
        return OK
    fault = check_packed(batch.ops, header, body)
    if fault == OK and body[0] != batch.players:
        fault = OTHER_PLAYERS
    return fault


cdef void begin_item(
    const BatchLoop* batch, const void* options, bint sampled, uint64_t seed, uint64_t game_number, void* packed
) noexcept nogil:
    cdef Header* header = <Header*> packed
    cdef Stream stream
    memset(header, 0, sizeof(Header))
    header.game = batch.ops.number
    header.rules_version = batch.rules_version
    header.packed_version = batch.ops.packed_version
    batch.ops.start(body_of(packed), batch.players, batch.rules_version, options)
    if sampled:
        stream = stream_at(seed, game_number, 0)
        batch.ops.settle(batch.ops, body_of(packed), &stream)
        header.sampled = 1
        header.seed = seed
        header.game_number = game_number
        header.drawn = stream.drawn


cdef int move_item(const BatchLoop* batch, void* packed, int move) noexcept nogil:
    cdef Header* header = <Header*> packed
    cdef Stream stream
    cdef int fault
    if not header.sampled:
        return make_move(batch.ops, body_of(packed), NULL, &header.ply, move, NULL)
    stream = stream_at(header.seed, header.game_number, header.drawn)
    fault = make_move(batch.ops, body_of(packed), &stream, &header.ply, move, NULL)
    if fault == OK:
        header.drawn = stream.drawn
    return fault


cdef double gain_of(const BatchLoop* batch, const void* body, uint8_t* ranks) noexcept nogil:
    # Fill the ranks at the end of a game. Returns the return of each winner. All other seats have the return -1.
    cdef int winners = 0, seat
    batch.ops.ranks(body, ranks)
    for seat in range(batch.players):
        winners += ranks[seat] == 1
    return <double> batch.players / winners - 1.0


cdef void put_returns(const BatchLoop* batch, const void* body, float* returns) noexcept nogil:
    cdef uint8_t ranks[MAX_SEATS]
    cdef double gain = gain_of(batch, body, ranks)
    cdef int seat
    for seat in range(batch.players):
        returns[seat] = gain if ranks[seat] == 1 else -1.0


cdef void put_observation(const BatchLoop* batch, const void* body, int seat, uint8_t* values) noexcept nogil:
    cdef uint64_t view[VIEW_WORDS]
    batch.ops.view(body, seat, view)
    batch.ops.observe(view, seat, values)


# All items

cdef void begin_part(void* work) noexcept nogil:
    cdef Part* part = <Part*> work
    cdef const BatchLoop* batch = part.batch
    cdef const NewGames* new_games = part.new_games
    cdef uint8_t* packed
    cdef Py_ssize_t i
    part.end = LoopEnd.CANCELLED
    for i in range(part.first, part.last):
        if must_end(batch.control):
            return
        packed = part.described.states + i * batch.packed_size
        begin_item(
            batch,
            new_games.options,
            new_games.sampled,
            new_games.seeds[i] if new_games.sampled else 0,
            new_games.game_numbers[i] if new_games.sampled else 0,
            packed,
        )
        part.described.actors[i] = batch.ops.actor(body_of(packed))
    part.end = describe(part)


cdef void move_part(void* work) noexcept nogil:
    # Make the moves of a part. The array of new states may be the same as `before`.
    cdef Part* part = <Part*> work
    cdef const BatchLoop* batch = part.batch
    cdef uint8_t* states = part.described.states
    cdef int8_t* actors = part.described.actors
    cdef uint8_t* packed
    # Moves are counted locally, and added to the shared counter at the end, because other threads access it.
    cdef uint64_t moves = 0
    cdef Py_ssize_t ended = 0, i
    cdef int fault
    cdef bint cancelled = False
    for i in range(part.first, part.last):
        cancelled = must_end(batch.control)
        if cancelled:
            break
        packed = states + i * batch.packed_size
        if states != part.before:
            memcpy(packed, part.before + i * batch.packed_size, batch.packed_size)
        fault = check_item(batch, packed)
        if fault != OK:
            part.faults[i] = fault
            actors[i] = INVALID
            continue
        fault = move_item(batch, packed, part.moves[i])
        part.faults[i] = fault
        actors[i] = batch.ops.actor(body_of(packed))
        if fault == OK:
            moves += 1
            ended += actors[i] == TERMINAL
    count_moves(batch.control, moves)
    part.ended = ended
    part.end = LoopEnd.CANCELLED if cancelled else describe(part)


cdef bint reserve(Part* part) noexcept nogil:
    # Reserve space for another list of legal ids of any length.
    cdef uint16_t* ids
    if part.capacity - part.legal >= MAX_LEGAL:
        return True
    ids = <uint16_t*> realloc(part.legal_ids, 2 * part.capacity * sizeof(uint16_t))
    if ids == NULL:
        return False  # uncovered: memory does not run out in tests
    part.legal_ids = ids
    part.capacity *= 2
    return True


cdef LoopEnd describe(Part* part) noexcept nogil:
    # Fill the other columns of PositionColumns except `weights`. Begin new games in place of ended games unless
    # `restarts` is NULL. Legal ids are stored in the part, with offsets from 0.
    cdef const BatchLoop* batch = part.batch
    cdef const Described* described = part.described
    cdef const Restarts* restarts = part.restarts
    cdef const Operations* ops = batch.ops
    cdef int players = batch.players
    cdef size_t final_size = part.ended * players * ops.observation_length
    cdef uint8_t* final_observation = NULL
    cdef Header* header
    cdef uint8_t* body
    cdef Py_ssize_t i
    cdef bint lists = described.legal_offsets != NULL or described.masks.rows != NULL
    cdef uint16_t* legal
    cdef int actor, seat, count
    if restarts != NULL and described.observations != NULL and final_size:
        if final_size > part.largest_final_observations:
            return LoopEnd.TOO_LARGE
        final_observation = part.final_observations = <uint8_t*> malloc(final_size)
        if final_observation == NULL:
            return LoopEnd.NO_MEMORY  # uncovered: memory does not run out in tests
    for i in range(part.first, part.last):
        if must_end(batch.control):
            return LoopEnd.CANCELLED
        header = <Header*> (described.states + i * batch.packed_size)
        body = body_of(header)
        actor = described.actors[i]
        described.final[i] = actor == TERMINAL
        if described.totals != NULL:
            memset(described.totals + i * players, 0, players * sizeof(int32_t))
            memset(described.returns + i * players, 0, players * sizeof(float))
            if actor == TERMINAL or (described.all_totals and actor != INVALID):
                ops.totals(body, described.totals + i * players)
            if actor == TERMINAL:
                put_returns(batch, body, described.returns + i * players)
        if actor == TERMINAL and restarts != NULL and part.faults[i] == OK:
            if final_observation != NULL:
                for seat in range(players):
                    put_observation(batch, body, seat, final_observation)
                    final_observation += ops.observation_length
            begin_item(
                batch, restarts.options, header.sampled, header.seed, header.game_number + restarts.stride, header
            )
            actor = ops.actor(body)
        described.actors[i] = actor
        if described.legal_offsets != NULL:
            described.legal_offsets[i] = part.legal
        if lists:
            if not reserve(part):
                return LoopEnd.NO_MEMORY  # uncovered: memory does not run out in tests
            legal = part.legal_ids + part.legal
            count = ops.legal_actions(body, legal) if actor >= 0 else 0
            if described.masks.rows != NULL:
                put_mask(&described.masks, i, legal, count)
            if actor == CHANCE:
                part.chance = True
                count = list_outcomes(ops, body, legal)
            # If offsets were not requested, the next list overwrites this list.
            part.legal += count if described.legal_offsets != NULL else 0
        if described.observations != NULL:
            if actor >= 0:
                put_observation(batch, body, actor, described.observations + i * ops.observation_length)
            else:
                memset(described.observations + i * ops.observation_length, 0, ops.observation_length)
    return LoopEnd.DONE


cdef int list_outcomes(const Operations* ops, const void* body, uint16_t* outcomes) noexcept nogil:
    cdef uint32_t weights[MAX_OUTCOMES]
    return ops.chance_outcomes(body, outcomes, weights)


cdef void weigh_all(
    const BatchLoop* batch, uint8_t* states, const int8_t* actors, const uint32_t* legal_offsets, uint32_t* weights
) noexcept nogil:
    cdef uint16_t outcomes[MAX_OUTCOMES]
    cdef uint32_t listed[MAX_OUTCOMES]
    cdef uint32_t place
    cdef Py_ssize_t i
    cdef int count
    for i in range(batch.count):
        if actors[i] == CHANCE:
            # Write the weights into a buffer first, because a game may write to all MAX_OUTCOMES entries.
            count = batch.ops.chance_outcomes(body_of(states + i * batch.packed_size), outcomes, listed)
            memcpy(weights + legal_offsets[i], listed, count * sizeof(uint32_t))
        else:
            for place in range(legal_offsets[i], legal_offsets[i + 1]):
                weights[place] = 1


cdef LoopEnd playout_all(
    const BatchLoop* batch,
    const uint8_t* states,
    uint32_t count,
    uint64_t seed,
    uint64_t first_game_number,
    uint8_t* faults,
    double* mean_returns,
    uint32_t* wins,
    uint64_t* moves,
) noexcept nogil:
    cdef const Operations* ops = batch.ops
    cdef int players = batch.players
    cdef Item item
    cdef uint64_t body[BODY_WORDS]
    cdef uint8_t ranks[MAX_SEATS]
    cdef Stream stream
    cdef uint64_t decisions
    cdef double gain
    cdef Py_ssize_t i
    cdef uint32_t j
    cdef int seat
    for i in range(batch.count):
        if must_end(batch.control):
            return LoopEnd.CANCELLED
        memcpy(&item, states + i * batch.packed_size, batch.packed_size)
        memset(mean_returns + i * players, 0, players * sizeof(double))
        memset(wins + i * players, 0, players * sizeof(uint32_t))
        moves[i] = 0
        faults[i] = check_item(batch, &item)
        if faults[i] != OK:
            continue
        for j in range(count):
            if must_end(batch.control):
                return LoopEnd.CANCELLED
            memcpy(body, item.body, ops.body_size)
            stream = stream_at(seed, first_game_number + <uint64_t> count * i + j, 0)
            decisions = playout(ops, body, &stream)
            moves[i] += decisions
            count_moves(batch.control, decisions)
            gain = gain_of(batch, body, ranks)
            for seat in range(players):
                mean_returns[i * players + seat] += gain if ranks[seat] == 1 else -1.0
                wins[i * players + seat] += ranks[seat] == 1
        for seat in range(players):
            mean_returns[i * players + seat] /= count
    return LoopEnd.DONE


cdef LoopEnd list_decisions(Part* part) noexcept nogil:
    # Fill the columns of faults, actors and legal offsets, and the legal ids of the part. A state where no seat has to
    # act is a fault, and has no legal ids.
    cdef const BatchLoop* batch = part.batch
    cdef const Operations* ops = batch.ops
    cdef const Described* described = part.described
    cdef uint8_t* faults = part.faults
    cdef Item item
    cdef Py_ssize_t i
    cdef int actor
    for i in range(batch.count):
        if must_end(batch.control):
            return LoopEnd.CANCELLED
        memcpy(&item, part.before + i * batch.packed_size, batch.packed_size)
        described.legal_offsets[i] = part.legal
        faults[i] = check_item(batch, &item)
        actor = ops.actor(item.body) if faults[i] == OK else INVALID
        described.actors[i] = actor
        if actor == CHANCE:
            faults[i] = CHANCE_IS_PENDING
        elif actor == TERMINAL:
            faults[i] = GAME_IS_OVER
        elif actor >= 0:
            if not reserve(part):
                return LoopEnd.NO_MEMORY  # uncovered: memory does not run out in tests
            part.legal += ops.legal_actions(item.body, part.legal_ids + part.legal)
    described.legal_offsets[batch.count] = part.legal
    return LoopEnd.DONE


cdef LoopEnd evaluate_all(
    const Part* part,
    uint32_t worlds,
    uint32_t playouts,
    uint64_t seed,
    uint64_t first_game_number,
    double* mean_returns,
    uint32_t* counts,
) noexcept nogil:
    # Evaluate all items of a part that list_decisions has filled. Faults of resampling are added. The results of failed
    # items are 0.
    cdef const BatchLoop* batch = part.batch
    cdef const Described* described = part.described
    cdef uint8_t* faults = part.faults
    cdef Item item
    cdef Stream seeds
    cdef double* means
    cdef uint32_t place, legal, _, action
    cdef Py_ssize_t i
    cdef LoopEnd end
    for i in range(batch.count):
        memcpy(&item, part.before + i * batch.packed_size, batch.packed_size)
        place = described.legal_offsets[i]
        legal = described.legal_offsets[i + 1] - place
        means = mean_returns + place
        memset(means, 0, legal * sizeof(double))
        memset(counts + place, 0, legal * sizeof(uint32_t))
        if faults[i] != OK:
            continue
        seeds = stream_at(seed, first_game_number + i, 0)
        for _ in range(worlds):
            end = evaluate_world(
                batch,
                item.body,
                described.actors[i],
                part.legal_ids + place,
                legal,
                playouts,
                next_word(&seeds),
                &faults[i],
                means,
            )
            if end != LoopEnd.DONE:
                return end
            if faults[i] != OK:
                memset(means, 0, legal * sizeof(double))
                break
        else:
            for action in range(legal):
                means[action] /= worlds * playouts
                counts[place + action] = worlds * playouts
    return LoopEnd.DONE


cdef LoopEnd evaluate_world(
    const BatchLoop* batch,
    const void* body,
    int actor,
    const uint16_t* legal_ids,
    uint32_t legal,
    uint32_t playouts,
    uint64_t seed,
    uint8_t* fault,
    double* returns,
) noexcept nogil:
    # Draw a world for the actor, and play out after each legal action in this world. The actor's returns are added to
    # the sums in `returns`, one for each action. `fault` receives the fault of the draw.
    cdef const Operations* ops = batch.ops
    cdef uint64_t world[BODY_WORDS]
    cdef uint64_t child[BODY_WORDS]
    cdef uint64_t played[BODY_WORDS]
    cdef uint8_t ranks[MAX_SEATS]
    cdef Stream stream = stream_at(seed, 0, 0)
    cdef double gain
    cdef uint32_t action, j
    cdef int refused
    memcpy(world, body, ops.body_size)
    fault[0] = ops.resample(world, actor, &stream)
    if fault[0] != OK:
        return LoopEnd.DONE
    for action in range(legal):
        memcpy(child, world, ops.body_size)
        # The action is legal, because a seat knows its legal actions and they are therefore the same in all worlds.
        refused = ops.apply(child, legal_ids[action], NULL)
        debug_assert(refused == OK)
        debug_assert(ops.check(child) == OK)
        count_moves(batch.control, 1)
        for j in range(playouts):
            if must_end(batch.control):
                return LoopEnd.CANCELLED
            memcpy(played, child, ops.body_size)
            # All actions use the same random stream, so that chance contributes less to the differences between them.
            stream = stream_at(seed, 1 + <uint64_t> j, 0)
            count_moves(batch.control, playout(ops, played, &stream))
            gain = gain_of(batch, played, ranks)
            returns[action] += gain if ranks[actor] == 1 else -1.0
    return LoopEnd.DONE


cdef LoopEnd score_all(
    const BatchLoop* batch,
    const uint8_t* states,
    uint8_t* faults,
    int32_t* totals,
    uint8_t* final,
    uint8_t* ranks,
    float* returns,
) noexcept nogil:
    cdef int players = batch.players
    cdef Item item
    cdef Py_ssize_t i
    for i in range(batch.count):
        if must_end(batch.control):
            return LoopEnd.CANCELLED
        memcpy(&item, states + i * batch.packed_size, batch.packed_size)
        memset(totals + i * players, 0, players * sizeof(int32_t))
        memset(ranks + i * players, 0, players)
        memset(returns + i * players, 0, players * sizeof(float))
        final[i] = 0
        faults[i] = check_item(batch, &item)
        if faults[i] != OK:
            continue
        batch.ops.totals(item.body, totals + i * players)
        if batch.ops.actor(item.body) == TERMINAL:
            final[i] = 1
            batch.ops.ranks(item.body, ranks + i * players)
            put_returns(batch, item.body, returns + i * players)
    return LoopEnd.DONE


cdef LoopEnd resample_all(
    const BatchLoop* batch,
    const uint8_t* before,
    const uint8_t* seats,
    const uint64_t* seeds,
    const uint64_t* game_numbers,
    uint8_t* faults,
    uint8_t* states,
) noexcept nogil:
    cdef Header* header
    cdef Stream stream
    cdef Py_ssize_t i
    for i in range(batch.count):
        if must_end(batch.control):
            return LoopEnd.CANCELLED
        header = <Header*> (states + i * batch.packed_size)
        memcpy(header, before + i * batch.packed_size, batch.packed_size)
        faults[i] = check_item(batch, header)
        if faults[i] == OK and seats[i] >= batch.players:
            faults[i] = NO_SUCH_SEAT
        if faults[i] != OK:
            continue
        stream = stream_at(seeds[i], game_numbers[i], 0)
        faults[i] = batch.ops.resample(body_of(header), seats[i], &stream)
        if faults[i] == OK and header.sampled:
            header.seed = stream.key[0]
            header.game_number = stream.key[1]
            header.drawn = stream.drawn
    return LoopEnd.DONE


cdef LoopEnd observe_all(
    const BatchLoop* batch, const uint8_t* states, const uint8_t* seats, uint8_t* faults, uint8_t* observations
) noexcept nogil:
    cdef int length = batch.ops.observation_length
    cdef Item item
    cdef Py_ssize_t i
    for i in range(batch.count):
        if must_end(batch.control):
            return LoopEnd.CANCELLED
        memcpy(&item, states + i * batch.packed_size, batch.packed_size)
        faults[i] = check_item(batch, &item)
        if faults[i] == OK and seats[i] >= batch.players:
            faults[i] = NO_SUCH_SEAT
        if faults[i] == OK:
            put_observation(batch, item.body, seats[i], observations + i * length)
        else:
            memset(observations + i * length, 0, length)
    return LoopEnd.DONE
