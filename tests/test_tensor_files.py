"""Stored tensors: exact, checked, and never a program."""

import pickle

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unweave.errors import DataError
from unweave.files import tensor_files

TENSORS = {
    "weight": torch.randn(3, 4, generator=torch.Generator().manual_seed(0)),
    "step": torch.tensor(5.0),
    "channels_last": torch.arange(48.0).reshape(1, 3, 4, 4).to(memory_format=torch.channels_last),
}


@pytest.fixture(scope="module")
def content() -> bytes:
    return tensor_files.to_bytes(TENSORS, {"step": 7, "note": "a"})


def test_tensors_and_facts_come_back_as_they_were(content, tmp_path):
    path = tmp_path / "file.safetensors"
    path.write_bytes(content)
    tensors, facts = tensor_files.read(path)
    assert facts == {"step": 7, "note": "a"}
    assert tensors.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert torch.equal(tensors[name], tensor)


@given(data=st.data())
def test_a_flipped_byte_is_noticed(content, tmp_path_factory, data):
    position = data.draw(st.integers(0, len(content) - 1))
    bit = data.draw(st.integers(0, 7))
    path = tmp_path_factory.mktemp("damage") / "file"
    damaged = bytearray(content)
    damaged[position] ^= 1 << bit
    path.write_bytes(bytes(damaged))
    with pytest.raises(DataError, match="damaged"):
        tensor_files.read(path)


@given(data=st.data())
def test_a_file_cut_short_is_noticed(content, tmp_path_factory, data):
    path = tmp_path_factory.mktemp("damage") / "file"
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    with pytest.raises(DataError, match="damaged"):
        tensor_files.read(path)


@given(st.binary(max_size=200))
def test_any_other_bytes_are_refused(tmp_path_factory, garbage):
    path = tmp_path_factory.mktemp("garbage") / "file"
    path.write_bytes(garbage)
    with pytest.raises(DataError):
        tensor_files.read(path)


def test_a_header_that_claims_terabytes_takes_no_memory(tmp_path):
    header = b'{"x":{"dtype":"F32","shape":[1000000000000],"data_offsets":[0,4000000000000]}}'
    path = tmp_path / "forged"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(DataError, match="damaged"):
        tensor_files.read(path)


class Payload:
    ran = False

    def __reduce__(self):
        return (setattr, (Payload, "ran", True))


def test_a_pickle_is_refused_and_does_not_run(tmp_path):
    path = tmp_path / "checkpoint.pt"
    path.write_bytes(pickle.dumps({"weight": Payload()}))
    with pytest.raises(DataError):
        tensor_files.read(path)
    torch.save({"weight": Payload()}, path)
    with pytest.raises(DataError):
        tensor_files.read(path)
    assert not Payload.ran
