"""A stand-in for CuPy that runs anywhere and is strict enough to trust without a GPU.

``strictcupy`` behaves like ``cupy``: NumPy computes behind a wrapper that is no NumPy array, and a
manifest introspected from a real CuPy says which names, keywords, dtypes and methods there are.
It refuses what CuPy refuses (implicit conversion, host arrays among device arrays, missing names
and keywords), wraps indices as CuPy does, returns 0-d arrays from reductions, fills ``empty`` with
NaN and logs every transfer and wait of the host. Where CuPy would quietly call NumPy or let NumPy
call it, the stand-in raises, because an op that does so has bypassed its backend.

    >>> import strictcupy
    >>> x = strictcupy.arange(6.0).reshape(2, 3)
    >>> with strictcupy.record_syncs() as log:
    ...     x.sum().item()
    15.0
    >>> [entry.kind for entry in log]
    ['item']
"""

from __future__ import annotations

import numpy as _numpy

from . import _functions, _manifest, _methods
from ._manifest import MANIFEST as MANIFEST

_methods.install()

from . import _overrides  # noqa: E402
from . import cuda as cuda  # noqa: E402
from . import cupyx as cupyx  # noqa: E402
from . import fft as fft  # noqa: E402
from . import lib as lib  # noqa: E402
from . import linalg as linalg  # noqa: E402
from . import random as random  # noqa: E402
from ._array import ndarray as ndarray  # noqa: E402
from ._devices import pretend_devices as pretend_devices  # noqa: E402
from ._sync import Sync as Sync  # noqa: E402
from ._sync import record_syncs as record_syncs  # noqa: E402
from ._sync import waits as waits  # noqa: E402

__version__: str = _manifest.MANIFEST["cupy"]

__getattr__ = _functions.resolver("cupy", _numpy, _overrides.OWN, globals())


def __dir__() -> list[str]:
    """List CuPy's names, and none of the stand-in's own; CuPy has no ``__all__``."""
    return sorted(_manifest.names("cupy"))
