"""Statistics held still: one branch looks, and nothing is remembered of it."""

import torch
from torch import nn

from unweave.networks import batch_normalized, spectrally_normalized, still_statistics


def network() -> nn.Module:
    torch.manual_seed(0)
    plain = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 2))
    return batch_normalized(plain).train()


def test_batches_leave_no_trace_and_each_image_is_seen_alone():
    net = network()
    net(torch.randn(50, 3) + 2)  # statistics that are not those of the batch below
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    batch = torch.randn(6, 3)
    net[2].p = 0.0
    with still_statistics(net):
        together = net(batch)
        alone = torch.cat([net(batch[i : i + 1]) for i in range(6)])
    torch.testing.assert_close(together, alone)
    assert all(torch.equal(tensor, before[name]) for name, tensor in net.state_dict().items())
    net(batch)
    assert not torch.equal(net[1].running_mean, before["1.running_mean"])


def test_all_else_goes_on_as_in_training():
    net = network()
    with still_statistics(net):
        assert net.training
        assert net[2].training
        assert not net[1].training
        assert (net[2](torch.ones(100)) == 0).any(), "dropout still drops"
        loss = net(torch.randn(6, 3)).sum()
    loss.backward()
    assert all(parameter.grad is not None for parameter in net.parameters())
    assert net[1].training


def test_networks_that_evaluate_stay_so_and_errors_leave_no_trace():
    net = network().eval()
    with still_statistics(net):
        pass
    assert not net[1].training
    net.train()
    try:
        with still_statistics(net):
            raise ValueError
    except ValueError:
        assert net[1].training


def test_directions_of_spectral_normalisation_stay_too():
    net = spectrally_normalized(nn.Sequential(nn.Linear(3, 3))).train()
    before = net[0].parametrizations.weight[0]._u.clone()
    with still_statistics(net):
        net(torch.randn(4, 3))
    assert torch.equal(net[0].parametrizations.weight[0]._u, before)
    net(torch.randn(4, 3))
    assert not torch.equal(net[0].parametrizations.weight[0]._u, before)
