"""Tables on an NVIDIA GPU, one thread a table. Nothing in here is imported unless ``Batch(..., device="cuda")`` asks for it."""
