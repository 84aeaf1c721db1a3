from __future__ import annotations

draw = None
