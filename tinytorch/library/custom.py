"""Operators made of Python functions: ``custom_op``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .operator import Operator, register
from .schema import infer_schema, parse

__all__ = ["CustomOpDef", "custom_op"]


class CustomOpDef:
    """An operator that ``custom_op`` made: call it as the function it was made of.

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
        """Another function for kinds of device, ``"cuda"``; without ``fn`` a decorator.

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
        """Take what tells compilers the shapes; nothing asks for it.

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
        """Give it a gradient; see ``library.register_autograd``.

        Raises:
            RuntimeError: If it changes an argument in place.

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
        self._operator.differentiate(backward, setup_context)


def custom_op(
    name: str, fn: Callable[..., Any] | None = None, /, *, mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None, schema: str | None = None, tags: Any = None,
) -> Any:  # fmt: skip
    """Make an operator of a function, known as ``ops.<namespace>.<name>``.

    What the function does is not recorded: ``register_autograd`` says the gradient.

    Args:
        name: ``"mylib::name"``.
        fn: The function, all of it annotated. Default: the result is a decorator.
        mutates_args: Names of the arguments it changes in place, or ``"unknown"``.
        device_types: Kinds of device it is for, ``"cpu"``. Default: all.
        schema: ``"(Tensor x) -> Tensor"``. Default: what the annotations say.
        tags: Accepted for compatibility.

    Returns:
        A ``CustomOpDef``. A result may not be an argument, nor share its memory.

    Raises:
        ValueError: If the name has no namespace, an annotation is missing or unknown, or
            ``mutates_args`` names what is no tensor.
        NotImplementedError: If a tensor is to be given by name alone.

    Example:
        >>> @tt.library.custom_op("mylib::zero_", mutates_args={"x"})
        ... def zero_(x: tt.Tensor) -> None:
        ...     x.zero_()
        >>> x = tt.ones(2)
        >>> tt.ops.mylib.zero_(x)
        >>> x
        tensor([0., 0.])
    """

    def make(fn: Callable[..., Any]) -> CustomOpDef:
        declared = schema or infer_schema(fn, mutates_args=mutates_args)
        namespace, _, own = name.partition("::")
        if not own:
            raise ValueError(f"expected a name 'namespace::name', got {name!r}")
        made = CustomOpDef(namespace, own, declared, fn)
        made.register_kernel(device_types, fn)
        return made

    return make if fn is None else make(fn)
