"""``Module``: the base class of all layers, losses and models."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, Self, TypeVar, overload

from ...core.tensor import HOLDERS, Holder, unwrap_holder
from ...core.tensor import Tensor
from ...dispatch.operation import Op
from ...state.tracebacks import shorten
from .call import HookedCall
from .global_hooks import CALLS as CALLS
from .global_hooks import register_module_backward_hook as register_module_backward_hook
from .global_hooks import (
    register_module_buffer_registration_hook as register_module_buffer_registration_hook,
)
from .global_hooks import register_module_forward_hook as register_module_forward_hook
from .global_hooks import register_module_forward_pre_hook as register_module_forward_pre_hook
from .global_hooks import register_module_full_backward_hook as register_module_full_backward_hook
from .global_hooks import (
    register_module_full_backward_pre_hook as register_module_full_backward_pre_hook,
)
from .global_hooks import (
    register_module_module_registration_hook as register_module_module_registration_hook,
)
from .global_hooks import (
    register_module_parameter_registration_hook as register_module_parameter_registration_hook,
)
from .hooks import Hooked
from .members import Members, MemberDict

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class _HasForward(Protocol[P, R_co]):
    def forward(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...


class Module(Hooked):
    """Base class of all layers, losses and models.

    A subclass assigns its parameters and submodules to attributes in ``__init__`` and computes its
    output in ``forward``. Calling the module calls ``forward`` and the hooks; for a type checker,
    the call has the signature of ``forward``.

    Attributes:
        training: Whether the module is in training mode; ``train()`` and ``eval()`` set it.
        call_super_init: Whether ``Module.__init__`` passes its arguments on to the next class in
            the method resolution order, for several base classes. Default: False.

    Example:
        >>> class Net(tt.nn.Module):
        ...     def __init__(self) -> None:
        ...         super().__init__()
        ...         self.hidden = tt.nn.Linear(4, 8)
        ...         self.out = tt.nn.Linear(8, 2)
        ...
        ...     def forward(self, x: tt.Tensor) -> tt.Tensor:
        ...         return self.out(self.hidden(x).relu())
        >>> Net()
        Net(
          (hidden): Linear(in_features=4, out_features=8, bias=True)
          (out): Linear(in_features=8, out_features=2, bias=True)
        )
        >>> Net()(tt.zeros(3, 4)).shape
        tinytorch.Size([3, 2])
    """

    dump_patches: bool = False
    call_super_init: bool = False
    #: The compiled ``forward`` after ``compile()``.
    _compiled_call_impl: Any = None

    def __init_subclass__(cls, **options: Any) -> None:
        """Let ``__call__`` call an override of ``_call_impl``; make operations static methods.

        PyTorch's operations that are class attributes do not bind the instance, either.
        """
        super().__init_subclass__(**options)
        if cls._call_impl is not Module._call_impl and cls.__call__ is Module.__call__:
            cls.__call__ = Module._wrapped_call_impl  # type: ignore[method-assign, assignment]
        for name, value in list(vars(cls).items()):
            if isinstance(value, FunctionType) and isinstance(getattr(value, "op", None), Op):
                setattr(cls, name, staticmethod(value))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            _check_no_arguments(type(self).__name__, args, kwargs)
        super().__init__()
        if self.call_super_init:
            # The next class after Module's own base classes in the method resolution order.
            super(Members, self).__init__(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output; every subclass overrides it.

        Raises:
            NotImplementedError: Unless overridden.
        """
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    if TYPE_CHECKING:

        @overload
        def __call__(self: _HasForward[P, R_co], *args: P.args, **kwargs: P.kwargs) -> R_co: ...
        @overload
        def __call__(
            self: _HasForward[Concatenate[Tensor, P], R_co], input: Holder, /, *args: P.args,
            **kwargs: P.kwargs,
        ) -> R_co: ...  # fmt: skip
        @overload
        def __call__(
            self: _HasForward[Concatenate[Tensor, Tensor, P], R_co], input: Tensor | Holder,
            other: Holder, /, *args: P.args, **kwargs: P.kwargs,
        ) -> R_co: ...  # fmt: skip
        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...  # type: ignore[misc]

        def _call_impl(self, *args: Any, **kwargs: Any) -> Any: ...

        def _wrapped_call_impl(self, *args: Any, **kwargs: Any) -> Any: ...

    else:

        def __call__(self, *args, **kwargs):
            try:
                for arg in args:
                    if arg.__class__ in HOLDERS:  # forward expects Tensors
                        args = tuple(map(unwrap_holder, args))
                        break
                if kwargs:
                    kwargs = {name: unwrap_holder(value) for name, value in kwargs.items()}
                if (
                    CALLS
                    or self._forward_hooks
                    or self._forward_pre_hooks
                    or self._backward_hooks
                    or self._backward_pre_hooks
                ):
                    return HookedCall(self, args, kwargs).run()
                return self.forward(*args, **kwargs)
            except Exception as error:
                shorten(error, self.forward, kwargs)
                raise

        #: PyTorch's private name, which subclasses override and libraries call.
        _call_impl = __call__

        def _wrapped_call_impl(self, *args, **kwargs):
            """Call ``_call_impl``; this is ``__call__`` of the classes that override that."""
            return self._call_impl(*args, **kwargs)

    def _replicate_for_data_parallel(self) -> Self:
        """Copy the module with its registries of buffers and submodules, without its parameters."""
        replica = self.__new__(type(self))
        names = {k: v for k, v in vars(self).items() if k not in self._parameters}
        vars(replica).update(
            names, _parameters=MemberDict(replica), _buffers=MemberDict(replica, self._buffers),
            _modules=MemberDict(replica, self._modules), _is_replica=True,
        )  # fmt: skip
        replica._rebind_compiled()
        return replica

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._rebind_compiled()

    def _rebind_compiled(self) -> None:
        """Let a copy of a module of which ``compile()`` was called run its own ``forward``."""
        compiled = vars(self).get("_compiled_call_impl")
        if compiled is not None and compiled.module is not self:
            again = type(compiled)(self, compiled.options)
            vars(self)["forward"] = vars(self)["_compiled_call_impl"] = again

    def _slow_forward(self, *input: Any, **kwargs: Any) -> Any:
        """Call ``forward``; PyTorch calls this while it traces."""
        return self.forward(*input, **kwargs)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Record and replay the calls of ``forward`` from now on; see ``tinytorch.compile``.

        The module stays the same object; its hooks run as before.

        Args:
            *args: Nothing; PyTorch's parameters are keywords.
            **kwargs: Keyword arguments of ``tinytorch.compile``.

        Raises:
            RuntimeError: If both ``mode`` and ``options`` are given, as in PyTorch.

        Example:
            >>> layer = tt.nn.Linear(2, 3)
            >>> layer.compile()
            >>> layer(tt.zeros(4, 2)).shape
            tinytorch.Size([4, 3])
        """
        from ...capture.compiled import CompiledForward
        from ...capture.settings import make_options

        chosen = make_options(*args, **kwargs)
        if not kwargs.get("disable"):
            vars(self)["forward"] = vars(self)["_compiled_call_impl"] = CompiledForward(
                self, chosen
            )

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """Return the text between the parentheses of ``repr``; subclasses override it.

        Example:
            >>> tt.nn.Linear(2, 3).extra_repr()
            'in_features=2, out_features=3, bias=True'
        """
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {indent_lines(repr(m))}" for name, m in self._modules.items()]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({extra})"
        body = "".join(f"\n  {line}" for line in lines + children)
        return f"{self._get_name()}({body}\n)" if body else f"{self._get_name()}()"


def indent_lines(text: str) -> str:
    """Indent every line but the first by two spaces."""
    return text.replace("\n", "\n  ")


def _check_no_arguments(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise TypeError if ``Module.__init__`` got arguments."""
    if kwargs:
        unexpected = next(iter(kwargs))
        raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{unexpected}'")
    if args:
        raise TypeError(
            f"{name}.__init__() takes 1 positional argument but {len(args) + 1} were given"
        )
