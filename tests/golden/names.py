"""Public names of the modules that stand for PyTorch's."""

from __future__ import annotations

import contextlib
import importlib
import warnings
from collections.abc import Iterable
from types import ModuleType

import tinytorch as tt


def public_names(module: str, unlisted: Iterable[str] = ()) -> list[str] | None:
    """Return the names in one of PyTorch's modules here; None if it cannot be imported.

    ``dir`` does not list names that PyTorch's file only imports: those of ``unlisted`` that the
    module has all the same are returned, too.
    """
    tt.install_as_torch()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = importlib.import_module(module)
    except (ImportError, RuntimeError):
        return None
    finally:
        tt.uninstall_as_torch()
    names = {*dir(found), *(name for name in unlisted if hasattr(found, name))}
    return sorted(
        name for name in names if not name.startswith("_") and not _is_module(found, name)
    )


def _is_module(module: ModuleType, name: str) -> bool:
    with contextlib.suppress(AttributeError, ImportError, RuntimeError):
        return isinstance(getattr(module, name), ModuleType)
    return False
