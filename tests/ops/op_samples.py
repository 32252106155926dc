"""Samples of PyTorch's database of operations, as arguments for both libraries."""

from __future__ import annotations

import functools
import itertools
import random
import re
import warnings
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db

import tinytorch as tt
from tests.fuzz.compare import CaughtError, error_of

#: Random or uninitialized results, sparse tensors, and names that are not public.
_LEFT_OUT = re.compile(
    r"rand|bernoulli|multinomial|normal_|normal$|dropout|rrelu|uniform|cauchy|exponential|geometric"
    r"|empty|resize|sparse|to_dense|lowrank|lobpcg|nonzero_static|item|fractional|_refs|^_[a-z]"
    r"|__r\w+__|ops\.|jiterator|flash|efficient|multi_head_attention|embedding_bag|chalf|svd|eig|qr"
)


#: One operation of this many is tried, chosen by a hash of its name; 1 tries all.
ONE_OF = 6


def operations(seed: int) -> list[Any]:
    """Sample of the deterministic operations that both libraries have by the same name."""
    return [op for op in op_db if not zlib.crc32(f"{seed}{op.name}".encode()) % ONE_OF
            and not _LEFT_OUT.search(op.name) and function_of(torch, op.name)
            and function_of(tt, op.name)]  # fmt: skip


def function_of(library: Any, name: str) -> Callable[..., Any] | None:
    """The public function of a name, or the method of tensors."""
    # Where PyTorch has a method alone, the function here is NumPy's.
    found = error_of(lambda: functools.reduce(getattr, name.split("."), torch))
    if not isinstance(found, CaughtError):
        found = error_of(lambda: functools.reduce(getattr, name.split("."), library))
    if not isinstance(found, CaughtError):
        return found  # type: ignore[no-any-return]
    method = getattr(library.Tensor, name, None)
    return method if callable(method) else None


def samples(op: Any, dtype: Any, many: int, most: int = 1000) -> Iterator[Any]:
    """Samples with different kinds of arguments, of tensors with at most ``most`` elements."""
    if dtype not in op.supported_dtypes("cpu"):
        return
    torch.manual_seed(0)
    random.seed(0)
    gradients = dtype.is_floating_point and op.supports_autograd
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = error_of(
            lambda: list(
                itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=gradients), 16)
            )
        )
    kinds: set[Any] = set()
    for sample in made if isinstance(made, list) else ():
        values = [sample.input, *sample.args]
        kind = tuple(getattr(v, "ndim", type(v).__name__) for v in values), tuple(sample.kwargs)
        large = any(t.numel() > most for t in tensors_of([*values, sample.kwargs]))
        if kind not in kinds and not large and len(kinds) < many:
            kinds.add(kind)
            yield sample


def tensors_of(value: Any) -> list[Any]:
    """The tensors among arguments or results, also in lists and dictionaries."""
    if isinstance(value, (torch.Tensor, tt.Tensor)):
        return [value]
    parts = value.values() if isinstance(value, dict) else value
    if not isinstance(value, (list, tuple, dict)):
        return []
    return [t for part in parts for t in tensors_of(part)]


class Unusable(Exception):
    """Raised for an argument that cannot be converted for the other library."""


def replace(value: Any, change: Callable[[Any], Any]) -> Any:
    """Arguments with every tensor replaced by what ``change`` returns for it."""
    if isinstance(value, (torch.Tensor, tt.Tensor)):
        return change(value)
    if isinstance(value, torch.Size):
        return tuple(value)
    if isinstance(value, (list, tuple)):
        parts = [replace(part, change) for part in value]
        if hasattr(value, "_fields"):
            return type(value)(*parts)
        return type(value)(parts)
    if isinstance(value, dict):
        return {name: replace(part, change) for name, part in value.items()}
    return value


class Operands:
    """Arguments for PyTorch and equal ones for tinytorch; a tensor given twice stays one tensor.

    Attributes:
        theirs: A list of PyTorch's positional arguments, and a dictionary of the others.
        ours: The same for tinytorch.
    """

    def __init__(self, args: Any, options: Any, gradients: bool = True) -> None:
        copies: dict[int, tuple[Any, Any]] = {}

        def copy(tensor: Any) -> tuple[Any, Any]:
            if id(tensor) not in copies:
                copies[id(tensor)] = _copies(tensor, gradients and tensor.requires_grad)
            return copies[id(tensor)]

        self.theirs = replace([list(args), options], lambda t: copy(t)[0])
        self.ours = _translate(replace([list(args), options], lambda t: copy(t)[1]))

    def of(self, library: Any) -> Any:
        """Arguments for one of the libraries."""
        return self.ours if library is tt else self.theirs


def _copies(tensor: Any, gradient: bool) -> tuple[Any, Any]:
    if tensor.layout is not torch.strided or tensor._is_zerotensor():
        raise Unusable
    plain = tensor.detach().resolve_conj().resolve_neg()
    name = str(tensor.dtype).rpartition(".")[2]
    found = error_of(lambda: torch.clone(plain.float() if name == "bfloat16" else plain).numpy())
    if isinstance(found, CaughtError):
        raise Unusable
    ours = tt.from_numpy(found).to(getattr(tt, name))
    return torch.clone(plain).requires_grad_(gradient), ours.requires_grad_(gradient)


def _translate(value: Any) -> Any:
    if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
        return getattr(tt, str(value).rpartition(".")[2])
    if isinstance(value, torch.device):
        return "cpu"
    if isinstance(value, (torch.Generator, torch.nn.Module)):
        raise Unusable
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_translate(part) for part in value)
    if isinstance(value, dict):
        return {name: _translate(part) for name, part in value.items()}
    return value
