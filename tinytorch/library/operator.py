"""Registered operators: ``ops.mylib.scale`` and its ``.default`` overload."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any, TypeVar

from ..autograd.function import Function
from ..core.tensor import Tensor
from ..core.torch_function import dispatch_override, find_overriding
from ..dispatch.tensor_protocols import namespace
from ..state import grad_enabled, no_grad
from .schema import Schema, parse

__all__ = ["Operator", "OpOverload", "OpOverloadPacket", "find", "register"]

#: Dispatch keys tried in this order if the tensors' device has no kernel of its own.
_FALLBACKS = ("CompositeExplicitAutograd", "CompositeImplicitAutograd")
_ALIASED = (
    "The output of this custom operator (1) must not also be an input to this custom operator "
    "and (2) may not alias any inputs to this custom operator or other returns. Please return a "
    "clone of the offending output tensor(s) (e.g. return x.clone()) or refactor the custom "
    "operator to not return it."
)


_F = TypeVar("_F", bound=Callable[..., Any])


class Operator:
    """Schema, kernels and backward formula of an operator; a call runs the kernel of its device.

    Args:
        schema: The arguments and results.
        opaque: Whether autograd never records the operations inside the kernels, as for
            ``custom_op``. For the operators of a ``Library`` it does until a backward formula is
            registered.

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
        self.function: Any = type(name, (_OperatorFunction,), {"operator": self})

    def add_kernel(self, device_types: str | Sequence[str] | None, function: _F) -> _F:
        """Register the kernel ``function`` for device types (None: all), and return it.

        Example:
            >>> from tinytorch.library.operator import find
            >>> tt.library.define("found::alike", "(Tensor x) -> Tensor")
            >>> _ = find("found::alike").add_kernel("cpu", lambda x: x)
            >>> tt.ops.found.alike(tt.ones(1))
            tensor([1.])
        """
        names = [device_types] if isinstance(device_types, str) else device_types or ["default"]
        for name in names:
            key = "CompositeExplicitAutograd" if name in ("default", "") else name.upper()
            self.kernels[key] = function
        return function

    def register_autograd(
        self, backward: Callable[..., Any], setup_context: Callable[..., Any] | None
    ) -> None:
        """Register the backward formula; see ``library.register_autograd``.

        Example:
            >>> from tinytorch.library.operator import find
            >>> tt.library.define("sloped::same", "(Tensor x) -> Tensor")
            >>> same = tt.library.impl("sloped::same", "cpu", lambda x: x.clone())
            >>> find("sloped::same").register_autograd(lambda ctx, g: 3 * g, None)
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
        call = _OperatorCall(self, inputs, keywords)
        if not (grad_enabled() and any(_requires_grad(leaf) for leaf in leaves)):
            with no_grad():
                return call.result(call.run())
        return call.result(self.function.apply(*leaves, call))

    def kernel(self, leaves: Iterable[Any]) -> Callable[..., Any]:
        """Kernel for the device of the first tensor among ``leaves``, or a fallback of it.

        Raises:
            NotImplementedError: If neither is registered.

        Example:
            >>> from tinytorch.library.operator import find
            >>> tt.library.define("kerneled::size", "(Tensor x) -> int")
            >>> size = tt.library.impl("kerneled::size", "cpu", len)
            >>> find("kerneled::size").kernel([tt.ones(1)]) is len
            True
        """
        device = next((x.device.type for x in leaves if isinstance(x, Tensor)), "cpu").upper()
        for key in (device, *_FALLBACKS):
            if key in self.kernels:
                return self.kernels[key]
        raise NotImplementedError(
            f"Could not run '{self.schema.operator}' with arguments from the '{device}' backend. "
            f"It has kernels for: {', '.join(self.kernels) or 'none'}."
        )


class _OperatorCall:
    """Arguments of one call of an operator, and the structure of its arguments and results.

    ``Function.apply`` passes tensors flat (the "leaves"), whereas the operator's arguments and
    result may be lists of tensors; this object converts between the two.
    """

    def __init__(self, operator: Operator, inputs: list[Any], keywords: dict[str, Any]) -> None:
        self.operator = operator
        self.inputs = inputs
        self.keywords = keywords
        #: Type of the operator's result if it is a list or a tuple, or None.
        self.sequence_type: type | None = None
        self.output: Any = None
        #: Length of each argument that is a list of tensors, or None.
        self.counts = [len(x) if _is_tensor_list(x) else None for x in inputs]

    def run(self) -> tuple[Any, ...]:
        """Run the kernel and return its results as a tuple; raise if one aliases an argument."""
        leaves = [leaf for value in self.inputs for leaf in _leaves(value)]
        self.output = self.operator.kernel(leaves)(*self.inputs, **self.keywords)
        self.sequence_type = type(self.output) if isinstance(self.output, list | tuple) else None
        results = tuple(self.output) if self.sequence_type else (self.output,)
        self._check_aliases([x for x in results if isinstance(x, Tensor)], leaves)
        return results

    def _check_aliases(self, results: list[Tensor], leaves: list[Any]) -> None:
        """Raise if a result of an opaque operator shares memory with an argument or a result.

        Args:
            results: Tensors that the kernel returned.
            leaves: Arguments of the call, with tensors in lists one by one.
        """
        if not self.operator.opaque:
            return
        tensors = [x for x in leaves if isinstance(x, Tensor)]
        inputs, outputs = (
            [x.untyped_storage().data_ptr() for x in each if x.size] for each in (tensors, results)
        )
        if {*inputs} & {*outputs} or len({*outputs}) < len(outputs):
            raise RuntimeError(f"{self.operator.schema.operator}: {_ALIASED}")

    def release(self) -> None:
        """Drop the arguments and results, as the graph holds this call until the backward pass."""
        self.inputs, self.output, self.keywords = [], None, {}

    def group_by_argument(self, flat: Sequence[Any]) -> tuple[Any, ...]:
        """Group values of leaves by argument.

        Args:
            flat: One value for each leaf.

        Returns:
            One value for each argument: a list for an argument that is a list of tensors.
        """
        rest = iter(flat)
        return tuple(
            next(rest) if count is None else [next(rest) for _ in range(count)]
            for count in self.counts
        )

    def result(self, results: Any) -> Any:
        """Return the flat ``results`` in the operator's form: a tensor, a list or a tuple."""
        if self.sequence_type is None:
            return results[0] if isinstance(results, tuple) else results
        return self.sequence_type(results if isinstance(results, tuple) else (results,))

    def flatten_gradients(self, gradients: Any) -> list[Any]:
        """Convert gradients of arguments to gradients of leaves.

        Args:
            gradients: Result of the backward formula: a gradient for each argument, of which that
                of a list of tensors is a list, or None.

        Returns:
            One gradient for each leaf.

        Raises:
            RuntimeError: If the number of gradients is not that of the arguments.
        """
        given = gradients if isinstance(gradients, tuple) else (gradients,)
        if len(given) != len(self.counts):
            raise RuntimeError(
                f"{self.operator.schema.operator}: expected the backward formula to return "
                f"{len(self.counts)} gradients, one per argument, got {len(given)}"
            )
        flat: list[Any] = []
        for count, gradient in zip(self.counts, given, strict=True):
            is_list = isinstance(gradient, list | tuple)
            flat += gradient if is_list else [gradient] * (1 if count is None else count)
        return flat


