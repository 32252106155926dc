"""In which order in memory the results of images and of expanded tensors lie, by every layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tinytorch as tt

Call = Callable[[Any, Any], Any]


def functional(name: str, *args: Any, at: int | None = None, **options: Any) -> Call:
    """``nn.functional``'s ``name`` of a tensor; of several results the one at a place."""

    def call(m: Any, x: Any) -> Any:
        out = getattr(m.nn.functional, name)(x, *args, **options)
        return out if at is None else out[at]

    return call


def method(name: str, *args: Any, **options: Any) -> Call:
    return lambda m, x: getattr(x, name)(*args, **options)


def unpooled(m: Any, x: Any) -> Any:
    F = m.nn.functional
    return F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2)


MODES = ("nearest", "nearest-exact", "bilinear", "bicubic", "area")

#: name: what is computed from images.
OF_IMAGES: dict[str, Call] = {
    "max_pool2d": functional("max_pool2d", 2),
    "max_pool2d's indices": functional("max_pool2d", 2, return_indices=True, at=1),
    "avg_pool2d": functional("avg_pool2d", 2),
    "lp_pool2d": functional("lp_pool2d", 2.0, 2),
    "adaptive_avg_pool2d": functional("adaptive_avg_pool2d", (3, 2)),
    "adaptive_avg_pool2d in one": functional("adaptive_avg_pool2d", 1),
    "adaptive_max_pool2d": functional("adaptive_max_pool2d", 2),
    "adaptive_max_pool2d's": functional("adaptive_max_pool2d", 2, return_indices=True, at=1),
    "fractional_max_pool2d": functional("fractional_max_pool2d", 2, output_size=2),
    "max_unpool2d": unpooled,
    "conv2d": lambda m, x: m.nn.functional.conv2d(x, m.ones(6, 4, 3, 3)),
    "conv2d of one pixel": lambda m, x: m.nn.functional.conv2d(x, m.ones(6, 4, 1, 1)),
    "conv2d by channel": lambda m, x: m.nn.functional.conv2d(x, m.ones(4, 1, 3, 3), groups=4),
    "conv_transpose2d": lambda m, x: m.nn.functional.conv_transpose2d(x, m.ones(4, 2, 3, 3)),
    "batch_norm": lambda m, x: m.nn.functional.batch_norm(x, m.zeros(4), m.ones(4)),
    "instance_norm": functional("instance_norm"),
    "group_norm": functional("group_norm", 2),
    "rms_norm": lambda m, x: m.nn.functional.rms_norm(x, x.shape[-1:]),
    "pad": functional("pad", (1, 2, 0, 1)),
    "pad by less": functional("pad", (1, -1, 0, 1)),
    "pad by reflection": functional("pad", (1, 1, 1, 1), "reflect"),
    "pad by replication": functional("pad", (1, 0, 0, 1), "replicate"),
    "pad in circles": functional("pad", (1, 1, 1, 1), "circular"),
    "interpolate antialiased": functional("interpolate", (3, 2), mode="bilinear", antialias=True),
    "pixel_shuffle": functional("pixel_shuffle", 2),
    "pixel_shuffle to several": lambda m, x: m.nn.functional.pixel_shuffle(m.cat([x, x], 1), 2),
    "channel_shuffle": functional("channel_shuffle", 2),
    "dropout": functional("dropout", 0.5),
    "gelu": functional("gelu"),
    "prelu": lambda m, x: m.nn.functional.prelu(x, m.ones(4)),
    "softmax": method("softmax", 1),
    "roll": method("roll", 1, 2),
    "flip": method("flip", 3),
    "cat": lambda m, x: m.cat([x, x], 1),
    "cat of two layouts": lambda m, x: m.cat([x, x.contiguous()], 1),
    "stack": lambda m, x: m.stack([x, x]),
    "scaled by channel": lambda m, x: x * m.ones(4, 1, 1),
    "clone": method("clone"),
    "double": method("double"),
    "zeros_like": lambda m, x: m.zeros_like(x),
    "rand_like": lambda m, x: m.rand_like(x),
    "mean": method("mean", (2, 3), keepdim=True),
    "sum": method("sum", 0),
    "prod": method("prod", 1),
    "amax": method("amax", 1, keepdim=True),
    "any": lambda m, x: (x > 0).any(0),
    "logsumexp": method("logsumexp", 1),
    "count_nonzero": method("count_nonzero", 1),
    "one_hot": lambda m, x: m.nn.functional.one_hot((x * 0).long(), 3),
} | {
    f"interpolate {mode} {size}": functional("interpolate", size, mode=mode)
    for mode in MODES for size in ((9, 16), (3, 2))
}  # fmt: skip

