"""The structures of faces that come with generalised M2 fit the sets of that name."""

from written_sets import write_yale_b

from unweave.data import DataOptions, faces, yale_b
from unweave.methods.generalised_m2 import STRUCTURES, GeneralisedM2
from unweave.networks.mlp64 import MLP64
from unweave.runs.config import Machine, Train
from unweave.training import loop


def test_that_of_yale_b_trains_on_its_files(tmp_path, monkeypatch):
    path, _ = write_yale_b(tmp_path, monkeypatch)
    data = yale_b.load(path, DataOptions())
    method = GeneralisedM2(structure="yale_b", latent_dim=2, hidden=8, labels=5)
    config = Train(
        method=method, data="yale_b", architecture=MLP64(hidden=8), steps=2, batch_size=4
    )
    run = loop.start(config, data, tmp_path / "run", Machine(evaluations=0))
    assert set(run.config.method.observed) == {"person", "azimuth", "elevation"}
    assert run.decode(run.encode(data.images([0, 1]))).shape == (2, 1, 64, 64)


def test_that_of_faces_names_what_faces_are_made_of():
    named = {factor.name for factor in faces.FACTORS}
    assert {"person", "light_azimuth", "light_elevation"} <= named
    for name in ("person", "light_azimuth", "light_elevation"):
        assert f"q({name}" in STRUCTURES["faces"]
