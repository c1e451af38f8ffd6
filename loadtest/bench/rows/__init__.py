"""The measurements, one file per subject, each with `measure(plan) -> Result`."""
