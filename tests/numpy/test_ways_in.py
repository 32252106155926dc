"""Whatever of ``tinytorch.numpy`` a program imports first: its arrays are whole."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
    program = f"{imported}\na = {made}\na.fill(1)\nprint((a + 1).sum() == 2 * a.size)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_ufunc_is_a_class_whatever_is_asked_for_first() -> None:
    program = "import tinytorch.numpy as np\nprint(isinstance(np.ufunc, type), np.ufunc)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("True")
