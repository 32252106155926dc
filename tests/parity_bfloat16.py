"""PyTorch's database of operations in bfloat16: how many agree with it, in values and gradients.

The scoring program that ``parity`` runs knows float64 and float32; its conversions and its table
of how operations are called serve here, its arrays being those of ``ml_dtypes``. An operation
counts if each of its first samples agrees, within what ``torch.testing.assert_close`` allows for
bfloat16, with PyTorch's result in bfloat16; or, since many of PyTorch's kernels round between
steps, with its result for the same numbers in float32, rounded once. It is ``right`` if it agrees
or is, values and gradients, no further from PyTorch's result in float64 than that in bfloat16;
what is not has a reason in ``NOT_RIGHT``.

``python tests/parity_bfloat16.py PROGRAM [--ops NAME ...] [--samples N]`` prints what does not.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np

RTOL, ATOL = 1.6e-2, 1e-5
#: Why an operation is not right.
NOT_RIGHT = {
    "argsort": "8,000 numbers, many of them equal: PyTorch leaves open in which order those come",
    "chalf": "complex numbers of two halves, which NumPy and CuPy do not have",
    "mode": "one of several places of the number, whichever PyTorch's order of equal ones gives",
    "sort": "as argsort",
    "torch.ops.aten._safe_softmax.default": "internal; the scoring program leaves it out, too",
}


def scoring(program: Path) -> Any:
    """The scoring program as a module whose tensors may be bfloat16."""
    import ml_dtypes
    import torch

    spec = importlib.util.spec_from_file_location("torch_conformance", program)
    assert spec is not None and spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    plain = module.to_numpy

    def to_numpy(x: Any) -> Any:
        if isinstance(x, torch.Tensor) and x._is_zerotensor():
            x = torch.zeros(x.shape, dtype=x.dtype)
        if isinstance(x, torch.Tensor) and x.dtype == torch.bfloat16:
            bits = x.detach().resolve_conj().contiguous().view(torch.int16).numpy()
            return bits.view(ml_dtypes.bfloat16)
        return plain(x)

    module.to_numpy = to_numpy
    module.NO_NUMPY_DTYPE.discard(torch.bfloat16)
    module.METHOD_OPS.add("bfloat16")
    module.ARGS = types.SimpleNamespace(dtype="bfloat16")
    module.C = module.Candidate("tinytorch")
    return module


def difference(m: Any, got: Any, want: Any) -> str | None:
    """Description of the difference of a result, or None."""
    pairs = m.flatten(got), m.flatten(want)
    if len(pairs[0]) != len(pairs[1]):
        return f"{len(pairs[0])} results, not {len(pairs[1])}"
    for one, other in zip(*pairs, strict=True):
        if not m.is_tensor_like(other):
            continue
        a, b = m.to_numpy(one), m.to_numpy(other)
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{a.dtype} {a.shape}, not {b.dtype} {b.shape}"
        wide = np.complex128 if a.dtype.kind == "c" else np.float64
        a, b = a.astype(wide), b.astype(wide)
        close = np.isclose(a, b, RTOL, ATOL, equal_nan=True)
        if not close.all():
            at = np.flatnonzero(~close.reshape(-1))[0]
            return f"{a.reshape(-1)[at]}, not {b.reshape(-1)[at]}"
    return None


def is_further(m: Any, found: Any, wanted: Any, exact: Any) -> bool:
    """Whether results are further from the exact ones than PyTorch's in bfloat16."""
    lists = [[t for t in m.flatten(x) if m.is_tensor_like(t)] for x in (found, wanted, exact)]
    for tensors in zip(*lists, strict=True):
        a, b, c = map(m.to_numpy, tensors)
        if a.dtype != b.dtype or a.shape != b.shape or c.dtype.kind not in "fc":
            return True
        wide = np.complex128 if c.dtype.kind == "c" else np.float64
        ours, theirs = (abs(x.astype(wide) - c)[~np.isnan(c)] for x in (a, b))
        if (np.isnan(a.astype(wide)) & ~np.isnan(c)).any() or ours.max(initial=0) > theirs.max():
            return True
    return False


def gradients(m: Any, result: Any, leaves: list[Any]) -> list[Any]:
    """The gradients of the sum of all that can have some; none is as good as zeros."""
    outs = [r for r in m.flatten(result) if getattr(r, "requires_grad", False)]
    module = sys.modules[type(leaves[0]).__module__.partition(".")[0]]
    if outs:  # at once: PyTorch's native_group_norm loses those of one statistic alone
        module.autograd.backward([out.sum() for out in outs])
    return [module.zeros_like(leaf) if leaf.grad is None else leaf.grad for leaf in leaves]


def recast(x: Any, dtype: Any, memo: dict[int, Any]) -> Any:
    """Arguments, the same numbers, in a wider dtype than bfloat16; ``memo`` has each by ``id``."""
    import torch

    if isinstance(x, torch.Tensor) and x.dtype == torch.bfloat16:
        return memo.setdefault(id(x), x.detach().to(dtype).requires_grad_(x.requires_grad))
    if isinstance(x, torch.Tensor):
        return memo.setdefault(id(x), x.detach().clone().requires_grad_(x.requires_grad))
    if isinstance(x, dict):
        return {key: recast(value, dtype, memo) for key, value in x.items()}
    if isinstance(x, (list, tuple)) and not hasattr(x, "_fields"):
        return type(x)(recast(value, dtype, memo) for value in x)
    return dtype if x is torch.bfloat16 else x


