"""What most tests of reports do without."""

import pytest

from unweave.report import drawn


@pytest.fixture
def without_files(request, monkeypatch):
    """Offer no files, which take longer to make than all the rest, but where these are tested."""
    if "files" not in request.node.name:
        monkeypatch.setattr(drawn, "ENDINGS", ())
