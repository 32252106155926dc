"""PyTorch's API in pure Python over NumPy and CuPy.

    >>> x = tt.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> (x ** 2).sum().backward()
    >>> x.grad
    tensor([2., 4., 6.])

No function takes a backend unless you want to name one: creation follows the backend that
is active in this thread (``tt.set_backend``, ``with tt.backend_context("cupy"):``), and
everything else follows its inputs. ``dir(tinytorch)`` lists what there is here and now.

In the examples of all docstrings ``tt`` is ``tinytorch`` and ``np`` is ``tinytorch.numpy``.
"""

from .compat import after_import, import_hook
from .facade import packages, resolve
from .facade.late_imports import fill_late_imports
from .state import state as state  # the function, over the folder of its name
from .state.tracebacks import shorten

__version__ = "0.1.0"

packages.install()
import_hook.install()  # ahead of the other, which would load modules by their second names anew
fill_late_imports()
resolve.install_lazy_methods()
after_import.install()


def __getattr__(name):  # type: ignore[no-untyped-def]
    try:
        return resolve.resolve(name)
    except Exception as error:
        shorten(error)
        raise


def __dir__():  # type: ignore[no-untyped-def]
    return resolve.listing()
