"""Work in units that may be played in any order and anywhere: in this process, in others of this machine, or on a cluster."""
