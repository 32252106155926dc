"""What an operation is: ``@op``, its gradient rules, and the registry ``OPS``.

An operation is written once, as a kernel on raw arrays, with its rules beside it::

    @op(method=True)
    def sin(xp: Backend, input: Array) -> Array:
        \"\"\"Sine of each element of ``input``, in radians.\"\"\"
        return xp.sin(input)

    sin.vjp(input=lambda xp, g, input: g * xp.cos(input))

``@op`` files it in ``OPS`` and returns a plain function without ``xp``. The Tensor method,
the in-place form, ``out=``, other spellings, the signature and the stub all follow from it.

A parameter's annotation says what it is: ``Array`` and ``Operand`` are tensors (an operand
may also be a number), ``Index`` and ``Mask`` tensors that take no part in promotion,
``Sequence[Array]`` a list of tensors, ``Shape`` sizes that may be given one by one, and
``int | Shape`` the same where other numbers may follow a single one. ``ArrayOrInput`` is the
result of a kernel that may return its first argument, and the call then returns that tensor.

Decorators of rules (``no_derivative``, ``reads``, ...) state what does not follow from the formula.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from ..core.tensor import Tensor
from .arguments import repeated_argument_error, torchs_name, truth, unexpected
from .backward import SPECIAL, rule_needs
from .generated_functions import make_inplace_function, make_public_function
from .operation import NAMESPACES as NAMESPACES
from .operation import OPS as OPS
from .operation import REQUIRED as REQUIRED
from .operation import Array as Array
from .operation import ArrayOrInput as ArrayOrInput
from .operation import Backend as Backend
from .operation import Index as Index
from .operation import Mask as Mask
from .operation import Nodes as Nodes
from .operation import Op as Op
from .operation import Operand as Operand
from .operation import Out as Out
from .operation import Overlap as Overlap
from .operation import Reduced as Reduced
from .operation import Shape as Shape
from .operation import is_tensor
from .signature import documented, of_function, takes_out
from .tensor_protocols import make_operators

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
F = TypeVar("F", bound=Callable[..., Any])


class Operation(Protocol[P, R_co]):
    """What ``@op`` returns: the public function, with its rules still to be registered.

    Inside the package it is typed by its kernel. An array there is anything to a type checker,
    so the result of a kernel counts as one tensor, also where it is a tuple of them; what users
    see is in the stubs.
    """

    __name__: str
    __qualname__: str
    op: Op
    kernel: Callable[..., Any]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

    def vjp(self, **rules: Callable[..., Any]) -> None:
        """Register gradient rules by parameter name.

        A rule takes ``xp`` and the incoming gradient ``g`` and then, by name, what it needs
        of the operation's parameters, its result (``out``) and the shape of the argument it
        is for (``in_shape``). What no rule names is not kept for the backward pass.
        """

    def vjp_joint(self, *names: str) -> Callable[[Callable[..., Any]], None]:
        """Register one rule for several parameters; it returns their gradients in order.

        Its ``in_shape`` is a list, with None for each gradient nobody needs.
        """

    def numpy(self, form: F) -> F:
        """Register what the call means when it is spelt with NumPy's keywords."""


class _MakeOperation(Protocol):
    def __call__(
        self, kernel: Callable[Concatenate[Backend, P], Any], /
    ) -> Operation[P, Tensor]: ...


class MakeComposite(Protocol):
    def __call__(self, function: Callable[P, R], /) -> Operation[P, R]: ...


