"""Weights of convolutions in the order of memory that images have: PyTorch's strides."""

from __future__ import annotations

from typing import Any

import pytest

CASES = {
    "Conv2d": ("conv2d", "channels_last", 3),
    "ConvTranspose2d": ("conv2d", "channels_last", 3),
    "Conv3d": ("conv3d", "channels_last_3d", 2),
    "ConvTranspose3d": ("conv3d", "channels_last_3d", 2),
}


@pytest.mark.parametrize("name", CASES)
def test_convert_conv_memory_format_sets_pytorchs_strides(torch: Any, name: str) -> None:
    import tinytorch as tt

    function, order, size = CASES[name]
    found = []
    for library in (tt, torch):
        layer = getattr(library.nn, name)(8, 4, size)
        net = library.nn.Sequential(layer, library.nn.Conv1d(2, 3, 2))
        before, weight = layer.weight.detach().clone(), layer.weight
        convert = getattr(library.nn.utils, f"convert_{function}_weight_memory_format")
        assert convert(net, getattr(library, order)) is net
        assert layer.weight is weight and library.equal(layer.weight.detach(), before)
        found.append([tuple(p.stride()) for p in net.parameters()])
    assert found[0] == found[1]
