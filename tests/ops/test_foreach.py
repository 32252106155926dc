"""Operations on lists of tensors, ``_foreach_*``: what PyTorch's optimizers call."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import assert_all_close, compare

X, Y, Z = (np.random.RandomState(i).uniform(0.2, 0.9, (2, 3)) for i in range(3))


def names(torch: Any) -> list[str]:
    """PyTorch's public functions on lists; ``_foreach_copy`` is its in-place form's other half."""
    return [name for name in dir(torch) if name.startswith("_foreach_")]


def rest(library: Any, name: str, y: Any, z: Any) -> list[tuple[Any, ...]]:
    """What the operation may take beside its list, in each of the forms there are."""
    plain = name.removeprefix("_foreach_").rstrip("_")
    if plain in ("add", "sub", "mul", "div", "maximum", "minimum", "clamp_min", "clamp_max", "pow"):
        forms: list[tuple[Any, ...]] = [([y, z],), (0.5,), ([0.5, 2],)]
        one = [(library.tensor(0.7).double(),)] if plain in ("add", "mul", "div") else []
        return forms + one
    if plain == "lerp":
        return [([y, z], 0.3), ([y, z], [0.3, 0.7]), ([y, z], [z, y])]
    if plain in ("addcmul", "addcdiv"):
        packed = library.tensor([0.5, 3.0], device="cpu")
        return [([y, z], [z, y], *value) for value in ((), (2,), ([0.5, 3.0],), (packed,))]
    if plain in ("norm", "powsum"):
        return [(), (1,), (3.0, library.float64)]
    return {"copy": [([y, z],)], "mm": [([y.mT, z.mT],)]}.get(plain, [()])


def test_every_name_of_pytorchs_is_here(torch: Any) -> None:
    assert len(names(torch)) > 90
    assert not [name for name in names(torch) if not hasattr(tt, name)]
    assert set(names(tt)) == set(names(torch)) == {n for n in names(tt) if n in dir(tt)}


def differentiable(torch: Any, name: str, form: int) -> bool:
    """Whether PyTorch has a derivative of this form of call."""
    x, y, z = (torch.tensor(a, requires_grad=True) for a in (X, Y, Z))
    tensors = [x * 1, y * 1] if name.endswith("_") else [x, y]
    try:
        found = getattr(torch, name)(tensors, *rest(torch, name, y, z)[form])
        torch.autograd.grad([f.sum() for f in found], [x, y], allow_unused=True)
    except RuntimeError as error:
        assert "not implemented" in str(error)
        return False
    return True


@pytest.mark.parametrize("name", [name for name in dir(tt) if name.startswith("_foreach_")])
def test_foreach_functions_are_pytorchs(torch: Any, name: str) -> None:
    """Values, dtypes and two orders of derivatives, of every form of call."""
    for form in range(len(rest(torch, name, *map(torch.tensor, (Y, Z))))):

        def call(library: Any, x: Any, y: Any, z: Any, form: int = form) -> Any:
            tensors = [x * 1, y * 1] if name.endswith("_") else [x, y]
            found = getattr(library, name)(tensors, *rest(library, name, y, z)[form])
            assert (found is tensors) == name.endswith("_") and len(found) == 2
            return found

        compare(call, X, Y, Z, orders=2 if differentiable(torch, name, form) else 0)


CALLS = {
    "alpha": lambda t, x, y: t._foreach_add(x, y, alpha=3),
    "alpha of one tensor": lambda t, x, y: t._foreach_add(x, y[0].sum(), alpha=2),
    "scalar": lambda t, x, y: t._foreach_mul(x, scalar=3),
    "scalars": lambda t, x, y: t._foreach_sub(self=x, scalars=[3, 1.5]),
    "other": lambda t, x, y: t._foreach_div(x, other=y),
    "exponent": lambda t, x, y: t._foreach_pow(x, exponent=[2, 3]),
    "of a number": lambda t, x, y: t._foreach_pow(2, y),
    "a tuple": lambda t, x, y: t._foreach_sqrt(tuple(x)),
    "value": lambda t, x, y: t._foreach_addcdiv(x, y, y, value=3),
    "scalars of products": lambda t, x, y: t._foreach_addcmul(x, y, y, scalars=[1, 3]),
    "weight": lambda t, x, y: t._foreach_lerp(x, y, weight=0.9),
    "weights": lambda t, x, y: t._foreach_lerp(x, y, weights=y),
    "integers": lambda t, x, y: t._foreach_sqrt([a.to(t.int64) for a in x]),
    "integers and a fraction": lambda t, x, y: t._foreach_maximum([a.long() for a in x], 0.5),
    "in place, of a tuple": lambda t, x, y: t._foreach_mul_(tuple(a.clone() for a in x), 2),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("case", CALLS)
def test_foreach_functions_accept_pytorchs_argument_forms(case: str) -> None:
    def call(library: Any, x: Any, y: Any) -> Any:
        return CALLS[case](library, [x, y], [y, x])

    compare(call, X, Y, orders=0)


WRONG: dict[str, Any] = {
    "must have at least one tensor": lambda t, x: t._foreach_sqrt([]),
    "have at least one tensor": lambda t, x: t._foreach_add_([], 1),
    "at least one tensor": lambda t, x: t._foreach_pow(2, []),
    "Tensor lists must have the same number of tensors, got 2 and 1":
        lambda t, x: t._foreach_add(x, x[:1]),
    "must have the same number of tensors, got 2 and 1":
        lambda t, x: t._foreach_addcdiv(x, x, x[:1]),
    "the same number of tensors, got 2 and 1": lambda t, x: t._foreach_copy_(x, x[:1]),
    "same number of tensors, got 2 and 1": lambda t, x: t._foreach_lerp(x, x, x[:1]),
    "must have same number of elements as scalar list": lambda t, x: t._foreach_mul(x, [1.0]),
    "have same number of elements as scalar list": lambda t, x: t._foreach_mul_(x, []),
    "scalar tensor expected to be 0 dim but it has 1 dimensions and 2 elements":
        lambda t, x: t._foreach_mul(x, t.ones(2)),
    "Expected length of scalars to match input of length 2 but got 1":
        lambda t, x: t._foreach_addcdiv(x, x, x, t.ones(1, device="cpu")),
    "Expected packed scalar Tensor to be of dimension 1. Got 0":
        lambda t, x: t._foreach_addcmul(x, x, x, t.tensor(1.0, device="cpu")),
    "must be tuple of Tensors, not Tensor": lambda t, x: t._foreach_sqrt(x[0]),
    "be tuple of Tensors, not int": lambda t, x: t._foreach_copy_(x, 3),
    "expected Tensor as element 0": lambda t, x: t._foreach_sqrt([1.0]),
    "expected Tensor as element 1": lambda t, x: t._foreach_add(x, [x[0], 2.0]),
    "received an invalid combination of arguments": lambda t, x: t._foreach_mul(x, "a"),
    "an invalid combination of arguments": lambda t, x: t._foreach_mul(x),
    "cannot compute the maximum of an empty tensor": lambda t, x: t._foreach_max([t.ones(0)]),
    "linalg.vector_norm: Expected a floating point or complex tensor":
        lambda t, x: t._foreach_norm([t.ones(1, dtype=t.int64)]),
    "can't be cast": lambda t, x: t._foreach_sqrt_([t.ones(1, dtype=t.int64)]),
    "with a bool tensor|with two bool tensors":
        lambda t, x: t._foreach_sub([t.ones(1, dtype=t.bool)], 1),
    "leaf Variable that requires grad":
        lambda t, x: t._foreach_add_([t.ones(2, requires_grad=True)], 1),
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_foreach_functions_refuse_what_pytorchs_refuse(torch: Any, text: str) -> None:
    kinds = []
    for library in (tt, torch):
        with pytest.raises((RuntimeError, TypeError), match=text) as caught:
            WRONG[text](library, [library.ones(2), library.ones(3)])
        kinds.append(caught.type)
    assert kinds[0] is kinds[1]


def test_functions_show_what_they_are() -> None:
    for name in (name for name in dir(tt) if name.startswith("_foreach_")):
        function = getattr(tt, name)
        assert (function.__name__, function.__module__) == (name, "tinytorch")
        assert next(iter(inspect.signature(function).parameters)) == "self"
        assert pickle.loads(pickle.dumps(function)) is function


def test_an_optimizer_written_with_foreach_functions_trains(torch: Any) -> None:
    """Adam on lists, as libraries write it, against PyTorch's own functions and its Adam."""
    results = []
    for library in (tt, torch):
        params = [library.tensor(X), library.tensor(Y)]
        means, squares = ([library.zeros_like(p) for p in params] for _ in range(2))
        for step in range(1, 4):
            grads = library._foreach_mul(params, 2)
            library._foreach_lerp_(means, grads, 0.1)
            library._foreach_mul_(squares, 0.999)
            library._foreach_addcmul_(squares, grads, grads, 1 - 0.999)
            roots = library._foreach_sqrt(squares)
            library._foreach_div_(roots, (1 - 0.999**step) ** 0.5)
            library._foreach_add_(roots, 1e-8)
            library._foreach_addcdiv_(params, means, roots, -0.01 / (1 - 0.9**step))
        results.append(params)
    own = [torch.tensor(a, requires_grad=True) for a in (X, Y)]
    adam = torch.optim.Adam(own, lr=0.01)
    for _ in range(3):
        adam.zero_grad()
        sum((p**2).sum() for p in own).backward()
        adam.step()
    assert_all_close(*results)
    assert_all_close(results[0], [p.detach() for p in own])
