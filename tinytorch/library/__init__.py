"""Custom operators, called as ``ops.mylib.name``.

``custom_op`` makes an operator of a Python function; ``Library`` declares operators and registers
kernels for them by device type. ``register_autograd`` adds a backward formula. Fake kernels,
which compute shapes for compilers, are accepted and never called: ``compile`` runs the kernels.

Example:
    >>> @tt.library.custom_op("mylib::scaled", mutates_args=())
    ... def scaled(x: tt.Tensor, factor: float) -> tt.Tensor:
    ...     return x * factor
    >>> def setup_context(ctx, inputs, output):
    ...     ctx.factor = inputs[1]
    >>> scaled.register_autograd(lambda ctx, g: (g * ctx.factor, None),
    ...                          setup_context=setup_context)
    >>> x = tt.ones(2, requires_grad=True)
    >>> tt.ops.mylib.scaled(x, 3.0).sum().backward()
    >>> x.grad
    tensor([3., 3.])
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

from ..dispatch.tensor_protocols import namespace
from ..facade.unsupported import absent
from .custom import CustomOpDef as CustomOpDef
from .custom import custom_op as custom_op
from .operator import Operator, find, register
from .schema import infer_schema as infer_schema
from .schema import parse

__all__ = [
    "CustomOpDef", "Library", "custom_op", "define", "fallthrough_kernel", "impl",
    "impl_abstract", "infer_schema", "opcheck", "register_autograd", "register_fake",
    "register_kernel",
]  # fmt: skip

_F = TypeVar("_F", bound=Callable[..., Any])
_KINDS = ("DEF", "IMPL", "FRAGMENT")
_BY_DEVICE = "an operator has kernels by device type only, without other dispatch keys"
_COMPILED = "it serves code that is compiled for GPUs, and there is no such compiler here"
register_vmap: Callable[..., NoReturn] = absent(
    "library.register_vmap", "vmap has no rules for single operators"
)
register_autocast: Callable[..., NoReturn] = absent("library.register_autocast", _BY_DEVICE)
register_torch_dispatch: Callable[..., NoReturn] = absent(
    "library.register_torch_dispatch", _BY_DEVICE
)
get_kernel: Callable[..., NoReturn] = absent("library.get_kernel", _BY_DEVICE)
get_ctx: Callable[..., NoReturn] = absent("library.get_ctx", "fake kernels are never called")
triton_op: Callable[..., NoReturn] = absent("library.triton_op", _COMPILED)
wrap_triton: Callable[..., NoReturn] = absent("library.wrap_triton", _COMPILED)
opcheck: Callable[..., NoReturn] = absent(
    "library.opcheck", "it tests registrations for compilers, which are not read here"
)
fallthrough_kernel: Callable[..., NoReturn] = absent(
    "library.fallthrough_kernel", "it is a marker that cannot be called"
)


class Library:
    """Declares the operators of a namespace and registers kernels for them.

    Args:
        ns: The namespace: operators are called as ``ops.<ns>.name``.
        kind: ``"DEF"`` for the owner of the namespace, ``"FRAGMENT"`` for an addition to it,
            ``"IMPL"`` for kernels only.
        dispatch_key: Default dispatch key of ``impl``. Default: ``""``.

    Raises:
        ValueError: If ``kind`` is another string.

    Example:
        >>> library = tt.library.Library("own", "FRAGMENT")
        >>> library.define("twice(Tensor x) -> Tensor")
        'twice'
        >>> library.impl("twice", lambda x: 2 * x, "CompositeImplicitAutograd")
        >>> tt.ops.own.twice(tt.ones(2))
        tensor([2., 2.])
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in _KINDS:
            raise ValueError(f"Unsupported kind: {kind}")
        self.ns = ns
        self.kind = kind
        self.dispatch_key = dispatch_key

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Declare an operator.

        Args:
            schema: ``"name(Tensor x, int n=2) -> Tensor"``.
            alias_analysis, tags: Accepted for compatibility.

        Returns:
            The name of the operator.

        Raises:
            RuntimeError: If the operator is already declared, the schema cannot be parsed, or the
                library's kind is ``"IMPL"``.

        Example:
            >>> library = tt.library.Library("defining", "FRAGMENT")
            >>> library.define("thrice(Tensor x) -> Tensor")
            'thrice'
        """
        if self.kind == "IMPL":
            raise RuntimeError(
                f"define({schema!r}): Cannot define an operator inside of a library of kind 'IMPL'"
            )
        name, declared = parse(self.ns, schema)
        if name in vars(namespace(self.ns)):
            raise RuntimeError(
                f"Tried to register an operator ({declared}) with the same name and overload "
                "name multiple times."
            )
        register(Operator(declared, opaque=False), name, self.ns)
        return name

    def impl(
        self, op_name: Any, fn: Callable[..., Any], dispatch_key: str = "", **options: Any
    ) -> None:
        """Register a kernel for an operator.

        Args:
            op_name: Name of the operator, or the operator.
            fn: The kernel; ``fallthrough_kernel`` registers nothing.
            dispatch_key: ``"CPU"``, ``"CUDA"``, ``"CompositeExplicitAutograd"`` or
                ``"CompositeImplicitAutograd"``. A kernel of another key, such as ``"Meta"``, is
                accepted and never called. Default: the library's.
            **options: Accepted for compatibility.

        Raises:
            NotImplementedError: For ``"Autograd"``: use ``register_autograd``.

        Example:
            >>> library = tt.library.Library("giving", "FRAGMENT")
            >>> name = library.define("thrice(Tensor x) -> Tensor")
            >>> library.impl(name, lambda x: 3 * x, "CPU")
            >>> tt.ops.giving.thrice(tt.ones(2))
            tensor([3., 3.])
        """
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        if key.startswith("Autograd"):
            raise NotImplementedError(
                f"library.impl: {key!r} is unsupported; call register_autograd instead"
            )
        if key == "Meta" or key.startswith("Autocast"):
            return
        name = op_name if not isinstance(op_name, str) or "::" in op_name \
            else f"{self.ns}::{op_name}"  # fmt: skip
        if fn is not fallthrough_kernel:
            find(name).kernels[key] = fn

    def _destroy(self) -> None:
        """Do nothing: operators stay registered."""


def define(qualname: str, schema: str, *, lib: Library | None = None, tags: Any = ()) -> None:
    """Declare an operator.

    Args:
        qualname: ``"mylib::name"``.
        schema: ``"(Tensor x) -> Tensor"``, without the name.
        lib: The library that declares it. Default: a new ``Library`` of kind ``"FRAGMENT"``.
        tags: Accepted for compatibility.

    Raises:
        ValueError: If the name has no namespace.

    Example:
        >>> tt.library.define("declared::half", "(Tensor x) -> Tensor")
        >>> @tt.library.impl("declared::half", "cpu")
        ... def half(x):
        ...     return x / 2
        >>> tt.ops.declared.half(tt.ones(1))
        tensor([0.5000])
    """
    library, _, name = qualname.partition("::")
    if not name:
        raise ValueError(f"expected a name 'namespace::name', got {qualname!r}")
    (lib or Library(library, "FRAGMENT")).define(f"{name}{schema}")


def impl(qualname: Any, types: Any, func: Any = None, *, lib: Library | None = None) -> Any:
    """Register a kernel for an operator, or return a decorator that does.

    Two forms of the call are supported: ``impl("mylib::name", types, func)`` and the older
    ``impl(library, "name", dispatch_key)``, which returns a decorator.

    Args:
        qualname: ``"mylib::name"``; in the older form the ``Library``.
        types: Device types, ``"cpu"`` or ``("cpu", "cuda")``, or ``"default"`` for all; in the
            older form the operator's name.
        func: The kernel; in the older form the dispatch key. Default: the result is a decorator.
        lib: Accepted for compatibility.

    Example:
        >>> tt.library.define("given::half", "(Tensor x) -> Tensor")
        >>> @tt.library.impl("given::half", "default")
        ... def half(x):
        ...     return x / 2
        >>> tt.ops.given.half(tt.ones(1))
        tensor([0.5000])
    """
    if isinstance(qualname, Library):
        return functools.partial(_impl_and_return, qualname, types, func or "")
    return register_kernel(qualname, types, func, lib=lib)


def _impl_and_return(library: Library, name: str, key: str, fn: _F) -> _F:
    """Register ``fn`` as a kernel of an operator, and return it, for use as a decorator.

    Args:
        library: The library of the operator.
        name: Name of the operator.
        key: Dispatch key, such as ``"CPU"``.
        fn: The kernel.
    """
    library.impl(name, fn, key)
    return fn


def register_kernel(
    op: Any, device_types: str | Sequence[str] | None, func: Any = None, /, *,
    lib: Library | None = None,
) -> Any:  # fmt: skip
    """Register a kernel for an operator and some device types.

    Args:
        op: ``"mylib::name"``, or the operator.
        device_types: ``"cpu"`` or a sequence of such; None or ``"default"`` for all.
        func: The kernel. Default: the result is a decorator.
        lib: Accepted for compatibility.

    Raises:
        RuntimeError: If the operator does not exist.

    Example:
        >>> tt.library.define("kernels::plus", "(Tensor x, int n=1) -> Tensor")
        >>> @tt.library.register_kernel("kernels::plus", "cpu")
        ... def plus(x, n=1):
        ...     return x + n
        >>> tt.ops.kernels.plus(tt.ones(1), n=2)
        tensor([3.])
    """
    operator: Operator = find(op)
    add = functools.partial(operator.add_kernel, device_types)
    return add if func is None else add(func)


def register_fake(
    op: Any, func: Any = None, /, *, lib: Any = None, allow_override: bool = False,
    _stacklevel: int = 1,
) -> Any:  # fmt: skip
    """Accept a fake kernel, which computes an operator's shapes for compilers; never called.

    Args:
        op: ``"mylib::name"``, or the operator, which may be declared later.
        func: The function. Default: the result is a decorator.
        lib, allow_override: Accepted for compatibility.

    Example:
        >>> @tt.library.register_fake("mylib::scaled")
        ... def shapes(x, factor):
        ...     return tt.empty_like(x)
        >>> shapes(tt.ones(3), 2.0).shape
        tinytorch.Size([3])
    """
    return _identity if func is None else func


def impl_abstract(qualname: Any, func: Any = None, *, lib: Any = None) -> Any:
    """Older name of ``register_fake``.

    Example:
        >>> @tt.library.impl_abstract("mylib::scaled")
        ... def shapes(x, factor):
        ...     return tt.empty_like(x)
        >>> shapes(tt.ones(3), 2.0).shape
        tinytorch.Size([3])
    """
    return register_fake(qualname, func)


def register_autograd(
    op: Any, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None,
    lib: Any = None,
) -> None:  # fmt: skip
    """Register the backward formula of an operator.

    Args:
        op: ``"mylib::name"``, or the operator.
        backward: Function of ``ctx`` and the gradients of the results, which returns the
            gradients of the positional arguments.
        setup_context: Function that saves what ``backward`` needs in ``ctx``. Its arguments are
            passed by name: ``ctx``, ``inputs``, ``output``, and ``keyword_only_inputs`` if the
            schema has keyword-only arguments.
        lib: Accepted for compatibility.

    Raises:
        RuntimeError: If the operator does not exist, or changes an argument in place.

    Example:
        >>> @tt.library.custom_op("slopes::square", mutates_args=())
        ... def square(x: tt.Tensor) -> tt.Tensor:
        ...     return x * x
        >>> def setup_context(ctx, inputs, output):
        ...     ctx.save_for_backward(*inputs)
        >>> def backward(ctx, g):
        ...     return 2 * g * ctx.saved_tensors[0]
        >>> tt.library.register_autograd("slopes::square", backward, setup_context=setup_context)
        >>> x = tt.tensor([3.0], requires_grad=True)
        >>> tt.ops.slopes.square(x).backward()
        >>> x.grad
        tensor([6.])
    """
    find(op).register_autograd(backward, setup_context)


def _identity(function: _F) -> _F:
    return function
