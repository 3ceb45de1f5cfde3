"""Imported by every Python that a test starts: no connection to another machine."""

import importlib.util
import sys
from pathlib import Path

_file = Path(__file__).parents[1] / "only_loopback.py"
_spec = importlib.util.spec_from_file_location("only_loopback", _file)
_module = importlib.util.module_from_spec(_spec)
sys.modules["only_loopback"] = _module  # the one that workers of the suite import too
_spec.loader.exec_module(_module)
sys.addaudithook(_module.refuse)
