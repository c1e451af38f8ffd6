"""What all of the service stands on: settings, files, threads, errors, languages, metrics."""
