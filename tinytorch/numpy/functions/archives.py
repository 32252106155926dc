"""Archives of tensors in NumPy's file format."""

from __future__ import annotations

from typing import Any

from ...backends import load
from .conversion import array_of
from .registration import shared


def _hosted(values: Any) -> Any:
    """Tensors, and what makes them, as arrays of NumPy's."""
    return array_of(values).detach().cpu().numpy()


def _write(name: str, file: Any, args: tuple[Any, ...], kwds: dict[str, Any]) -> None:
    write = getattr(load("numpy").library, name)
    write(file, *map(_hosted, args), **{key: _hosted(value) for key, value in kwds.items()})


@shared
def savez(file: Any, *args: Any, **kwds: Any) -> None:
    """Write tensors to an uncompressed archive, ``.npz``, that NumPy reads.

    Args:
        file: A path, to which ``.npz`` is added if it is missing, or a file open for bytes.
        *args: Tensors, called ``arr_0``, ``arr_1``, …
        **kwds: Tensors by name.

    Raises:
        ValueError: If a tensor is called as one of the unnamed ones are.

    Example:
        >>> import io, tinytorch as tt
        >>> file = io.BytesIO()
        >>> tt.savez(file, weights=tt.ones(2))
        >>> file.getvalue()[:2]
        b'PK'
    """
    _write("savez", file, args, kwds)


@shared
def savez_compressed(file: Any, *args: Any, **kwds: Any) -> None:
    """Write tensors to a compressed archive, ``.npz``, that NumPy reads.

    Args:
        file: A path, to which ``.npz`` is added if it is missing, or a file open for bytes.
        *args: Tensors, called ``arr_0``, ``arr_1``, …
        **kwds: Tensors by name.

    Raises:
        ValueError: If a tensor is called as one of the unnamed ones are.

    Example:
        >>> import io, tinytorch as tt
        >>> file = io.BytesIO()
        >>> tt.savez_compressed(file, weights=tt.ones(2))
        >>> file.getvalue()[:2]
        b'PK'
    """
    _write("savez_compressed", file, args, kwds)
