"""Benchmarks that compare Chatière with its peers in one run: `make bench`, or `python -m loadtest.bench --help`.

    measure.py           runs of several contenders in turn, measured time, rows of the table
    servers.py           servers in separate processes
    self_play.py         the client: random self-play over BatchService, in NumPy
    rows/                the measurements, one file for each subject
    bounds.toml          the bounds of the rows, by game if they differ (read by bounds.py)
    peers.py             OpenSpiel in process
    pinned.py            TableEnv, steps in threads and pgx, each in a separate process on one core
    openspiel_server.py  OpenSpiel behind BatchService.Play
    echo_server.py       the service with an additional method that does no work
    bare_server.py       a grpcio server that does no work
    echo.cc              a grpc++ server that does no work
    h2load.py            single calls, by h2load
    apply_call.py        the Apply call used for single calls
    report.py            the table, the files and the picture

docs/benchmarks.md describes the measurements and their results.
"""
