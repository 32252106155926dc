"""Backends over any library of the array API standard.

``standard_backend("module.name")`` returns a backend class. Kernels call NumPy's functions on
arrays with NumPy's interface (``array.py``). Those hold arrays of the library, either memory with
strides (``strided.py``) or immutable values (``store.py``).
"""

from .backend import StandardBackend as StandardBackend
from .backend import standard_backend as standard_backend
from .library import ArrayLibrary as ArrayLibrary
from .names import forbid_fallbacks as forbid_fallbacks
from .strided import StridedLibrary as StridedLibrary
