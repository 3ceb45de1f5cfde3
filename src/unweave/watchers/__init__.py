"""What looks on while a run trains: progress on screen, pictures, weights, the time, loggers, an
end before the end.

Each is a `Watcher`, which the loop tells what happens; none changes what is computed.
"""

from unweave.watchers._effort import Effort
from unweave.watchers._loggers import LOGGERS, Logger, Logging, logging_to
from unweave.watchers._pictures import Pictures
from unweave.watchers._plateau import Plateau
from unweave.watchers._progress import ProgressBar
from unweave.watchers._weights import Weights

__all__ = [
    "LOGGERS",
    "Effort",
    "Logger",
    "Logging",
    "Pictures",
    "Plateau",
    "ProgressBar",
    "Weights",
    "logging_to",
]
