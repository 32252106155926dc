"""Calls of every operation that PyTorch's database has samples of, with awkward inputs.

A call is one expression over ``L``, so that a difference prints as it goes into a test.
"""

from __future__ import annotations

import random
import re
import warnings
from itertools import islice
from typing import Any

import torch

from tests.fuzz.compare import Difference, Failure, difference_of, error_of

DTYPES = (
    "float64", "float32", "float16", "bfloat16", "complex64", "complex128", "int64", "int32",
    "int8", "uint8", "bool",
)  # fmt: skip
#: Their values are not determined: uninitialized, or up to a sign, order or rotation.
UNDETERMINED = re.compile(
    r"empty|resize|svd|eig|qr\b|lowrank|lobpcg|lu_factor|lu$|ldl|nonzero_static|sparse|to_dense"
    r"|_refs|lstsq|^_[a-z]|__r\w+__|ops\.|geqrf|ormqr|jiterator|argsort|flash|efficient|histogram|clone|item|randn|rand"
)
#: Parts that make tensors awkward; the shape stays.
LAYOUTS = (
    "{t}", "{t}", "{t}", "L.stack([{t}, {t}], -1)[..., 0]", "{t}.mT.contiguous().mT",
    "{t}[:1].expand({t}.shape)", "{t}[:0]", "{t}[..., :0]", "{t}.flip(0)", "{t}[None][0]",
)  # fmt: skip
SPECIAL = (float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e30, -1e-30, 1.0, -1.0)


class Calls:
    """Generator of calls, by seed."""

    def __init__(self) -> None:
        from torch.testing._internal.common_methods_invocations import op_db

        self.operations = [op for op in op_db if not UNDETERMINED.search(op.name)]
        self.samples: dict[tuple[int, str], list[Any]] = {}

    def call(self, seed: int) -> list[str]:
        """An expression, and what is done with its result."""
        # Samples take longer than calls: ten calls in a row are of one operation and dtype.
        shared, r = random.Random(seed // 10), random.Random(seed)
        while True:
            at = shared.randrange(len(self.operations))
            dtypes = DTYPES[:6] if shared.random() < 0.6 else DTYPES
            samples = self._samples(at, shared.choice(dtypes))
            for _ in range(8 if samples else 0):
                text = self._expression(r, self.operations[at], r.choice(samples))
                if text is not None and len(text) < 1500:
                    return [text]

    def _samples(self, at: int, dtype: str) -> list[Any]:
        key = at, dtype
        if key not in self.samples:
            op, kind = self.operations[at], getattr(torch, dtype)
            found = []
            if kind in op.supported_dtypes("cpu"):
                torch.manual_seed(at)
                random.seed(at)
                made = error_of(lambda: list(islice(op.sample_inputs("cpu", kind), 16)))
                found = made if isinstance(made, list) else []
            self.samples[key] = found
        return self.samples[key]

    def _expression(self, r: random.Random, op: Any, sample: Any) -> str | None:
        try:
            values = [spell(r, v) for v in (sample.input, *sample.args)]
            named = {key: spell(r, v) for key, v in sample.kwargs.items()}
        except (TypeError, RuntimeError):
            return None
        if r.random() < 0.08 and "dtype" in named:
            named["dtype"] = f"L.{r.choice(DTYPES)}"
        elif r.random() < 0.08 and op.supports_out:
            named["out"] = f"L.empty(0, dtype=L.{r.choice(DTYPES)})"
        rest = ", ".join((*values[1:], *(f"{key}={v}" for key, v in named.items())))
        forms = [f"L.{op.name}({values[0]}{', ' if rest else ''}{rest})"]
        if isinstance(sample.input, torch.Tensor) and hasattr(torch.Tensor, op.name):
            forms.append(f"{values[0]}.{op.name}({rest})")
            if hasattr(torch.Tensor, f"{op.name}_"):
                forms.append(f"{values[0]}.clone().{op.name}_({rest})")
        if isinstance(error_of(lambda: eval(f"L.{op.name}", {"L": torch})), Failure):
            forms = forms[1:]
        return r.choice(forms) if forms else None


def spell(r: random.Random, value: Any) -> str:
    """An expression for an argument of a sample; its numbers and layout may change."""
    if isinstance(value, torch.Tensor):
        return _spell_tensor(r, value)
    if isinstance(value, torch.Size):
        return repr(tuple(value))
    if isinstance(value, (list, tuple)):
        inner = ", ".join(spell(r, v) for v in value)
        if isinstance(value, list):
            return f"[{inner}]"
        return f"({inner},)" if value else "()"
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
        return "L." + str(value).rpartition(".")[2]
    if value is None or isinstance(value, (bool, int, str, slice)) or value is Ellipsis:
        return "..." if value is Ellipsis else repr(value)
    if isinstance(value, (float, complex)):
        return repr(value)
    raise TypeError


def _spell_tensor(r: random.Random, value: torch.Tensor) -> str:
    if value.layout is not torch.strided or value.numel() > 64:
        raise TypeError
    kind = str(value.dtype).rpartition(".")[2]
    numbers = value.detach().resolve_conj().resolve_neg().flatten().tolist()
    if numbers and value.dtype.is_floating_point and r.random() < 0.25:
        for _ in range(r.randint(1, 3)):
            numbers[r.randrange(len(numbers))] = r.choice(SPECIAL)
    if numbers and value.dtype.is_floating_point:
        numbers = [float(f"{v:.5g}") for v in numbers]
    text = f"L.tensor({numbers}, dtype=L.{kind})"
    if value.dim() != 1:
        text += f".reshape({tuple(value.shape)})"
    elif not numbers:
        text = f"L.zeros({tuple(value.shape)}, dtype=L.{kind})"
    if r.random() < 0.5 and value.dim():
        text = r.choice(LAYOUTS).format(t=text)
    return text


def operation(lines: list[str]) -> str:
    """The name of what is called."""
    text = re.sub(r"L\.(tensor|zeros)\(\[?[^\]\)]*\]?[^\)]*\)", "T", lines[-1])
    names = re.findall(r"\.([a-z_][\w.]*)\(", text)
    plain = [n for n in names if n not in ("reshape", "mT.contiguous", "clone", "expand", "flip",
                                           "stack", "tensor", "zeros", "empty")]  # fmt: skip
    return plain[0] if plain else lines[-1][:40]


def compare(libraries: tuple[Any, Any], lines: list[str]) -> Difference | None:
    """The difference of the values of the last line, or None."""
    if not lines:
        return None
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for library in reversed(libraries):
            library.manual_seed(0)
            scope = {"L": library, "nan": float("nan"), "inf": float("inf")}
            found.append(error_of(lambda scope=scope: eval(lines[-1], scope)))
    return difference_of(found[1], found[0], operation(lines), narrowest(lines[-1]))


def narrowest(line: str) -> str:
    """The narrowest dtype that a call computes in, whatever the dtype of its result."""
    dtypes = set(re.findall(r"dtype=L\.(\w+)", line))
    if dtypes & {"bfloat16", "float16"}:
        return "bfloat16"
    return "float32" if dtypes & {"float32", "complex64"} else "float64"
