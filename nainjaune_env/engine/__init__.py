"""Many tables of one game at once: the compiled loops and the batch around them."""
