"""Calls that PyTorch takes: numbers of NumPy's, bools among sizes, ``out=`` of other kinds."""

from __future__ import annotations

from typing import Any

import pytest

import tinytorch as tt
from tests.ops.test_taken_and_refused import outcome

NUMBERS_OF_NUMPY = """
L.ones(1, 1, 1).index_put((L.ones(1, 1, 1) > 0,), L.full((1, 1, 1), 2.0))
L.zeros(3).scatter(0, T([1]), np.float64(5.5))
L.zeros(3).scatter(0, T([1]), np.bool_(True))
L.zeros(3).scatter(0, T([1]), value=np.float64(5))
L.zeros(3).scatter_(0, T([1]), np.float64(5.5))
L.zeros(3, dtype=L.int64).scatter(0, T([1]), np.float64(5.5))
L.zeros(3).scatter(0, T([1]), np.float64(5.5), reduce='add')
L.searchsorted(T([1.0, 2.0, 3.0]), np.float32(2.0))
L.searchsorted(T([1, 2, 3]), np.int64(2))
L.searchsorted(T([1, 2, 3]), np.float64(2.5))
L.bucketize(np.float32(2.0), T([1.0, 2.0, 3.0]))
L.bucketize(np.int64(2), T([1, 2, 3]))
L.histogramdd(L.ones(4, 2), bins=np.int64(2))
L.histogramdd(L.ones(4, 2), bins=[np.int64(2), 3])
L.fft.fftn(L.ones(4, 4), s=np.int64(3))
"""

NOTHING_TO_PAD = """
F.pad(L.ones(3, 0, 5, 5), (0, 2, 0, 1), "circular")
F.pad(L.ones(0, 3, 3), (0, 2, 0, 1), "circular")
F.pad(L.ones(0, 3, 3), (1, 1), "reflect")
F.interpolate(L.ones(2, 3, 1), scale_factor=0.6, mode="area")
F.interpolate(L.ones(2, 0, 4), scale_factor=1.7, mode="area")
"""

WEIGHTS_THAT_ARE_VECTORS = """
F.linear(L.ones(2, 2, 3), L.arange(3.0), T(2.0))
F.linear(L.ones(2, 2, 2, 3), L.arange(3.0), T(2.0))
F.linear(L.ones(3), L.arange(3.0), T(2.0))
"""

BOOLS_AMONG_SIZES = """
L.arange(True)
L.arange(False, True)
L.arange(0, True, 0.5)
L.zeros(2, True)
L.zeros((2, True))
L.zeros(True, 2)
L.zeros((True, 2))
L.ones(2, False)
L.full((2, True), 1.0)
L.ones(2, 1).expand(2, True)
L.ones(2).view(2, True)
L.ones(2).view(True, 2)
L.ones(2).reshape((2, True))
L.ones(2).repeat(2, True)
L.tile(L.ones(2), (2, True))
L.ones(2).new_zeros(2, True)
L.ones(2, 3).permute(1, False)
L.ones(2, 3).permute(True, False)
L.ones(2, 3).sum((0, True))
L.ones(2, 3).sum((True, 0))
L.ones(2, 3).flip(0, True)
L.ones(2, 3).roll((1, True), (0, 1))
L.ones(2, 3).as_strided((2, True), (1, 1))
L.ones(2).resize_(2, True)
L.ones(4).split((3, True))
L.ones(2, 2).unflatten(0, (2, True))
F.pad(L.ones(2, 2), (1, True))
F.pad(L.ones(2, 2), (True, 1))
F.interpolate(L.ones(1, 1, 2, 2), size=(3, True))
F.avg_pool2d(L.ones(1, 1, 3, 3), (2, True))
F.max_pool2d(L.ones(1, 1, 3, 3), (True, 2))
F.adaptive_avg_pool2d(L.ones(1, 1, 3, 3), (2, True))
F.conv2d(L.ones(1, 1, 3, 3), L.ones(1, 1, 1, 1), stride=(2, True))
F.conv2d(L.ones(1, 1, 3, 3), L.ones(1, 1, 1, 1), padding=(0, True))
F.fold(L.ones(1, 1, 4), (2, 2), (1, True))
"""

