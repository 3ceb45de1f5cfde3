"""Lets rules be imported from the folder that the tests are in."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
