"""Every rule: the method keeps it, and its saboteurs, measured the same way, break it.

`pytest -m acceptance tests/acceptance -k vae` runs some; what was measured before by the
same code is not measured again.
"""

import pytest
import rules

pytestmark = pytest.mark.acceptance


@pytest.mark.parametrize("name", rules.names())
def test_the_method_keeps_its_rule_and_its_saboteurs_break_it(name):
    verdict = rules.measure(name)
    assert verdict.met, f"{rules.named(name).claim}: {verdict}"
