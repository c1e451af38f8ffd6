"""The lowest layer of the service: settings, files, threads, errors, languages and metrics."""
