"""Operands and results changed after they are recorded: PyTorch's errors, or right gradients."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.torch

import torch  # noqa: E402

import tinytorch as tt  # noqa: E402
from tests.fuzz.compare import CaughtError, difference_of, error_of  # noqa: E402
from tests.ops.op_samples import (  # noqa: E402
    ONE_OF,
    Operands,
    Unusable,
    function_of,
    operations,
    samples,
    tensors_of,
)

#: Operations that differ, each with the reason.
KNOWN = {
    "kron": "PyTorch saves views without a version: its gradients are wrong after the change",
    "nn.functional.cross_entropy": "the logits are read, where PyTorch keeps a copy of that size",
    "nn.functional.linear_cross_entropy": "as cross_entropy; PyTorch makes the gradients forward",
    "polar": "the gradient is right for 0, where PyTorch's is 0",
    "nn.functional.hardsigmoid": "PyTorch's slope of float64 is a sixth rounded to float32",
    "masked.prod": "the gradient of a 0-d prod is a constant in PyTorch",
}


def gradients(library: Any, call: Any, pair: Operands, changed: int | None) -> Any:
    """Gradients where one tensor among operands and results was changed after the call."""
    args, options = pair.of(library)
    result = call(*args, **options)
    leaves = [t for t in tensors_of([args, options]) if t.requires_grad]
    outs = [t for t in tensors_of(result) if t.requires_grad]
    if not leaves or not outs:
        return None
    total = sum((t * 1.0).sum() for t in outs)
    if changed is not None:
        with library.no_grad():
            tensor = tensors_of([args, options, result])[changed]
            if tensor.is_floating_point():
                tensor.mul_(0.875)
            else:
                tensor.add_(0) if tensor.dtype is not library.bool else tensor.logical_not_()
    total.abs().backward()
    return [leaf.grad for leaf in leaves]


def difference(op: Any, sample: Any, changed: int) -> str | None:
    """How the libraries differ where one tensor is changed, or None."""
    found = []
    for library in (tt, torch):
        pair = Operands([sample.input, *sample.args], sample.kwargs)
        call = function_of(library, op.name)
        found.append(error_of(lambda a=(library, call, pair): gradients(*a, changed)))
    ours, theirs = found
    if isinstance(theirs, CaughtError):
        if isinstance(ours, CaughtError) or theirs.kinds[0] != "RuntimeError":
            return None
        # What PyTorch keeps and the rule here does not read: right with the values of before.
        pair = Operands([sample.input, *sample.args], sample.kwargs)
        theirs = gradients(torch, function_of(torch, op.name), pair, None)
    differing = difference_of(ours, theirs, op.name)
    return None if differing is None else f"{op.name} [{changed}]: {differing.text}"


def test_operands_and_results_changed_before_the_backward_pass(
    request: pytest.FixtureRequest,
) -> None:
    seed = request.config.getoption("--sample")
    found, seen = [], set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for op in operations(seed):
            if op.name in KNOWN or op.name in seen or not op.supports_autograd:
                continue
            seen.add(op.name)
            for sample in samples(op, torch.float64, many=1, most=300):
                many = len(tensors_of([sample.input, *sample.args, sample.kwargs]))
                for changed in range(min(many, 4) + 1):
                    try:
                        found += filter(None, [difference(op, sample, changed)])
                    except (Unusable, IndexError):
                        continue
    assert len(seen) > 300 // ONE_OF
    assert not found, "\n".join(line[:300] for line in found)


NUMBERS: list[Callable[..., Any]] = [
    lambda L, x: 2.5 / x,
    lambda L, x: 2 / x,
    lambda L, x: True / x,
    lambda L, x: 1j / x,
    lambda L, x: L.tensor(2.5) / x,
    lambda L, x: x.__rtruediv__(2.5),
    lambda L, x: 2.5 / x.bfloat16(),
    lambda L, x: True - x,
    lambda L, x: True * x,
    lambda L, x: x / True,
    lambda L, x: True**x,
]


@pytest.mark.parametrize("call", NUMBERS)
def test_operators_of_numbers_keep_what_torchs_keep(call: Callable[..., Any]) -> None:
    outcomes = []
    for library in (tt, torch):

        def run(L: Any = library) -> Any:
            x = L.tensor([1.0, 2.0, 4.0], requires_grad=True)
            y = x * 1
            z = call(L, y)
            with L.no_grad():
                y.sub_(0.5)
            z.sum().abs().backward()
            return x.grad

        outcomes.append(error_of(run))
    assert difference_of(*outcomes, "") is None, outcomes
