"""Custom operators made of Python functions: ``custom_op``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .operator import Operator, register
from .schema import infer_schema, parse

__all__ = ["CustomOpDef", "custom_op"]


class CustomOpDef:
    """Operator that ``custom_op`` made, called like the function that it was made of.

    Example:
        >>> @tt.library.custom_op("mylib::negated", mutates_args=())
        ... def negated(x: tt.Tensor) -> tt.Tensor:
        ...     return -x
        >>> negated
        <CustomOpDef(mylib::negated)>
        >>> negated(tt.ones(1))
        tensor([-1.])
    """

    __name__: str

    def __init__(self, namespace: str, name: str, schema: str, fn: Callable[..., Any]) -> None:
        name, declared = parse(namespace, f"{name}{schema}")
        if any(each.keyword and each.type.startswith("Tensor") for each in declared.arguments):
            raise NotImplementedError(
                "custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only. "
                f"Got: {declared}"
            )
        self._operator = Operator(declared, opaque=True)
        self._qualname = declared.operator
        self._init_fn = fn
        self._opoverload = register(self._operator, name, namespace)
        self.__name__, self.__doc__ = fn.__name__, fn.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._operator(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def register_kernel(self, device_types: str | Sequence[str] | None, fn: Any = None, /) -> Any:
        """Register a kernel for some device types, ``"cuda"``; without ``fn`` a decorator.

        Example:
            >>> @tt.library.custom_op("defined::a", mutates_args=())
            ... def twice(x: tt.Tensor) -> tt.Tensor:
            ...     return 2 * x
            >>> @twice.register_kernel("cpu")
            ... def on_cpu(x):
            ...     return x + x
            >>> twice(tt.ones(1))
            tensor([2.])
        """
        add = functools.partial(self._operator.add_kernel, device_types)
        return add if fn is None else add(fn)

    def register_fake(self, fn: Any, /) -> Any:
        """Accept a fake kernel, which computes shapes for compilers; it is never called.

        Example:
            >>> @tt.library.custom_op("defined::b", mutates_args=())
            ... def twice(x: tt.Tensor) -> tt.Tensor:
            ...     return 2 * x
            >>> @twice.register_fake
            ... def shapes(x):
            ...     return tt.empty_like(x)
            >>> twice(tt.ones(1))
            tensor([2.])
        """
        return fn

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Register the backward formula; see ``library.register_autograd``.

        Raises:
            RuntimeError: If the operator changes an argument in place.

        Example:
            >>> @tt.library.custom_op("defined::c", mutates_args=())
            ... def twice(x: tt.Tensor) -> tt.Tensor:
            ...     return 2 * x
            >>> twice.register_autograd(lambda ctx, g: 2 * g)
            >>> x = tt.ones(1, requires_grad=True)
            >>> twice(x).backward()
            >>> x.grad
            tensor([2.])
        """
        self._operator.register_autograd(backward, setup_context)


def custom_op(
    name: str, fn: Callable[..., Any] | None = None, /, *, mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None, schema: str | None = None, tags: Any = None,
) -> Any:  # fmt: skip
    """Make a function an operator, called as ``ops.<namespace>.<name>`` too.

    Autograd does not record the operations inside the function: register its backward formula by
    ``register_autograd``. The function must not return an argument or a view of one.

    Args:
        name: ``"mylib::name"``.
        fn: The function; all parameters and the result are annotated. Default: the result is a
            decorator.
        mutates_args: Names of the arguments that it changes in place, or ``"unknown"``.
        device_types: Device types that it supports, such as ``"cpu"``. Default: all.
        schema: ``"(Tensor x) -> Tensor"``. Default: inferred from the annotations.
        tags: Accepted for compatibility.

    Returns:
        A ``CustomOpDef``.

    Raises:
        ValueError: If the name has no namespace, an annotation is missing or unsupported, or
            ``mutates_args`` names an argument that is not a tensor.
        NotImplementedError: If a tensor argument is keyword-only.

    Example:
        >>> @tt.library.custom_op("mylib::zero_", mutates_args={"x"})
        ... def zero_(x: tt.Tensor) -> None:
        ...     x.zero_()
        >>> x = tt.ones(2)
        >>> tt.ops.mylib.zero_(x)
        >>> x
        tensor([0., 0.])
    """

    def define(fn: Callable[..., Any]) -> CustomOpDef:
        declared = schema or infer_schema(fn, mutates_args=mutates_args)
        namespace, _, base_name = name.partition("::")
        if not base_name:
            raise ValueError(f"expected a name 'namespace::name', got {name!r}")
        operator = CustomOpDef(namespace, base_name, declared, fn)
        operator.register_kernel(device_types, fn)
        return operator

    return define if fn is None else define(fn)
