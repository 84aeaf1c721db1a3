"""What every room uses: options, seeds, sampling, tasks, provenance and devices; no other room."""
