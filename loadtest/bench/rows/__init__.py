"""What is measured, one file a subject: each has `measure(plan) -> Result`."""