ONE_SIZE_OF_A_TRANSFORM = """
L.fft.fftn(L.ones(4, 4), s=2)
L.fft.fftn(L.ones(4, 4), s=2, dim=0)
L.fft.ifftn(L.ones(4, 4), 2, 1)
L.fft.rfftn(L.ones(4, 4), s=2, dim=(0,))
L.fft.irfftn(L.ones(4, 4), s=2, dim=0)
L.fft.hfftn(L.ones(4, 4), s=2, dim=0)
L.fft.ihfftn(L.ones(4, 4), s=2, dim=0).resolve_conj()
L.fft.fft2(L.ones(4, 4), s=2, dim=0)
L.fft.fft2(L.ones(4, 4), s=2)
"""

RESULTS_IN_OTHER_KINDS = """
L.clamp(L.ones(3), L.zeros(3), L.ones(3), out=L.zeros(3, dtype=L.float64))
L.clamp(L.ones(3), L.zeros(3), L.ones(3), out=L.zeros(3, dtype=L.int64))
L.clamp(L.ones(3).long(), L.zeros(3).long(), out=L.zeros(3))
L.clamp(L.ones(3).double(), max=L.zeros(3).double(), out=L.zeros(3))
L.clamp(L.ones(3).double(), 0, 1, out=L.zeros(3))
L.clamp_min(L.ones(3), T(0), out=L.zeros(3, dtype=L.float64))
L.clamp_max(L.ones(3), 0, out=L.zeros(3, dtype=L.float64))
L.bernoulli(L.ones(3), out=L.zeros(3, dtype=L.int64))
L.bernoulli(L.ones(3), out=L.zeros(2, dtype=L.bool))
L.linalg.lstsq(L.eye(3), L.ones(3, 1), out=(*L.zeros(2, 0), L.zeros(0).long(), L.zeros(0)))
o = L.zeros(0).double(), *L.zeros(2, 0); L.linalg.lstsq(L.eye(3), L.ones(3, 1), out=(*o, o[1]))
L.addr(T(1.0).double(), L.ones(2), L.ones(2))
L.addr(T(2), L.ones(2).int(), L.ones(2).int(), beta=0)
L.addr(T(1.0).double(), L.ones(2), L.ones(2), out=L.zeros(2, 2))
"""

RESULTS_IN_OTHER_SHAPES = """
L.linspace(0, 1, 1, out=L.zeros(()))
L.linspace(0, 1, 4, out=L.zeros(2, 2))
L.linspace(0, 1, 3, out=L.zeros(2, 2))
L.logspace(0, 1, 4, out=L.zeros(2, 2).t())
L.arange(1, out=L.zeros(()))
o = L.zeros(2, 2); L.arange(4, out=o.t()); o
L.arange(1, 1, out=L.zeros(1, 4, 0))
L.range(0, 3, out=L.zeros(2, 2))
L.eye(2, out=L.zeros(4))
"""

NUMBERS_THAT_BYTES_DO_NOT_HOLD = """
F.pad(L.ones(3).byte(), (1, 1), value=-1)
F.pad(L.ones(3).byte(), (1, 1), value=256)
F.pad(L.ones(3).byte(), (1, 1), value=1.5)
F.pad(L.ones(3).bool(), (1, 1), value=2)
F.pad(L.ones(3, dtype=L.int8), (1, 1), value=300)
L.constant_pad_nd(L.ones(3).byte(), (1, 1), -1)
L.constant_pad_nd(L.ones(3).byte(), (1, 1), -1.5)
L.zeros(0, dtype=L.int8).median()
L.zeros(0, dtype=L.int16).nanmedian()
L.zeros(0, dtype=L.int32).median()
L.linspace(0, 1, 3, dtype=L.bool)
L.linspace(0, 300, 3, dtype=L.uint8)
L.linspace(-1e308, 1e308, 3, dtype=L.float64).nan_to_num(7)
L.logspace(0.5, 2.7, 1, dtype=L.int64)
"""

WHAT_COUNTS_AS_TRUE = """
L.signal.windows.hann(5, sym=1)
L.signal.windows.gaussian(5, std=1.0, sym=0)
L.signal.windows.bartlett(5, sym=None)
L.signal.windows.exponential(5, sym='a')
"""