@overload
def op(
    kernel: Callable[Concatenate[Backend, P], Any], /, **options: Any
) -> Operation[P, Tensor]: ...
@overload
def op(kernel: None = None, /, **options: Any) -> _MakeOperation: ...
def op(kernel: Any = None, /, **options: Any) -> Any:
    """File a kernel as an operation and return its public function.

    Args:
        kernel: Function of a backend, raw arrays and plain values.
        **options: Fields of ``Op``, which describes each of them: ``namespaces``, ``aliases``,
            ``method``, ``attribute``, ``inplace`` and ``operators`` say where the operation is
            found; ``promote``, ``elementwise``, ``strict``, ``former_order`` and ``reduced`` what
            it accepts; ``view``, ``returns``, ``out``, ``overlap`` and ``forms`` what it returns or
            writes; ``node`` how its nodes are named and freed; ``backend_function`` which function
            of the backend equals the kernel; ``public`` whether it is public. ``like`` is a
            function whose docstring describes the parameters that this one's does not.

    Returns:
        A plain function with ``op``'s signature without ``xp``.
    """
    if kernel is None:
        return partial(op, **options)
    like = options.pop("like", None)
    spec = declare(kernel, None, options)
    set_function(spec, make_public_function(spec, spec.name))
    dress(spec, kernel, like=like)
    return spec.function


@overload
def composite(function: Callable[P, R], /, **options: Any) -> Operation[P, R]: ...
@overload
def composite(function: None = None, /, **options: Any) -> MakeComposite: ...
def composite(function: Any = None, /, **options: Any) -> Any:
    """File a plain function over tensors as an operation.

    It has no kernel and no rule of its own; options as for ``op``. With the option ``out`` it
    takes ``out=``, which need not be a parameter of ``function``. ``fast`` is an operation that
    runs the calls with arguments of its classes; of a composite that writes to its first argument
    it is the in-place form. Its parameters are those that the composite accepts by position.
    """
    if function is None:
        return partial(composite, **options)
    like, fast = options.pop("like", None), options.pop("fast", None)
    spec = declare(None, function, options)
    if fast is not None:
        spec.registered.fast, fast.op.registered.stands_in = fast.op, True
    set_function(spec, make_public_function(spec, function.__name__))
    dress(spec, function, like=like)
    return spec.function


def declare(kernel: Any, body: Any, options: dict[str, Any]) -> Op:
    """The operation of a kernel, or of a composite's ``body``, without its function.

    Raises:
        TypeError: For an option that there is not, or a kernel of any number of arguments.
    """
    source = body if kernel is None else kernel
    if kernel is not None and kernel.__code__.co_flags & 0x0C:
        raise TypeError(f"{kernel.__name__}: a kernel takes no *args or **kwargs")
    name = source.__name__ if kernel is None else source.__name__.rstrip("_")
    unknown = options.keys() - Op.__dataclass_fields__.keys()
    if unknown:
        raise TypeError(f"@op {name}: unknown options {sorted(unknown)}")
    if not isinstance(options.get("node"), Nodes):
        options["node"] = Nodes(options.get("node"))
    options.setdefault("public", not name.startswith("_"))
    return Op(name=name, kernel=kernel, body=body, function=None, **options)


def set_function(spec: Op, function: Any) -> None:
    """Give an operation its public function, which is made of the operation."""
    vars(spec)["function"] = function


def named_anew(spec: Op, node: str) -> Any:
    """A function that does the same, whose nodes have another name and free nothing."""
    other = replace(spec, node=Nodes(node), public=False)
    set_function(other, make_public_function(other, other.name))
    vars(other.function).update(op=other, kernel=other.kernel)
    return other.function


def dress(
    spec: Op,
    source: Any,
    common: dict[str, tuple[str, Any]] | None = None,
    like: Callable[..., Any] | None = None,
) -> None:
    """Give the public function its face and file it.

    Args:
        spec: The operation.
        source: The function the user's eye should land on.
        common: Keywords that the function takes beside ``source``'s own, as
            ``{name: (annotation, default)}``.
        like: A function whose docstring tells of the parameters that ``source``'s does not.
    """
    function = spec.function
    _face(spec, source)
    if source.__doc__:
        keywords = common or (("out",) if takes_out(spec) else ())
        function.__doc__ = documented(spec, source.__doc__, keywords, like)
    function.__signature__ = of_function(spec, source, common or {})
    function.vjp = partial(_set_rules, spec)
    function.vjp_joint = lambda *names: lambda rule: _set_joint_rule(spec, names, rule)
    function.numpy = partial(_set_numpy_form, spec)
    _check_name(spec, source)
    OPS[spec.qualname] = spec
    if spec.public:
        _publish(spec)
        for name in spec.aliases:
            _publish(_twin(spec, name))
    _attach(spec)