#: The same of volumes.
OF_VOLUMES: dict[str, Call] = {
    "max_pool3d": functional("max_pool3d", 2),
    "max_pool3d's indices": functional("max_pool3d", 2, return_indices=True, at=1),
    "avg_pool3d": functional("avg_pool3d", 2),
    "adaptive_max_pool3d": functional("adaptive_max_pool3d", 2),
    "batch_norm": lambda m, x: m.nn.functional.batch_norm(x, m.zeros(4), m.ones(4)),
    "interpolate": functional("interpolate", scale_factor=2),
    "interpolate trilinear": functional("interpolate", scale_factor=2, mode="trilinear"),
    "interpolate area": functional("interpolate", (2, 2, 2), mode="area"),
    "pad": functional("pad", (1, 1, 1, 1)),
    "pad by replication": functional("pad", (1, 1, 1, 1, 1, 1), "replicate"),
    "cat": lambda m, x: m.cat([x, x], 1),
    "relu": functional("relu"),
}


def layouts(m: Any, shape: tuple[int, ...]) -> Iterator[tuple[str, Any]]:
    """Tensors of one shape, or a part of it, in every layout."""
    count = 1
    for n in shape:
        count *= n
    x = m.arange(float(count)).reshape(shape) / count - 0.5
    form = m.channels_last if len(shape) == 4 else m.channels_last_3d
    last = x.contiguous(memory_format=form)
    yield "row-major", x
    yield "channels last", last
    yield "a slice of channels last", last[..., 1:, ::2]
    yield "channels of more", m.cat([last, last], 1)[:, :4]
    yield "one image", last[:1]
    yield "expanded", x[:1].expand(shape)


def steps(out: Any) -> list[int]:
    """The strides of dimensions that have several elements: others are not to be seen."""
    return [s for n, s in zip(out.shape, out.stride(), strict=True) if n > 1]


def check_strides(call: Call, shape: tuple[int, ...]) -> None:
    import torch

    for (name, ours), (_, theirs) in zip(layouts(tt, shape), layouts(torch, shape), strict=True):
        mine, wanted = call(tt, ours), call(torch, theirs)
        assert tuple(mine.shape) == tuple(wanted.shape)
        assert steps(mine) == steps(wanted), name


@pytest.mark.torch
@pytest.mark.parametrize("name", OF_IMAGES)
def test_strides_of_image_operations_are_pytorchs(name: str) -> None:
    check_strides(OF_IMAGES[name], (2, 4, 6, 8))


@pytest.mark.torch
@pytest.mark.parametrize("name", OF_VOLUMES)
def test_strides_of_volume_operations_are_pytorchs(name: str) -> None:
    check_strides(OF_VOLUMES[name], (2, 4, 4, 6, 8))


def rows(m: Any) -> Any:
    return m.arange(50.0).view(10, 5)


