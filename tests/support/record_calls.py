"""A pytest plugin that adds to ``calls.json`` the signatures that tests call compiled functions of the package with.

``python -m pytest -p tests.support.record_calls tests/engine`` in one process; what is there already stays.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from nainjaune_env.compiler.dispatcher import CompiledFunction
from nainjaune_env.compiler.signatures import _DTYPES, describe_record, dtype_name, signature_of
from nainjaune_env.core.atomic_files import write_text
from tests.support.ahead import calls

_CALLED: defaultdict[str, set[Any]] = defaultdict(set)
_call: Any = CompiledFunction.__call__


def _recorded(self: Any, *arguments: Any) -> Any:
    module = self.py_func.__module__
    if module.startswith(("nainjaune_env.", "nainjaune_agents.")):
        _CALLED[f"{module}:{self.py_func.__qualname__}"].add(signature_of(arguments))
    return _call(self, *arguments)


def pytest_configure(config: Any) -> None:
    """Begins to record."""
    CompiledFunction.__call__ = _recorded  # type: ignore[method-assign]


def pytest_sessionfinish(session: Any, exitstatus: int) -> None:
    """Writes the file."""
    before = calls.read_calls()
    for name, signatures in before.calls.items():
        _CALLED[name] |= set(signatures)
    text = json.dumps([*_CALLED.items()], default=list)
    dtypes = {*before.records.values(), *(dtype for dtype in _DTYPES if dtype.names is not None)}
    records = {name: describe_record(dtype) for dtype in dtypes if (name := dtype_name(dtype)) in text}
    entries = [f"  {json.dumps(name)}: [{_lines(called)}\n  ]" for name, called in sorted(_CALLED.items())]
    about = [f"  {json.dumps(name)}: {json.dumps(record)}" for name, record in sorted(records.items())]
    write_text(calls.CALLS, '{\n "records": {\n' + ",\n".join(about) + '\n },\n "calls": {\n' + ",\n".join(entries) + "\n }\n}\n")


def _lines(signatures: set[Any]) -> str:
    """Returns signatures as JSON, one a line."""
    return ",".join(f"\n   {line}" for line in sorted(map(json.dumps, signatures)))