def _check_name(spec: Op, source: Any) -> None:
    """Raise RuntimeError if another function is registered as an operation of this name.

    The same function may be defined again, as when its module is reloaded.
    """
    former = OPS.get(spec.qualname)
    if former is not None:
        other = former.function.__wrapped__
        places = [f"{each.__module__}.{each.__qualname__}" for each in (other, source)]
        if places[0] != places[1]:
            raise RuntimeError(
                f"expected one operation {spec.qualname!r}, got two: {places[0]} and {places[1]}"
            )


def _face(spec: Op, source: Any) -> None:
    function = spec.function
    function.__module__, function.__qualname__ = spec.home(spec.name)
    function.__name__ = spec.name
    function.__wrapped__ = source
    function.op = spec
    function.kernel = spec.kernel


def _set_rules(spec: Op, **rules: Callable[..., Any]) -> None:
    for name, rule in rules.items():
        if not is_tensor(spec.kernel, name):
            raise TypeError(f"{spec.name}.vjp: {name!r} is not a tensor parameter")
        _check_needs(spec, rule)
    if len(rules) > 1 and any("Sequence" in spec.kernel.__annotations__[name] for name in rules):
        raise TypeError(f"{spec.name}.vjp: a list of tensors must be the only input")
    spec.set_rules(rules)


def _set_joint_rule(spec: Op, names: tuple[str, ...], rule: Callable[..., Any]) -> None:
    _check_needs(spec, rule)
    spec.set_rules({names: rule})


def _check_needs(spec: Op, rule: Callable[..., Any]) -> None:
    code = spec.kernel.__code__
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    unknown = [name for name in rule_needs(rule) if name not in known and name not in SPECIAL]
    if unknown:
        raise TypeError(f"{spec.name}.vjp: {unknown} are no parameters of the operation")


def _twin(spec: Op, alias: str) -> Op:
    """The operation under another name, with a function of its own."""
    space, dot, name = alias.rpartition(".")
    node = spec.node
    if node.name is None and spec.kernel is not None:
        node = replace(node, name=spec.torchs_name)
    twin = replace(
        spec, name=name, namespaces=(space,) if dot else spec.namespaces, aliases=(),
        inplace=spec.inplace and not dot, node=node,
    )  # fmt: skip
    set_function(twin, make_public_function(twin, name))
    spec.registered.twins.append(twin)
    face, function = spec.function, twin.function
    _face(twin, face.__wrapped__)
    first, _, more = (face.__doc__ or "").partition("\n")
    function.__doc__ = f"{first}\n\n    Another name for ``{spec.qualname}``.\n{more}"
    function.__signature__ = face.__signature__
    return twin


def _set_numpy_form(spec: Op, form: Callable[..., Any]) -> Callable[..., Any]:
    code = form.__code__
    known = frozenset(("out", *code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]))

    @wraps(form)
    def checked(*args: Any, **options: Any) -> Any:
        """A form may pass on what it does not name, but only what the operation has."""
        for name in options:
            torchs = name if name in spec.plan.index else torchs_name(spec, name)
            if name not in known and torchs is None:
                raise unexpected(spec, name)
            if (
                torchs is not None
                and spec.plan.scalars.get(spec.plan.index[torchs], (None,))[0] is bool
            ):
                options[name] = truth(options[name])
        if "dim" in options:
            if "axis" in known:
                _refuse_both(spec, options)
                options["axis"] = options.pop("dim")
        return form(*args, **options)

    spec.registered.numpy_form = checked
    return form


def _refuse_both(spec: Op, options: dict[str, Any]) -> None:
    if "axis" in options:
        raise repeated_argument_error(spec, "dim", "axis")


