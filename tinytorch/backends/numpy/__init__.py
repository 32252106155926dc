"""NumPy, on the CPU."""

from .backend import NumpyBackend as NumpyBackend
