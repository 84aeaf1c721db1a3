"""The fuzzers by name."""

from __future__ import annotations

from .calls import Calls
from .commands import Commands
from .files import Checkpoints, Shards
from .kills import Kills
from .oracle import Fuzzer
from .records import Records
from .worker_kills import WorkerKills

ALL: tuple[type[Fuzzer], ...] = (Records, Checkpoints, Shards, Commands, Calls, Kills, WorkerKills)
FUZZERS = {fuzzer.name: fuzzer for fuzzer in ALL}
