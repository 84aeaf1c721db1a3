"""All that knows numba: compilation for the CPU, its cache on disk, intrinsics, and tuples packed for quick calls."""
