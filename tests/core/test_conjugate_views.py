"""Conjugates are views, computed when they are read: what is written to one reaches its base."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.calls import Call, call_with_names, words
from tests.oracles import assert_all_close

#: Each says what it did to the matrix ``z``, of which ``c`` is the conjugate.
WRITES: list[Call] = [
    lambda c: c.mul_(2),
    lambda c: c.add_(c),
    lambda c, z: c.mul_(z),
    lambda c, z: c.copy_(z),
    lambda c: c.zero_(),
    lambda c: c.fill_(3 - 1j),
    lambda c: c.__setitem__(0, 5j),
    lambda c: c.__setitem__((slice(None), 1), c[:, 0]),
    lambda L, c: c.__setitem__(L.tensor([1, 0]), c.clone()),
    lambda L, c: c.__setitem__(c.abs() > 2, 1j),
    lambda c: c[1].mul_(1j),
    lambda c: c.t()[0].sub_(1j),
    lambda c: c.view(4)[1:3].add_(2j),
    lambda c: c.unsqueeze(0).transpose(0, 2)[1].exp_(),
    lambda c: c.diagonal().copy_(c[0]),
    lambda c: c.conj().mul_(1j),
    lambda c: c.imag.add_(1),
    lambda c: c.imag[0].copy_(c.real[1]),
    lambda c: c.real.mul_(3),
    lambda c: c.detach().mul_(1j),
    lambda c: c.data.sub_(1j),
    lambda c: c.unbind()[1].mul_(1j),
    lambda c: c.split(1, 1)[0].mul_(1j),
    lambda c: c.as_strided((2,), (3,), 0).fill_(2j),
    lambda c: c.index_fill_(0, c.real[0].argsort(), 2j),
    lambda L, c: c.masked_fill_(L.tensor([True, False]), 7j),
    lambda L, c: L.add(L.ones(2, 2), 1j, out=c),
    lambda L, c: L.matmul(c, c, out=c.clone().conj()),
    lambda z: z.mH.mul_(2j),
    lambda z: z.H[0, 1].fill_(2j),
    lambda z: z.adjoint()[1].zero_(),
    lambda c: c.mT.mul_(2j),
    lambda c: c.t_().add_(c.mT * 1j),
    lambda c: c.unsqueeze_(0).mul_(2j),
    lambda c: c.squeeze_().transpose_(0, 1)[0].mul_(2j),
    lambda c: c.resize_(2).mul_(2j),
    lambda c: c.as_strided_((2,), (3,)).mul_(2j),
    lambda c: c.detach().unsqueeze_(0)[0, 1].mul_(2j),
]
READS: list[Call] = [
    lambda L, c: (c, c.is_conj(), c.conj().is_conj(), c.resolve_conj().is_conj(), c.is_neg()),
    lambda z, c: (z.is_conj(), c._is_view(), c._base is z, c.data_ptr() == z.data_ptr()),
    lambda z: (z.mH, z.mH.is_conj(), z.mH.stride(), z.mH.is_contiguous(), z.H.shape),
    lambda c: (c.imag, c.imag.is_neg(), c.imag.resolve_neg().is_neg(), c.real.is_neg()),
    lambda c: (c.t().is_conj(), c.flatten().is_conj(), c.reshape(4), c[:, [0]], c[0, 1].item()),
    lambda c: (c.clone().is_conj(), c.contiguous().is_conj(), c.detach().is_conj()),
    lambda c, z: (c @ z, c @ c, z @ c, c + z, 2 - c, c * z, c == z, c.abs(), c.angle(), -c),
    lambda c: (c.sum(), c.mean(0), c.cumsum(1), c.norm(), c.tolist(), str(c.dtype)[-9:]),
    lambda L, c, z: (L.stack([c, z]), L.cat([z, c]), L.where(z.real > 0, c, z), L.vdot(c[0], z[0])),
    lambda L, c: (L.linalg.inv(c), L.linalg.eigvalsh(c @ c.mH), L.fft.fft(c)),
    lambda L, c: L.einsum("ij,ij", c, c),
    lambda L, c: (c.as_strided((2,), (2,), 1), c.storage_offset(), c[1].storage_offset()),
    lambda L, c: c.to(L.complex128).is_conj() or c.to(L.complex64),
    lambda c: c.expand(3, 2, 2).is_conj(),
    lambda L, c: c.view(L.float64),
    lambda L, c: L.view_as_real(c),
    lambda c: c.numpy(),
    lambda c: c.imag.numpy(),
    lambda z, c: (z.mul_(1j), c),
    lambda L, z: (L.conj(z.real) is z, z.real.conj().is_conj(), z.abs().mH.is_conj()),
]  # fmt: skip
#: Of ``y``, which is a copy of the leaf.
RECORDED: list[Call] = [
    lambda L, y: y.conj().mul_(2j),
    lambda L, y: y.conj()[0].mul_(y.conj()[1].clone()),
    lambda L, y: y.conj().__setitem__(0, y[1] * 2),
    lambda L, y: y.conj().t()[0].copy_(y[0].abs()),
    lambda L, y: y.conj().imag.mul_(3),
    lambda L, y: y.conj().real.copy_(y.abs()),
    lambda L, y: y.mH.add_(y),
    lambda L, y: y.conj().conj().mul_(y),
    lambda L, y: y.conj().real.copy_(y.clone().abs()),
    lambda L, y: y.mul_(y.clone().conj()),
    lambda L, y: y.conj().sqrt_(),
]


def names(L: Any) -> dict[str, Any]:
    z = L.tensor([[1 + 2j, 3 - 1j], [0.5j, 2 + 0.25j]], dtype=L.complex128)
    return {"L": L, "z": z, "c": z.conj()}


def outcome(L: Any, call: Call) -> Any:
    given = names(L)
    try:
        return [call_with_names(call, given), given["z"], given["c"]]
    except RuntimeError as error:
        return type(error).__name__, str(error)[:60], given["z"]


def comparable(value: Any) -> list[Any]:
    """Numbers as arrays, and everything else."""
    if isinstance(value, (list, tuple)):
        return [item for part in value for item in comparable(part)]
    if hasattr(value, "resolve_conj"):
        return [value.detach().resolve_conj().resolve_neg()]
    return [value]


def assert_alike(call: Call, torch: Any, get: Any) -> None:
    ours, theirs = comparable(get(tt, call)), comparable(get(torch, call))
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert_all_close(a, b) if isinstance(b, torch.Tensor) else None
        assert isinstance(b, (torch.Tensor, complex)) or a == b


@pytest.mark.parametrize("call", WRITES, ids=words)
def test_writes_to_conjugate_views_reach_the_base(torch: Any, call: Call) -> None:
    assert_alike(call, torch, lambda L, call: outcome(L, call)[1:])


@pytest.mark.filterwarnings("ignore:Casting complex values:UserWarning")
@pytest.mark.parametrize("call", READS, ids=words)
def test_reads_of_conjugate_views_are_pytorchs(torch: Any, call: Call) -> None:
    assert_alike(call, torch, outcome)


def gradients(L: Any, call: Call) -> Any:
    leaf = names(L)["z"].requires_grad_()
    y = leaf * 1
    view = y.conj()
    call_with_names(call, {"L": L, "y": y})
    total = (y * L.tensor([1j, 2.0])).sum().abs() + (view[0] * 3j).real.sum()
    try:
        total.backward()
    except RuntimeError as error:
        return str(error)[:60]
    return [y, view, view.grad_fn.name(), leaf.grad]


@pytest.mark.parametrize("call", RECORDED, ids=words)
def test_gradients_flow_through_writes_to_conjugate_views(torch: Any, call: Call) -> None:
    assert_alike(call, torch, gradients)


#: Calls on ``d``, a leaf that is itself a conjugate view.
OF_LEAVES: list[Call] = [
    lambda d: (d * 2).sum().abs(),
    lambda d: d[0].abs().sum(),
    lambda d: d.mT.conj()[1].imag.sum(),
    lambda L, d: L.linalg.det(d).abs(),
    lambda d: (d * 1).conj().mul_(1j).real.sum(),
]


@pytest.mark.parametrize("call", OF_LEAVES, ids=words)
def test_conjugate_views_that_are_leaves_get_gradients(torch: Any, call: Call) -> None:
    found = []
    for L in (tt, torch):
        leaf = names(L)["c"].detach().requires_grad_()
        assert leaf.is_conj() and leaf.is_leaf
        call_with_names(call, {"L": L, "d": leaf}).backward()
        found.append(leaf.grad.resolve_conj())
    assert_all_close(*found)


def test_leaves_and_their_views_are_not_written_to_where_it_is_recorded(torch: Any) -> None:
    for L in (tt, torch):
        leaf = names(L)["z"].requires_grad_()
        with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
            leaf.conj().mul_(2)
        with L.no_grad():
            leaf.conj().mul_(2j)
        assert leaf[0, 0].item() == (1 + 2j) * -2j


def test_copies_and_pickles_hold_the_numbers() -> None:
    c = names(tt)["c"]
    numbers = c.resolve_conj().numpy()
    assert tt.nn.Parameter(c).is_conj() is False
    for found in (copy.deepcopy(c), pickle.loads(pickle.dumps(c)), tt.nn.Parameter(c), c.clone()):
        np.testing.assert_array_equal(found.detach().numpy(), numbers)
    np.testing.assert_array_equal(np.asarray(c), numbers)
    np.testing.assert_array_equal(c.numpy(force=True), numbers)
    detached = c.detach().numpy()
    np.testing.assert_array_equal(detached, numbers)
    with pytest.raises(ValueError, match="read-only"):
        detached[0] = 0
    with pytest.raises(BufferError, match="conjugate bit"):
        np.from_dlpack(c)


def test_conjugates_have_second_derivatives() -> None:
    z = names(tt)["z"].requires_grad_()
    assert tt.autograd.gradcheck(lambda z: z.conj() * z.mH @ z.conj().imag.to(z.dtype), (z,))
    assert tt.autograd.gradgradcheck(lambda z: z.conj() * z * z.mH, (z,))


def test_vmap_handles_conjugate_views() -> None:
    z = names(tt)["z"]
    found = tt.func.vmap(lambda row: row.conj().mul_(2) + row.conj().imag)(z)
    np.testing.assert_allclose(found.numpy(), 2 * z.numpy().conj() - z.numpy().imag)
    assert tt.func.vmap(lambda row, c: row * c, (0, None))(z, z[0].conj()).shape == (2, 2)


def test_conjugate_views_are_saved_in_files(tmp_path: Any) -> None:
    c = names(tt)["c"]
    tt.save({"c": c}, tmp_path / "c.pt")
    assert tt.equal(tt.load(tmp_path / "c.pt")["c"], c)