NUMBERS_IN_OTHER_PLACES = """
L.ones(3, 3).byte().fill_diagonal_(-1)
L.ones(3, 3).byte().fill_diagonal_(300)
F.threshold(L.arange(4).byte(), -6, 9)
F.threshold(L.arange(4).byte(), 2, -9)
F.threshold(L.arange(4, dtype=L.int8), 300, 3)
F.threshold(L.arange(4, dtype=L.int8), 2, 300)
str(L.result_type(L.ones(2), np.int64(2)))[-7:]
str(L.result_type(np.float64(2), L.ones(2).int()))[-7:]
L.signal.windows.kaiser(T(3), dtype=L.float64)
L.signal.windows.blackman(True)
"""

EMPTY_ONES = """
L.cat([L.ones(0), L.ones(0)], dim=1)
L.cat([L.ones(0)], dim=-5)
L.cat([L.ones(0), L.ones(2, 2)], dim=1)
L.cat([L.ones(0), L.ones(2, 2)], dim=2)
L.trapezoid(L.ones(0, dtype=L.int8))
L.trapezoid(L.ones(2, 0).int())
L.trapezoid(L.ones(0, requires_grad=True)).requires_grad
L.trapezoid(L.ones(0, 3).int())
"""

TRUTH_AMONG_INDICES = """
L.arange(24).reshape(2, 3, 4)[:, False, ::2, -1]
L.arange(24).reshape(2, 3, 4)[:, True, ::2, -1]
L.arange(24).reshape(2, 3, 4)[0, :, True]
L.arange(24).reshape(2, 3, 4)[:, 0, :, True]
L.arange(24).reshape(2, 3, 4)[True, 0, :, True]
L.arange(24).reshape(2, 3, 4)[:, None, True, 0]
L.arange(24).reshape(2, 3, 4)[[0, 1], True, :, 0]
x = L.zeros(2, 3, 4); x[0, :, True] = T([[1.0], [2.0], [3.0]]).expand(3, 1, 4); x
x = L.zeros(2, 3, requires_grad=True); x[0, :, True].sum().backward(); x.grad
"""

SHAPES_OF_LEAVES = """
x = L.ones(6).reshape(2, 3).requires_grad_(); L.no_grad()(x.t_)(); [x.requires_grad, x.is_leaf]
x = L.ones(2, 3)[:].requires_grad_(); L.no_grad()(x.t_)(); L.autograd.grad((x**2).sum(), x)
x = L.ones(6)[:].requires_grad_(); L.no_grad()(x.unsqueeze_)(0); x[0].requires_grad
x = L.ones(6).requires_grad_(); L.no_grad()(x.unsqueeze_)(0); [x.requires_grad, x.is_leaf]
"""

GRADIENTS = """
x = L.ones(2, 2, requires_grad=True); L.renorm(x, 2, 0, float("inf")).sum().backward(); x.grad
c = (L.ones(1) * 1j).expand(3).requires_grad_(); x = c.as_strided((2,), (0,)).abs().sum(); \
L.autograd.grad(x, c, create_graph=True)
a, b = L.ones(2, 1, requires_grad=True), L.ones(1, 3, requires_grad=True); \
g = L.autograd.grad(L.polar(a, b), (a, b), L.ones(2, 3) * (1 + 0.5j), create_graph=True); \
L.autograd.grad(g[0].sum() + (g[1] ** 2).sum(), (a, b))
"""

SEVERAL_ELLIPSES = """
L.arange(24).reshape(2, 3, 4)[None, ..., None, ...]
L.arange(24).reshape(2, 3, 4)[..., 0, ...]
L.arange(24).reshape(2, 3, 4)[0, ..., T([1, 0]), ..., ...]
L.arange(24).reshape(2, 3, 4)[..., ..., ...]
L.arange(6).reshape(2, 3)[0, ..., 1, ..., None]
x = L.zeros(2, 3); x[..., 0, ...] = 5; x
x = L.zeros(2, 3, requires_grad=True); x[..., 0, ...].sum().backward(); x.grad
"""

