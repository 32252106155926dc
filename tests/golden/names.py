"""Public names of the modules that stand for PyTorch's."""

from __future__ import annotations

import contextlib
import importlib
import warnings
from types import ModuleType

import tinytorch as tt


def public_names(module: str) -> list[str] | None:
    """Return the names in one of PyTorch's modules here; None if it cannot be imported."""
    tt.install_as_torch()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = importlib.import_module(module)
    except (ImportError, RuntimeError):
        return None
    finally:
        tt.uninstall_as_torch()
    return sorted(
        name for name in dir(found) if not name.startswith("_") and not _is_module(found, name)
    )


def _is_module(module: ModuleType, name: str) -> bool:
    with contextlib.suppress(AttributeError, ImportError, RuntimeError):
        return isinstance(getattr(module, name), ModuleType)
    return False
