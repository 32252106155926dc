"""Call a function of tinytorch and PyTorch's of the same name, and compare all they give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt

TOLERANCE = {
    "float64": {"rtol": 1e-9, "atol": 1e-10}, "complex128": {"rtol": 1e-9, "atol": 1e-10},
    "float32": {"rtol": 2e-5, "atol": 2e-5}, "float16": {"rtol": 2e-3, "atol": 2e-3},
}  # fmt: skip


def host(tensor: Any) -> np.ndarray[Any, Any]:
    """The values of either library's tensor."""
    if isinstance(tensor, tt.Tensor):
        tensor = tensor.detach().cpu()
        return np.asarray(tensor.numpy())
    return np.asarray(tensor.detach().numpy())


def close(ours: Any, theirs: Any) -> None:
    """Assert equal shape, dtype and values, within the dtype's tolerance."""
    a, b = host(ours), host(theirs)
    assert a.shape == b.shape and a.dtype == b.dtype
    np.testing.assert_allclose(a, b, **TOLERANCE.get(b.dtype.name, {}))


def _given(library: Any, value: Any, grad: bool) -> Any:
    if isinstance(value, np.ndarray):
        grad = grad and value.dtype.kind in "fc"
        return library.tensor(value.copy(), requires_grad=grad)
    return value


def compare(name: str, *args: Any, grad: bool = True, **options: Any) -> None:
    """Assert that ``nn.functional.name`` gives the same results and gradients in both.

    Args:
        name: The function, or a dotted name from the library's top.
        *args: Its arguments; arrays become tensors that require grad.
        grad: Whether to compare gradients, for a random cotangent.
        **options: Its keyword arguments, likewise.
    """
    import torch

    outs, leaves = [], []
    for library in (tt, torch):
        function = library
        for part in (name if "." in name else f"nn.functional.{name}").split("."):
            function = getattr(function, part)
        tensors = [_given(library, a, grad) for a in args]
        named = {key: _given(library, a, grad) for key, a in options.items()}
        outs.append(function(*tensors, **named))
        everything = (*tensors, *named.values())
        leaves.append([t for t in everything if getattr(t, "requires_grad", False)])
    ours, theirs = (list(out) if isinstance(out, (tuple, list)) else [out] for out in outs)
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        close(a, b)
    if theirs[0].requires_grad:
        cotangent = np.random.randn(*theirs[0].shape).astype(host(theirs[0]).dtype)
        ours[0].backward(tt.tensor(cotangent))
        theirs[0].backward(torch.tensor(cotangent))
        for a, b in zip(*leaves, strict=True):
            wanted = torch.zeros_like(b) if b.grad is None else b.grad
            close(tt.zeros_like(a) if a.grad is None else a.grad, wanted)


def refuses(name: str, error: type[Exception], text: str, *args: Any, **options: Any) -> None:
    """Assert that ``nn.functional.name`` raises ``error`` with ``text``; arrays become tensors."""
    tensors = [tt.tensor(a) if isinstance(a, np.ndarray) else a for a in args]
    named = {k: tt.tensor(a) if isinstance(a, np.ndarray) else a for k, a in options.items()}
    with pytest.raises(error, match=text):
        getattr(tt.nn.functional, name)(*tensors, **named)
