"""What several adaptors use: tables with a learner, options of ``reset``, action spaces."""
