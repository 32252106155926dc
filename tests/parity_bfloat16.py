"""PyTorch's database of operations in bfloat16: how many agree with it, in values and gradients.

The scoring program that ``parity`` runs knows float64 and float32; its conversions and its table
of how operations are called serve here, its arrays being those of ``ml_dtypes``. An operation
counts if each of its first samples agrees, within what ``torch.testing.assert_close`` allows for
bfloat16, with PyTorch's result in bfloat16; or, since many of PyTorch's kernels round between
steps, with its result for the same numbers in float32, rounded once.

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
        if isinstance(x, torch.Tensor) and x.dtype == torch.bfloat16:
            bits = x.detach().resolve_conj().contiguous().view(torch.int16).numpy()
            return bits.view(ml_dtypes.bfloat16)
        return plain(x)

    module.to_numpy = to_numpy
    module.NO_NUMPY_DTYPE.discard(torch.bfloat16)
    module.ARGS = types.SimpleNamespace(dtype="bfloat16")
    module.C = module.Candidate("tinytorch")
    return module


def difference(m: Any, got: Any, want: Any) -> str | None:
    """What is wrong with a result, or None."""
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


def gradients(m: Any, result: Any, leaves: list[Any]) -> list[Any]:
    """The gradients of the sum of what can have some."""
    outs = [r for r in m.flatten(result) if getattr(r, "requires_grad", False)]
    for out in outs:
        out.sum().backward(retain_graph=True)
    return [leaf.grad for leaf in leaves]


def in_float32(x: Any) -> Any:
    """Arguments with float32 for bfloat16, the same numbers."""
    import torch

    if isinstance(x, torch.Tensor) and x.dtype == torch.bfloat16:
        return x.detach().float().requires_grad_(x.requires_grad)
    if isinstance(x, dict):
        return {key: in_float32(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)) and not hasattr(x, "_fields"):
        return type(x)(in_float32(value) for value in x)
    return torch.float32 if x is torch.bfloat16 else x


def exact(info: Any, given: list[Any]) -> tuple[Any, list[Any]]:
    """PyTorch's results in float32, and the tensors that they are of, in order."""
    import torch

    x, args, options = in_float32(given)
    torch.manual_seed(0)
    return info.op(x, *args, **options), [x, args, options]


def rounded(x: Any) -> Any:
    """Results in bfloat16 where they are float32."""
    import torch

    if isinstance(x, torch.Tensor):
        return x.bfloat16() if x.dtype == torch.float32 else x
    return [rounded(value) for value in x] if isinstance(x, (list, tuple)) else x


def check(m: Any, info: Any, samples: int) -> tuple[str | None, str | None] | None:
    """What is wrong with an operation's values, and with its gradients."""
    import torch

    call = m.resolve_call(info)
    drawn, _ = m.draw_samples(info, samples)
    random = info.name in m.RANDOM_OPS or info.name in m.UNINITIALISED_OPS
    counted, grads = 0, None
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
        wrong = difference(m, got, want)
        if wrong is not None and not random:
            wide, sources = exact(info, given)
            wrong = difference(m, got, rounded(wide)) and wrong
        if wrong is not None and not random:
            return wrong, None
        counted += 1
        leaves = [key for key in memo if key in theirs and memo[key][0].requires_grad]
        if leaves and grads is None and torch.bfloat16 in info.backward_dtypes and not random:
            try:
                wanted = gradients(m, want, [theirs[key][1] for key in leaves])
            except Exception:
                continue
            found = gradients(m, got, [memo[key][1] for key in leaves])
            if [g is None for g in found] != [g is None for g in wanted]:
                grads = "a gradient is missing"
            else:
                kept = [i for i, g in enumerate(wanted) if g is not None]
                grads = difference(m, [found[i] for i in kept], [wanted[i] for i in kept])
                if grads is not None:
                    wide, sources = exact(info, given)
                    several = [t for t in m.flatten(sources) if isinstance(t, torch.Tensor)]
                    again = gradients(m, wide, [t for t in several if t.requires_grad])
                    if len(again) == len(found):
                        again = rounded([again[i] for i in kept])
                        grads = difference(m, [found[i] for i in kept], again) and grads
    return (None, grads) if counted else None


def score(program: Path, names: list[str], samples: int, report: bool) -> dict[str, int]:
    """Operations that agree, by measure, and of how many."""
    import torch

    m = scoring(program)
    warnings.simplefilter("ignore")
    counts = {"ops": 0, "grads": 0, "of": 0}
    for info in m.cmi.op_db:
        if torch.bfloat16 not in info.dtypes or names and info.name not in names:
            continue
        label = f"{info.name} {info.variant_test_name}".strip()
        try:
            found = check(m, info, samples)
        except m.Missing:
            continue
        except Exception as error:
            found = f"{type(error).__name__}: {str(error)[:150]}", None
        if found is None:
            continue
        counts["of"] += 1
        counts["ops"] += found[0] is None
        counts["grads"] += found[0] is None and found[1] is None
        if report and found != (None, None):
            print(f"{label}: {found[0] or 'gradient: ' + str(found[1])}", flush=True)
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