def _publish(spec: Op) -> None:
    for space in spec.namespaces:
        table = NAMESPACES.setdefault(space, {})
        table[spec.name] = spec.function
        if spec.inplace:
            table[f"{spec.name}_"] = make_inplace_function(spec)


def _method(spec: Op) -> Any:
    """The operation as a method: another function, as who is asked may tell them apart."""
    face: Any = spec.function
    if spec.attribute or spec.namespaces[0] == "Tensor":
        return face
    function = make_public_function(spec, spec.name)
    vars(function).update(vars(face))
    function.__module__, function.__name__ = "tinytorch", spec.name
    function.__qualname__, function.__doc__ = f"Tensor.{spec.name}", face.__doc__
    return function


def _attach(spec: Op) -> None:
    """Make methods and operators of it."""
    if spec.public and spec.is_member:
        for form in (spec, *(twin for twin in spec.registered.twins if twin.name in spec.aliases)):
            method = _method(form)
            if spec.attribute:  # whose reading is what somebody is asked about
                method = property(method)
                vars(form.function)["face"] = method.__get__
            setattr(Tensor, form.name, method)
            if spec.inplace:
                setattr(Tensor, f"{form.name}_", make_inplace_function(form))
    for operator_name in spec.operators:
        for name, method in make_operators(spec, operator_name).items():
            setattr(Tensor, name, method)


# -- decorators of gradient rules ---------------------------------------------------------------


def no_derivative(name: str, error: type[RuntimeError] = RuntimeError) -> Callable[[Any, Any], Any]:
    """A rule for an operation without a derivative: it refuses, rather than give none.

    Args:
        name: torch's name of the operation.
        error: Its error, NotImplementedError where it says so itself.
    """
    own = error is NotImplementedError
    text = f"the derivative for {name!r} is not implemented."
    text = text if own else f"derivative for aten::{name} is not implemented"

    def rule(xp: Any, g: Any) -> Any:
        raise error(text)

    rule.missing = True  # type: ignore[attr-defined]
    return rule


def piecewise(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a rule whose gradient depends on the operation's arguments, but in jumps alone.

    The derivative of such a gradient is zeros then, as in torch, rather than missing.
    """
    rule.piecewise = True  # type: ignore[attr-defined]
    return rule


def accepts_none(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a rule that takes None for a missing gradient of one of several results.

    Other rules get zeros there.
    """
    rule.accepts_none = True  # type: ignore[attr-defined]
    return rule


def reads(**values: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """State by parameter which arguments' values its gradient is computed from.

    Of the others the rule takes shapes alone, so that they may be changed in place.
    """

    def stated(rule: Callable[..., Any]) -> Callable[..., Any]:
        rule.reads = values  # type: ignore[attr-defined]
        return rule

    return stated


def reads_results(*places: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """State which of several results a rule reads.

    The others are None to it, are not kept, and may be changed in place.
    """

    def stated(rule: Callable[..., Any]) -> Callable[..., Any]:
        rule.results = places  # type: ignore[attr-defined]
        return rule

    return stated


def torch_convention(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Adapt a rule for complex arguments that is written in torch's convention.

    Inside a backward pass gradients are the conjugates of torch's, so that a holomorphic
    function's rule is its plain derivative. A rule for one that is not holomorphic is often
    known in torch's convention; this conjugates what goes in and what comes out.
    """
    code = rule.__code__
    names = code.co_varnames[2 : code.co_argcount]

    def conjugated(xp: Any, g: Any, *values: Any) -> Any:
        result = rule(xp, _conjugate(xp, g), *values)
        if isinstance(result, (tuple, list)):
            return [_conjugate(xp, h) for h in result]
        return _conjugate(xp, result)

    conjugated.needs = names  # type: ignore[attr-defined]
    return conjugated


def _conjugate(xp: Any, g: Any) -> Any:
    if isinstance(g, (tuple, list)):
        return tuple(_conjugate(xp, h) for h in g)
    return g if g is None or g.dtype.kind != "c" else xp.conj(g)
