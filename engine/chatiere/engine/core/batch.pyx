"""Many games at a time: the methods of `Position`, for n packed states in one call and without the GIL.

All items of a batch have the same game and number of players (`Table`). Arguments and results are columns, which are
little-endian arrays in C order without padding. A column can be passed as its bytes, or as integers in the range of its
dtype: an array of any integer dtype, a buffer or a sequence. Bytes and contiguous arrays of the column's dtype are read
in place. Results are bytes that NumPy reads in place, such as `numpy.frombuffer(positions.actors, "<i1")`, or a
memoryview of overwritten states. Columns that were not requested are empty. An item that fails, because of an invalid
state or an illegal move, does not affect the other items. `FaultColumns` gives the reason.
"""

from functools import partial
from itertools import islice

from libc.stdint cimport int8_t, int32_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t

from chatiere.engine.core.arguments import MAX_COUNT, MAX_ITEMS
from chatiere.engine.core.columns import (
    MAX_FAULTS_TOLD,
    NO_FAULTS,
    Columns,
    EvaluationColumns,
    FaultColumns,
    ItemFault,
    PlayoutColumns,
    ScoreColumns,
)
from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.core.integers import MAX_U64, column_of
from chatiere.engine.core.stream import words

from chatiere.engine.core.arguments cimport (
    check_count,
    check_playouts,
    check_size,
    copy_for,
    copy_of,
    game_numbers_for,
    require_done,
    require_seeds,
)
from chatiere.engine.core.cancellation cimport Cancellation
from chatiere.engine.core.game cimport Game
from chatiere.engine.core.integers cimport read_number, read_u64
from chatiere.engine.core.loops cimport (
    BatchLoop,
    NewGames,
    LoopEnd,
    Part,
    Restarts,
    begin_part,
    evaluate_all,
    list_decisions,
    move_part,
    observe_all,
    playout_all,
    resample_all,
    score_all,
)
from chatiere.engine.core.operations cimport OK
from chatiere.engine.core.parts cimport Parts, data_of, new_column
from chatiere.engine.core.position cimport Position
from chatiere.engine.core.steps cimport Kind, Steps

cdef enum:
    # The alignment, in bytes, that overwritten states must have.
    ALIGNMENT = 8


cdef bint any_of(const uint8_t* flags, Py_ssize_t count) noexcept:
    cdef uint8_t found = 0
    cdef Py_ssize_t i
    for i in range(count):
        found |= flags[i]
    return found


