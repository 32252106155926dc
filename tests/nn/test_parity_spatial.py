"""Layers of sequences, images and volumes: repr, output, gradients and errors are PyTorch's."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.nn import parity

pytestmark = pytest.mark.torch

array = parity.array
SEQ, IMAGE, VOLUME = array(2, 4, 9), array(2, 4, 7, 6), array(2, 4, 5, 4, 6)
SAMPLES = "lib.linspace(0.1, 0.9, 16, dtype=lib.float64).reshape(2, 4, 2)"

LAYERS: list[tuple[str, Any]] = [
    ("Conv1d(4, 6, 3)", SEQ),
    ("Conv1d(4, 6, 3, stride=2, padding=1, dilation=2, groups=2, bias=False)", SEQ),
    ("Conv1d(4, 2, 4, padding='same', padding_mode='reflect')", SEQ[0]),
    ("Conv1d(4, 2, 3, padding=2, padding_mode='circular')", SEQ),
    ("Conv2d(4, 6, 3)", IMAGE),
    ("Conv2d(4, 4, (3, 2), stride=(2, 1), padding=(1, 0), groups=4)", IMAGE),
    ("Conv2d(4, 2, 3, padding='same', dilation=2)", IMAGE),
    ("Conv2d(4, 2, 3, padding='valid')", IMAGE[0]),
    ("Conv2d(4, 2, 3, padding=(1, 2), padding_mode='replicate')", IMAGE),
    ("Conv3d(4, 2, 2)", VOLUME),
    ("Conv3d(4, 2, (1, 2, 3), padding='same', padding_mode='zeros')", VOLUME),
    ("ConvTranspose1d(4, 6, 3, stride=2, output_padding=1)", SEQ),
    ("ConvTranspose2d(4, 6, 3, stride=2, padding=1, groups=2, dilation=2)", IMAGE),
    ("ConvTranspose2d(4, 6, (3, 2), bias=False)", IMAGE[0]),
    ("ConvTranspose3d(4, 2, 2, stride=2)", VOLUME),
    ("LazyConv1d(6, 3)", SEQ),
    ("LazyConv2d(6, 3, groups=2, bias=False)", IMAGE),
    ("LazyConv3d(2, 2)", VOLUME),
    ("LazyConvTranspose1d(6, 3)", SEQ),
    ("LazyConvTranspose2d(6, 3, stride=2)", IMAGE),
    ("LazyConvTranspose3d(2, 2)", VOLUME),
    ("LazyLinear(3)", SEQ),
    ("LazyLinear(3, bias=False)", SEQ),
    ("BatchNorm1d(4)", SEQ),
    ("BatchNorm1d(9).eval()", SEQ[0]),
    ("BatchNorm2d(4, eps=0.1, momentum=None)", IMAGE),
    ("BatchNorm2d(4, affine=False)", IMAGE),
    ("BatchNorm2d(4, track_running_stats=False).eval()", IMAGE),
    ("BatchNorm2d(4, bias=False)", IMAGE),
    ("BatchNorm3d(4, momentum=0.5)", VOLUME),
    ("LazyBatchNorm1d()", SEQ),
    ("LazyBatchNorm2d(affine=False)", IMAGE),
    ("LazyBatchNorm3d(track_running_stats=False)", VOLUME),
    ("InstanceNorm1d(4)", SEQ),
    ("InstanceNorm2d(4, affine=True)", IMAGE[0]),
    ("InstanceNorm2d(4, track_running_stats=True)", IMAGE),
    ("InstanceNorm3d(4, affine=True, track_running_stats=True).eval()", VOLUME),
    ("LazyInstanceNorm1d()", SEQ),
    ("LazyInstanceNorm2d()", IMAGE),
    ("LazyInstanceNorm3d(affine=False)", VOLUME),
    ("MaxPool1d(3)", SEQ),
    ("MaxPool2d(3, stride=2, padding=1, ceil_mode=True)", IMAGE),
    ("MaxPool2d((2, 3), dilation=2)", IMAGE[0]),
    ("MaxPool3d(2)", VOLUME),
    ("AvgPool1d(3, 2, 1)", SEQ),
    ("AvgPool2d(3, padding=1, count_include_pad=False)", IMAGE),
    ("AvgPool2d((2, 3), ceil_mode=True, divisor_override=4)", IMAGE),
    ("AvgPool3d(2)", VOLUME),
    ("LPPool1d(2, 3)", np.abs(SEQ)),
    ("LPPool2d(1.5, 2, stride=1, ceil_mode=True)", np.abs(IMAGE)),
    ("LPPool3d(2, 2)", np.abs(VOLUME)),
    ("AdaptiveAvgPool1d(4)", SEQ),
    ("AdaptiveAvgPool2d((3, None))", IMAGE),
    ("AdaptiveAvgPool3d(2)", VOLUME),
    ("AdaptiveMaxPool1d(4)", SEQ),
    ("AdaptiveMaxPool2d((None, 5))", IMAGE),
    ("AdaptiveMaxPool3d((2, 3, 4))", VOLUME),
    ("ConstantPad1d((1, 2), 3.5)", SEQ),
    ("ConstantPad2d(1, -1.0)", IMAGE),
    ("ConstantPad3d((1, 0, 2, 0, 0, 1), 0.5)", VOLUME),
    ("ZeroPad1d(2)", SEQ),
    ("ZeroPad2d((-1, 1, 2, 0))", IMAGE),
    ("ZeroPad3d(1)", VOLUME),
    ("ReflectionPad1d((2, 1))", SEQ),
    ("ReflectionPad2d(2)", IMAGE),
    ("ReflectionPad3d(1)", VOLUME),
    ("ReplicationPad1d((2, 1))", SEQ),
    ("ReplicationPad2d((1, 2, 3, 4))", IMAGE),
    ("ReplicationPad3d(1)", VOLUME),
    ("CircularPad1d((2, 1))", SEQ),
    ("CircularPad2d(2)", IMAGE[0]),
    ("CircularPad3d(1)", VOLUME),
    ("Upsample(scale_factor=2)", IMAGE),
    ("Upsample(size=(5, 9), mode='bilinear')", IMAGE),
    ("Upsample(scale_factor=(1.5, 2.0), mode='bicubic', align_corners=True)", IMAGE),
    ("Upsample(13, mode='linear')", SEQ),
    ("UpsamplingNearest2d(scale_factor=2)", IMAGE),
    ("UpsamplingBilinear2d((9, 3))", IMAGE),
    ("PixelShuffle(2)", IMAGE),
    ("PixelUnshuffle(3)", array(2, 4, 6, 3)),
    ("ChannelShuffle(2)", IMAGE),
    ("Unfold((2, 3), dilation=2, padding=1, stride=2)", IMAGE),
    ("Fold((4, 5), 2)", array(2, 12, 12)),
]

FUNCTIONS = {"PixelShuffle": "pixel_shuffle", "PixelUnshuffle": "pixel_unshuffle",
             "ChannelShuffle": "channel_shuffle"}  # fmt: skip


# PyTorch's remark on a copy of its own.
@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("make", "x"), LAYERS)
def test_output_and_gradients(make: str, x: Any, dtype: str) -> None:
    function = FUNCTIONS.get(make.partition("(")[0])
    if function is not None and not hasattr(tt.nn.functional, function):
        pytest.skip(f"nn.functional.{function} is not there yet")
    parity.same(lambda lib: parity.layer_results(lib, make, [x], dtype))


@pytest.mark.parametrize("make", [make for make, _ in LAYERS])
def test_repr(make: str) -> None:
    parity.same(lambda lib: repr(parity.make_layer(lib, make)))


@pytest.mark.parametrize("make", ["BatchNorm2d(4)", "InstanceNorm2d(4, 1e-5, 0.1, True, True)"])
def test_evaluation_before_running_statistics_move(make: str) -> None:
    def run(lib: Any) -> Any:
        layer = parity.make_layer(lib, make)
        x = lib.tensor(IMAGE, requires_grad=True)
        first = layer.eval()(x)
        layer.train()(2 * x + 1)
        (first * first.cos()).sum().backward()
        # PyTorch computes the other gradients with statistics that are no longer the forward's.
        return [first, layer.bias.grad]

    parity.same(run)


INDEXED = [
    ("MaxPool1d(3, 2, return_indices=True)", "MaxUnpool1d(3, 2)", SEQ),
    ("MaxPool2d(2, return_indices=True)", "MaxUnpool2d(2)", IMAGE),
    ("MaxPool3d((1, 2, 2), return_indices=True)", "MaxUnpool3d((1, 2, 2))", VOLUME),
]


@pytest.mark.parametrize(("pool", "unpool", "x"), INDEXED)
def test_pooling_and_its_inverse(pool: str, unpool: str, x: Any) -> None:
    def run(lib: Any) -> Any:
        forth, back = parity.make_layer(lib, pool), parity.make_layer(lib, unpool)

        def both(x: Any) -> Any:
            values, indices = forth(x)
            return back(values, indices, output_size=x.shape)

        return [repr(back), list(forth(lib.tensor(x))), parity.gradients(lib, both, x)]

    parity.same(run)


def test_adaptive_pooling_with_indices() -> None:
    parity.same(lambda lib: list(lib.nn.AdaptiveMaxPool1d(3, True)(lib.tensor(SEQ))))


def test_fractional_pooling() -> None:
    def run(lib: Any) -> Any:
        layer = parity.make_layer(
            lib, f"FractionalMaxPool2d(2, output_ratio=0.6, _random_samples={SAMPLES})", "float64"
        )
        return [repr(layer), layer(lib.tensor(IMAGE.astype("float64")))]

    parity.same(run)


def test_output_size_of_a_transposed_convolution() -> None:
    def run(lib: Any) -> Any:
        layer = parity.make_layer(lib, "ConvTranspose2d(4, 2, 3, stride=3)")
        x = lib.tensor(IMAGE)
        return [layer(x, output_size=[21, 20]), layer(x[0], output_size=(2, 22, 18))]

    parity.same(run)


@pytest.mark.parametrize("shape", [(0, 4, 4, 4), (2, 0, 4, 4), (4, 4, 0)])
def test_shuffling_nothing(shape: tuple[int, ...]) -> None:
    parity.same(lambda lib: lib.nn.PixelUnshuffle(2)(lib.ones(*shape)))
    parity.same(lambda lib: lib.nn.PixelShuffle(2)(lib.ones(*shape)))


ERRORS = [
    "Conv2d(4, 6, 3, groups=3)",
    "Conv2d(4, 6, 3, groups=0)",
    "Conv2d(4, 6, 3, padding='full')",
    "Conv2d(4, 6, 3, stride=2, padding='same')",
    "Conv2d(4, 6, 3, padding_mode='mirror')",
    "ConvTranspose2d(4, 6, 3, padding_mode='reflect')",
    "ConvTranspose2d(4, 6, 3)(lib.ones(1, 4, 5, 5), output_size=(9, 9))",
    "ConvTranspose2d(4, 6, 3)(lib.ones(1, 4, 5, 5), output_size=(9,))",
    "LazyConv2d(4, 3)(lib.ones(3, 3))",
    "LazyConv2d(4, 3, groups=2)(lib.ones(1, 3, 5, 5))",
    "BatchNorm1d(3)(lib.ones(3))",
    "BatchNorm2d(3)(lib.ones(2, 3))",
    "BatchNorm1d(3)(lib.ones(1, 3))",
    "InstanceNorm2d(3, affine=True)(lib.ones(1, 4, 5, 5))",
    "InstanceNorm2d(3)(lib.ones(4, 5))",
    "FractionalMaxPool2d(2)",
    "FractionalMaxPool2d(2, output_size=2, output_ratio=0.5)",
    "FractionalMaxPool2d(2, output_ratio=1.5)",
    "CircularPad1d(1)(lib.ones(3))",
    "AdaptiveAvgPool2d(2)(lib.ones(2, 3))",
    "AdaptiveMaxPool3d(2)(lib.ones(2, 3))",
    "AdaptiveMaxPool1d(2)(lib.ones(2, 0, 4))",
    "AdaptiveMaxPool2d(2)(lib.ones(2, 0, 4, 4))",
    "AdaptiveAvgPool3d(2)(lib.ones(2, 0, 4, 4, 4))",
]


@pytest.mark.parametrize("use", ERRORS)
def test_errors(use: str) -> None:
    parity.refused(parity.of_nn(use))


def test_another_number_of_channels_is_a_warning_without_parameters() -> None:
    with pytest.warns(UserWarning, match="input's size at dim=1 does not match num_features"):
        tt.nn.InstanceNorm1d(3)(tt.randn(2, 4, 5))


# -- first weights and saved states ------------------------------------------------------------


@pytest.mark.parametrize(
    "make", ["Conv1d(4, 6, 3)", "Conv2d(4, 6, (3, 2), groups=2)", "ConvTranspose2d(4, 6, 3)",
             "BatchNorm2d(4)", "InstanceNorm1d(3, affine=True, track_running_stats=True)"]
)  # fmt: skip
def test_first_weights(make: str) -> None:
    parity.same(lambda lib: eval(f"nn.{make}", {"nn": lib.nn}).state_dict())


def test_lazy_layers_draw_the_weights_of_others() -> None:
    def run(lib: Any) -> Any:
        net = lib.nn.Sequential(lib.nn.LazyConv2d(3, 2), lib.nn.Flatten(), lib.nn.LazyLinear(2))
        before = repr(net)
        lib.manual_seed(3)
        net(lib.ones(1, 2, 4, 4))
        return [before, repr(net), net.state_dict(), lib.rand(2)]

    parity.same(run)


def test_lazy_layers_take_shapes_from_a_saved_state() -> None:
    source, target = tt.nn.Linear(5, 3), tt.nn.LazyLinear(3)
    target.load_state_dict(source.state_dict())
    assert tt.equal(target.weight, source.weight)
    target(tt.ones(2, 5))
    assert type(target) is tt.nn.Linear and target.in_features == 5


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_of_lazy_layers_are_lazy(copied: Any) -> None:
    layer = copied(tt.nn.LazyBatchNorm1d())
    assert layer.has_uninitialized_params()
    layer(tt.randn(4, 3))
    assert type(layer) is tt.nn.BatchNorm1d and layer.running_mean.shape == (3,)
    assert not layer._forward_pre_hooks


def test_statistics_of_old_versions_load() -> None:
    def run(lib: Any) -> Any:
        norm = lib.nn.BatchNorm1d(2)
        state = {name: value + 1 for name, value in norm.state_dict().items()}
        del state["num_batches_tracked"]
        norm.load_state_dict(state)
        return norm.state_dict()

    parity.same(run)


def test_statistics_of_several_batches() -> None:
    def run(lib: Any) -> Any:
        norm = lib.nn.BatchNorm1d(4, momentum=None)
        for seed in range(3):
            norm(lib.tensor(array(5, 4, seed=seed)))
        return [norm.state_dict(), norm.eval()(lib.tensor(SEQ[0].T))]

    parity.same(run)
