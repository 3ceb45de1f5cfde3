"""python -m unweave.cli"""

import sys

from unweave.cli import main

sys.exit(main())
