"""NumPy's ``linalg`` and ``fft`` over another library."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from .library import ArrayLibrary, Raw
    from .names import Names


class Submodule:
    """``linalg`` or ``fft``: the library's functions, or NumPy's on the host.

    Args:
        names: NumPy's functions of the library.
        module: ``"linalg"`` or ``"fft"``.
    """

    LinAlgError = numpy.linalg.LinAlgError

    def __init__(self, names: Names, module: str) -> None:
        self._names, self._module = names, module

    def __getattr__(self, name: str) -> Callable[..., Any]:
        twin = getattr(getattr(numpy, self._module), name)
        own = self._names.library.submodule_function(self._module, name)
        if own is None:
            value = self._names.on_host(f"{self._module}.{name}", twin)
        else:
            value = self._names.on_raw(
                own if self._module == "linalg" else _accept_positions(name, own)
            )
        setattr(self, name, value)
        return value


def _accept_positions(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of ``fft`` whose options may be passed by position, as NumPy's."""
    if name.endswith(("freq", "shift")):
        return function
    options_of = ("s", "axes", "norm") if name.endswith(("n", "2")) else ("n", "axis", "norm")

    def call(a: Any, *args: Any, **options: Any) -> Any:
        given = zip(options_of, args, strict=False)
        options = {**{key: value for key, value in given if value is not None}, **options}
        if options.get("s") is not None and options.get("axes") is None and "s" in options_of:
            options["axes"] = tuple(range(-len(options["s"]), 0))
        return function(a, **options)

    return call


# -- functions of linalg whose arguments in the standard are not NumPy's ------------------------


def adapt(
    library: ArrayLibrary, name: str, function: Callable[..., Any]
) -> Callable[..., Any] | None:
    """Return a function of the standard's ``linalg`` with NumPy's arguments.

    None if the standard's has other results.
    """
    if name in _DIFFERENT:
        return None
    adapter = _ADAPTERS.get(name)
    return function if adapter is None else functools.partial(adapter, library, function)


def _eigh(library: ArrayLibrary, function: Callable[..., Any], a: Raw, uplo: str = "L") -> Any:
    """``eigh`` and ``eigvalsh`` read one triangle; the standard's read either."""
    names = library.namespace
    lower = names.tril(a) if uplo.upper() == "L" else names.matrix_transpose(
        names.conj(names.triu(a)) if _is_complex(library, a) else names.triu(a)
    )  # fmt: skip
    upper = names.matrix_transpose(names.tril(lower, k=-1))
    return function(lower + (names.conj(upper) if _is_complex(library, a) else upper))


def _is_complex(library: ArrayLibrary, raw: Raw) -> bool:
    return library.numpy_dtype(raw.dtype).kind == "c"


def _svd(
    library: ArrayLibrary, function: Callable[..., Any], a: Raw, full_matrices: bool = True,
    compute_uv: bool = True,
) -> Any:  # fmt: skip
    """``svd``, whose singular values alone are another function in the standard."""
    if not compute_uv:
        return library.namespace.linalg.svdvals(a)
    return function(a, full_matrices=full_matrices)


_ADAPTERS: dict[str, Callable[..., Any]] = {"eigh": _eigh, "eigvalsh": _eigh, "svd": _svd}
_DIFFERENT = frozenset("cond eig eigvals lstsq matrix_rank multi_dot norm pinv qr".split())
