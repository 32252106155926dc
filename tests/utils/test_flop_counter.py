"""Counted products, under both libraries; and what is counted of attention."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import tinytorch as tt
from tinytorch import nn
from tinytorch.utils.flop_counter import FlopCounterMode, register_flop_formula


def counted(lib: Any, run: Callable[[Any, Any], Any], module: str = "Global") -> dict[str, int]:
    def ones(*shape: int) -> Any:
        return lib.ones(*shape, requires_grad=True)

    counter = import_module(f"{lib.__name__}.utils.flop_counter").FlopCounterMode(display=False)
    with counter:
        run(lib, ones).sum().backward()
    counts = counter.get_flop_counts()
    assert sum(counts.get("Global", {}).values()) == counter.get_total_flops()
    return {str(name): flops for name, flops in counts.get(module, {}).items()}


RUNS: dict[str, Callable[[Any, Any], Any]] = {
    "mm": lambda lib, ones: ones(2, 3).mm(ones(3, 4)),
    "one factor": lambda lib, ones: lib.ones(2, 3) @ ones(3, 4),
    "vector": lambda lib, ones: ones(3) @ ones(3, 4),
    "onto vector": lambda lib, ones: ones(2, 3) @ ones(3),
    "vectors": lambda lib, ones: ones(3) @ ones(3),
    "batch by matrix": lambda lib, ones: ones(5, 2, 3) @ ones(3, 4),
    "matrix by batch": lambda lib, ones: lib.matmul(ones(2, 3), ones(5, 3, 4)),
    "batches": lambda lib, ones: lib.bmm(ones(5, 2, 3), ones(5, 3, 4)),
    "broadcast": lambda lib, ones: ones(6, 1, 2, 3) @ ones(5, 3, 4),
    "addmm": lambda lib, ones: lib.addmm(ones(4), ones(2, 3), ones(3, 4)),
    "baddbmm": lambda lib, ones: lib.baddbmm(ones(1, 1, 1), ones(5, 2, 3), ones(5, 3, 4)),
    "linear": lambda lib, ones: lib.nn.Linear(3, 4)(ones(5, 2, 3)),
    "linear without bias": lambda lib, ones: lib.nn.Linear(3, 4, bias=False)(ones(2, 3)),
    "linear of a vector": lambda lib, ones: lib.nn.Linear(3, 4)(lib.ones(3)),
    "conv1d": lambda lib, ones: lib.nn.Conv1d(4, 6, 3, stride=2)(lib.ones(2, 4, 8)),
    "conv2d": lambda lib, ones: lib.nn.Conv2d(4, 6, 3, groups=2)(ones(2, 4, 8, 7)),
    "conv3d": lambda lib, ones: lib.nn.Conv3d(2, 3, 2, dilation=2)(ones(2, 2, 4, 5, 6)),
    "conv_transpose2d": lambda lib, ones: (
        lib.nn.ConvTranspose2d(4, 6, 3, groups=2)(ones(2, 4, 8, 8))
    ),
    "einsum": lambda lib, ones: lib.einsum("bij,bjk->bik", ones(2, 3, 4), ones(2, 4, 5)),
    "three in einsum": lambda lib, ones: (
        lib.einsum("ij,jk,kl->il", ones(2, 3), ones(3, 4), ones(4, 5))
    ),
    "outer in einsum": lambda lib, ones: lib.einsum("i,j->ij", ones(2), ones(3)),
    "ellipsis in einsum": lambda lib, ones: (
        lib.einsum("...ij,...jk", ones(2, 3, 4), ones(2, 4, 5))
    ),
    "tensordot": lambda lib, ones: lib.tensordot(ones(3, 4), ones(4, 5), 1),
    "gru": lambda lib, ones: lib.nn.GRU(2, 3)(ones(4, 5, 2))[0],
    "attention": lambda lib, ones: lib.nn.MultiheadAttention(4, 2)(*[lib.ones(3, 1, 4)] * 3)[0],
    "in place afterwards": lambda lib, ones: lib.nn.Linear(3, 4)(ones(2, 3)).add_(1).relu_(),
}  # fmt: skip


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_counted_flops_are_pytorchs(torch: Any, run: Callable[[Any, Any], Any]) -> None:
    assert counted(tt, run) == counted(torch, run)


def network(lib: Any, ones: Any) -> Any:
    block = lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.Sequential(lib.nn.Linear(4, 4)))
    return block(lib.ones(2, 3))


@pytest.mark.parametrize(
    "module", ["Global", "Sequential", "Sequential.0", "Sequential.1", "Sequential.1.0"]
)
def test_counts_by_module_are_pytorchs(torch: Any, module: str) -> None:
    def forward(lib: Any) -> dict[str, int]:
        counter = import_module(f"{lib.__name__}.utils.flop_counter").FlopCounterMode(display=False)
        with counter:
            network(lib, lib.ones)
        return {str(name): n for name, n in counter.get_flop_counts()[module].items()}

    assert forward(tt) == forward(torch)
    assert sum(counted(tt, network, module).values()) > sum(forward(tt).values())


def test_attention_is_counted_as_on_a_gpu(torch: Any) -> None:
    theirs = import_module("torch.utils.flop_counter")
    query, key, value = (2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 4)
    found = counted(
        tt,
        lambda lib, ones: nn.functional.scaled_dot_product_attention(
            ones(*query), ones(*key), ones(*value)
        ),
    )
    name = "aten._scaled_dot_product_flash_attention"
    assert found[name] == theirs.sdpa_flop_count(query, key, value)
    out = (2, 3, 5, 4)
    assert found[f"{name}_backward"] == theirs.sdpa_backward_flop_count(out, query, key, value)


def test_a_product_takes_two_operations_for_each_pair() -> None:
    counts = counted(tt, lambda lib, ones: ones(2, 3) @ ones(3, 4))
    assert counts == {"aten.mm": 3 * 2 * 2 * 3 * 4}


def test_operations_outside_of_the_counter_are_not_counted() -> None:
    x = tt.ones(2, 2, requires_grad=True)
    with FlopCounterMode(display=False) as counter:
        y = x @ x
    y.sum().backward()
    x @ x
    assert counter.get_total_flops() == 16
    with counter:
        pass
    assert counter.get_total_flops() == 0


def test_registered_flop_formulas_are_used() -> None:
    @register_flop_formula(tt.special.erf)
    def erf_flop(shape: Any, out_shape: Any = None) -> int:
        return 7 * int(out_shape.numel())

    own = {tt.cumsum: lambda shape, dim, out_shape=None: shape.numel()}
    with FlopCounterMode(display=False, custom_mapping=own) as counter:
        tt.special.erf(tt.ones(3))
        tt.cumsum(tt.ones(5), 0)
    assert counter.get_flop_counts()["Global"] == {"erf": 21, "cumsum": 5}
    with pytest.raises(ValueError, match="expected an operation"):
        register_flop_formula(3)(erf_flop)


def test_the_counter_prints_a_table_of_flops(capsys: pytest.CaptureFixture[str]) -> None:
    with FlopCounterMode(depth=1):
        nn.Linear(100, 100)(tt.ones(50, 100))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[2:]] == [
        ["Linear", "1.000M", "100.00%"], ["-", "aten.addmm", "1.000M", "100.00%"],
    ]  # fmt: skip
