"""Numbers that a model of one's own returns: drawn anew each time, infinite or missing."""

import warnings

import numpy as np
import pytest
import torch

import unweave as uw
from unweave.errors import ConfigError, DataError


def test_a_function_that_draws_is_taken_with_the_note_whatever_it_takes(toy):
    rng = np.random.default_rng(0)
    model = uw.wrap(lambda x: x[:, 0, ::8, 3] + rng.standard_normal(4), toy)
    assert "change from call to call" in model.notes[0]
    # One that does not draw, but takes either for another thing, is still asked about.
    with pytest.raises(ConfigError, match="returns other numbers for each"):
        uw.wrap(lambda x: (1 + x[:, 0, ::8, 3]) * (1 + isinstance(x, torch.Tensor)), toy)


def test_codes_that_are_no_numbers_are_refused_by_the_model_s_name(toy):
    def broken(images):
        codes = np.array(images[:, 0, ::8, 3])
        codes[-1, 2] = np.nan
        return codes

    told = r"^mine returned nan among its codes \(column 2\), for 1 of 4 images; expected finite"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DataError, match=told):
            uw.wrap(broken, toy, name="mine")
        with pytest.raises(DataError, match="log-variances"):
            uw.wrap(lambda x: (x[:, 0, ::8, 3], x[:, 0, ::8, 3] * np.nan), toy, takes="arrays")
    # Those it was tried with were fine; a later image is not.
    dark = uw.wrap(lambda x: np.where(x[:, 0, :4, 0] == 0.5, np.inf, x[:, 0, :4, 0]), toy)
    with pytest.raises(DataError, match=r"^model returned inf .* 1 of 3 images"):
        dark.encode(np.stack([*toy.images([0, 1]), np.full((1, 32, 32), 0.5, np.float32)]))
