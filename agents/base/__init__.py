"""What every room uses: settings, seeds, sampling, tasks, provenance and devices. It uses no other room."""
