"""What the server of processes imports once, so that a run begins in a fraction of a second.

torch imports its compiler at the first step of any optimizer, which takes seconds; here
it is there already. Nothing is computed: threads would not survive into the processes.
"""

import torch._dynamo  # noqa: F401

import unweave.figures
import unweave.metrics
import unweave.studies.run.job  # noqa: F401
