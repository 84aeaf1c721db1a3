"""Tables on an NVIDIA GPU, one thread a table; imported only by ``make_batch(..., device="cuda")`` and what plays on a GPU."""
