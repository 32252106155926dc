"""Layers of sequences, images and volumes: repr, output, gradients and errors are PyTorch's."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.calls import Call, words
from tests.nn import parity
from tests.oracles import assert_same_behavior, assert_same_error

pytestmark = pytest.mark.torch

array = parity.array
SEQ, IMAGE, VOLUME = array(2, 4, 9), array(2, 4, 7, 6), array(2, 4, 5, 4, 6)

LAYERS: list[tuple[Call, Any]] = [
    (lambda nn: nn.Conv1d(4, 6, 3), SEQ),
    (lambda nn: nn.Conv1d(4, 6, 3, stride=2, padding=1, dilation=2, groups=2, bias=False), SEQ),
    (lambda nn: nn.Conv1d(4, 2, 4, padding="same", padding_mode="reflect"), SEQ[0]),
    (lambda nn: nn.Conv1d(4, 2, 3, padding=2, padding_mode="circular"), SEQ),
    (lambda nn: nn.Conv2d(4, 6, 3), IMAGE),
    (lambda nn: nn.Conv2d(4, 4, (3, 2), stride=(2, 1), padding=(1, 0), groups=4), IMAGE),
    (lambda nn: nn.Conv2d(4, 2, 3, padding="same", dilation=2), IMAGE),
    (lambda nn: nn.Conv2d(4, 2, 3, padding="valid"), IMAGE[0]),
    (lambda nn: nn.Conv2d(4, 2, 3, padding=(1, 2), padding_mode="replicate"), IMAGE),
    (lambda nn: nn.Conv3d(4, 2, 2), VOLUME),
    (lambda nn: nn.Conv3d(4, 2, (1, 2, 3), padding="same", padding_mode="zeros"), VOLUME),
    (lambda nn: nn.ConvTranspose1d(4, 6, 3, stride=2, output_padding=1), SEQ),
    (lambda nn: nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, groups=2, dilation=2), IMAGE),
    (lambda nn: nn.ConvTranspose2d(4, 6, (3, 2), bias=False), IMAGE[0]),
    (lambda nn: nn.ConvTranspose3d(4, 2, 2, stride=2), VOLUME),
    (lambda nn: nn.LazyConv1d(6, 3), SEQ),
    (lambda nn: nn.LazyConv2d(6, 3, groups=2, bias=False), IMAGE),
    (lambda nn: nn.LazyConv3d(2, 2), VOLUME),
    (lambda nn: nn.LazyConvTranspose1d(6, 3), SEQ),
    (lambda nn: nn.LazyConvTranspose2d(6, 3, stride=2), IMAGE),
    (lambda nn: nn.LazyConvTranspose3d(2, 2), VOLUME),
    (lambda nn: nn.LazyLinear(3), SEQ),
    (lambda nn: nn.LazyLinear(3, bias=False), SEQ),
    (lambda nn: nn.BatchNorm1d(4), SEQ),
    (lambda nn: nn.BatchNorm1d(9).eval(), SEQ[0]),
    (lambda nn: nn.BatchNorm2d(4, eps=0.1, momentum=None), IMAGE),
    (lambda nn: nn.BatchNorm2d(4, affine=False), IMAGE),
    (lambda nn: nn.BatchNorm2d(4, track_running_stats=False).eval(), IMAGE),
    (lambda nn: nn.BatchNorm2d(4, bias=False), IMAGE),
    (lambda nn: nn.BatchNorm3d(4, momentum=0.5), VOLUME),
    (lambda nn: nn.LazyBatchNorm1d(), SEQ),
    (lambda nn: nn.LazyBatchNorm2d(affine=False), IMAGE),
    (lambda nn: nn.LazyBatchNorm3d(track_running_stats=False), VOLUME),
    (lambda nn: nn.InstanceNorm1d(4), SEQ),
    (lambda nn: nn.InstanceNorm2d(4, affine=True), IMAGE[0]),
    (lambda nn: nn.InstanceNorm2d(4, track_running_stats=True), IMAGE),
    (lambda nn: nn.InstanceNorm3d(4, affine=True, track_running_stats=True).eval(), VOLUME),
    (lambda nn: nn.LazyInstanceNorm1d(), SEQ),
    (lambda nn: nn.LazyInstanceNorm2d(), IMAGE),
    (lambda nn: nn.LazyInstanceNorm3d(affine=False), VOLUME),
    (lambda nn: nn.MaxPool1d(3), SEQ),
    (lambda nn: nn.MaxPool2d(3, stride=2, padding=1, ceil_mode=True), IMAGE),
    (lambda nn: nn.MaxPool2d((2, 3), dilation=2), IMAGE[0]),
    (lambda nn: nn.MaxPool3d(2), VOLUME),
    (lambda nn: nn.AvgPool1d(3, 2, 1), SEQ),
    (lambda nn: nn.AvgPool2d(3, padding=1, count_include_pad=False), IMAGE),
    (lambda nn: nn.AvgPool2d((2, 3), ceil_mode=True, divisor_override=4), IMAGE),
    (lambda nn: nn.AvgPool3d(2), VOLUME),
    (lambda nn: nn.LPPool1d(2, 3), np.abs(SEQ)),
    (lambda nn: nn.LPPool2d(1.5, 2, stride=1, ceil_mode=True), np.abs(IMAGE)),
    (lambda nn: nn.LPPool3d(2, 2), np.abs(VOLUME)),
    (lambda nn: nn.AdaptiveAvgPool1d(4), SEQ),
    (lambda nn: nn.AdaptiveAvgPool2d((3, None)), IMAGE),
    (lambda nn: nn.AdaptiveAvgPool3d(2), VOLUME),
    (lambda nn: nn.AdaptiveMaxPool1d(4), SEQ),
    (lambda nn: nn.AdaptiveMaxPool2d((None, 5)), IMAGE),
    (lambda nn: nn.AdaptiveMaxPool3d((2, 3, 4)), VOLUME),
    (lambda nn: nn.ConstantPad1d((1, 2), 3.5), SEQ),
    (lambda nn: nn.ConstantPad2d(1, -1.0), IMAGE),
    (lambda nn: nn.ConstantPad3d((1, 0, 2, 0, 0, 1), 0.5), VOLUME),
    (lambda nn: nn.ZeroPad1d(2), SEQ),
    (lambda nn: nn.ZeroPad2d((-1, 1, 2, 0)), IMAGE),
    (lambda nn: nn.ZeroPad3d(1), VOLUME),
    (lambda nn: nn.ReflectionPad1d((2, 1)), SEQ),
    (lambda nn: nn.ReflectionPad2d(2), IMAGE),
    (lambda nn: nn.ReflectionPad3d(1), VOLUME),
    (lambda nn: nn.ReplicationPad1d((2, 1)), SEQ),
    (lambda nn: nn.ReplicationPad2d((1, 2, 3, 4)), IMAGE),
    (lambda nn: nn.ReplicationPad3d(1), VOLUME),
    (lambda nn: nn.CircularPad1d((2, 1)), SEQ),
    (lambda nn: nn.CircularPad2d(2), IMAGE[0]),
    (lambda nn: nn.CircularPad3d(1), VOLUME),
    (lambda nn: nn.Upsample(scale_factor=2), IMAGE),
    (lambda nn: nn.Upsample(size=(5, 9), mode="bilinear"), IMAGE),
    (lambda nn: nn.Upsample(scale_factor=(1.5, 2.0), mode="bicubic", align_corners=True), IMAGE),
    (lambda nn: nn.Upsample(13, mode="linear"), SEQ),
    (lambda nn: nn.UpsamplingNearest2d(scale_factor=2), IMAGE),
    (lambda nn: nn.UpsamplingBilinear2d((9, 3)), IMAGE),
    (lambda nn: nn.PixelShuffle(2), IMAGE),
    (lambda nn: nn.PixelUnshuffle(3), array(2, 4, 6, 3)),
    (lambda nn: nn.ChannelShuffle(2), IMAGE),
    (lambda nn: nn.Unfold((2, 3), dilation=2, padding=1, stride=2), IMAGE),
    (lambda nn: nn.Fold((4, 5), 2), array(2, 12, 12)),
]


# PyTorch's remark on a copy of its own.
@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("make", "x"), LAYERS, ids=words)
def test_output_and_gradients_of_spatial_layers_are_pytorchs(
    make: Call, x: Any, dtype: str
) -> None:
    assert_same_behavior(lambda lib: parity.layer_results(lib, make, [x], dtype))


@pytest.mark.parametrize("make", [make for make, _ in LAYERS], ids=words)
def test_the_repr_of_spatial_layers_is_pytorchs(make: Call) -> None:
    assert_same_behavior(lambda lib: repr(parity.make_layer(lib, make)))


@pytest.mark.parametrize(
    "make",
    [lambda nn: nn.BatchNorm2d(4), lambda nn: nn.InstanceNorm2d(4, 1e-5, 0.1, True, True)],
    ids=words,
)
def test_gradients_of_norms_in_evaluation_are_right_after_statistics_change(make: Call) -> None:
    def run(lib: Any) -> Any:
        layer = parity.make_layer(lib, make)
        x = lib.tensor(IMAGE, requires_grad=True)
        first = layer.eval()(x)
        layer.train()(2 * x + 1)
        (first * first.cos()).sum().backward()
        # PyTorch computes the other gradients with statistics that are no longer the forward's.
        return [first, layer.bias.grad]

    assert_same_behavior(run)


INDEXED: list[tuple[Call, Call, Any]] = [
    (lambda nn: nn.MaxPool1d(3, 2, return_indices=True), lambda nn: nn.MaxUnpool1d(3, 2), SEQ),
    (lambda nn: nn.MaxPool2d(2, return_indices=True), lambda nn: nn.MaxUnpool2d(2), IMAGE),
    (
        lambda nn: nn.MaxPool3d((1, 2, 2), return_indices=True),
        lambda nn: nn.MaxUnpool3d((1, 2, 2)),
        VOLUME,
    ),
]


@pytest.mark.parametrize(("pool", "unpool", "x"), INDEXED, ids=words)
def test_pooling_and_unpooling_are_pytorchs(pool: Call, unpool: Call, x: Any) -> None:
    def run(lib: Any) -> Any:
        forth, back = parity.make_layer(lib, pool), parity.make_layer(lib, unpool)

        def both(x: Any) -> Any:
            values, indices = forth(x)
            return back(values, indices, output_size=x.shape)

        return [repr(back), list(forth(lib.tensor(x))), parity.gradients(lib, both, x)]

    assert_same_behavior(run)


def test_adaptive_pooling_returns_pytorchs_indices() -> None:
    assert_same_behavior(lambda lib: list(lib.nn.AdaptiveMaxPool1d(3, True)(lib.tensor(SEQ))))


def test_fractional_pooling_is_pytorchs() -> None:
    def run(lib: Any) -> Any:
        layer = parity.make_layer(
            lib,
            lambda nn, lib: nn.FractionalMaxPool2d(
                2,
                output_ratio=0.6,
                _random_samples=lib.linspace(0.1, 0.9, 16, dtype=lib.float64).reshape(2, 4, 2),
            ),
            "float64",
        )
        return [repr(layer), layer(lib.tensor(IMAGE.astype("float64")))]

    assert_same_behavior(run)


def test_a_transposed_convolution_accepts_an_output_size_as_pytorchs() -> None:
    def run(lib: Any) -> Any:
        layer = parity.make_layer(lib, lambda nn: nn.ConvTranspose2d(4, 2, 3, stride=3))
        x = lib.tensor(IMAGE)
        return [layer(x, output_size=[21, 20]), layer(x[0], output_size=(2, 22, 18))]

    assert_same_behavior(run)


@pytest.mark.parametrize("shape", [(0, 4, 4, 4), (2, 0, 4, 4), (4, 4, 0)])
def test_pixel_shuffle_of_empty_tensors_is_pytorchs(shape: tuple[int, ...]) -> None:
    assert_same_behavior(lambda lib: lib.nn.PixelUnshuffle(2)(lib.ones(*shape)))
    assert_same_behavior(lambda lib: lib.nn.PixelShuffle(2)(lib.ones(*shape)))


ERRORS: list[Call] = [
    lambda nn: nn.Conv2d(4, 6, 3, groups=3),
    lambda nn: nn.Conv2d(4, 6, 3, groups=0),
    lambda nn: nn.Conv2d(4, 6, 3, padding="full"),
    lambda nn: nn.Conv2d(4, 6, 3, stride=2, padding="same"),
    lambda nn: nn.Conv2d(4, 6, 3, padding_mode="mirror"),
    lambda nn: nn.ConvTranspose2d(4, 6, 3, padding_mode="reflect"),
    lambda nn, lib: nn.ConvTranspose2d(4, 6, 3)(lib.ones(1, 4, 5, 5), output_size=(9, 9)),
    lambda nn, lib: nn.ConvTranspose2d(4, 6, 3)(lib.ones(1, 4, 5, 5), output_size=(9,)),
    lambda nn, lib: nn.LazyConv2d(4, 3)(lib.ones(3, 3)),
    lambda nn, lib: nn.LazyConv2d(4, 3, groups=2)(lib.ones(1, 3, 5, 5)),
    lambda nn, lib: nn.BatchNorm1d(3)(lib.ones(3)),
    lambda nn, lib: nn.BatchNorm2d(3)(lib.ones(2, 3)),
    lambda nn, lib: nn.BatchNorm1d(3)(lib.ones(1, 3)),
    lambda nn, lib: nn.InstanceNorm2d(3, affine=True)(lib.ones(1, 4, 5, 5)),
    lambda nn, lib: nn.InstanceNorm2d(3)(lib.ones(4, 5)),
    lambda nn: nn.FractionalMaxPool2d(2),
    lambda nn: nn.FractionalMaxPool2d(2, output_size=2, output_ratio=0.5),
    lambda nn: nn.FractionalMaxPool2d(2, output_ratio=1.5),
    lambda nn, lib: nn.CircularPad1d(1)(lib.ones(3)),
    lambda nn, lib: nn.AdaptiveAvgPool2d(2)(lib.ones(2, 3)),
    lambda nn, lib: nn.AdaptiveMaxPool3d(2)(lib.ones(2, 3)),
    lambda nn, lib: nn.AdaptiveMaxPool1d(2)(lib.ones(2, 0, 4)),
    lambda nn, lib: nn.AdaptiveMaxPool2d(2)(lib.ones(2, 0, 4, 4)),
    lambda nn, lib: nn.AdaptiveAvgPool3d(2)(lib.ones(2, 0, 4, 4, 4)),
]


@pytest.mark.parametrize("use", ERRORS, ids=words)
def test_spatial_layers_raise_pytorchs_errors(use: Call) -> None:
    assert_same_error(parity.as_library_call(use))


def test_another_number_of_channels_is_a_warning_without_parameters() -> None:
    with pytest.warns(UserWarning, match="input's size at dim=1 does not match num_features"):
        tt.nn.InstanceNorm1d(3)(tt.randn(2, 4, 5))


# -- first weights and saved states ------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda nn: nn.Conv1d(4, 6, 3),
        lambda nn: nn.Conv2d(4, 6, (3, 2), groups=2),
        lambda nn: nn.ConvTranspose2d(4, 6, 3),
        lambda nn: nn.BatchNorm2d(4),
        lambda nn: nn.InstanceNorm1d(3, affine=True, track_running_stats=True),
    ],
    ids=words,
)
def test_initial_weights_of_spatial_layers_are_pytorchs(make: Call) -> None:
    assert_same_behavior(lambda lib: parity.build(lib, make).state_dict())


def test_lazy_layers_draw_the_weights_of_others() -> None:
    def run(lib: Any) -> Any:
        net = lib.nn.Sequential(lib.nn.LazyConv2d(3, 2), lib.nn.Flatten(), lib.nn.LazyLinear(2))
        before = repr(net)
        lib.manual_seed(3)
        net(lib.ones(1, 2, 4, 4))
        return [before, repr(net), net.state_dict(), lib.rand(2)]

    assert_same_behavior(run)


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

    assert_same_behavior(run)


def test_cumulative_statistics_of_batch_norm_are_pytorchs() -> None:
    def run(lib: Any) -> Any:
        norm = lib.nn.BatchNorm1d(4, momentum=None)
        for seed in range(3):
            norm(lib.tensor(array(5, 4, seed=seed)))
        return [norm.state_dict(), norm.eval()(lib.tensor(SEQ[0].T))]

    assert_same_behavior(run)
