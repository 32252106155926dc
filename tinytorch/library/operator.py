"""A registered operator: what ``torch.ops.mylib.scale`` is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any, TypeVar

from ..autograd.function import Function
from ..core.tensor import Tensor
from ..dispatch.tensor_protocols import namespace
from ..state import grad_enabled, no_grad
from .schema import Schema

__all__ = ["Operator", "OpOverload", "OpOverloadPacket", "find", "register"]

#: Kernels that a call may choose, the first of these there is; in front of them stands that of
#: the tensors' device. Under the last one everything is recorded as if it had been written out.
_FALLBACKS = ("CompositeExplicitAutograd", "CompositeImplicitAutograd")
_ALIASED = (
    "The output of this custom operator (1) must not also be an input to this custom operator "
    "and (2) may not alias any inputs to this custom operator or other returns. Please return a "
    "clone of the offending output tensor(s) (e.g. return x.clone()) or refactor the custom "
    "operator to not return it."
)


_F = TypeVar("_F", bound=Callable[..., Any])


class Operator:
    """Schema, kernels and gradient of an operator; calling it runs them.

    Args:
        schema: What it takes and returns.
        opaque: Whether its kernels hide what they do from autograd, which then needs a formula:
            those of ``custom_op`` do, those of a ``Library`` do once there is a formula.

    Example:
        >>> from tinytorch.library.operator import find
        >>> tt.library.define("found::plain", "(Tensor x) -> Tensor")
        >>> find("found::plain").schema.text
        'found::plain(Tensor x) -> Tensor'
    """

    def __init__(self, schema: Schema, opaque: bool) -> None:
        self.schema = schema
        self.opaque = opaque
        self.kernels: dict[str, Callable[..., Any]] = {}
        self.backward: Callable[..., Any] | None = None
        self.setup_context: Callable[..., Any] | None = None
        name = f"GeneratedBackwardFor_{schema.operator.replace('::', '_')}_default"
        self.function: Any = type(name, (_Applied,), {"operator": self})

    def add_kernel(self, device_types: str | Sequence[str] | None, function: _F) -> _F:
        """Run ``function`` on these kinds of device; None: on all. It is returned as it is.

        Example:
            >>> from tinytorch.library.operator import find
            >>> tt.library.define("found::alike", "(Tensor x) -> Tensor")
            >>> _ = find("found::alike").add_kernel("cpu", lambda x: x)
            >>> tt.ops.found.alike(tt.ones(1))
            tensor([1.])
        """
        kinds = [device_types] if isinstance(device_types, str) else device_types or ["default"]
        for kind in kinds:
            key = "CompositeExplicitAutograd" if kind in ("default", "") else kind.upper()
            self.kernels[key] = function
        return function

    def differentiate(
        self, backward: Callable[..., Any], setup_context: Callable[..., Any] | None
    ) -> None:
        """Set the gradient's formula; see ``library.register_autograd``.

        Example:
            >>> from tinytorch.library.operator import find
            >>> tt.library.define("sloped::same", "(Tensor x) -> Tensor")
            >>> same = tt.library.impl("sloped::same", "cpu", lambda x: x.clone())
            >>> find("sloped::same").differentiate(lambda ctx, g: 3 * g, None)
            >>> x = tt.ones(1, requires_grad=True)
            >>> tt.ops.sloped.same(x).backward()
            >>> x.grad
            tensor([3.])
        """
        if any("!" in argument.type for argument in self.schema.arguments):
            raise RuntimeError(
                f"Cannot register autograd formula for non-functional operator {self.schema}: it "
                "changes an argument in place"
            )
        self.backward, self.setup_context = backward, setup_context

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        inputs, keywords = self.schema.bind(args, kwargs)
        leaves = [leaf for value in inputs for leaf in _leaves(value)]
        if not self.opaque and self.backward is None:
            return self.kernel(leaves)(*inputs, **keywords)
        call = _Call(self, inputs, keywords)
        if not (grad_enabled() and any(_is_recorded(leaf) for leaf in leaves)):
            with no_grad():
                return call.result(call.run())
        return call.result(self.function.apply(*leaves, call))

    def kernel(self, leaves: Iterable[Any]) -> Callable[..., Any]:
        """The function for the device of the first tensor.

        Raises:
            NotImplementedError: If none is registered that would do.

        Example:
            >>> from tinytorch.library.operator import find
            >>> tt.library.define("kerneled::size", "(Tensor x) -> int")
            >>> size = tt.library.impl("kerneled::size", "cpu", len)
            >>> find("kerneled::size").kernel([tt.ones(1)]) is len
            True
        """
        kind = next((x.device.type for x in leaves if isinstance(x, Tensor)), "cpu").upper()
        for key in (kind, *_FALLBACKS):
            if key in self.kernels:
                return self.kernels[key]
        raise NotImplementedError(
            f"Could not run '{self.schema.operator}' with arguments from the '{kind}' backend. "
            f"It has kernels for: {', '.join(self.kernels) or 'none'}."
        )


class _Call:
    """One call: its arguments, and how they and its results go together."""

    def __init__(self, operator: Operator, inputs: list[Any], keywords: dict[str, Any]) -> None:
        self.operator = operator
        self.inputs = inputs
        self.keywords = keywords
        self.kind: type | None = None
        self.output: Any = None
        #: Per argument how many tensors, if it is a list of such, or None.
        self.counts = [len(x) if _is_list(x) else None for x in inputs]

    def run(self) -> tuple[Any, ...]:
        """The results, one after the other, none of them an argument."""
        leaves = [leaf for value in self.inputs for leaf in _leaves(value)]
        self.output = self.operator.kernel(leaves)(*self.inputs, **self.keywords)
        self.kind = type(self.output) if isinstance(self.output, list | tuple) else None
        results = tuple(self.output) if self.kind else (self.output,)
        self._check_aliases([x for x in results if isinstance(x, Tensor)], leaves)
        return results

    def _check_aliases(self, results: list[Tensor], leaves: list[Any]) -> None:
        if not self.operator.opaque:
            return
        given = [x.untyped_storage().data_ptr() for x in leaves if isinstance(x, Tensor) and x.size]
        own = [x.untyped_storage().data_ptr() for x in results if x.size]
        if {*given} & {*own} or len({*own}) < len(own):
            raise RuntimeError(f"{self.operator.schema.operator}: {_ALIASED}")

    def forget(self) -> None:
        """Let arguments and results go: the results' history holds the call."""
        self.inputs, self.output, self.keywords = [], None, {}

    def by_argument(self, flat: Sequence[Any]) -> tuple[Any, ...]:
        """What there is one of for each leaf, in lists where the arguments were."""
        rest = iter(flat)
        return tuple(
            next(rest) if count is None else [next(rest) for _ in range(count)]
            for count in self.counts
        )

    def result(self, results: Any) -> Any:
        """What the operator returned, of the results that are recorded."""
        if self.kind is None:
            return results[0] if isinstance(results, tuple) else results
        return self.kind(results if isinstance(results, tuple) else (results,))

    def gradients(self, found: Any) -> list[Any]:
        """One gradient per leaf of the arguments, from one per argument."""
        given = found if isinstance(found, tuple) else (found,)
        if len(given) != len(self.counts):
            raise RuntimeError(
                f"{self.operator.schema.operator}: expected the backward formula to return "
                f"{len(self.counts)} gradients, one per argument, got {len(given)}"
            )
        flat: list[Any] = []
        for count, gradient in zip(self.counts, given, strict=True):
            whole = isinstance(gradient, list | tuple)
            flat += gradient if whole else [gradient] * (1 if count is None else count)
        return flat


