"""The fuzzers by name."""

from __future__ import annotations

from .calls import Calls
from .commands import Commands
from .files import Checkpoints, LabelFiles
from .kills import Kills
from .ladders import Ladders
from .library_calls import LibraryCalls
from .oracle import Fuzzer
from .part_folders import PartFolders
from .quotas import Quotas
from .records import Records
from .stored import Stored

FUZZERS: dict[str, type[Fuzzer]] = {
    fuzzer.name: fuzzer
    for fuzzer in (
        Records,
        Checkpoints,
        LabelFiles,
        Commands,
        Calls,
        LibraryCalls,
        Kills,
        PartFolders,
        Ladders,
        Quotas,
        Stored,
    )
}
