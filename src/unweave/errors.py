"""The errors a user can cause and mend.

A message says what was found, what was expected and what to do. The command
line prints these without a traceback and ends with code 2; anything else is a
bug of ours and keeps its traceback.
"""


class UnweaveError(Exception):
    """Something the user can mend."""


class ConfigError(UnweaveError, ValueError):
    """A setting or argument that cannot be used."""


class DataError(UnweaveError, ValueError):
    """A file or array that is missing, damaged or of the wrong form."""


class Diverged(UnweaveError):
    """A term of a loss became infinite or not a number."""


class Stopped(KeyboardInterrupt):
    """The user stopped a run between two steps; it can be resumed."""
