"""Benchmarks: Chatière beside its peers, in one run. `make bench`, or `python -m loadtest.bench --help`.

    measure.py           runs that take turns, what they used, rows of the table
    servers.py           servers as processes of their own
    self_play.py         the client: random self-play over BatchService, in NumPy
    rows/                what is measured, one file a subject
    bounds.toml          the bounds of the rows, by game where they differ (read by bounds.py)
    peers.py             OpenSpiel in process
    openspiel_server.py  OpenSpiel behind BatchService.Play
    echo_server.py       the service, with a method beside it that does nothing
    report.py            the table, the files and the picture

docs/benchmarks.md says what is measured, how, and what it gave.
"""