def _is_recorded(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and bool(leaf.requires_grad)


def _leaves(value: Any) -> list[Any]:
    """The tensors of a list of them; any other value by itself."""
    return [*value] if _is_list(value) else [value]


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) and any(isinstance(each, Tensor) for each in value)


class _Applied(Function):
    """Records a call; a subclass belongs to an operator."""

    operator: Operator

    @staticmethod
    def forward(ctx: Any, *leaves_and_call: Any) -> Any:
        call: _Call = leaves_and_call[-1]
        results = call.run()
        operator = call.operator
        ctx.call = call
        if operator.setup_context is not None:
            given = {"ctx": ctx, "inputs": tuple(call.inputs), "output": call.output}
            if any(argument.keyword for argument in operator.schema.arguments):
                given["keyword_only_inputs"] = call.keywords
            operator.setup_context(**given)
        ctx.needs_input_grad = call.by_argument(ctx.needs_input_grad)
        call.forget()
        return results

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        call: _Call = ctx.call
        formula = call.operator.backward
        if formula is None:
            name = call.operator.schema.operator.replace("::", ".")
            raise RuntimeError(
                f"Trying to backward through {name}.default but no autograd formula was "
                "registered. Please use register_autograd to add one."
            )
        given = ([*grads],) if call.kind is list else grads
        with nullcontext() if grad_enabled() else no_grad():
            return *call.gradients(formula(ctx, *given)), None


