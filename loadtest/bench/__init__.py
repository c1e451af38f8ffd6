"""Benchmarks of Chatière beside its peers, in one run: `make bench`, or `python -m loadtest.bench --help`.

    measure.py           runs that take turns, the time they used, rows of the table
    servers.py           servers in processes of their own
    self_play.py         the client: random self-play over BatchService, in NumPy
    rows/                the measurements, one file per subject
    bounds.toml          the bounds of the rows, by game if they differ (read by bounds.py)
    peers.py             OpenSpiel in process
    pinned.py            TableEnv, steps in threads and pgx, in processes of their own, on one core each
    openspiel_server.py  OpenSpiel behind BatchService.Play
    echo_server.py       the service, with a further method that does nothing
    bare_server.py       a grpcio server that does nothing
    echo.cc              a grpc++ server that does nothing
    h2load.py            single calls, by h2load
    apply_call.py        the call of Apply that they make
    report.py            the table, the files and the picture

docs/benchmarks.md describes the measurements and their results.
"""
