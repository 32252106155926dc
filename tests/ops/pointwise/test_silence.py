"""Infinities, NaN, zeros and the largest numbers are computed with in silence, as in PyTorch.

NumPy would warn of them, which is an error here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from zlib import crc32

import numpy as np
import pytest

import tinytorch as tt
from tests.ops.test_derivatives import EXAMPLES, example_of
from tests.oracles import flatten
from tinytorch.dispatch import registry
from tinytorch.dispatch.op import OPS, REQUIRED
from tinytorch.dispatch.operation import Op

#: What every number of an example is replaced with, in turn.
PATTERNS = (
    "0", "1", "inf", "nan", "most", "least", "inf 1 -inf", "most -most 1",
    "inf 0 -1 nan -most 1 -inf most -0",
)  # fmt: skip
DTYPES = ("float16", "float32", "float64", "complex64")
#: What takes some of this is told of by the other tests.
REFUSED = (RuntimeError, ValueError, TypeError, IndexError, AssertionError, OverflowError)


def filled(shape: tuple[int, ...], pattern: str, dtype: str) -> Any:
    """A tensor of the numbers of a pattern, one after the other, in both parts if complex."""
    limits = np.finfo(dtype)
    words = {"most": limits.max, "-most": limits.min, "least": limits.smallest_subnormal}
    numbers = np.array([words.get(word, word) for word in pattern.split()], limits.dtype)
    values = np.resize(numbers, shape).astype(dtype)
    if values.dtype.kind == "c":
        values.imag = np.roll(values.real, 1)
    return tt.tensor(values, requires_grad=True)


def there_and_back(call: Callable[..., Any], *args: Any, **options: Any) -> None:
    """Call it and derive what it gives, if it takes what it is given."""
    with suppress(*REFUSED):
        outs = [
            out for out in flatten(call(*args, **options)) if getattr(out, "requires_grad", False)
        ]
        tt.autograd.backward(outs, [tt.ones_like(out) for out in outs])


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("key", EXAMPLES)
def test_examples_with_numbers_at_the_limits(key: str, pytestconfig: pytest.Config) -> None:
    """Two of the dtypes with each pattern, by a hash and the seed of samples."""
    call, arrays = example_of(key)
    first = crc32(f"{pytestconfig.getoption('--sample')}{key}".encode())
    for i, pattern in enumerate(PATTERNS):
        for dtype in DTYPES[(first + i) % 2 :: 2]:
            there_and_back(call, tt, *(
                filled(a.shape, pattern, dtype) if a.dtype.kind in "fc" else tt.tensor(a)
                for a in arrays
            ))  # fmt: skip


registry.load_all()


def needed(op: Op, tensor: Any) -> tuple[list[Any], dict[str, Any]]:
    """Arguments of which every tensor is ``tensor``; what else is needed is True or 1."""
    values = []
    for i, default in enumerate(op.plan.defaults):
        other: Any = True if op.annotations.get(op.plan.params[i]) == "bool" else 1
        if i in op.plan.tensors and (default is REQUIRED or default is not None):
            values.append([tensor, tensor] if i == op.plan.sequence else tensor)
        else:
            values.append(other if default is REQUIRED else default)
    return values[: op.plan.positional], dict(
        zip(op.plan.params[op.plan.positional :], values[op.plan.positional :], strict=True)
    )


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("name", [
    # The recurrence of a polynomial takes as many steps as the largest of its orders.
    name for name, op in OPS.items() if op.public and op.plan.tensors and "_polynomial_" not in name
])  # fmt: skip
def test_every_operation_with_numbers_at_the_limits(name: str, pytestconfig: pytest.Config) -> None:
    """Matrices of all patterns, vectors of half of them, by a hash and the seed of samples."""
    op = OPS[name]
    first = crc32(f"{pytestconfig.getoption('--sample')}{name}".encode()) % 2
    for shape, patterns in (((2, 2), PATTERNS), ((4,), PATTERNS[first::2])):
        for pattern in patterns:
            for dtype in DTYPES[1:]:
                args, options = needed(op, filled(shape, pattern, dtype))
                there_and_back(op.function, *args, **options)