def _requires_grad(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and bool(leaf.requires_grad)


def _leaves(value: Any) -> list[Any]:
    """Leaves of an argument: the elements of a list of tensors, otherwise the argument alone."""
    return [*value] if _is_tensor_list(value) else [value]


def _is_tensor_list(value: Any) -> bool:
    return isinstance(value, list | tuple) and any(isinstance(each, Tensor) for each in value)


class _OperatorFunction(Function):
    """Autograd function of an operator with a backward formula; one subclass per operator.

    It is applied to the leaves of the arguments and, last, to the ``_OperatorCall``.
    """

    operator: Operator

    @staticmethod
    def forward(ctx: Any, *leaves_and_call: Any) -> Any:
        """Run the kernel and ``setup_context``; return the flat results.

        Args:
            ctx: Context of the function.
            *leaves_and_call: Leaves of the arguments, so that autograd records them, and the
                ``_OperatorCall``.
        """
        call: _OperatorCall = leaves_and_call[-1]
        results = call.run()
        operator = call.operator
        ctx.call = call
        if operator.setup_context is not None:
            given = {"ctx": ctx, "inputs": tuple(call.inputs), "output": call.output}
            if any(argument.keyword for argument in operator.schema.arguments):
                given["keyword_only_inputs"] = call.keywords
            operator.setup_context(**given)
        ctx.needs_input_grad = call.group_by_argument(ctx.needs_input_grad)
        call.release()
        return results

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Call the backward formula; return a gradient for each leaf, and None for the call."""
        call: _OperatorCall = ctx.call
        formula = call.operator.backward
        if formula is None:
            name = call.operator.schema.operator.replace("::", ".")
            raise RuntimeError(
                f"Trying to backward through {name}.default but no autograd formula was "
                "registered. Please use register_autograd to add one."
            )
        given = ([*grads],) if call.sequence_type is list else grads
        with nullcontext() if grad_enabled() else no_grad():
            return *call.flatten_gradients(formula(ctx, *given)), None


def _call_or_override(
    function: Any, operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call an operator, or the overrides of its arguments' classes.

    Args:
        function: The public form of the operator, which overrides receive.
        operator: The operator.
        args: Positional arguments of the call.
        kwargs: Keyword arguments of the call.
    """
    overriding = find_overriding(args, kwargs)
    if overriding:
        return dispatch_override(function, overriding, args, kwargs)
    return operator(*args, **kwargs)


class OpOverload:
    """Overload of an operator: ``ops.mylib.scale.default``.

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
        return _call_or_override(self, self._operator, args, kwargs)

    def name(self) -> str:
        """Name of the operator, ``mylib::scale``.

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
    """Operator with its overloads, of which ``default`` is the only one: ``ops.mylib.scale``.

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
        return _call_or_override(self, self.default._operator, args, kwargs)

    def overloads(self) -> list[str]:
        """Names of the overloads."""
        return ["default"]

    def __str__(self) -> str:
        return f"{self.default.namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"


def register(operator: Operator, name: str, library: str) -> OpOverload:
    """Register an operator as ``ops.<library>.<name>`` and return its overload.

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


def declare(library: str) -> None:
    """Declare the operators ``ops.profiler``, which tracers of ``fx`` write into graphs."""
    from ..profiler import record_function

    def enter(name: str, args: str | None) -> Any:
        return record_function(name, args).__enter__()

    def leave(handle: Any) -> None:
        handle.__exit__(None, None, None)

    for text, kernel in (
        ("_record_function_enter(str name, str? args=None) -> _RecordFunction", enter),
        ("_record_function_enter_new(str name, str? args=None) -> _RecordFunction", enter),
        ("_record_function_exit(_RecordFunction handle) -> ()", leave),
    ):
        name, schema = parse(library, text)
        operator = Operator(schema, opaque=False)
        operator.add_kernel(None, kernel)
        register(operator, name, library)


def find(op: Any) -> Operator:
    """Find the operator of a name, an overload or a packet.

    Raises:
        RuntimeError: If it does not exist.

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
    packet = getattr(namespace(library), name.partition(".")[0], None)
    if not isinstance(packet, OpOverloadPacket):
        raise RuntimeError(f"operator {op} does not exist: define it first")
    return packet.default._operator
