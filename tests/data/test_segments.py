"""The synthetic set of nonlinear ICA has the sources, scales and mixing it claims."""

import numpy as np

from unweave.data import load_data


def test_sources_keep_their_scale_inside_a_segment_and_change_it_between():
    data = load_data("segments")
    sources = data.factors().reshape(40, 1000, 5)
    np.testing.assert_array_equal(data.column("segment"), np.repeat(np.arange(40), 1000))
    deviations = sources.std(axis=1)
    assert deviations.min() > 0.45
    assert deviations.max() < 3.3
    assert deviations.std(axis=0).min() > 0.6  # uniform from 0.5 to 3: 0.72
    halves = sources[:, :500].std(axis=1) / sources[:, 500:].std(axis=1)
    assert abs(np.log(halves)).max() < 0.2
    within = (sources / deviations[:, None]).reshape(-1, 5)
    assert abs(np.corrcoef(within.T) - np.eye(5)).max() < 0.02


def test_points_mix_all_sources_and_not_linearly():
    data = load_data("segments")
    rows = np.arange(0, 40_000, 7)
    points = data.images(rows)[:, 0, 0].astype(np.float64)
    sources = data.factors(rows)
    assert points.shape[1] == 5
    assert abs(np.corrcoef(points.T, sources.T)[:5, 5:]).max() < 0.9
    with_constant = np.c_[points, np.ones(len(points))]
    left = sources - with_constant @ np.linalg.lstsq(with_constant, sources, rcond=None)[0]
    shares = left.var(axis=0) / sources.var(axis=0)
    assert shares.min() > 0.08, "a line through the points would give a source away"