cdef class Table:
    """A game and a number of players. Both are the same for all items of a batch.

    Threads that share the work of a call (`num_threads`) sleep between calls, and end with the table.

    Several threads may call the methods at the same time. States are checked, except when they are passed as the bytes
    object that the table returned last.

    Each method raises Cancelled when its Cancellation is cancelled, and EngineError for errors that concern the whole
    batch. The reason INVALID_BATCH means that a column has the wrong length or a value out of range, that a number is
    out of range, or that there are more than 524,288 items. The method's docstring lists the other reasons.

    Attributes:
        game: The game.
        players: The number of players.
        rules_version: The version of the rules under which new games begin.
    """

    cdef readonly Game game
    cdef readonly int players
    # The version of the rules under which new games begin.
    cdef readonly int rules_version
    # The states returned last, if all are valid. They remain valid, because bytes cannot change, and a Block does not
    # change while this refers to it.
    cdef object sound
    cdef Steps steps

    def __init__(self, Game game not None, players, rules_version=None, *, reuse_memory=False):
        """Initialize a table.

        Args:
            game: The game.
            players: The number of players, `game.min_players` … `game.max_players`.
            rules_version: The version of the rules under which games begin, one of `game.rules_versions`. None means
                the newest. Methods accept states of any of these versions, and continue them under their own version.
            reuse_memory: True to write the columns of `new_games` and `step` into the memory of earlier columns. This
                is much faster for large batches. The columns, except `weights`, are then Blocks instead of bytes:
                read-only buffers that NumPy reads in place. Memory is reused only once no array or other object refers
                to it; the table keeps the memory of at most four batches.

        Raises:
            EngineError: INVALID_PLAYERS, UNSUPPORTED_RULES_VERSION.
        """
        self.players = game.read_players(players)
        self.rules_version = game.read_rules_version(rules_version)
        self.game = game
        self.steps = Steps(game, self.players, reuse_memory)

    def __repr__(self):
        return f"<Table of {self.game.name}, {self.players} players>"

    def __reduce__(self):
        # Memory and threads are not part of a table's copy.
        made = partial(Table, reuse_memory=self.steps.pools is not None)
        return made, (self.game, self.players, self.rules_version)

    def new_games(
        self,
        options=None,
        *,
        seeds=None,
        game_numbers=None,
        count=None,
        columns=Columns(),
        mask=None,
        max_bytes=None,
        num_threads=1,
        Cancellation cancellation=None,
    ):
        """Begin games, all with the same options.

        Either `seeds` or `count` is required.

        Args:
            options: The game's options, by the names in the rules file; options that are not set have their defaults.
                None means all defaults.
            seeds: uint64 (n,), the seeds of the streams (seed, game number) from which chance is sampled. None means
                explicit chance.
            game_numbers: uint64 (n,), the game numbers of these streams, only with `seeds`. None means 0 for all games.
            count: The number of games with explicit chance, 0 … 524,288. Only without `seeds`.
            columns: The columns to return in addition to `states`, `actors` and `final`.
            mask: A writable array in C order that receives the mask of the legal actions. None means no mask. The array
                is bool or uint8 (n, num_actions), with 0 or 1 for each action; or uint8 (n, ceil(num_actions / 8)),
                with one bit for each action and the lowest bit of each byte first, as numpy.unpackbits reads bits with
                bitorder="little". A row is 0 if no seat has to act.
            max_bytes: The maximum size of the result, in bytes. None means no limit.
            num_threads: The number of threads that share the work, 1 … 256. The result does not depend on it.
            cancellation: A handle by which other threads can cancel the call. None means that it cannot be cancelled.

        Returns:
            PositionColumns.

        Raises:
            EngineError: INVALID_OPTION, INVALID_SEED; BATCH_TOO_LARGE if the result would exceed `max_bytes`.
        """
        cdef bytes encoded = self.encode_options(options, "options")
        cdef bytes seed_column = b"", number_column = b"", faults
        cdef object states, actors
        cdef NewGames new_games
        cdef Parts parts
        cdef Py_ssize_t n
        cdef int i
        if seeds is not None:
            if count:
                raise EngineError(Reason.INVALID_BATCH, "count must be omitted if seeds are given", field="count")
            seed_column = copy_of("seeds", seeds, sizeof(uint64_t))
            n = check_count("seeds", (len(seed_column) + 7) // 8)
            seed_column = copy_for("seeds", seed_column, sizeof(uint64_t), n)
            number_column = game_numbers_for(game_numbers, n)
        else:
            require_seeds(game_numbers)
            if count is None:
                raise EngineError(
                    Reason.INVALID_BATCH, "either seeds or, for explicit chance, count is required", field="count"
                )
            n = read_number("count", count, 0, MAX_ITEMS)
        new_games.options = data_of(encoded)
        new_games.sampled = seeds is not None
        new_games.seeds = <const uint64_t*> data_of(seed_column)
        new_games.game_numbers = <const uint64_t*> data_of(number_column)
        cancellation = cancellation or Cancellation()
        parts = self.steps.parts_of(self.batch_of(n, cancellation, None), num_threads)
        check_size(self.steps.size_of(n, columns), max_bytes)
        states = self.steps.column(Kind.STATES, n * parts.batch.packed_size)
        faults = bytes(n)
        actors = self.steps.column(Kind.ACTORS, n)
        parts.described.states = <uint8_t*> data_of(states)
        parts.described.actors = <int8_t*> data_of(actors)
        for i in range(parts.count):
            parts.parts[i].new_games = &new_games
            parts.parts[i].faults = <uint8_t*> data_of(faults)
        positions = self.steps.run(begin_part, parts, states, actors, columns, mask, max_bytes)
        self.sound = states
        return positions

    def step(
        self,
        states,
        moves,
        *,
        columns=Columns(),
        restart=None,
        overwrite_states=False,
        mask=None,
        max_bytes=None,
        num_threads=1,
        Cancellation cancellation=None,
    ):
        """Make a move in each game.

        Args:
            states: uint8 (n, packed_size), the packed states.
            moves: uint16 (n,), for each state the dense id of an action or, at a chance event, the outcome.
            columns: The columns to return in addition to `states`, `actors` and `final`.
            restart: A Restart, to begin a new game in place of each game that ends. None means that no games begin.
            overwrite_states: True to write the new states into `states`, which saves a copy. This is done only if the
                array is writable and aligned to 8 bytes. No other thread may write to the array during the call. If the
                call raises an error, the content of the array is undefined.
            mask: As in `new_games`.
            max_bytes: The maximum size of the result, in bytes. None means no limit.
            num_threads: The number of threads that share the work, 1 … 256. The result does not depend on it.
            cancellation: A handle by which other threads can cancel the call. None means that it cannot be cancelled.

        Returns:
            (PositionColumns, FaultColumns).

        Raises:
            EngineError: INVALID_OPTION (in `restart`); BATCH_TOO_LARGE if the result would exceed `max_bytes`.
        """
        cdef object given = self.view_of(states)
        cdef const uint8_t[::1] before = given
        cdef Py_ssize_t n = self.count_of(given)
        cdef bytes move_column = copy_for("moves", moves, sizeof(uint16_t), n)
        cdef bytes encoded
        cdef object after, faults, actors
        cdef Restarts restarts
        cdef const uint8_t* source = &before[0] if n else NULL
        cdef Parts parts
        cdef Part* part
        cdef int i
        if restart is not None:
            restarts.stride = read_number("restart.stride", restart.stride, 1, MAX_U64)
            encoded = self.encode_options(restart.options, "restart.options")
            restarts.options = data_of(encoded)
        cancellation = cancellation or Cancellation()
        parts = self.steps.parts_of(self.batch_of(n, cancellation, states), num_threads)
        check_size(self.steps.size_of(n, columns), max_bytes)
        if overwrite_states and n and not given.readonly and <uintptr_t> source % ALIGNMENT == 0:
            after = given
            parts.described.states = <uint8_t*> source
        else:
            after = self.steps.column(Kind.STATES, n * parts.batch.packed_size)
            parts.described.states = <uint8_t*> data_of(after)
        faults = self.steps.column(Kind.FAULTS, n)
        actors = self.steps.column(Kind.ACTORS, n)
        parts.described.actors = <int8_t*> data_of(actors)
        for i in range(parts.count):
            part = &parts.parts[i]
            part.before = source
            part.moves = <const uint16_t*> data_of(move_column)
            part.faults = <uint8_t*> data_of(faults)
            part.restarts = &restarts if restart is not None else NULL
        positions = self.steps.run(move_part, parts, after, actors, columns, mask, max_bytes)
        item_faults = self.faults_of(faults, after, "moves", partial(_apply, move_column))
        self.sound = after if item_faults is NO_FAULTS and after is not given else None
        return positions, item_faults

    def playout(self, states, playouts, *, seed, first_game_number=0, Cancellation cancellation=None):
        """Play each state to the end of the game several times, with uniformly random actions.

        The chance outcomes and actions in playout j of item i are drawn from the stream (seed, first_game_number +
        playouts × i + j).

        Args:
            states: uint8 (n, packed_size), the packed states.
            playouts: The number of playouts of each state, 1 … 2**32 - 1.
            seed: The seed of the streams, 0 … 2**64 - 1.
            first_game_number: The first game number, 0 … 2**64 - 1.
            cancellation: A handle by which other threads can cancel the call. None means that it cannot be cancelled.

        Returns:
            (PlayoutColumns, FaultColumns).

        Raises:
            EngineError: INVALID_SEED.
        """
        cdef object given = self.view_of(states)
        cdef const uint8_t[::1] packed = given
        cdef Py_ssize_t n = self.count_of(given)
        cdef const uint8_t* source = &packed[0] if n else NULL
        cdef uint64_t stream_seed = read_u64("seed", seed)
        cdef uint64_t first = read_u64("first_game_number", first_game_number)
        cdef uint32_t times = read_number("playouts", playouts, 1, MAX_COUNT)
        cdef bytes faults, mean_returns, wins, decisions
        cdef uint8_t* fault_data
        cdef double* return_data
        cdef uint32_t* win_data
        cdef uint64_t* decision_data
        cdef BatchLoop batch
        cdef LoopEnd end
        cancellation = cancellation or Cancellation()
        batch = self.batch_of(n, cancellation, states)
        faults = new_column(n)
        mean_returns = new_column(n * self.players * sizeof(double))
        wins = new_column(n * self.players * sizeof(uint32_t))
        decisions = new_column(n * sizeof(uint64_t))
        fault_data = <uint8_t*> data_of(faults)
        return_data = <double*> data_of(mean_returns)
        win_data = <uint32_t*> data_of(wins)
        decision_data = <uint64_t*> data_of(decisions)
        with nogil:
            end = playout_all(
                &batch, source, times, stream_seed, first, fault_data, return_data, win_data, decision_data
            )
        require_done(end)
        return PlayoutColumns(mean_returns, wins, decisions), self.faults_of(faults, given)

    def evaluate(
        self,
        states,
        worlds,
        playouts,
        *,
        seed,
        first_game_number=0,
        max_playouts=None,
        max_bytes=None,
        Cancellation cancellation=None,
    ):
        """Estimate the value of every legal action at each state by random playouts in worlds.

        For each item, `worlds` states are drawn from the states that agree with the acting seat's knowledge. After each
        legal action in each drawn state, the game is played to the end `playouts` times, with uniformly random actions.

        Word w of the stream (seed, first_game_number + i) is the seed s of world w of item i. The world is drawn from
        the stream (s, 0). In playout j after each action, chance outcomes and actions are drawn from the stream (s, 1 +
        j). The result therefore depends only on these numbers and on the acting seat's knowledge.

        Args:
            states: uint8 (n, packed_size), the packed states, all at decisions. An item at a chance event or at the end
                of its game fails.
            worlds: The number of states to draw for each item, 1 or more.
            playouts: The number of playouts after each legal action in each world, 1 or more. `worlds` × `playouts` is
                at most 2**32 - 1.
            seed: The seed of the streams, 0 … 2**64 - 1.
            first_game_number: The first game number, 0 … 2**64 - 1.
            max_playouts: The maximum number of playouts of the batch. The batch has worlds × playouts for each legal
                action. None means no limit.
            max_bytes: The maximum size of the result, in bytes. None means no limit.
            cancellation: A handle by which other threads can cancel the call. None means that it cannot be cancelled.

        Returns:
            (EvaluationColumns, FaultColumns).

        Raises:
            EngineError: INVALID_SEED; BATCH_TOO_LARGE if the batch would exceed `max_playouts` or `max_bytes`.
        """
        cdef object given = self.view_of(states)
        cdef const uint8_t[::1] packed = given
        cdef Py_ssize_t n = self.count_of(given)
        cdef const uint8_t* source = &packed[0] if n else NULL
        cdef uint64_t stream_seed = read_u64("seed", seed)
        cdef uint64_t first = read_u64("first_game_number", first_game_number)
        cdef uint32_t drawn = read_number("worlds", worlds, 1, MAX_COUNT)
        cdef uint32_t played = read_number("playouts", playouts, 1, MAX_COUNT)
        cdef bytes faults, actors, legal_offsets, legal_ids, mean_returns, counts
        cdef double* return_data
        cdef uint32_t* count_data
        cdef Parts parts
        cdef Part* part
        cdef LoopEnd end
        cdef Py_ssize_t legal
        if <uint64_t> drawn * played > MAX_COUNT:
            raise EngineError(
                Reason.INVALID_BATCH,
                f"worlds × playouts must be at most 2**32 - 1, not {drawn} × {played}",
                field="playouts",
            )
        cancellation = cancellation or Cancellation()
        parts = Parts(n, 1)
        parts.batch = self.batch_of(n, cancellation, states)
        part = parts.parts
        faults = new_column(n)
        actors = new_column(n)
        legal_offsets = new_column((n + 1) * sizeof(uint32_t))
        part.before = source
        part.faults = <uint8_t*> data_of(faults)
        parts.described.actors = <int8_t*> data_of(actors)
        parts.described.legal_offsets = <uint32_t*> data_of(legal_offsets)
        parts.reserve_legal_ids()
        with nogil:
            end = list_decisions(part)
        require_done(end)
        legal = part.legal
        check_playouts(legal * int(drawn) * int(played), max_playouts)
        check_size(n + len(legal_offsets) + legal * (sizeof(uint16_t) + sizeof(double) + sizeof(uint32_t)), max_bytes)
        mean_returns = new_column(legal * sizeof(double))
        counts = new_column(legal * sizeof(uint32_t))
        return_data = <double*> data_of(mean_returns)
        count_data = <uint32_t*> data_of(counts)
        with nogil:
            end = evaluate_all(part, drawn, played, stream_seed, first, return_data, count_data)
        require_done(end)
        legal_ids = (<const char*> part.legal_ids)[:legal * sizeof(uint16_t)]
        item_faults = self.faults_of(faults, given, "states", partial(_evaluate, drawn, stream_seed, first))
        return EvaluationColumns(actors, legal_offsets, legal_ids, mean_returns, counts), item_faults

    def score(self, states, *, Cancellation cancellation=None):
        """Return the scores of states.

        Args:
            states: uint8 (n, packed_size), the packed states.
            cancellation: A handle by which other threads can cancel the call. None means that it cannot be cancelled.

        Returns:
            (ScoreColumns, FaultColumns).
        """
        cdef object given = self.view_of(states)
        cdef const uint8_t[::1] packed = given
        cdef Py_ssize_t n = self.count_of(given)
        cdef const uint8_t* source = &packed[0] if n else NULL
        cdef bytes faults = new_column(n), final = new_column(n), ranks = new_column(n * self.players)
        cdef bytes totals = new_column(n * self.players * sizeof(int32_t))
        cdef bytes returns = new_column(n * self.players * sizeof(float))
        cdef uint8_t* fault_data = <uint8_t*> data_of(faults)
        cdef int32_t* total_data = <int32_t*> data_of(totals)
        cdef uint8_t* final_data = <uint8_t*> data_of(final)
        cdef uint8_t* rank_data = <uint8_t*> data_of(ranks)
        cdef float* return_data = <float*> data_of(returns)
        cdef BatchLoop batch
        cdef LoopEnd end
        cancellation = cancellation or Cancellation()
        batch = self.batch_of(n, cancellation, states)
        with nogil:
            end = score_all(&batch, source, fault_data, total_data, final_data, rank_data, return_data)
        require_done(end)
        return ScoreColumns(totals, final, ranks, returns), self.faults_of(faults, given)

    def resample(
        self,
        states,
        seats,
        *,
        seed=None,
        first_game_number=0,
        seeds=None,
        game_numbers=None,
        Cancellation cancellation=None,
    ):
        """Draw uniformly, for each state, from the states that agree with a seat's knowledge of it.

        With `seed`, item i is drawn from the stream (seed, first_game_number + i). With `seeds`, it is drawn from the
        stream (seeds[i], game_numbers[i]), independently of the other items. Either `seed` or `seeds` is required. If
        the item's chance is sampled, its later chance outcomes come from the same stream.

        Args:
            states: uint8 (n, packed_size), the packed states.
            seats: uint8 (n,), the seats whose knowledge is kept.
            seed: The seed of the streams, 0 … 2**64 - 1. Only without `seeds`.
            first_game_number: The first game number, 0 … 2**64 - 1. Only without `seeds`.
            seeds: uint64 (n,), the seeds of the items' streams. Only without `seed`.
            game_numbers: uint64 (n,), the game numbers of these streams, only with `seeds`. None means 0 for all items.
            cancellation: A handle by which other threads can cancel the call. None means that it cannot be cancelled.

        Returns:
            (states, FaultColumns), with the states of failed items unchanged.

        Raises:
            EngineError: INVALID_SEED.
        """
        cdef object given = self.view_of(states)
        cdef const uint8_t[::1] before = given
        cdef Py_ssize_t n = self.count_of(given)
        cdef const uint8_t* source = &before[0] if n else NULL
        cdef bytes seat_column = copy_for("seats", seats, 1, n)
        cdef const uint8_t* seat_data = <const uint8_t*> data_of(seat_column)
        cdef bytes seed_column, number_column
        cdef uint64_t* stream_seeds
        cdef uint64_t* stream_numbers
        cdef uint64_t one_seed, first
        cdef Py_ssize_t i
        cdef bytes faults = new_column(n), after = new_column(n * self.game.packed_size)
        cdef uint8_t* fault_data = <uint8_t*> data_of(faults)
        cdef uint8_t* packed = <uint8_t*> data_of(after)
        cdef BatchLoop batch
        cdef LoopEnd end
        if seeds is None:
            require_seeds(game_numbers)
            one_seed, first = read_u64("seed", seed), read_u64("first_game_number", first_game_number)
            seed_column, number_column = new_column(n * sizeof(uint64_t)), new_column(n * sizeof(uint64_t))
            stream_seeds, stream_numbers = <uint64_t*> data_of(seed_column), <uint64_t*> data_of(number_column)
            for i in range(n):
                stream_seeds[i], stream_numbers[i] = one_seed, first + i
        else:
            for name, value in (("seed", seed), ("first_game_number", first_game_number or None)):
                if value is not None:
                    raise EngineError(Reason.INVALID_SEED, f"{name} must be omitted if seeds are given", field=name)
            seed_column = copy_for("seeds", seeds, sizeof(uint64_t), n)
            number_column = game_numbers_for(game_numbers, n)
            stream_seeds, stream_numbers = <uint64_t*> data_of(seed_column), <uint64_t*> data_of(number_column)
        cancellation = cancellation or Cancellation()
        batch = self.batch_of(n, cancellation, states)
        with nogil:
            end = resample_all(&batch, source, seat_data, stream_seeds, stream_numbers, fault_data, packed)
        require_done(end)
        repeat = partial(_resample, seat_column, *(memoryview(each).cast("Q") for each in (seed_column, number_column)))
        return after, self.faults_of(faults, after, "seats", repeat)

    def observe(self, states, seats, *, max_bytes=None, Cancellation cancellation=None):
        """Return observations.

        Args:
            states: uint8 (n, packed_size), the packed states.
            seats: uint8 (n,), the observing seats.
            max_bytes: The maximum size of the result, in bytes. None means no limit.
            cancellation: A handle by which other threads can cancel the call. None means that it cannot be cancelled.

        Returns:
            (observations, FaultColumns). The observations are uint8 (n, observation_length), 0 for failed items.

        Raises:
            EngineError: BATCH_TOO_LARGE if the result would exceed `max_bytes`.
        """
        cdef object given = self.view_of(states)
        cdef const uint8_t[::1] packed = given
        cdef Py_ssize_t n = self.count_of(given)
        cdef Py_ssize_t size = n * self.game.observation_length
        cdef const uint8_t* source = &packed[0] if n else NULL
        cdef bytes seat_column = copy_for("seats", seats, 1, n)
        cdef const uint8_t* seat_data = <const uint8_t*> data_of(seat_column)
        cdef bytes faults, observations
        cdef uint8_t* fault_data
        cdef uint8_t* values
        cdef BatchLoop batch
        cdef LoopEnd end
        check_size(size, max_bytes)
        faults = new_column(n)
        observations = new_column(size)
        fault_data = <uint8_t*> data_of(faults)
        values = <uint8_t*> data_of(observations)
        cancellation = cancellation or Cancellation()
        batch = self.batch_of(n, cancellation, states)
        with nogil:
            end = observe_all(&batch, source, seat_data, fault_data, values)
        require_done(end)
        return observations, self.faults_of(faults, given, "seats", partial(_observe, seat_column))

    cdef BatchLoop batch_of(self, Py_ssize_t count, Cancellation cancellation, states):
        cdef BatchLoop batch
        batch.ops = self.game.ops
        batch.players = self.players
        batch.rules_version = self.rules_version
        batch.count = count
        batch.packed_size = self.game.packed_size
        batch.sound = states is not None and states is self.sound
        batch.control = &cancellation.control
        return batch

    cdef object view_of(self, states):
        # Return a column of packed states as a memoryview of bytes.
        return column_of("states", states, 1, self.game.packed_size)

    cpdef Py_ssize_t count_states(self, states) except -1:
        """Return the number of packed states in a column.

        Args:
            states: uint8 (n, packed_size), the packed states.

        Raises:
            EngineError: INVALID_BATCH.
        """
        return self.count_of(self.view_of(states))

    cdef Py_ssize_t count_of(self, given) except -1:
        cdef Py_ssize_t packed_size = self.game.packed_size
        cdef Py_ssize_t size = len(given)
        if size % packed_size:
            raise EngineError(
                Reason.INVALID_BATCH,
                f"states must be uint8 (n, {packed_size}), a multiple of {packed_size} bytes, not {size} bytes",
                field="states",
                metadata={"expected_size": str(size // packed_size * packed_size), "size": str(size)},
            )
        return check_count("states", size // packed_size)

    cdef bytes encode_options(self, options, path):
        try:
            return self.game.encode_options(self.players, options)
        except EngineError as error:
            error.lies_below(path)
            raise

    cdef faults_of(self, fault_column, states, column="states", act=None):
        # Return FaultColumns. To get the same texts as Position has, `act` repeats the operation on a Position for each
        # of the first failed items.
        cdef bytes faults
        if not any_of(<const uint8_t*> data_of(fault_column), len(fault_column)):
            return NO_FAULTS
        faults = bytes(fault_column)
        reasons = bytearray(256)
        for code in set(faults) - {OK}:
            reasons[code] = self.game.fault_text(code).reason.number
        failed = islice((item for item, code in enumerate(faults) if code != OK), MAX_FAULTS_TOLD)
        spelled = [self.words_for(item, states, column, act) for item in failed]
        return FaultColumns(faults.translate(reasons), tuple(spelled))

    cdef words_for(self, Py_ssize_t item, states, column, act):
        try:
            position = self.position(states, item)
        except EngineError as error:
            return ItemFault(item, error.reason, error.message, error.field, error.rule)
        try:
            act(position, item)
        except EngineError as error:
            return ItemFault(item, error.reason, error.message, column, error.rule)

    cpdef position(self, states, Py_ssize_t item):
        """Return the Position of an item of a column of packed states.

        Args:
            states: uint8 (n, packed_size), the packed states.
            item: The number of the item, counted from 0.

        Raises:
            EngineError: INVALID_STATE, UNSUPPORTED_RULES_VERSION, INVALID_PLAYERS.
        """
        cdef Py_ssize_t packed_size = self.game.packed_size
        cdef Position position
        try:
            position = self.game.unpack(self.view_of(states)[item * packed_size:(item + 1) * packed_size])
            self.check_position(position)
        except EngineError as error:
            error.lies_below("states")
            raise
        return position

    cpdef check_position(self, Position position):
        """Raise INVALID_PLAYERS unless the position has the table's number of players."""
        if position.num_players() != self.players:
            raise EngineError(
                Reason.INVALID_PLAYERS,
                f"the state has {position.num_players()} seats, the table {self.players}",
            )


# Functions that repeat a failed item's operation on a Position

def _apply(moves, position, item):
    position.apply(memoryview(moves).cast("H")[item])


def _resample(seats, seeds, game_numbers, position, item):
    position.resample(seats[item], seeds[item], game_numbers[item])


def _observe(seats, position, item):
    position.observation(seats[item])


def _evaluate(worlds, seed, first_game_number, position, item):
    # Repeat the draws until one fails.
    position.require_decision()
    for world in range(worlds):
        (world_seed,) = words(seed, (first_game_number + item) & MAX_U64, world, 1)
        position.resample(position.current_player(), world_seed)
