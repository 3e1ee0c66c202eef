"""Cards that fuzzing starts from are those that tests start from."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "fuzz"))
