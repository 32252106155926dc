"""JAX as an array library: arrays are immutable values, and functions can be traced.

JAX computes in 32 bits unless the user switches to 64. The user's setting stays as it is: 64 bits
are on inside the calls of this file alone.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy

from ...dtypes import bfloat16, dtype
from .backend import StandardBackend
from .library import Dtype, Elementwise, ArrayLibrary, Raw, Shape


_INT64 = numpy.dtype("int64")


#: Methods that compute on raw arrays.
_COMPUTING = (
    "from_host item scalar full astype copy bitcast join_complex reshape permute broadcast_to flip "
    "roll concatenate where arange as_index slice read_at write_at write_slice read_places "
    "write_places add_at take take_along_axis nonzero searchsorted reduce accumulate sort argsort "
    "matmul draw call"
).split()


class _WideModule:
    """Module of JAX whose functions compute in 64 bits where their arguments do."""

    def __init__(self, module: Any, widened: Callable[..., Any]) -> None:
        self._module, self._widened = module, widened

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if callable(found) and not isinstance(found, type):
            found = self._widened(found)
        setattr(self, name, found)
        return found


class JaxLibrary(ArrayLibrary):
    """Functions on arrays and tracers of JAX.

    Args:
        name: Name of the backend.
        jax: The module.
    """

    caches_scalars = False  # a tracer that is kept leaks out of its function
    computes_bools = True

    def __init__(self, name: str, jax: Any) -> None:
        import jax.numpy as jnp

        self.jax: Any = jax
        self._tracer = jax.core.Tracer
        self._enable = _find_switch(jax)
        self._trace_state: Any = _find_trace_state(jax)
        with ThreadPoolExecutor(1) as pool:  # this thread may be inside of a trace
            #: What ``trace`` returns outside of traced functions.
            self.eager_trace: Any = pool.submit(self.trace).result()
        self._local = threading.local()
        namespace: Any = _WideModule(jnp, self.widen)
        namespace.linalg = _WideModule(jnp.linalg, self.widen)
        namespace.fft = _WideModule(jnp.fft, self.widen)
        super().__init__(name, namespace, jax.Array, jax.__version__)
        for method in _COMPUTING:  # also of the base class, which uses operators of the arrays
            setattr(self, method, self.widen(getattr(self, method)))
        try:
            import ml_dtypes
        except ImportError:  # JAX depends on it
            return
        native = numpy.dtype(ml_dtypes.bfloat16)
        self.native[native] = self.numpy_dtypes[native] = native

    def widen(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function of JAX: 64 bits are on inside it."""
        enable = self._enable

        @functools.wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            with enable(True):
                return function(*args, **options)

        return call

    # -- dtypes and the host ----------------------------------------------------------------

    def find_dtype(self, word: str) -> Any:
        return numpy.dtype(word)

    def from_host(self, host: numpy.ndarray[Any, Any]) -> Raw:
        self.native_dtype(host.dtype)
        with self.jax.ensure_compile_time_eval():  # a constant in a trace
            return self.jax.numpy.array(host)

    def to_host(self, raw: Raw) -> numpy.ndarray[Any, Any]:
        return numpy.asarray(raw)

    def item(self, raw: Raw) -> Any:
        return raw.item()

    def scalar(self, value: Any, dtype: Dtype) -> Raw:
        return numpy.asarray(value, dtype)  # an operand of NumPy's is a constant

    def has_values(self, raw: Raw) -> bool:
        return not isinstance(raw, self._tracer)

    def trace(self) -> Any:
        return self._trace_state(convention="flax")

    def is_tracing(self) -> bool:
        return self.trace() != self.eager_trace  # type: ignore[no-any-return]

    def is_compiling(self) -> bool:
        return isinstance(self.jax.numpy.zeros(()), self._tracer)

    # -- values -----------------------------------------------------------------------------

    def full(self, shape: Shape, value: Any, dtype: Dtype) -> Raw:
        value = numpy.asarray(value).astype(self.native_dtype(dtype))
        return self.namespace.full(tuple(shape), value, dtype)

    def astype(self, raw: Raw, dtype: Dtype) -> Raw:
        if raw.dtype.kind == "c" and dtype.kind not in "cb":
            raw = self.namespace.real(raw)
        if raw.dtype.kind == "f" and dtype.kind in "iu":  # NumPy truncates and wraps
            wide = numpy.dtype("int64") if dtype.kind == "u" and dtype.itemsize < 8 else dtype
            raw = self.namespace.astype(raw, wide)
        return self.namespace.astype(raw, self.native_dtype(dtype))

    def bitcast(self, raw: Raw, dtype: Dtype) -> Raw | None:
        return self.jax.numpy.asarray(raw).view(dtype)

    def join_complex(self, real: Raw, imag: Raw) -> Raw:
        return self.jax.lax.complex(real, imag)

    def draw(self, name: str, key: int, shape: Shape, dtype: Dtype) -> Raw:
        return getattr(self.jax.random, name)(self.jax.random.key(key), shape, dtype)

    # -- indexing ---------------------------------------------------------------------------

    def as_index(self, raw: Raw) -> Raw:
        return raw

    def slice(self, raw: Raw, key: tuple[Any, ...]) -> Raw:
        return raw[key]

    def read_at(self, raw: Raw, key: tuple[Any, ...]) -> Raw:
        return self.jax.numpy.asarray(raw)[key]

    def write_at(self, raw: Raw, key: tuple[Any, ...], value: Raw) -> Raw:
        if any(getattr(item, "dtype", _INT64).kind == "b" for item in key):
            return super().write_at(raw, key, value)
        return self.jax.numpy.asarray(raw).at[key].set(value)

    def write_slice(self, raw: Raw, key: tuple[Any, ...], value: Raw) -> Raw:
        return self.jax.numpy.asarray(raw).at[key].set(value)

    def read_places(self, flat: Raw, places: Raw) -> Raw:
        return flat[places]

    def add_at(self, raw: Raw, key: tuple[Any, ...], values: Raw) -> Raw:
        if raw.dtype.kind == "b":
            return super().add_at(raw, key, values)
        return self.jax.numpy.asarray(raw).at[key].add(values)

    def take(self, raw: Raw, index: Raw, axis: int) -> Raw:
        return self.namespace.take(raw, index, axis=axis)

    def searchsorted(self, sequence: Raw, values: Raw, side: str) -> Raw:
        return self.namespace.searchsorted(sequence, values, side=side)

    # -- functions by NumPy's names ---------------------------------------------------------

    def accumulate(self, name: str, raw: Raw, axis: int) -> Raw:
        return getattr(self.namespace, f"cum{name}")(raw, axis=axis)

    def make_formulas(self) -> dict[str, Elementwise]:
        return {}

    def elementwise(self, name: str) -> Elementwise | None:
        return getattr(self.namespace, name, None)

    def function(self, name: str) -> Callable[..., Any] | None:
        return None if name.startswith("special.") else getattr(self.namespace, name, None)

    def submodule_function(self, module: str, name: str) -> Callable[..., Any] | None:
        if name in ("eig", "eigvals"):  # on the CPU alone, and not differentiable
            return None
        return getattr(getattr(self.namespace, module), name, None)

    def call(self, function: Callable[..., Any], args: Any, options: Any) -> Any:
        """Call a function of ``linalg`` or ``fft``, with NumPy's errors.

        JAX returns infinities or NaN for a singular matrix, and for one that is not positive
        definite. In a trace there are no values to look at, so these stay.
        """
        result = function(*args, **options)
        name, xp = getattr(function, "__name__", ""), self.namespace
        if name not in _FAILING or not self.has_values(result) or xp.isfinite(result).all():
            return result
        if all(xp.isfinite(each).all() for each in args):
            if name == "cholesky" or (xp.linalg.slogdet(args[0])[0] == 0).any():
                raise numpy.linalg.LinAlgError(_FAILING[name])
        return result

    def kernels(self, backend: Any) -> dict[str, Callable[..., Any]]:
        from . import jax_kernels, jax_layers

        wrap = backend.library.wrap
        return jax_kernels.make_kernels(self, wrap) | jax_layers.make_kernels(self, wrap)