# -- where programs find it ----------------------------------------------------------------------


class OpOverload:
    """One form of an operator, ``ops.mylib.scale.default``.

    Example:
        >>> library = tt.library.Library("shown", "FRAGMENT")
        >>> library.define("same(Tensor x) -> Tensor")
        'same'
        >>> tt.ops.shown.same.default
        <OpOverload(op='shown.same', overload='default')>
    """

    namespace: str

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self._schema = operator.schema
        self.namespace, _, self._opname = operator.schema.operator.partition("::")
        self.__name__: str = f"{self._opname}.default"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._operator(*args, **kwargs)

    def name(self) -> str:
        """The operator's name, ``mylib::scale``.

        Example:
            >>> tt.library.define("named::one", "(Tensor x) -> Tensor")
            >>> tt.ops.named.one.default.name()
            'named::one'
        """
        return self._schema.operator

    def __str__(self) -> str:
        return f"{self.namespace}.{self._opname}.default"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.namespace}.{self._opname}', overload='default')>"


class OpOverloadPacket:
    """All forms of an operator, of which there is one: ``ops.mylib.scale``.

    Example:
        >>> library = tt.library.Library("packed", "FRAGMENT")
        >>> library.define("same(Tensor x) -> Tensor")
        'same'
        >>> tt.ops.packed.same.overloads()
        ['default']
    """

    def __init__(self, default: OpOverload) -> None:
        self.default = default
        self.__name__: str = default._opname
        self._qualified_op_name = default._schema.operator

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.default._operator(*args, **kwargs)

    def overloads(self) -> list[str]:
        """The names of the forms."""
        return ["default"]

    def __str__(self) -> str:
        return f"{self.default.namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"


def register(operator: Operator, name: str, library: str) -> OpOverload:
    """Make an operator known as ``ops.library.name``.

    Example:
        >>> from tinytorch.library.operator import Operator, find, register
        >>> tt.library.define("known::one", "(Tensor x) -> Tensor")
        >>> overload = register(Operator(find("known::one").schema, opaque=False), "other", "known")
        >>> tt.ops.known.other.default is overload
        True
    """
    overload = OpOverload(operator)
    setattr(namespace(library), name, OpOverloadPacket(overload))
    return overload


def find(op: Any) -> Operator:
    """The operator that a name, an overload or a packet stands for.

    Raises:
        RuntimeError: If there is none.

    Example:
        >>> from tinytorch.library.operator import find
        >>> tt.library.define("found::same", "(Tensor x) -> Tensor")
        >>> type(find("found::same")).__name__
        'Operator'
    """
    if isinstance(op, OpOverloadPacket):
        return op.default._operator
    if isinstance(op, OpOverload):
        return op._operator
    library, _, name = str(getattr(op, "_qualname", op)).partition("::")
    packet = vars(namespace(library)).get(name.partition(".")[0])
    if not isinstance(packet, OpOverloadPacket):
        raise RuntimeError(f"operator {op} does not exist: define it first")
    return packet.default._operator
