"""Look-up of public names in ``tinytorch`` and in every namespace of operations.

Operations are looked up in ``dispatch.registry``, which has an index of all names, so that the
error for an unknown name imports nothing.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from typing import Any

from .. import dtypes
from ..backends import low_precision
from ..backends import numpy as numpy
from ..core.tensor import Tensor
from ..dispatch import tensor_protocols
from ..dispatch.registry import FAMILY_OF, NAMESPACES, find, load, names
from ..state import current_backend, settings
from ..state.tracebacks import shorten, shorten_namespace
from .library_fallback import forward, library_names
from .packages import Namespace, import_submodule, import_reexport, names_of


def install_lazy_methods() -> None:
    """Give Tensor its protocols and a lazy descriptor for each method that a family defines."""
    sys.modules["tinytorch"].__class__ = Namespace
    tensor_protocols.attach()
    have = vars(Tensor)
    for name, family in FAMILY_OF["Tensor"].items():
        if name not in have:  # it has them when the package is imported again
            setattr(Tensor, name, LazyMethod(name, family))


class LazyMethod:
    """Lazy descriptor of a method of tensors: the first access imports its family of operations.

    A ``__getattr__`` of the class could do the same, but would slow down the look-up of every
    attribute of every tensor.

    Args:
        name: Name of the method.
        family: The module that defines it, which replaces this descriptor when it is imported.
    """

    def __init__(self, name: str, family: str) -> None:
        self.name = name
        self.family = family

    def __get__(self, tensor: Any, owner: Any = None) -> Any:
        try:
            self._load()
            return getattr(owner if tensor is None else tensor, self.name)
        except Exception as error:
            shorten(error)
            raise

    def __set__(self, tensor: Any, value: Any) -> None:
        self._load()
        setattr(tensor, self.name, value)

    def _load(self) -> None:
        """Import the family; remove this descriptor if the family has not replaced it."""
        load(self.family)
        if vars(Tensor).get(self.name) is self:
            delattr(Tensor, self.name)  # then the look-up raises the usual AttributeError


def namespace(
    module: str, prefix: str, extra: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for a module whose functions are operations.

    Args:
        module: The module's ``__name__``.
        prefix: The namespace that its operations declare.
        extra: Names that the module defines itself.
    """
    made = sys.modules[module]
    made.__class__ = Namespace
    table = names_of(made)

    def get(name: str) -> Any:
        try:
            if not name.startswith("_"):
                function = find(prefix, name)
                if function is not None:
                    table[name] = function
                    return function
            if name == "__all__":  # for ``from tinytorch.fft import *``
                return listing()
            raise AttributeError(
                missing(module, name, names(prefix) if name[0] != "_" else ()), name=name, obj=None
            )
        except Exception as error:
            shorten(error)
            raise

    def listing() -> list[str]:
        return sorted({*names(prefix), *extra})

    return get, listing


