"""Calls of every operation that PyTorch's database has samples of, with awkward inputs.

A call is one expression over ``L``, so that a difference prints as it goes into a test.
"""

from __future__ import annotations

import ast
import inspect
import random
import re
import warnings
from itertools import islice
from typing import Any

import torch

from tests.fuzz.compare import Difference, CaughtError, difference_of, error_of, error_within_limit

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
SPECIAL = (0.0, -0.0, -1e-30, 1.0, -1.0, 1e30, float("nan"), float("inf"), -float("inf"))
#: Gradients of NaN and infinities depend on their place in memory: blocks of eight elements take
#: another branch than the rest, as in ``hardtanh(tensor([nan] * 33))``.
SPECIAL_OF_LEAVES = SPECIAL[:5]


class Calls:
    """Generator of calls, by seed."""

    def __init__(self) -> None:
        from torch.testing._internal.common_methods_invocations import op_db

        self.operations = [op for op in op_db if not UNDETERMINED.search(op.name)]
        self.samples: dict[tuple[int, str], list[Any]] = {}

    def call(self, seed: int) -> list[str]:
        """An expression; for one in three of those with a gradient, lines that compute it."""
        # Samples take longer than calls: ten calls in a row are of one operation and dtype.
        shared, r = random.Random(seed // 10), random.Random(seed)
        while True:
            at = shared.randrange(len(self.operations))
            dtypes = DTYPES[:6] if shared.random() < 0.6 else DTYPES
            samples = self._samples(at, shared.choice(dtypes))
            for _ in range(8 if samples else 0):
                lines = self._lines(r, self.operations[at], r.choice(samples))
                if lines is not None and sum(map(len, lines)) < 1500:
                    return lines

    def _samples(self, at: int, dtype: str) -> list[Any]:
        key = at, dtype
        if key not in self.samples:
            op, kind = self.operations[at], getattr(torch, dtype)
            found = []
            if kind in op.supported_dtypes("cpu"):
                torch.manual_seed(at)
                random.seed(at)
                grad = op.supports_autograd and (kind.is_floating_point or kind.is_complex)
                made = error_of(lambda: list(islice(op.sample_inputs("cpu", kind, grad), 16)))
                found = made if isinstance(made, list) else []
            self.samples[key] = found
        return self.samples[key]

    def _lines(self, r: random.Random, op: Any, sample: Any) -> list[str] | None:
        speller = Speller(r, op.supports_autograd and r.random() < 0.33)
        try:
            values = [speller.spell(v) for v in (sample.input, *sample.args)]
            named = {key: speller.spell(v) for key, v in sample.kwargs.items()}
        except (TypeError, RuntimeError):
            return None
        if r.random() < 0.15 and ("dtype" in named or "dtype" in keywords(op)):
            named["dtype"] = f"L.{r.choice(DTYPES)}"
        elif r.random() < 0.08 and op.supports_out and not speller.leaves:
            named["out"] = f"L.empty(0, dtype=L.{r.choice(DTYPES)})"
        call = _form(r, op, sample, values, named)
        if call is None or not speller.leaves:
            return None if call is None else [*speller.lines, call]
        leaves = ", ".join(speller.leaves)
        return [*speller.lines, f"y = {call}", f"gradients(L, y, [{leaves}])"]


def keywords(op: Any) -> set[str]:
    """The names of the arguments of a function of PyTorch's."""
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{op.name.replace('.', '_')}")
    found = {argument.name for schema in schemas for argument in schema.arguments}
    if op.name.startswith("nn.functional."):
        function = getattr(torch.nn.functional, op.name.rpartition(".")[2], None)
        parameters = error_of(lambda: inspect.signature(function).parameters)
        found |= set(() if isinstance(parameters, CaughtError) else parameters)
    return found


def _form(
    r: random.Random, op: Any, sample: Any, values: list[str], named: dict[str, str]
) -> str | None:
    """A call of the function, the method or the form in place."""
    rest = ", ".join((*values[1:], *(f"{key}={v}" for key, v in named.items())))
    forms = [f"L.{op.name}({values[0]}{', ' if rest else ''}{rest})"]
    if isinstance(sample.input, torch.Tensor) and hasattr(torch.Tensor, op.name):
        forms.append(f"{values[0]}.{op.name}({rest})")
        if hasattr(torch.Tensor, f"{op.name}_"):
            forms.append(f"{values[0]}.clone().{op.name}_({rest})")
    if isinstance(error_of(lambda: eval(f"L.{op.name}", {"L": torch})), CaughtError):
        forms = forms[1:]
    return r.choice(forms) if forms else None


class Speller:
    """Expressions for the arguments of a sample; their numbers and layouts may change.

    Attributes:
        r: Random numbers.
        grad: Whether tensors that may require grad are leaves, each of a line of its own.
        lines: The lines that make the leaves.
        leaves: Their names.
    """

    def __init__(self, r: random.Random, grad: bool) -> None:
        self.r, self.grad = r, grad
        self.lines: list[str] = []
        self.leaves: list[str] = []

    def spell(self, value: Any) -> str:
        if isinstance(value, torch.Tensor):
            if not self.grad or not value.requires_grad:
                return self._spell_tensor(value, SPECIAL)
            text = self._spell_tensor(value, SPECIAL_OF_LEAVES)
            self.leaves.append("abcdefghijklmnopqrstuvwxz"[len(self.leaves) % 25])
            self.lines.append(f"{self.leaves[-1]} = {text}.requires_grad_()")
            return self.leaves[-1]
        if isinstance(value, torch.Size):
            return repr(tuple(value))
        if isinstance(value, (list, tuple)):
            inner = ", ".join(self.spell(v) for v in value)
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

    def _spell_tensor(self, value: torch.Tensor, special: tuple[float, ...]) -> str:
        if value.layout is not torch.strided or value.numel() > 64:
            raise TypeError
        r, kind = self.r, str(value.dtype).rpartition(".")[2]
        numbers = value.detach().resolve_conj().resolve_neg().flatten().tolist()
        if numbers and value.dtype.is_floating_point and r.random() < 0.25:
            for _ in range(r.randint(1, 3)):
                numbers[r.randrange(len(numbers))] = r.choice(special)
        if numbers and value.dtype.is_floating_point:
            numbers = [float(f"{v:.5g}") for v in numbers]
        if numbers and value.dtype.is_complex:
            numbers = [complex(float(f"{v.real:.5g}"), float(f"{v.imag:.5g}")) for v in numbers]
        text = f"L.tensor({numbers}, dtype=L.{kind})"
        if value.dim() != 1:
            text += f".reshape({tuple(value.shape)})"
        elif not numbers:
            text = f"L.zeros({tuple(value.shape)}, dtype=L.{kind})"
        if r.random() < 0.5 and value.dim():
            text = r.choice(LAYOUTS).format(t=text)
        return text


def gradients(library: Any, result: Any, leaves: list[Any]) -> Any:
    """Which tensors of a result require grad, and the gradients of their weighted sum."""
    results = [result] if isinstance(result, library.Tensor) else list(result)
    tensors = [t for t in results if isinstance(t, library.Tensor)]
    require = [t.requires_grad for t in tensors]
    tensors = [t for t in tensors if t.requires_grad]
    weights = [(library.arange(t.numel()) % 5 + 1).reshape(t.shape).to(t.dtype) for t in tensors]
    if not tensors:
        return require
    return require, library.autograd.grad(tensors, leaves, weights, materialize_grads=True)


def operation(lines: list[str]) -> str:
    """The name of what is called."""
    line = next((line for line in reversed(lines) if not line.startswith("gradients(")), lines[-1])
    text = re.sub(r"L\.(tensor|zeros)\(\[?[^\]\)]*\]?[^\)]*\)", "T", line)
    names = re.findall(r"\.([a-z_][\w.]*)\(", text)
    plain = [n for n in names if n not in ("reshape", "mT.contiguous", "clone", "expand", "flip",
                                           "stack", "tensor", "zeros", "empty")]  # fmt: skip
    return plain[0] if plain else line[:40]


def compare(libraries: tuple[Any, Any], lines: list[str]) -> Difference | None:
    """The difference of the values of the last line, or of the first error, or None."""
    if not lines:
        return None
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for library in reversed(libraries):
            library.manual_seed(0)
            found.append(error_within_limit(lambda library=library: evaluate(library, lines)))
    kind = "gradient of " if lines[-1].startswith("gradients(") else ""
    return difference_of(found[1], found[0], kind + operation(lines), narrowest("".join(lines)))


def evaluate(library: Any, lines: list[str]) -> Any:
    """The value of the last line."""
    scope = {"L": library, "nan": float("nan"), "inf": float("inf"), "gradients": gradients}
    for line in lines[:-1]:
        exec(line, scope)
    return eval(re.sub(r"^[a-z] = ", "", lines[-1]), scope)


def is_right_in_double(libraries: tuple[Any, Any], lines: list[str]) -> bool:
    """Whether the result here is that of PyTorch in float64, rounded once at the end."""
    wide = {"float32": "float64", "complex64": "complex128"}
    wide |= dict.fromkeys(("float16", "bfloat16"), "float64")
    in_double = [
        re.sub(r"dtype=L\.(\w+)\)", lambda m: f"{m[0]}.to(L.{wide.get(m[1], m[1])})", line)
        for line in lines
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = error_of(lambda: evaluate(libraries[0], lines))
        theirs = error_of(lambda: _round_like(evaluate(libraries[1], in_double), ours))
    return difference_of(ours, theirs, "", narrowest("".join(lines))) is None


def names_equal_elements(library: Any, lines: list[str], found: Difference) -> bool:
    """Whether only indices of equal elements differ: those here are of the values here."""
    selects = re.search(r"\b(median|nanmedian|kthvalue)$", found.where)
    if not selects or not found.text.startswith("[1]"):
        return False
    last = re.sub(r"^[a-z] = ", "", lines[-1])
    call: Any = ast.parse(last, mode="eval").body
    receiver = call.func.value
    text = ast.unparse(call.args[0] if isinstance(receiver, ast.Name) else receiver)
    given = evaluate(library, [*lines[:-1], text])
    values, indices = evaluate(library, lines)
    for dim in range(given.dim()):
        wide = (values, indices) if values.dim() == given.dim() else (
            values.unsqueeze(dim), indices.unsqueeze(dim)
        )  # fmt: skip
        named = error_of(lambda dim=dim, wide=wide: given.gather(dim, wide[1]))
        if difference_of(named, wide[0], "") is None:
            return True
    return False


def _round_like(value: Any, like: Any) -> Any:
    """Convert PyTorch's result to the dtypes of ours."""
    if isinstance(value, (list, tuple)):
        return [_round_like(one, other) for one, other in zip(value, like, strict=True)]
    if not isinstance(value, torch.Tensor):
        return value
    return value.to(getattr(torch, str(like.dtype).rpartition(".")[2]))


def narrowest(line: str) -> str:
    """The narrowest dtype that a call computes in, whatever the dtype of its result."""
    given = re.sub(r"out=L\.empty\([^)]*\)", "", line)
    dtypes = set(re.findall(r"dtype=L\.(\w+)", given))
    if dtypes & {"bfloat16", "float16"}:
        return "bfloat16"
    if dtypes & {"float32", "complex64"}:
        return "float32"
    return "float64" if dtypes & {"float64", "complex128"} else "float32"  # integers, too