ROOTS_OF_MINUS_ZERO = """
T([-0.0, 0.0, 4.0]) ** -0.5
T([-0.0, 0.0, 4.0], dtype=L.float64) ** -0.5
x = T([-0.0, 0.0, 4.0], requires_grad=True); (x ** 0.5).sum().backward(); x.grad
x = T([-0.0, 1.0, 4.0], requires_grad=True); g, = L.autograd.grad((x ** 0.5).sum(), x, \
create_graph=True); L.autograd.grad(g[1:].sum(), x)[0][1:]
"""

BUFFERS = """
x = bytearray(b"abcd"); y = L.asarray(x, dtype=L.uint8, copy=True); y[0] = 5; list(x)
x = np.ones((2, 2)) * 1j; L.asarray(memoryview(x[0]), dtype=L.complex128)
"""

SEQUENCES_BY_PROTOCOL = """
L.tensor(type("S", (), {"__len__": lambda s: 2, "__getitem__": lambda s, i: [0.5, 1][i]})())
L.tensor([type("S", (), {"__len__": lambda s: 2, "__getitem__": lambda s, i: [2, 3][i]})()] * 2)
L.tensor(type("S", (), {"__len__": lambda s: 2, "__getitem__": lambda s, i: s.missing})())
L.tensor(type("S", (), {"__getitem__": lambda s, i: [2, 3][i]})())
"""

IN_PLACE = """
x = T([0.5, 2.5], requires_grad=True); x.clone().polygamma_(0).sum().backward(); x.grad
x = T([0.5, 2.5], requires_grad=True); x.clone().polygamma_(1).sum().backward(); x.grad
x = L.ones(2, 3).double(); x[:, 1].polygamma_(2); x
"""

COMPLEX_WITHOUT_IMAGINARY_PART = """
L.ones(2).masked_fill(T([True, False]), L.tensor(2 + 0j))
L.ones(2).masked_fill_(T([True, False]), L.tensor(2 + 0j))
L.ones(2, dtype=L.float64).float_power_(2)
L.add(L.ones(2) * 1j, L.ones(2), alpha=2j)
L.addmm(L.ones(2, 2) * 1j, L.ones(2, 2) * 1j, L.ones(2, 2) * 1j, beta=1j)
"""

SIZES_AND_OTHERS = """
L.isclose(T([2 + 4j], dtype=L.cdouble), T([1 + 8.8523607j], dtype=L.cdouble), 0.5, 0.5)
[len(make(size=(3, 4))) for make in (L.ones(1).new, L.Tensor, L.LongTensor)]
[L.LongTensor(data=[1, 2]), L.LongTensor(other=T([3]))]
L.Size([1]) + (2,)
(2,) + L.Size([1]) + ()
L.Size([1]) + type("Any", (), {"__radd__": lambda self, other: tuple(other) + (7,)})()
type("Any", (), {"__add__": lambda self, other: tuple(other) + (7,)})() + L.Size([1])
"""

LINES = (
    COMPLEX_WITHOUT_IMAGINARY_PART + NUMBERS_OF_NUMPY + BOOLS_AMONG_SIZES + NOTHING_TO_PAD
    + ONE_SIZE_OF_A_TRANSFORM + RESULTS_IN_OTHER_KINDS + WEIGHTS_THAT_ARE_VECTORS
    + RESULTS_IN_OTHER_SHAPES + NUMBERS_THAT_BYTES_DO_NOT_HOLD + WHAT_COUNTS_AS_TRUE
    + NUMBERS_IN_OTHER_PLACES + EMPTY_ONES + TRUTH_AMONG_INDICES + SHAPES_OF_LEAVES + GRADIENTS
    + IN_PLACE + SEVERAL_ELLIPSES + ROOTS_OF_MINUS_ZERO + BUFFERS + SEQUENCES_BY_PROTOCOL
    + SIZES_AND_OTHERS
)  # fmt: skip


@pytest.mark.parametrize("line", [line for line in LINES.split("\n") if line])
def test_outcome_is_pytorchs(torch: Any, line: str) -> None:
    assert outcome(tt, line) == outcome(torch, line)
