"""NumPy's API, with gradients, on every backend.

``import tinytorch.numpy as np`` makes a NumPy script run on the active backend. Functions, methods,
operators and attributes are NumPy's. The class ``np.ndarray`` is not ``Tensor``: a function returns
Tensors if it is called with Tensors, and arrays otherwise. ``np.asarray(tensor)`` and
``tt.as_tensor(array)`` convert one to the other, over the same memory and in the same graph.
"""

from __future__ import annotations

from typing import Any

from ..facade.constants import False_ as False_
from ..facade.constants import True_ as True_
from ..facade.constants import e as e
from ..facade.constants import euler_gamma as euler_gamma
from ..facade.constants import inf as inf
from ..facade.constants import nan as nan
from ..facade.constants import newaxis as newaxis
from ..facade.constants import pi as pi
from . import fft as fft
from . import functions
from . import lib as lib
from . import linalg as linalg
from . import random as random
from .arrays import c_ as c_
from .arrays import mgrid as mgrid
from .arrays import ndarray as ndarray
from .arrays import ogrid as ogrid
from .arrays import r_ as r_
from .arrays import vectorize as vectorize
from .functions import __array_api_version__ as __array_api_version__
from .functions.conversion import host
from .functions.index_grids import index_exp as index_exp
from .functions.index_grids import s_ as s_
from .functions.inspection import NamespaceInfo
from .iteration import broadcast as broadcast
from .iteration import flatiter as flatiter
from .iteration import ndenumerate as ndenumerate
from .namespace import NUMPY_ONLY, get_function, numpy_attribute
from .namespace import frompyfunc as frompyfunc
from .polynomials import poly1d as poly1d
from .polynomials import polyadd as polyadd
from .polynomials import polyder as polyder
from .polynomials import polydiv as polydiv
from .polynomials import polyint as polyint
from .polynomials import polymul as polymul
from .polynomials import polysub as polysub
from .polynomials import polyval as polyval
from .scalars import finfo as finfo
from .settings import array2string as array2string
from .settings import array_repr as array_repr
from .settings import array_str as array_str
from .settings import errstate as errstate
from .settings import format_float_positional as format_float_positional
from .settings import format_float_scientific as format_float_scientific
from .settings import get_printoptions as get_printoptions
from .settings import printoptions as printoptions
from .settings import set_printoptions as set_printoptions
from .ufunc import ufunc as ufunc
from .wrapping import wrap_function


def __array_namespace_info__() -> NamespaceInfo:
    """Inspection of this namespace by the array API standard; its dtypes are NumPy's."""
    return NamespaceInfo(str, lambda kind: kind.dtype)


def __getattr__(name: str) -> Any:
    if name == "__all__":  # read by ``from tinytorch.numpy import *``
        return [name for name in host().__all__ if name not in NUMPY_ONLY]
    found = get_function(name)
    if found is None and (not name.startswith("_") or name == "__version__"):
        found = numpy_attribute(name)
    if found is None:
        found = functions._forward(name, __dir__)
        return found if isinstance(found, type) else wrap_function(found)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    theirs = {name for name in dir(host()) if not name.startswith("_")}
    return sorted(theirs - NUMPY_ONLY.keys() | set(dir(functions)))
