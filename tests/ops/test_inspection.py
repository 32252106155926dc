"""What can be asked of tensors, beside PyTorch's answers."""

from __future__ import annotations

from typing import Any

import pytest

import tinytorch as tt

QUESTIONS: dict[str, Any] = {
    "is_tensor": lambda lib: [
        lib.is_tensor(x) for x in (lib.ones(1), lib.nn.Parameter(lib.ones(1)), 1.0, [lib.ones(1)])
    ],
    "is_nonzero": lambda lib: [
        lib.is_nonzero(lib.tensor(x)) for x in ([0.0], 0.5, [[True]], 1j, False)
    ],
    "is_nonzero method": lambda lib: lib.tensor([3]).is_nonzero(),
    "is_same_size": lambda lib: [
        lib.ones(2, 1).is_same_size(lib.zeros(shape)) for shape in ((2, 1), (1, 2), (2,), ())
    ],
    "is_neg": lambda lib: lib.is_neg(-lib.ones(1)),
    "where": lambda lib: (lib.ones(1).is_cpu, lib.ones(1).is_cuda),
    "kinds": lambda lib: (lib.ones(1).is_sparse, lib.ones(1).is_quantized, lib.ones(1).is_meta),
    "storage_offset": lambda lib: [
        x.storage_offset()
        for x in (
            lib.arange(6), lib.arange(6)[2:], lib.arange(24).reshape(2, 3, 4)[1, 2:, 1],
            lib.ones(3, 4).t()[2], lib.ones(2, 2).diagonal(1), lib.ones(2, 3)[1].clone(),
        )
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", QUESTIONS)
def test_queries_of_tensors_return_pytorchs_values(torch: Any, name: str) -> None:
    assert QUESTIONS[name](tt) == QUESTIONS[name](torch)


def test_data_ptr_of_tensors_that_share_memory_is_equal() -> None:
    x = tt.arange(6)
    assert x.view(2, 3).data_ptr() == x.data_ptr() != x.clone().data_ptr()
    assert x[2:].data_ptr() == x.data_ptr() + 2 * x.itemsize
    assert tt.ones(0).data_ptr() == 0


def test_is_nonzero_requires_one_element() -> None:
    with pytest.raises(RuntimeError, match="more than one value is ambiguous"):
        tt.is_nonzero(tt.ones(2))
    with pytest.raises(RuntimeError, match="no values is ambiguous"):
        tt.is_nonzero(tt.ones(0))
