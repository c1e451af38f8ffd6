"""The ground floor of the service: settings, files, threads, errors, languages, metrics."""
