"""PyTorch's decompositions, run by tinytorch on what operations and their gradients call."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch

# PyTorch's wheels hold its own tests' samples without the package that these import.
pytest.importorskip("expecttest", reason="torch.testing._internal imports it")

import torch.testing._internal.common_methods_invocations as samples
from decompositions import sources, stand_ins
from decompositions.comparison import assert_same, first_samples, leaves, to_tinytorch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore"),  # both libraries', of the samples
]
#: Operations on what tinytorch has not: sparse tensors, CUDA's compiler, other dtypes.
ELSEWHERE = "sparse jiterator bfloat16 chalf".split()
INFOS = [info for info in samples.op_db if not any(part in info.name for part in ELSEWHERE)]
#: Numbers that are drawn, memory that is not set, copies and views of PyTorch's own bookkeeping.
LEFT_OUT = """rand normal bernoulli uniform exponential geometric cauchy empty dropout rrelu new_
    detach lift alias _to_copy flash_attention""".split()


class Watch(TorchDispatchMode):  # type: ignore[misc]
    """Runs every operator's decomposition beside it, and compares."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[Any] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name, form = func._overloadpacket.__name__, func._overloadname
        filed = [stand_ins.TABLE.get((name, known)) for known in (form, None, "default")]
        decomposition = next(filter(None, filed), None)
        writes = name.endswith("_") or "out" in kwargs
        if writes or decomposition is None or any(part in name for part in LEFT_OUT):
            return func(*args, **kwargs)
        with _disable_current_modes():
            given = to_tinytorch(args), to_tinytorch(kwargs)
        wanted = func(*args, **kwargs)
        self.calls[func] += 1
        if self.calls[func] <= 20:
            with _disable_current_modes():
                self.compare(func, decomposition, given, wanted, args, kwargs)
        return wanted

    def compare(
        self, func: Any, decomposition: Any, given: Any, wanted: Any, args: Any, kwargs: Any
    ) -> None:
        found = decomposition(*given[0], **given[1])
        try:
            assert_same(found, wanted, args)
        except AssertionError:
            # Some are not what they decompose; then ours is what PyTorch makes of them.
            assert_same(found, torch._decomp.decomposition_table[func](*args, **kwargs), args)


@pytest.fixture(scope="module", autouse=True)
def table() -> None:
    sources.load()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("info", INFOS, ids=lambda info: info.formatted_name)
def test_kernels_that_run_are_in_the_decomposition_or_documented(info: Any) -> None:
    watch = Watch()
    for dtype in (torch.float32, torch.complex64):
        for sample in first_samples(info, dtype, 4, info.supports_autograd):
            with watch:
                run(info.op, sample)


def run(op: Any, sample: Any) -> None:
    """The operation and its backward pass."""
    out = sample.output_process_fn_grad(op(sample.input, *sample.args, **sample.kwargs))
    inputs = leaves([sample.input, list(sample.args), sample.kwargs])
    inputs = [x for x in inputs if getattr(x, "requires_grad", False)]
    outs = [x for x in leaves(out) if getattr(x, "requires_grad", False)]
    if outs and inputs:
        ones = [torch.ones_like(x) for x in outs]
        torch.autograd.grad(outs, inputs, ones, allow_unused=True)


def test_operators_are_watched() -> None:
    watch = Watch()
    x = torch.randn(5, requires_grad=True)
    with watch:
        torch.nn.functional.gelu(x).sum().backward()
    names = {func._overloadpacket.__name__ for func in watch.calls}
    assert {"gelu", "gelu_backward", "sum"} <= names