#: name: a tensor that is not dense, or whose order in memory takes a rule to say.
UNUSUAL: dict[str, Callable[[Any], Any]] = {
    "a matrix repeated": lambda m: rows(m).expand(4, 10, 5),
    "rows repeated": lambda m: rows(m).unsqueeze(1).expand(10, 4, 5),
    "elements repeated": lambda m: rows(m).unsqueeze(2).expand(10, 5, 4),
    "a transposed matrix repeated": lambda m: rows(m).t().expand(4, 5, 10),
    "its elements repeated": lambda m: rows(m).t().unsqueeze(2).expand(5, 10, 4),
    "one number": lambda m: m.ones(1).expand(3, 4),
    "permuted": lambda m: rows(m).unsqueeze(1).expand(10, 4, 5).permute(2, 0, 1),
    "gaps": lambda m: rows(m)[:, ::2].t(),
    "windows": lambda m: m.arange(20.0).unfold(0, 4, 2),
    "empty": lambda m: m.zeros(2, 0, 3),
}
COPIES: dict[str, Call] = {
    "clone": method("clone"),
    "a cast": method("double"),
    "to": lambda m, x: x.to(m.float32, copy=True),
    "zeros_like": lambda m, x: m.zeros_like(x),
    "rand_like": lambda m, x: m.rand_like(x),
    "flip": method("flip", 0),
    "dropout": functional("dropout", 0.5),
    "contiguous": method("contiguous"),
    "sum": method("sum", 0),
    "mean": method("mean", -1),
    "amax": lambda m, x: x.amax(-1) if x.numel() else x,
    "itself": lambda m, x: x,
}


@pytest.mark.parametrize("tensor", UNUSUAL)
@pytest.mark.parametrize("name", COPIES)
def test_strides_of_copies_are_pytorchs(torch: Any, name: str, tensor: str) -> None:
    ours, theirs = (COPIES[name](m, UNUSUAL[tensor](m)) for m in (tt, torch))
    assert ours.stride() == theirs.stride()
    if name not in ("rand_like", "dropout"):
        assert ours.tolist() == theirs.tolist()


def test_a_copy_of_an_expanded_tensor_can_be_viewed() -> None:
    assert rows(tt).expand(4, 10, 5).clone().view(-1).shape == (200,)
    assert tt.ones(3, 4, 5).permute(2, 1, 0).sum(0).view(-1).shape == (12,)


def test_to_the_format_that_a_tensor_has_is_the_tensor() -> None:
    x = rows(tt).t()
    assert x.to(memory_format=tt.contiguous_format) is x
    assert x.double().to(memory_format=tt.contiguous_format) is not x


@pytest.mark.parametrize("name", [
    "avg_pool2d", "max_pool2d", "adaptive_max_pool2d", "pad by reflection", "channel_shuffle",
    "interpolate bicubic (3, 2)", "batch_norm", "rms_norm",
])  # fmt: skip
def test_the_step_to_channels_last_has_the_name_of_the_function(torch: Any, name: str) -> None:
    x = torch.rand(2, 4, 6, 8)
    wanted = OF_IMAGES[name](torch, x.to(memory_format=torch.channels_last).requires_grad_())
    leaf = tt.tensor(x.numpy()).to(memory_format=tt.channels_last).requires_grad_()
    assert OF_IMAGES[name](tt, leaf).grad_fn.name() == wanted.grad_fn.name()


@pytest.mark.parametrize("pool", ["max_pool2d", "avg_pool2d", "adaptive_avg_pool2d"])
def test_gradients_pass_the_step_to_channels_last(pool: str) -> None:
    x = tt.rand(2, 3, 4, 4, dtype=tt.float64)
    gradients = []
    for form in (tt.contiguous_format, tt.channels_last):
        leaf = x.contiguous(memory_format=form).detach().clone().requires_grad_()
        out = getattr(tt.nn.functional, pool)(leaf, 2)
        assert out.is_contiguous(memory_format=form)
        out.square().sum().backward()
        gradients.append(leaf.grad)
    assert tt.allclose(*gradients)


@pytest.mark.parametrize("training", [False, True])
def test_batch_norm_of_channels_last_where_a_side_is_1(torch: Any, training: bool) -> None:
    formats = []
    for m in (tt, torch):
        x = m.arange(6.0).reshape(1, 3, 2, 1).permute(0, 2, 1, 3)
        out = m.nn.functional.batch_norm(x, m.zeros(2), m.ones(2), training=training)
        formats.append((out.is_contiguous(), out.is_contiguous(memory_format=m.channels_last)))
    assert formats[0] == formats[1] == (False, True)