class Reference:
    """PyTorch's results of one sample in a wider dtype, and the gradients of ``leaves``."""

    def __init__(self, m: Any, info: Any, given: list[Any], leaves: list[int]) -> None:
        self.m, self.info, self.given, self.leaves = m, info, given, leaves

    def values(self, dtype: Any, memo: dict[int, Any] | None = None) -> Any:
        import torch

        x, args, options = recast(self.given, dtype, {} if memo is None else memo)
        torch.manual_seed(0)
        return self.info.op(x, *args, **options)

    def gradients(self, dtype: Any) -> Any:
        memo: dict[int, Any] = {}
        result = self.values(dtype, memo)
        return gradients(self.m, result, [memo[key] for key in self.leaves])


Judgement = tuple[str | None, str | None]
RIGHT: Judgement = None, None


def judge(m: Any, found: Any, wanted: Any, exact: Any) -> Judgement:
    """Differences from PyTorch's result, and from the exact one: a description each, or None."""
    import torch

    wrong = difference(m, found, wanted)
    if wrong is None or difference(m, found, round_to_bfloat16(exact(torch.float32))) is None:
        return None, None
    return wrong, wrong if is_further(m, found, wanted, exact(torch.float64)) else None


def round_to_bfloat16(x: Any) -> Any:
    """Round float32 results to bfloat16."""
    import torch

    if isinstance(x, torch.Tensor):
        return x.bfloat16() if x.dtype == torch.float32 else x
    return [round_to_bfloat16(value) for value in x] if isinstance(x, (list, tuple)) else x


def check(m: Any, info: Any, samples: int) -> tuple[Judgement, Judgement] | None:
    """Judge an operation's values and its gradients; None if no sample counts."""
    import torch

    call = m.resolve_call(info)
    drawn, _ = m.draw_samples(info, samples)
    random = info.name in m.RANDOM_OPS or info.name in m.UNINITIALISED_OPS
    with_gradients = torch.bfloat16 in info.backward_dtypes and not random
    counted, values, grads = 0, RIGHT, RIGHT
    for _, sample in drawn:
        memo: dict[int, Any] = {}
        given = [sample.input, sample.args, sample.kwargs]
        theirs: dict[int, Any] = {}
        mine = m.torch_clone(given, theirs)
        try:
            torch.manual_seed(0)
            want = info.op(mine[0], *mine[1], **mine[2])
        except Exception:
            continue
        try:
            x, args, options = m.C.from_torch(given, memo)
        except m.Unconvertible:
            continue
        m.C.module.manual_seed(0)
        got = call(x, args, options)
        leaves = [key for key in memo if key in theirs and memo[key][0].requires_grad]
        exact = Reference(m, info, given, leaves)
        wrong = RIGHT if random else judge(m, got, want, exact.values)
        if wrong != RIGHT:
            values = values if values[1] else wrong
        counted += 1
        if leaves and with_gradients:
            try:
                wanted = gradients(m, want, [theirs[key][1] for key in leaves])
            except Exception:
                continue
            found = gradients(m, got, [memo[key][1] for key in leaves])
            wrong = judge(m, found, wanted, exact.gradients)
            if wrong != RIGHT:
                grads = grads if grads[1] else wrong
    return (values, grads) if counted else None


def score(program: Path, names: list[str], samples: int, report: bool) -> dict[str, int]:
    """Operations that agree, by measure, and of how many."""
    import torch

    m = scoring(program)
    warnings.simplefilter("ignore")
    counts = {"ops": 0, "grads": 0, "right": 0, "of": 0}
    for info in m.cmi.op_db:
        if torch.bfloat16 not in info.dtypes or names and info.name not in names:
            continue
        label = f"{info.name} {info.variant_test_name}".strip()
        try:
            found = check(m, info, samples)
        except m.Missing:
            continue
        except Exception as error:
            found = (f"{type(error).__name__}: {str(error)[:150]}",) * 2, RIGHT
        if found is None:
            continue
        (value, far), (gradient, far_gradient) = found
        counts["of"] += 1
        counts["ops"] += value is None
        counts["grads"] += value is None and gradient is None
        counts["right"] += far is None and far_gradient is None
        for name, wrong, worse in (("value", value, far), ("gradient", gradient, far_gradient)):
            if worse is not None and (report or info.name not in NOT_RIGHT):
                print(f"{label}: {name} wrong: {worse}", NOT_RIGHT.get(info.name, ""), flush=True)
            elif wrong is not None and report:
                print(f"{label}: {name}, no further from float64: {wrong}", flush=True)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("--ops", nargs="*", default=[])
    parser.add_argument("--samples", type=int, default=6)
    options = parser.parse_args()
    counts = score(options.program, options.ops, options.samples, report=True)
    print(", ".join(f"{name} {count}" for name, count in counts.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