#: Functions of ``linalg`` that fail for some matrices, with NumPy's messages.
_FAILING = {
    "inv": "Singular matrix", "solve": "Singular matrix",
    "cholesky": "Matrix is not positive definite",
}  # fmt: skip
#: PyTorch's types of JAX's default devices.
_DEVICE_TYPES = {"gpu": "cuda", "tpu": "xla"}


class JaxBackend(StandardBackend):
    """JAX as a backend, on the device that JAX uses."""

    name = "jax"
    module = "jax.numpy"
    traces = True
    engine = "jax"
    low: frozenset[dtype] = frozenset((bfloat16,))

    def open(self) -> ArrayLibrary:
        import jax

        platform = jax.default_backend()
        self.device_type: str = _DEVICE_TYPES.get(platform, platform)
        return JaxLibrary(self.name, jax)


def _find_trace_state(jax: Any) -> Callable[..., Any]:
    """Return JAX's function of the present trace, which moved."""
    try:
        from jax.extend.core import get_opaque_trace_state
    except ImportError:
        return jax.core.get_opaque_trace_state  # type: ignore[no-any-return]
    return get_opaque_trace_state  # type: ignore[no-any-return]


def _find_switch(jax: Any) -> Callable[[bool], Any]:
    """Return JAX's context manager that switches 64 bits, which moved."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64  # type: ignore[no-any-return]
    from jax.experimental import enable_x64

    return enable_x64  # type: ignore[no-any-return]
