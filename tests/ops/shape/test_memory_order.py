"""In which order results lie in memory: what may be seen through ``view``, and ``stride()``."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import compare, numbers

Call = Callable[[Any, Any], Any]

ANYTHING: Any = None
M = numbers(4, 3)
IMAGES = numbers(2, 3, 4, 5)


def channels_last(library: Any, x: Any) -> Any:
    return x.contiguous(memory_format=library.channels_last)


#: name: what is computed from a transposed matrix, of which torch writes the result row by row.
OF_TRANSPOSED: dict[str, Call] = {
    "softmax": lambda m, x: m.softmax(x, 0),
    "log_softmax": lambda m, x: m.log_softmax(x, 1),
    "softmin": lambda m, x: m.nn.functional.softmin(x, 1),
    "cumsum": lambda m, x: x.cumsum(0),
    "cumprod": lambda m, x: x.cumprod(1),
    "cummax": lambda m, x: x.cummax(0).indices,
    "cummin": lambda m, x: x.cummin(0).values,
    "logcumsumexp": lambda m, x: m.logcumsumexp(x, 1),
    "masked_fill": lambda m, x: x.masked_fill(x > 0, 0.0),
    "roll": lambda m, x: x.roll(1, 0),
    "rot90 by no turns": lambda m, x: x.rot90(4),
    "tril": lambda m, x: x.tril(),
    "triu": lambda m, x: x.triu(1),
    "narrow_copy": lambda m, x: m.narrow_copy(x, 0, 1, 2),
    "combinations": lambda m, x: m.combinations(x[0]),
    "as_strided_copy": lambda m, x: m.as_strided_copy(x, (2, 2), (1, 3)),
    "renorm": lambda m, x: x.renorm(2, 0, 1.0),
    "logsigmoid": lambda m, x: m.nn.functional.logsigmoid(x),
    "rrelu": lambda m, x: m.nn.functional.rrelu(x),
    "layer_norm": lambda m, x: m.nn.functional.layer_norm(x, (4,)),
    "rms_norm": lambda m, x: m.nn.functional.rms_norm(x, (4,)),
    "group_norm": lambda m, x: m.nn.functional.group_norm(x, 2),
    "batch_norm": lambda m, x: m.nn.functional.batch_norm(x[None], None, None, training=True),
    "instance_norm": lambda m, x: m.nn.functional.instance_norm(x[None]),
    "var": lambda m, x: m.stack([x, x]).permute(0, 2, 1).var(0),
    "norm": lambda m, x: m.linalg.vector_norm(m.stack([x, x]).permute(2, 1, 0), 3, 1),
    "aminmax": lambda m, x: m.stack([x, x]).permute(2, 1, 0).aminmax(dim=2).max,
    "kthvalue": lambda m, x: m.stack([x, x], -1).kthvalue(2).indices,
    "gradient": lambda m, x: m.gradient(x.t(), dim=0)[0],
    "mvlgamma": lambda m, x: m.mvlgamma(x.abs() + 2, 2),
    "fftshift": lambda m, x: m.fft.fftshift(x),
    "cross": lambda m, x: m.linalg.cross(x, x + 1, dim=0),
    "max_pool1d": lambda m, x: m.nn.functional.max_pool1d(x[None], 2),
    "adaptive_max_pool1d": lambda m, x: m.nn.functional.adaptive_max_pool1d(
        m.stack([x.t(), x.t()]).transpose(0, 1), 2
    ),
}

#: name: what keeps the order of its input, or gives it another.
REORDERED: dict[str, Call] = {
    "zeros_like": lambda m, x: m.zeros_like(x.permute(3, 0, 2, 1)),
    "ones_like of gaps": lambda m, x: m.ones_like(x[:, :, ::2].permute(3, 0, 2, 1)),
    "full_like expanded": lambda m, x: m.full_like(x[:1, :, :1].expand(2, 3, 4, 5), 2.0),
    "empty_like row-major": lambda m, x: m.empty_like(
        x.permute(1, 0, 2, 3), memory_format=m.contiguous_format
    ).zero_(),
    "zeros_like channels last": lambda m, x: m.zeros_like(x, memory_format=m.channels_last),
    "randn_like channels last": lambda m, x: m.randn_like(x, memory_format=m.channels_last).zero_(),
    "empty channels last": lambda m, x: m.empty(2, 3, 4, 5, memory_format=m.channels_last).zero_(),
    "contiguous": channels_last,
    "and back": lambda m, x: channels_last(m, x).contiguous(),
    "clone": lambda m, x: x.clone(memory_format=m.channels_last),
    "clone of it": lambda m, x: channels_last(m, x).clone(),
    "to": lambda m, x: x.to(memory_format=m.channels_last),
    "to row-major": lambda m, x: channels_last(m, x).to(memory_format=m.contiguous_format),
    "to a dtype": lambda m, x: x.to(m.float32, memory_format=m.channels_last),
    "a cast": lambda m, x: channels_last(m, x).float(),
    "a cast to a format": lambda m, x: x.half(memory_format=m.channels_last),
    "volumes": lambda m, x: x[None].contiguous(memory_format=m.channels_last_3d),
    "softmax": lambda m, x: channels_last(m, x).softmax(1),
    "softmax of gaps": lambda m, x: channels_last(m, x)[:, :, ::2].softmax(1),
    "group_norm": lambda m, x: m.nn.functional.group_norm(channels_last(m, x), 3),
    "batch_norm": lambda m, x: m.nn.functional.batch_norm(
        channels_last(m, x), None, None, training=True
    ),
    "relu": lambda m, x: channels_last(m, x).relu(),
    "matmul of batches": lambda m, x: x.transpose(0, 1) @ x.permute(1, 0, 3, 2),
    "matmul of batches and a vector": lambda m, x: x.transpose(0, 1) @ x[0, 0, 0],
    "matmul of a vector and batches": lambda m, x: x[0, 0, :, 0] @ x.transpose(0, 1),
    "linear": lambda m, x: m.nn.functional.linear(x.permute(2, 0, 1, 3), x[0, 0]),
    "matrix_power": lambda m, x: m.linalg.matrix_power((x @ x.mT).transpose(0, 1), 2),
    "a power of one": lambda m, x: m.linalg.matrix_power((x @ x.mT).transpose(0, 1), 1),
    "rfft along time": lambda m, x: m.view_as_real(m.fft.rfft(x.permute(0, 2, 3, 1))),
    "rfft along rows": lambda m, x: m.view_as_real(m.fft.rfft(x, dim=1)),
    "rfft2": lambda m, x: m.view_as_real(m.fft.rfft2(x.permute(1, 3, 0, 2))),
    "rfftn": lambda m, x: m.view_as_real(m.fft.rfftn(x, dim=(3, 1))),
    "fft of more points": lambda m, x: m.view_as_real(m.fft.fft(x.transpose(0, 2), 7, dim=1)),
    "ifft2": lambda m, x: m.view_as_real(m.fft.ifft2(m.complex(x, -x), dim=(0, 2))),
    "ihfft": lambda m, x: m.fft.ihfft(x.transpose(0, 3)).imag.clone(),
    "irfft": lambda m, x: m.fft.irfft(m.complex(x, x).transpose(0, 3), dim=2),
    "irfftn": lambda m, x: m.fft.irfftn(m.complex(x, x).transpose(1, 2), dim=(0, 3, 1)),
    "hfft2": lambda m, x: m.fft.hfft2(m.complex(x, x).permute(3, 1, 0, 2)),
    "avg_pool1d of time": lambda m, x: m.nn.functional.avg_pool1d(x[:, 0].mT, 3, 1, 1),
    "lp_pool1d of time": lambda m, x: m.nn.functional.lp_pool1d(x[:, 0].mT, 2.0, 2),
    "adaptive_avg_pool1d of time": lambda m, x: m.nn.functional.adaptive_avg_pool1d(x[0].mT, 2),
    "adaptive_avg_pool1d unevenly": lambda m, x: m.nn.functional.adaptive_avg_pool1d(x[0].mT, 3),
    "adaptive_max_pool1d of time": lambda m, x: m.nn.functional.adaptive_max_pool1d(x[0].mT, 2),
    "adaptive_avg_pool3d to its size": lambda m, x: m.nn.functional.adaptive_avg_pool3d(
        x.permute(3, 1, 0, 2)[None], (3, 2, 4)
    ),
    "select_scatter of one repeated": lambda m, x: (
        x[:1].expand(3, 3, 4, 5).select_scatter(x[0], 1, 0)
    ),
    "index_put of rows repeated": lambda m, x: (
        x[0, 0, :1].expand(3, 5).index_put((m.tensor([1]),), x[0, 0, 1])
    ),
    "complex of one repeated": lambda m, x: m.view_as_real(
        m.complex(x[0, :1].expand(3, 4, 5), x[1])
    ),
    "matrix_exp": lambda m, x: m.linalg.matrix_exp((x[0, 0, :3, :3] / 9).mT),
    "nonzero": lambda m, x: (x > 0).nonzero(),
    "nonzero's rows": lambda m, x: (x > 0).nonzero(as_tuple=True)[1],
    "argsort": lambda m, x: x.argsort(1),
    "sort": lambda m, x: x.sort(0).indices,
    "argsort of channels last": lambda m, x: channels_last(m, x).argsort(2),
    "sort of channels last": lambda m, x: channels_last(m, x).sort(1).values,
    "sort of gaps": lambda m, x: x[:, :, ::2].permute(2, 0, 3, 1).sort(0, True).indices,
    "sort of an expanded one": lambda m, x: (
        x[:, :1].expand(2, 3, 4, 5).sort(dim=0, stable=True).values
    ),
    "msort of a permuted one": lambda m, x: m.msort(x.permute(3, 0, 2, 1)),
    "indices": lambda m, x: channels_last(m, x)[[0, 1, 0]],
    "indices of columns": lambda m, x: channels_last(m, x)[:, m.tensor([0, 2])],
    "indices apart": lambda m, x: x.permute(2, 3, 0, 1)[m.tensor([0, 2]), :, m.tensor([0, 1])],
    "indices and a number": lambda m, x: x.permute(3, 0, 2, 1)[..., m.tensor([[0, 2]]), 1],
    "a mask": lambda m, x: x.permute(3, 1, 2, 0)[:, m.tensor([True, False, True])],
    "index_fill": lambda m, x: channels_last(m, x).index_fill(1, m.tensor([0, 2]), 5.0),
    "index_put": lambda m, x: channels_last(m, x).index_put(
        (m.tensor([1, 1]),), x[:, 0, 0, 0].view(2, 1, 1, 1), accumulate=True
    ),
    "put": lambda m, x: x.permute(3, 0, 2, 1).put(m.tensor([0, 9]), x[:, 0, 0, 0]),
    "lu_factor": lambda m, x: m.linalg.lu_factor(x).LU,
    "lu_factor of one": lambda m, x: m.linalg.lu_factor(x[0, 0]).LU,
    "topk": lambda m, x: x.topk(2).indices,
    "topk of one": lambda m, x: x.topk(1, 0).indices,
    "a power of zero": lambda m, x: m.linalg.matrix_power((x @ x.mT).transpose(0, 1), 0),
}


def assert_same_order(call: Call, values: Any) -> None:
    import torch

    ours, theirs = call(tt, tt.tensor(values)), call(torch, torch.tensor(values))
    assert ours.stride() == theirs.stride() and ours.shape == tuple(theirs.shape)
    assert ours.is_contiguous() == theirs.is_contiguous()
    for name in ("contiguous_format", "channels_last", "channels_last_3d"):
        mine = ours.is_contiguous(memory_format=getattr(tt, name))
        assert mine == theirs.is_contiguous(memory_format=getattr(torch, name)), name
    np.testing.assert_allclose(ours.cpu().numpy(), theirs.numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.torch
@pytest.mark.parametrize("name", OF_TRANSPOSED)
def test_memory_orders_of_results_of_transposed_tensors_are_pytorchs(name: str) -> None:
    assert_same_order(lambda m, x: OF_TRANSPOSED[name](m, x.t()), M)


@pytest.mark.torch
@pytest.mark.parametrize("name", REORDERED)
def test_memory_orders_of_image_operations_are_pytorchs(name: str) -> None:
    assert_same_order(REORDERED[name], IMAGES)


def test_gradients_flow_through_memory_formats() -> None:
    x = tt.tensor(IMAGES, requires_grad=True)
    y = channels_last(tt, x)
    assert y is not x and channels_last(tt, y) is y
    y.square().sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.cpu().numpy(), 2 * IMAGES)


#: name: a leaf made of images; its gradient lies as it does if that can be seen in ``view``.
LEAVES: dict[str, Call] = {
    "row-major": lambda m, x: x,
    "channels last": channels_last,
    "permuted": lambda m, x: x.permute(3, 0, 2, 1),
    "transposed": lambda m, x: x[0, 0].t(),
    "gaps": lambda m, x: x[..., ::2].transpose(0, 1),
    "expanded": lambda m, x: x[:, :1].expand(2, 3, 4, 5),
}


@pytest.mark.torch
@pytest.mark.parametrize("name", LEAVES)
@pytest.mark.parametrize("loss", ["sum", "square"])
def test_gradients_lie_as_their_leaves(name: str, loss: str) -> None:
    def call(m: Any, x: Any) -> Any:
        leaf = LEAVES[name](m, x).detach().requires_grad_()
        (leaf * 2 if loss == "sum" else leaf.square()).sum().backward()
        return leaf.grad

    assert_same_order(call, IMAGES)


def test_the_former_name_of_row_major(torch: Any) -> None:
    for library in (tt, torch):
        assert library.legacy_contiguous_format is library.contiguous_format
        x = library.zeros_like(
            library.ones(2, 3).t(), memory_format=library.legacy_contiguous_format
        )
        assert x.stride() == (2, 1)


def test_a_tensor_made_after_a_transposed_one_is_nobodys_view() -> None:
    x = tt.zeros_like(tt.ones(2, 3).t(), requires_grad=True)
    assert x.is_leaf and x._base is None and x.stride() == (1, 3)


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "contiguous": (lambda: channels_last(tt, tt.ones(2, 3)), RuntimeError, "required rank 4"),
    "clone": (lambda: tt.ones(2).clone(memory_format=tt.channels_last_3d), RuntimeError, "rank 5"),
    "zeros_like": (
        lambda: tt.zeros_like(tt.ones(2), memory_format=tt.channels_last),
        RuntimeError,
        "rank 4",
    ),
    "empty": (
        lambda: tt.empty(2, memory_format=tt.preserve_format),
        RuntimeError,
        "unsupported memory",
    ),
    "contiguous as it is": (
        lambda: tt.ones(2).contiguous(memory_format=tt.preserve_format),
        RuntimeError,
        "preserve memory format is unsupported",
    ),
    "no format": (
        lambda: tt.ones(2).contiguous(memory_format="channels_last"),
        TypeError,
        "memory_format",
    ),
    "asked of no format": (
        lambda: tt.ones(2).is_contiguous(memory_format=ANYTHING),
        TypeError,
        "memory_format",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_unsupported_memory_formats_are_refused(name: str) -> None:
    call, error, text = REFUSED[name]
    with pytest.raises(error, match=text):
        call()


def test_formats_are_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(tt.channels_last)) is tt.channels_last


#: name: how a view is made of a tensor whose columns lie one after the other.
CHANGED_VIEWS: dict[str, Callable[[Any], Any]] = {
    "view": lambda y: y.t().view(-1),
    "reshape": lambda y: y.t().reshape(-1),
    "flatten": lambda y: y.t().flatten()[2:7],
    "as_strided": lambda y: y.as_strided((2, 3), (1, 2), 2),
    "unflatten": lambda y: y.t().unflatten(0, (2, 2))[:, 1],
    "part": lambda y: y[1:, 1:],
}


@pytest.mark.torch
@pytest.mark.parametrize("name", CHANGED_VIEWS)
@pytest.mark.parametrize("loss", ["row-major", "expanded", "columns"])
def test_gradients_of_changed_views_in_any_order(name: str, loss: str) -> None:
    # What the view shows of the gradient hangs on the order in which the tensor lies in memory.
    def call(m: Any, x: Any) -> Any:
        y = x.t().clone()
        CHANGED_VIEWS[name](y).mul_(3)
        if loss == "expanded":
            return y.sum() + (y[0] ** 2).sum()
        return (y.contiguous() if loss == "row-major" else y.t()) ** 2

    compare(call, M)


WINDOWS: dict[str, Call] = {
    "of a view with gaps": lambda m, x: (x * 1)[:, ::2].as_strided((2, 2), (2, 1), 1) ** 2,
    "beyond its own elements": lambda m, x: x[1:].as_strided((5,), (1,), 2) ** 2,
    "of an expanded one": lambda m, x: (x[:, :1] * 1).expand(4, 3).as_strided((3, 2), (1, 0)) ** 2,
    "of columns": lambda m, x: x.t().clone().as_strided((3, 2), (1, 1)) ** 2,
    "of a transposed one": lambda m, x: x.t().as_strided((3, 2), (1, 1), 4) ** 2,
    "of a detached one": lambda m, x: x.detach()[:, ::2].as_strided((2, 2), (3, 1), 1) * x[0, 0],
}


@pytest.mark.torch
@pytest.mark.parametrize("name", WINDOWS)
def test_as_strided_and_related_functions_are_pytorchs(name: str) -> None:
    compare(WINDOWS[name], M)


@pytest.mark.torch
def test_a_changed_window_of_a_changed_window() -> None:
    def call(m: Any, x: Any) -> Any:
        y = x * 1
        part = y[:, ::2]
        window = part.as_strided((2, 2), (3, 2), 6)
        window.mul_(3)
        window.add_(part[0, 0])
        return y.contiguous() ** 2

    compare(call, M)


RESIZED: dict[str, Callable[[Any], Any]] = {
    "a matrix": lambda m: m.arange(6).reshape(2, 3),
    "its transpose": lambda m: m.arange(6).reshape(2, 3).t(),
    "its last columns": lambda m: m.arange(6).reshape(2, 3)[:, 1:],
    "permuted": lambda m: m.arange(24).reshape(2, 3, 4).permute(2, 0, 1),
    "every second": lambda m: m.arange(12)[::2],
    "channels last": lambda m: (
        m.arange(16).reshape(1, 2, 2, 4).contiguous(memory_format=m.channels_last)
    ),
    "0-d": lambda m: m.tensor(5),
}


@pytest.mark.parametrize("name", RESIZED)
@pytest.mark.parametrize("shape", [(2, 2), (1, 4), (2, 1), (), (0,), (3, 2), (1, 2, 2, 1)])
def test_resized_tensors_keep_what_follows_in_memory(
    torch: Any, name: str, shape: tuple[int, ...]
) -> None:
    ours, theirs = (RESIZED[name](m) for m in (tt, torch))
    held = theirs.untyped_storage().size() // 8 - theirs.storage_offset()
    ours.resize_(shape), theirs.resize_(shape)
    assert ours.stride() == theirs.stride() and ours.shape == theirs.shape
    if theirs.numel() <= held:  # further elements are anything
        assert ours.tolist() == theirs.tolist()
        assert not theirs.numel() or ours.storage_offset() == theirs.storage_offset()


def test_resizing_takes_a_memory_format(torch: Any) -> None:
    found = []
    for m in (tt, torch):
        x = m.arange(16).reshape(1, 2, 2, 4)
        x.resize_((1, 2, 2, 3), memory_format=m.channels_last)
        y = m.arange(12).resize_as_(x, memory_format=m.preserve_format)
        found.append((x.stride(), x.tolist(), y.stride(), y.tolist()))
        with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last"):
            y.resize_((2, 3), memory_format=m.channels_last)
        with pytest.raises(RuntimeError, match="Unsupported memory format"):
            y.resize_((2, 3), memory_format=m.preserve_format)
    assert found[0] == found[1]


def test_a_resized_view_still_shows_its_base() -> None:
    base = tt.arange(6)
    part = base[1:].resize_(2, 2)
    base[2] = 50
    assert part.tolist() == [[1, 50], [3, 4]]
    part.resize_(9)[0] = 7
    assert base.tolist() == [0, 1, 50, 3, 4, 5]
