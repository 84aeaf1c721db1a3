"""The fuzzers by name."""

from __future__ import annotations

from .calls import Calls
from .commands import Commands
from .files import Checkpoints, LabelFiles
from .kills import Kills
from .oracle import Fuzzer
from .quotas import Quotas
from .records import Records
from .shard_folders import ShardFolders
from .threads import Threads

ALL: tuple[type[Fuzzer], ...] = (
    Records,
    Checkpoints,
    LabelFiles,
    Commands,
    Calls,
    Kills,
    ShardFolders,
    Threads,
    Quotas,
)
FUZZERS = {fuzzer.name: fuzzer for fuzzer in ALL}
