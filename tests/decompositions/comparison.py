"""PyTorch's arguments and results in tinytorch, and how they compare."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from decompositions import sources

import tinytorch as tt
from tests.oracles import DECOMPOSED


def to_tinytorch(value: Any) -> Any:
    """Convert PyTorch's tensors, dtypes, devices and sizes in a nested value to tinytorch's."""
    import torch

    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
        return getattr(sources.load(), str(value).removeprefix("torch."))
    if isinstance(value, torch.device):
        return tt.device("cpu")
    if isinstance(value, torch.Size):
        return tt.Size(value)
    if type(value) in (tuple, list):
        return type(value)(to_tinytorch(item) for item in value)
    if isinstance(value, dict):
        return {key: to_tinytorch(item) for key, item in value.items()}
    return value


def _tensor(given: Any) -> tt.Tensor:
    """Copy a tensor with its whole storage, strides and offset."""
    plain = given.detach().resolve_conj().resolve_neg()
    elements = plain.untyped_storage().nbytes() // plain.element_size()
    memory = tt.tensor(plain.as_strided((elements,), (1,), 0).numpy())
    return memory.as_strided(plain.shape, plain.stride(), plain.storage_offset())


def first_samples(info: Any, dtype: Any, count: int, grad: bool = False) -> Iterator[Any]:
    """PyTorch's samples of an operation; its ``sample_inputs`` reads the stack for each of them."""
    import torch

    torch.manual_seed(0)
    drawn = info.sample_inputs_func(info, "cpu", dtype, grad) if dtype in info.dtypes else ()
    return itertools.islice(drawn, count)


def leaves(value: Any) -> list[Any]:
    """Flatten nested tuples, lists and dictionaries."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [item for part in value for item in leaves(part)]
    return [value]


def _size(tensor: Any) -> int:
    """Bytes of the real part of an element; 8 for integers."""
    floats = tensor.is_floating_point() or tensor.is_complex()
    return tensor.element_size() // (1 + tensor.is_complex()) if floats else 8


def assert_same(found: Any, wanted: Any, given: Any = ()) -> None:
    """Assert that two nested results have the same tensors and Python values.

    The least precise dtype among the results and the tensors ``given`` sets the tolerance.
    """
    found, wanted = leaves(found), leaves(wanted)
    tensors = [x for x in (*wanted, *leaves(given)) if hasattr(x, "element_size")]
    rtol, atol = DECOMPOSED[min(map(_size, tensors), default=8)]
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        if not hasattr(theirs, "detach"):
            np.testing.assert_equal(ours, theirs)
            continue
        assert str(ours.dtype).removeprefix("tiny") == str(theirs.dtype)
        assert tuple(ours.shape) == tuple(theirs.shape)
        numbers = theirs.detach().resolve_conj().resolve_neg().numpy()
        exact = numbers.dtype.kind not in "fc"
        bounds = (0.0, 0.0) if exact else (rtol, atol)
        np.testing.assert_allclose(ours.detach().cpu().numpy(force=True), numbers, *bounds)
