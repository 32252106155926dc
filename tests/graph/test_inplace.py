"""Views and in-place changes: the same programs on torch, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt

Program = Callable[[Any, Any], Any]


def on_base(lib: Any, x: Any) -> Any:
    y = x * 1
    view = y[0]
    y.mul_(2)
    return (view * view).sum()


def on_view(lib: Any, x: Any) -> Any:
    y = x * 1
    y[0].mul_(x[1])
    return (y * y).sum()


def on_view_of_view(lib: Any, x: Any) -> Any:
    y = x * 1
    y.t()[0][1:].mul_(x[0, 0])
    return (y * y).sum()


def other_view_sees_it(lib: Any, x: Any) -> Any:
    y = x * 1
    a, b = y.view(-1), y[:, 0]
    a[0:2] = x[1, :2] * 3
    return (b * b).sum() + y.sum()


def set_item(lib: Any, x: Any) -> Any:
    y = x * 1
    y[0, 1] = x[1, 0] * 5
    y[1] = 2.0
    return (y * y).sum()


def set_item_by_mask(lib: Any, x: Any) -> Any:
    y = x * 1
    y[y > 2.5] = 7.0
    return (y * y).sum()


def set_item_by_index(lib: Any, x: Any) -> Any:
    y = x * 1
    y[:, lib.tensor([0, 2])] = x[:, :2] * 2
    return (y * y).sum()


def into_constant(lib: Any, x: Any) -> Any:
    y = lib.zeros(2, 3, dtype=x.dtype)
    y[0] = x[1]
    y += x
    return (y * y).sum()


def into_view_of_constant(lib: Any, x: Any) -> Any:
    y = lib.zeros(2, 3, dtype=x.dtype)
    first = y[0]
    first.add_(x[1])
    return (y * first).sum()


def copy_over(lib: Any, x: Any) -> Any:
    y = x * 3
    y.copy_(x * x)
    return y.sum()


def augmented(lib: Any, x: Any) -> Any:
    y = x * 1
    y += x
    y *= x
    y -= 1
    y /= 2
    return y.sum()


def saved_result(lib: Any, x: Any) -> Any:
    y = (x * 1).exp_()
    return y.sum()


def constant_over_view(lib: Any, x: Any) -> Any:
    y = x * 1
    y[:, 1].zero_()
    return (y * y).sum()


def masked(lib: Any, x: Any) -> Any:
    y = x * 1
    y.masked_fill_(x > 3.5, 0.5)
    return (y * y).sum()


PROGRAMS = [
    on_base, on_view, on_view_of_view, other_view_sees_it, set_item, set_item_by_mask,
    set_item_by_index, into_constant, into_view_of_constant, copy_over, augmented, saved_result,
    constant_over_view, masked,
]  # fmt: skip
START = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_gradients_of_in_place_programs_are_pytorchs(torch: Any, program: Program) -> None:
    results = []
    for lib in (tt, torch):
        x = lib.tensor(START, dtype=lib.float64, requires_grad=True)
        out = program(lib, x)
        out.backward()
        results.append([out.item(), *x.grad.reshape(-1).tolist()])
    assert results[0] == pytest.approx(results[1], rel=1e-14)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_gradients_agree_with_finite_differences(program: Program) -> None:
    x = tt.tensor(START, dtype=tt.float64, requires_grad=True)
    assert tt.autograd.gradcheck(lambda t: program(tt, t), (x,))
    assert tt.autograd.gradgradcheck(lambda t: program(tt, t), (x,))


def test_leaf_is_not_changed_in_place() -> None:
    x = tt.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used"):
        x.add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x[0] = 1.0
    with tt.no_grad():
        x.add_(1)
    assert x.tolist() == [2.0, 2.0]


def test_view_of_leaf_is_not_changed_in_place() -> None:
    x = tt.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x[0:1].add_(1)


def test_saved_tensor_that_changed_names_both_operations() -> None:
    x = tt.ones(2, requires_grad=True)
    y = x * 2
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError) as info:
        z.sum().backward()
    text = str(info.value)
    assert "modified by an inplace operation" in text
    assert "output 0 of AddBackward0" in text and "saved by MulBackward0" in text


def test_a_tensor_that_no_gradient_rule_saved_may_be_changed() -> None:
    x = tt.ones(2, requires_grad=True)
    y = x * 2
    z = y + 1
    y.mul_(3)
    z.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_views_of_unbind_are_not_changed_in_place() -> None:
    x = tt.ones(2, 2, requires_grad=True) * 1
    with pytest.raises(RuntimeError, match="returns multiple views"):
        x.unbind()[0].mul_(2)


def test_expanded_memory_is_not_written() -> None:
    x = tt.ones(1).expand(3)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x.add_(1)


def test_failed_change_leaves_memory_and_history() -> None:
    x = tt.ones(2, requires_grad=True)
    y = x * 2
    node, version = y.grad_fn, y._version
    with pytest.raises(RuntimeError):
        y.add_(tt.ones(3))
    assert y.grad_fn is node and y._version == version and y.tolist() == [2.0, 2.0]


def test_an_in_place_result_of_a_wider_dtype_is_refused() -> None:
    x = tt.ones(2, dtype=tt.int64)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output"):
        x.add_(0.5)


def test_an_in_place_result_of_a_larger_shape_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"output with shape \[3\] doesn't match the broadcast"):
        tt.ones(3).add_(tt.ones(2, 3))


@pytest.mark.parametrize(("op", "which"), [
    (lambda x: tt.linalg.svd(x), 1),
    (lambda x: tt.linalg.qr(x), 0),
    (lambda x: tt.linalg.eigh(x @ x.mT), 1),
    (lambda x: tt.max(x, 1), 1),
    (lambda x: tt.sort(x, 1), 1),
], ids=["svd", "qr", "eigh", "max", "sort"])  # fmt: skip
def test_a_changed_result_among_several_is_noticed(op: Any, which: int) -> None:
    x = tt.tensor([[4.0, 1.0], [2.0, 3.0]], requires_grad=True)
    results = op(x)
    with tt.no_grad():
        results[which].zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation.*is at version 1"):
        results[0].sum().backward()


#: Parts of complex numbers, and pairs of real ones as complex: views of another kind.
OTHER_KINDS = {
    "imag": lambda lib, z: z.imag,
    "real": lambda lib, z: z.real,
    "part of imag": lambda lib, z: z.imag[1:],
    "view_as_real": lambda lib, z: lib.view_as_real(z.t())[..., 1],
    "view_as_complex": lambda lib, z: lib.view_as_complex(lib.view_as_real(z))[0],
}
CHANGES = {
    "pow_": lambda lib, v, w: v.pow_(3),
    "mul_": lambda lib, v, w: v.mul_(w),
    "copy_": lambda lib, v, w: v.copy_(w),
    "setitem": lambda lib, v, w: v.__setitem__(0, v[-1].clone() * w),
}


@pytest.mark.parametrize("view", OTHER_KINDS)
@pytest.mark.parametrize("change", CHANGES)
def test_in_place_changes_of_views_in_another_dtype_are_recorded(
    torch: Any, view: str, change: str
) -> None:
    found = []
    for lib in (tt, torch):
        z = lib.tensor([[-1.25 + 2j, 1 + 1j], [0.5 - 1j, 2j]], dtype=lib.complex128)
        w = lib.tensor(1.5, dtype=lib.float64, requires_grad=True)
        z.requires_grad_()
        base = z * 1
        shown = OTHER_KINDS[view](lib, base)
        CHANGES[change](lib, shown, w)
        loss = (base**2 * (2 - 3j)).real.sum() + shown.abs().sin().sum()
        first = lib.autograd.grad(loss, (z, w), create_graph=True, allow_unused=True)
        second = lib.autograd.grad((first[0].real * first[0].imag).sum(), z)
        found.append([g.detach().numpy(force=True) for g in (*first, *second) if g is not None])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


def test_in_place_changes_through_view_as_complex_are_recorded(torch: Any) -> None:
    found = []
    for lib in (tt, torch):
        x = lib.tensor([[-1.25, 2.0], [0.5, 3.0]], requires_grad=True)
        base = x * 1
        lib.view_as_complex(base).pow_(2)
        (base * lib.tensor([1.0, 5.0])).sum().backward()
        found.append(x.grad.numpy(force=True))
    np.testing.assert_allclose(*found, rtol=1e-6)
