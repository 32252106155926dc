"""Names that programs reach modules by, and modules that stand for several processes."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import tinytorch as tt
from tinytorch import nn

FILES = {
    "activation": "ReLU Softmax MultiheadAttention", "batchnorm": "BatchNorm2d _BatchNorm",
    "container": "Sequential ModuleDict", "conv": "Conv2d ConvTranspose1d _ConvNd",
    "dropout": "Dropout _DropoutNd", "instancenorm": "InstanceNorm1d _InstanceNorm",
    "linear": "Linear Bilinear Identity", "loss": "MSELoss CrossEntropyLoss _Loss _WeightedLoss",
    "module": "Module register_module_forward_hook register_module_full_backward_hook",
    "normalization": "LayerNorm GroupNorm", "pooling": "MaxPool2d _MaxPoolNd",
    "rnn": "LSTM RNNBase GRUCell", "sparse": "Embedding",
    "transformer": "TransformerEncoder _get_clones",
    "utils": "_single _pair _triple _quadruple _ntuple _reverse_repeat_tuple",
    "pixelshuffle": "PixelShuffle",
}  # fmt: skip


@pytest.mark.parametrize("file", FILES)
def test_layers_are_in_the_modules_of_pytorchs_files(torch: Any, file: str) -> None:
    module = importlib.import_module(f"tinytorch.nn.modules.{file}")
    assert module is getattr(nn.modules, file)
    for name in FILES[file].split():
        found = getattr(module, name)
        assert getattr(nn, name, found) is found
    theirs = getattr(torch.nn.modules, file)
    assert not [name for name in FILES[file].split() if not hasattr(theirs, name)]


def test_every_module_is_among_them() -> None:
    classes = {name for name in dir(nn) if isinstance(getattr(nn, name), type)}
    tensors = {"Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter"}
    assert classes - tensors - {"DataParallel"} <= set(dir(nn.modules))


@pytest.mark.parametrize(
    ("layer", "base"),
    [
        (nn.BatchNorm1d(2), "_BatchNorm"),
        (nn.SyncBatchNorm(2), "_BatchNorm"),
        (nn.BatchNorm3d(2), "_NormBase"),
        (nn.InstanceNorm2d(2), "_InstanceNorm"),
        (nn.Conv3d(1, 1, 1), "_ConvNd"),
        (nn.ConvTranspose2d(1, 1, 1), "_ConvNd"),
        (nn.ConvTranspose2d(1, 1, 1), "_ConvTransposeNd"),
        (nn.MSELoss(), "_Loss"),
        (nn.NLLLoss(), "_WeightedLoss"),
        (nn.Dropout2d(), "_DropoutNd"),
        (nn.MaxPool1d(2), "_MaxPoolNd"),
    ],
)
def test_layers_have_pytorchs_base_classes(layer: nn.Module, base: str) -> None:
    assert isinstance(layer, getattr(nn.modules, base))


def test_ntuple_helpers_repeat_a_number() -> None:
    utils = importlib.import_module("tinytorch.nn.modules.utils")
    assert utils._pair(3) == (3, 3) and utils._triple([1, 2, 3]) == (1, 2, 3)
    assert utils._ntuple(5)("a") == ("a",) and utils._quadruple(0.5) == (0.5,) * 4


def test_functions_that_repeat_are_pytorchs(torch: Any) -> None:
    found = []
    for root in ("tinytorch", "torch"):
        utils = importlib.import_module(f"{root}.nn.modules.utils")
        five = utils._ntuple(5, "_penta")
        found.append([
            five.__name__, utils._ntuple(2).__name__, utils._pair.__name__, five(1.5), five("ab"),
            utils._reverse_repeat_tuple((1, 2, 3), 2), utils._reverse_repeat_tuple([4], 0),
        ])  # fmt: skip
    assert found[0] == found[1]


def test_get_clones_makes_independent_copies() -> None:
    clones = importlib.import_module("tinytorch.nn.modules.transformer")._get_clones
    layer = nn.Linear(2, 2)
    made = clones(layer, 3)
    assert isinstance(made, nn.ModuleList) and len(made) == 3
    assert all(tt.equal(copy.weight, layer.weight) for copy in made)
    assert len({id(copy.weight) for copy in [layer, *made]}) == 4


def test_types_of_sizes_are_named_as_in_torch(torch: Any) -> None:
    types = importlib.import_module("tinytorch.nn.common_types")
    wanted = {n for n in dir(torch.nn.common_types) if n.startswith(("_size", "_ratio"))}
    assert wanted <= set(dir(types))


def test_data_parallel_is_the_module() -> None:
    inner = nn.Linear(2, 3)
    model: Any = nn.DataParallel(inner, device_ids=[0])
    x = tt.ones(1, 2)
    assert tt.equal(model(x), inner(x)) and model.module is inner
    assert list(model.state_dict()) == ["module.weight", "module.bias"]
    assert str(model).startswith("DataParallel(\n  (module): Linear(")


def test_convert_sync_batchnorm_keeps_parameters_and_results() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.BatchNorm1d(3, eps=0.1)), nn.ReLU())
    x = tt.randn(5, 2)
    wanted, state = net.eval()(x), net.state_dict()
    parameters = list(net.parameters())
    converted = nn.SyncBatchNorm.convert_sync_batchnorm(net)
    assert converted is net and isinstance(net[1][0], nn.SyncBatchNorm)
    assert tt.equal(net(x), wanted) and list(net.state_dict()) == list(state)
    assert all(a is b for a, b in zip(net.parameters(), parameters, strict=True))
    assert nn.SyncBatchNorm(3)(tt.randn(4, 3, 2, 2)).shape == (4, 3, 2, 2)
    with pytest.raises(ValueError, match=r"expected at least 2D input \(got 1D input\)"):
        nn.SyncBatchNorm(3)(tt.ones(3))


def test_ways_of_attention_are_accepted() -> None:
    from tinytorch.nn.attention import SDPBackend, sdpa_kernel

    q = tt.randn(1, 2, 3, 4)
    wanted = nn.functional.scaled_dot_product_attention(q, q, q)
    for ways in (SDPBackend.FLASH_ATTENTION, [SDPBackend.MATH, SDPBackend.CUDNN_ATTENTION]):
        with sdpa_kernel(ways):
            assert tt.equal(nn.functional.scaled_dot_product_attention(q, q, q), wanted)
    kernels = tt.backends.cuda.sdp_kernel(enable_flash=False, enable_math=True)
    with pytest.warns(FutureWarning, match="sdp_kernel"), kernels:
        assert tt.equal(nn.functional.scaled_dot_product_attention(q, q, q), wanted)
    with pytest.raises(AssertionError, match="must be an instance of SDPBackend"):
        sdpa_kernel(3).__enter__()  # type: ignore[arg-type]


def test_nll_loss2d_is_a_deprecated_name_of_nll_loss() -> None:
    with pytest.warns(FutureWarning, match="NLLLoss2d"):
        loss = nn.NLLLoss2d()
    assert loss(tt.zeros(1, 2, 1, 1), tt.tensor([[[1]]])).item() == 0.0