def missing(module: str, name: str, known: Iterable[str], note: str = "") -> str:
    """Return the text of an AttributeError, with the nearest known name.

    Args:
        module: Name of the module.
        name: The attribute that it does not have.
        known: Names that the user may have meant.
        note: Text after the attribute.
    """
    text = f"module {module!r} has no attribute {name!r}{note}"
    near = nearest(name, known)
    return f"{text}. Did you mean: {near!r}?" if near else text


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name with the longest common subsequence; None if none is like ``name``.

    Reference: Hyyrö, "Bit-parallel LCS-length computation revisited", 2004.
    """
    positions: dict[str, int] = {}  # by letter, an int with the bit of each of its positions
    for i, letter in enumerate(name):
        positions[letter] = positions.get(letter, 0) | 1 << i
    letters, all_bits = set(name), (1 << len(name)) - 1
    best, found = 0.7, None  # a name is like another if at least this share of letters is common
    for other in known:
        total = len(name) + len(other)
        if 2 * min(len(name), len(other)) <= best * total or letters.isdisjoint(other[:2]):
            continue
        # The number of zeros in ``row`` is the length of the longest common subsequence so far.
        row = all_bits
        for letter in other:
            matches = row & positions.get(letter, 0)
            row = row + matches | row - matches
        common = (all_bits & ~row).bit_count()
        if 2 * common > best * total:
            best, found = 2 * common / total, other
    return found


# -- the top level ---------------------------------------------------------------------------

#: Public modules, imported at the first access.
MODULES = (
    "accelerator", "amp", "ao", "autograd", "backends", "compiler", "cpu", "cuda", "distributed",
    "distributions", "export", "fft", "func", "functional", "functorch", "futures", "fx", "hub",
    "jit", "library", "linalg", "masked", "mps", "multiprocessing", "nested", "nn", "numpy", "onnx",
    "ops", "optim",
    "overrides", "profiler", "quantization", "quasirandom", "random", "return_types",
    "serialization", "signal", "sparse", "special", "storage", "testing", "torch_version", "types",
    "utils", "version", "xpu",
)  # fmt: skip
#: Modules of PyTorch's that have private names and are used by programs nevertheless.
PRIVATE_MODULES = (
    "_C", "__config__", "__future__", "_dynamo", "_higher_order_ops", "_inductor", "_logging",
    "_subclasses", "_tensor_str", "_utils",
)  # fmt: skip
#: Modules that define the public values other than operations and modules.
HOMES: dict[str, tuple[str, ...]] = {
    "tinytorch.state": (
        "BackendType", "BackendUnavailableError", "UnknownBackendError", "backend_context",
        "default_dtype_context", "enable_grad", "get_backend", "get_default_backend",
        "get_default_dtype", "get_state", "inference_mode", "is_grad_enabled",
        "is_inference_mode_enabled", "list_backends", "no_grad", "propagate",
        "register_backend", "reset_backend", "reset_state", "set_backend",
        "set_default_backend", "set_default_dtype", "set_grad_enabled", "set_state", "state",
    ),
    "tinytorch.facade.constants": (
        "False_", "True_", "e", "euler_gamma", "inf", "nan", "newaxis", "pi",
    ),
    "tinytorch.numpy.settings": ("errstate",),
    "tinytorch.numpy.arrays": ("ndarray",),
    "tinytorch.numpy.functions.applied_functions": ("vectorize",),
    "tinytorch.numpy.functions.index_grids": ("c_", "index_exp", "mgrid", "ogrid", "r_", "s_"),
    "tinytorch.core.tensor": ("Size", "Tensor"),
    "tinytorch.compat.as_torch": ("install_as_torch", "uninstall_as_torch"),
    "tinytorch.accelerator": ("get_device_module",),
    "tinytorch.core.device": ("device", "get_default_device", "set_default_device"),
    "tinytorch.core.layout": (
        "channels_last", "channels_last_3d", "contiguous_format", "jagged", "layout",
        "legacy_contiguous_format", "memory_format", "preserve_format", "sparse_bsc", "sparse_bsr",
        "sparse_coo", "sparse_csc", "sparse_csr", "strided",
    ),
    "tinytorch.state.settings": settings.PUBLIC,
    "tinytorch.state.tracebacks": ("set_traceback_filtering",),
    "tinytorch.compat.checks": (
        "_assert", "_assert_async", "_check", "_check_index", "_check_is_size",
        "_check_not_implemented", "_check_tensor_all", "_check_tensor_all_with", "_check_type",
        "_check_value", "_check_with",
    ),
    "tinytorch.compat.symbolic": (
        "SymBool", "SymFloat", "SymInt", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min",
        "sym_not", "sym_sqrt", "sym_sum",
    ),
    "tinytorch.utils.dlpack": ("to_dlpack",),
    "tinytorch.utils.summary": ("summary",),
    "tinytorch.dispatch.creation": (
        *dtypes.TENSOR_TYPES, "set_default_tensor_type", "typename",
    ),
    "tinytorch.jit": ("CompilationUnit", "ScriptFunction", "ScriptModule", "fork", "wait"),
    "tinytorch.cuda.streams": ("Event", "Stream"),
    "tinytorch.futures": ("Future",),
    "tinytorch.amp": ("GradScaler", "autocast"),
    "tinytorch.dispatch.autocast": (
        "autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache",
        "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype",
        "is_autocast_cache_enabled", "is_autocast_cpu_enabled", "is_autocast_enabled",
        "set_autocast_cache_enabled", "set_autocast_cpu_dtype", "set_autocast_cpu_enabled",
        "set_autocast_dtype", "set_autocast_enabled", "set_autocast_gpu_dtype",
    ),
    "tinytorch._higher_order_ops": ("cond", "while_loop"),
    "tinytorch._C": (
        "DisableTorchFunction", "DisableTorchFunctionSubclass", "DispatchKey", "DispatchKeySet",
        "Graph", "JITException", "PyTorchFileReader", "PyTorchFileWriter", "ScriptObject", "Tag",
        "TensorType", "Value",
    ),
    "tinytorch.compiler": ("_disable_dynamo", "compile"),
    "tinytorch.dtypes": ("dtype", "finfo", "iinfo", "promote_types"),
    "tinytorch.core.printing": ("get_printoptions", "printoptions", "set_printoptions"),
    "tinytorch.random": (
        "Generator", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state",
    ),
    "tinytorch.backends.base": ("Backend",),
    "tinytorch.backends.errors": ("AcceleratorError", "OutOfMemoryError"),
    "tinytorch.func": ("vmap",),
    "tinytorch.serialization": ("load", "save"),
    "tinytorch.storage": ("TypedStorage", "UntypedStorage"),
    "tinytorch.ops.create.typed_storage": tuple(dtypes.STORAGES.values()),
    "tinytorch.autograd.anomaly": (
        "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_anomaly_enabled",
    ),
}  # fmt: skip
_HOME_OF = {name: home for home, names_there in HOMES.items() for name in names_there}
_NAMED_WITH_UNDERSCORE = {*FAMILY_OF[""], *_HOME_OF, *PRIVATE_MODULES}


def resolve(name: str) -> Any:
    """Return the public value ``tinytorch.name``: an operation, module or name of the backend."""
    dtype = dtypes.NAMES.get(name)
    if dtype is not None and current_backend().exposes(dtype):
        return dtype
    if name == "__all__":
        return star_names()
    table = names_of(sys.modules["tinytorch"])
    if name in NAMESPACES[""]:
        return table.setdefault(name, find("", name))
    if name.startswith("_") and name not in _NAMED_WITH_UNDERSCORE:
        return _private_module(name)
    if name == "torch":  # PyTorch's module refers to itself by this name, and programs use it
        return sys.modules["tinytorch"]
    if name == "default_generator":  # each backend has its own
        return importlib.import_module("tinytorch.random").default_generator
    if name in MODULES or name in PRIVATE_MODULES:
        return importlib.import_module(f"tinytorch.{name}")
    if name in _HOME_OF:
        space = {name: getattr(importlib.import_module(_HOME_OF[name]), name)}
        shorten_namespace(space)
        return table.setdefault(name, space[name])
    backend = current_backend()
    if dtype is not None:
        raise AttributeError(
            f"module 'tinytorch' has no attribute {name!r}: the active backend, "
            f"{backend.name}, has no such dtype{low_precision.missing(dtype, backend.low)}"
        )
    function = find("", name)
    if function is not None:
        return table.setdefault(name, function)
    found = forward(backend, name)
    if found is None:
        found = import_submodule("tinytorch", name) or import_reexport("tinytorch", name, None)
    if found is not None:
        return found
    # With obj CPython would add a suggestion of its own, from dir() of the module.
    raise AttributeError(
        missing("tinytorch", name, listing(), f" (active backend: {backend.name})"),
        name=name,
        obj=None,
    )


def _private_module(name: str) -> Any:
    """Return a module, or another value of PyTorch's top level, whose name has an underscore."""
    found = None
    if not name.startswith("__"):
        found = import_submodule("tinytorch", name) or import_reexport("tinytorch", name, None)
    if found is None:
        raise AttributeError(f"module 'tinytorch' has no attribute {name!r}")
    return found


def star_names() -> list[str]:
    """Names that ``from tinytorch import *`` imports: as in PyTorch, no modules.

    A module would hide the program's own ``random`` or ``numpy``, and names of the backend's
    library would stay after the backend changes.
    """
    library_alone = library_names(current_backend()) - {*names(""), *_HOME_OF}
    left_out = {*MODULES, *library_alone, "default_generator"}
    return [name for name in listing() if name not in left_out and not name.startswith("_")]


def listing() -> list[str]:
    """Names of ``dir(tinytorch)``, with those of the active backend."""
    backend = current_backend()
    found = backend.names_of_dtypes()
    found.update(names(""), _HOME_OF, MODULES, ("default_generator",), library_names(backend))
    return sorted(found | {n for n in [*names_of(sys.modules["tinytorch"])] if n.startswith("__")})
