import pytest

from unweave.catalog import plugins


@pytest.fixture(autouse=True)
def nothing_given(monkeypatch):
    """Forget what other tests gave, and let them forget what these give."""
    monkeypatch.setattr(plugins, "_given", {})
