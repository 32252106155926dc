"""Whatever of ``tinytorch.numpy`` a program imports first: its arrays are whole."""

from __future__ import annotations

import pytest

from tests.fresh import run

#: What is imported, and what makes an array.
WAYS = [
    ("import tinytorch.numpy as np", "np.ndarray((2,), float)"),
    ("import tinytorch as tt", "tt.ndarray((2,), float)"),
    ("from tinytorch.numpy import ndarray", "ndarray((2,), float)"),
    ("import tinytorch.numpy.ndarray, tinytorch.numpy as np", "np.ndarray((2,), float)"),
    ("from tinytorch.numpy.linalg import inv", "inv([[2.0]])"),
    ("from tinytorch.numpy.fft import fft", "fft([1.0, 2.0])"),
    ("from tinytorch.numpy.random import rand", "rand(2)"),
    ("from tinytorch.numpy.lib.stride_tricks import as_strided", "as_strided([1.0, 2.0])"),
]


@pytest.mark.parametrize(("imported", "made"), WAYS, ids=[made for _, made in WAYS])
def test_first_array_has_methods_and_operators(imported: str, made: str) -> None:
    def program(imported: str, made: str) -> None:
        exec(imported)
        a = eval(made)
        a.fill(1)
        print((a + 1).sum() == 2 * a.size)

    assert run(program, imported, made) == "True"


def test_ufunc_is_a_class_whichever_name_is_imported_first() -> None:
    def program() -> None:
        import tinytorch.numpy as np

        print(isinstance(np.ufunc, type), np.ufunc)

    assert run(program).startswith("True")
