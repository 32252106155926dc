"""Decorators that define operations, ``@op`` and ``@composite``, and those of gradient rules.

An operation is written once, as a kernel on raw arrays, followed by its gradient rules::

    @op(method=True)
    def sin(xp: Backend, input: Array) -> Array:
        \"\"\"Sine of each element of ``input``, in radians.\"\"\"
        return xp.sin(input)

    sin.vjp(input=lambda xp, g, input: g * xp.cos(input))

``@op`` registers it in ``OPS`` and returns a function of tensors, without ``xp``. The Tensor
method, the in-place form, ``out=``, other spellings, the signature and the stub follow from it.

A parameter's annotation states its kind. ``Array`` and ``Operand`` are tensors, and an operand may
also be a Python number. ``Index`` and ``Mask`` are tensors that take no part in promotion,
``Sequence[Array]`` is a list of tensors, ``Shape`` stands for sizes that may be given one by one,
and ``int | Shape`` for the same where other numbers may follow a single one. A kernel that may
return its first argument has the result ``ArrayOrInput``, and the call then returns that tensor.

Decorators of rules (``no_derivative``, ``reads``, ...) state facts that the formula does not show.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial, wraps
from inspect import CO_VARARGS, CO_VARKEYWORDS
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from ..core.tensor import Tensor
from .arguments import repeated_argument_error, to_bool, torch_parameter, unexpected_keyword_error
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
from .signature import complete_docstring, make_signature, takes_out
from .tensor_protocols import make_operators

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
F = TypeVar("F", bound=Callable[..., Any])


class Operation(Protocol[P, R_co]):
    """Type of the public function that ``@op`` returns, with methods that register its rules.

    Inside the package its type follows from its kernel. An array is ``Any`` to a type checker, so
    the result counts as one tensor, even if the kernel returns a tuple. The stubs have the types
    for users.
    """

    __name__: str
    __qualname__: str
    op: Op
    kernel: Callable[..., Any]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

    def vjp(self, **rules: Callable[..., Any]) -> None:
        """Register gradient rules by parameter name.

        The parameters of a rule are ``xp``, the incoming gradient ``g`` and then, by name, those
        of the operation that it reads, the result (``out``) and the shape of the argument whose
        gradient it computes (``in_shape``). The backward pass saves only what a rule names.
        """

    def vjp_joint(self, *names: str) -> Callable[[Callable[..., Any]], None]:
        """Register one rule for several parameters; it returns their gradients in order.

        Its ``in_shape`` is a list, with None for each gradient that is not needed.
        """

    def numpy(self, form: F) -> F:
        """Register the function that runs a call with NumPy's keywords."""


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
    """Register a kernel as an operation and return its public function.

    Args:
        kernel: Function of a backend, raw arrays and Python values.
        **options: Fields of ``Op``, which describes each of them: ``namespaces``, ``aliases``,
            ``method``, ``attribute``, ``inplace`` and ``operators`` say where the operation is
            found; ``promote``, ``elementwise``, ``strict``, ``former_order`` and ``reduced`` which
            arguments it accepts; ``view``, ``returns``, ``out``, ``overlap`` and ``forms`` which
            values it returns or writes; ``node`` how its nodes are named and freed;
            ``backend_function`` which function of the backend equals the kernel; ``public`` whether
            it is public. ``like`` is a function whose docstring describes the parameters that this
            one's does not.

    Returns:
        A function with the kernel's signature without ``xp``.
    """
    if kernel is None:
        return partial(op, **options)
    like = options.pop("like", None)
    spec = declare(kernel, None, options)
    set_function(spec, make_public_function(spec, spec.name))
    register(spec, kernel, like=like)
    return spec.function


@overload
def composite(function: Callable[P, R], /, **options: Any) -> Operation[P, R]: ...
@overload
def composite(function: None = None, /, **options: Any) -> MakeComposite: ...
def composite(function: Any = None, /, **options: Any) -> Any:
    """Register a function of tensors as an operation, which has no kernel and no rules.

    Args:
        function: The function.
        **options: As for ``op``. With ``out`` the operation accepts ``out=``, even if ``function``
            has no such parameter. ``fast`` is an operation that runs the calls with arguments of
            the classes that it declares; its parameters are those that the composite accepts by
            position. If the name of the composite ends in an underscore, the in-place form of
            ``fast`` runs them.
    """
    if function is None:
        return partial(composite, **options)
    like, fast = options.pop("like", None), options.pop("fast", None)
    spec = declare(None, function, options)
    if fast is not None:
        spec.registered.fast, fast.op.registered.serves_composite = fast.op, True
    set_function(spec, make_public_function(spec, function.__name__))
    register(spec, function, like=like)
    return spec.function


def declare(kernel: Any, body: Any, options: dict[str, Any]) -> Op:
    """Create the ``Op`` that ``@op`` or ``@composite`` describes, without its public function.

    Args:
        kernel: The decorated function of ``@op``, on raw arrays; None for a composite.
        body: The decorated function of ``@composite``, on tensors; None for a kernel.
        options: Fields of ``Op`` by name; defaults are added to it.

    Raises:
        TypeError: For an unknown option, or a kernel with ``*args`` or ``**kwargs``.
    """
    source = body if kernel is None else kernel
    if kernel is not None and kernel.__code__.co_flags & (CO_VARARGS | CO_VARKEYWORDS):
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
    """Set the public function of an operation, which is frozen but needed to create it."""
    vars(spec)["function"] = function


def rename_nodes(spec: Op, node: str) -> Any:
    """Return a function that does the same, with nodes of another name that free nothing."""
    other = replace(spec, node=Nodes(node), public=False)
    set_function(other, make_public_function(other, other.name))
    vars(other.function).update(op=other, kernel=other.kernel)
    return other.function


def register(
    spec: Op,
    source: Any,
    common: dict[str, tuple[str, Any]] | None = None,
    like: Callable[..., Any] | None = None,
) -> None:
    """Register an operation, and set the name, docstring and signature of its public function.

    Args:
        spec: The operation.
        source: The function that ``__wrapped__`` refers to, a kernel or a composite's body.
        common: Keywords that the function accepts besides ``source``'s own, as
            ``{name: (annotation, default)}``.
        like: A function whose docstring describes the parameters that ``source``'s does not.
    """
    function = spec.function
    _set_metadata(spec, source)
    if source.__doc__:
        keywords = common or (("out",) if takes_out(spec) else ())
        function.__doc__ = complete_docstring(spec, source.__doc__, keywords, like)
    function.__signature__ = make_signature(spec, source, common or {})
    function.vjp = partial(_set_rules, spec)
    function.vjp_joint = lambda *names: lambda rule: _set_joint_rule(spec, names, rule)
    function.numpy = partial(_set_numpy_form, spec)
    _check_name(spec, source)
    OPS[spec.qualname] = spec
    if spec.public:
        _publish(spec)
        for name in spec.aliases:
            _publish(_make_alias(spec, name))
    _attach_methods(spec)


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


def _set_metadata(spec: Op, source: Any) -> None:
    """Set the names and attributes of an operation's function, which wraps ``source``."""
    function = spec.function
    function.__module__, function.__qualname__ = spec.module_and_qualname(spec.name)
    function.__name__ = spec.name
    function.__wrapped__ = source
    function.op = spec
    function.kernel = spec.kernel


def _set_rules(spec: Op, **rules: Callable[..., Any]) -> None:
    """Check and register gradient rules by parameter name; ``vjp`` of the public function."""
    for name, rule in rules.items():
        if not is_tensor(spec.kernel, name):
            raise TypeError(f"{spec.name}.vjp: {name!r} is not a tensor parameter")
        _check_needs(spec, rule)
    if len(rules) > 1 and any("Sequence" in spec.kernel.__annotations__[name] for name in rules):
        raise TypeError(f"{spec.name}.vjp: a list of tensors must be the only input")
    spec.set_rules(rules)


def _set_joint_rule(spec: Op, names: tuple[str, ...], rule: Callable[..., Any]) -> None:
    """Check and register one rule for several parameters; ``vjp_joint`` of the public function."""
    _check_needs(spec, rule)
    spec.set_rules({names: rule})


def _check_needs(spec: Op, rule: Callable[..., Any]) -> None:
    """Raise TypeError if a rule reads a value that is no parameter of the kernel."""
    code = spec.kernel.__code__
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    unknown = [name for name in rule_needs(rule) if name not in known and name not in SPECIAL]
    if unknown:
        raise TypeError(f"{spec.name}.vjp: {unknown} are no parameters of the operation")


def _make_alias(spec: Op, alias: str) -> Op:
    """Return the operation under another name, with a function of its own.

    Args:
        spec: The operation.
        alias: The other name; with a namespace before a dot, for that namespace alone.
    """
    space, dot, name = alias.rpartition(".")
    node = spec.node
    if node.name is None and spec.kernel is not None:
        node = replace(node, name=spec.torch_node_name)
    twin = replace(
        spec, name=name, namespaces=(space,) if dot else spec.namespaces, aliases=(),
        inplace=spec.inplace and not dot, node=node,
    )  # fmt: skip
    set_function(twin, make_public_function(twin, name))
    spec.registered.aliases.append(twin)
    original, function = spec.function, twin.function
    _set_metadata(twin, original.__wrapped__)
    first, _, more = (original.__doc__ or "").partition("\n")
    function.__doc__ = f"{first}\n\n    Another name for ``{spec.qualname}``.\n{more}"
    function.__signature__ = original.__signature__
    return twin


def _set_numpy_form(spec: Op, form: Callable[..., Any]) -> Callable[..., Any]:
    """Register the function that runs calls with NumPy's keywords; return it unchanged."""
    code = form.__code__
    known = frozenset(("out", *code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]))

    @wraps(form)
    def check_keywords(*args: Any, **options: Any) -> Any:
        """Call ``form``; TypeError for a keyword that neither it nor the operation has."""
        for name in options:
            parameter = name if name in spec.plan.index else torch_parameter(spec, name)
            if name not in known and parameter is None:
                raise unexpected_keyword_error(spec, name)
            if parameter is not None:
                kind = spec.plan.scalars.get(spec.plan.index[parameter], (None,))[0]
                if kind is bool:
                    options[name] = to_bool(options[name])
        if "dim" in options:
            if "axis" in known:
                _check_not_both(spec, options)
                options["axis"] = options.pop("dim")
        return form(*args, **options)

    spec.registered.numpy_form = check_keywords
    return form


def _check_not_both(spec: Op, options: dict[str, Any]) -> None:
    """Raise TypeError if a call has ``axis`` besides ``dim``."""
    if "axis" in options:
        raise repeated_argument_error(spec, "dim", "axis")


def _publish(spec: Op) -> None:
    """Add an operation's function, and its in-place form, to the tables of its namespaces."""
    for space in spec.namespaces:
        table = NAMESPACES.setdefault(space, {})
        table[spec.name] = spec.function
        if spec.inplace:
            table[f"{spec.name}_"] = make_inplace_function(spec)


def _make_method(spec: Op) -> Any:
    """Return the method of an operation.

    It is another function object than the public function, so that overrides can distinguish
    ``Tensor.add`` from ``add``; for an operation that is only a member of Tensor it is the same.
    """
    public: Any = spec.function
    if spec.attribute or spec.namespaces[0] == "Tensor":
        return public
    function = make_public_function(spec, spec.name)
    vars(function).update(vars(public))
    function.__module__, function.__name__ = "tinytorch", spec.name
    function.__qualname__, function.__doc__ = f"Tensor.{spec.name}", public.__doc__
    return function


def _attach_methods(spec: Op) -> None:
    """Set the methods and operators of an operation on Tensor."""
    if spec.public and spec.is_member:
        for form in (
            spec,
            *(twin for twin in spec.registered.aliases if twin.name in spec.aliases),
        ):
            method = _make_method(form)
            if spec.attribute:  # an override of an attribute gets the getter of the property
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
    """Return the rule of an operation without a derivative, which raises an error.

    Args:
        name: torch's name of the operation.
        error: Type of the error: NotImplementedError if torch's own kernel raises it.
    """
    by_kernel = error is NotImplementedError
    text = f"the derivative for {name!r} is not implemented."
    text = text if by_kernel else f"derivative for aten::{name} is not implemented"

    def rule(xp: Any, g: Any) -> Any:
        raise error(text)

    rule.missing = True  # type: ignore[attr-defined]
    return rule


def piecewise(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a rule whose gradient is piecewise constant in the operation's arguments.

    The derivative of such a gradient is zeros, as in torch, rather than missing.
    """
    rule.piecewise = True  # type: ignore[attr-defined]
    return rule


def accepts_none(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a rule that accepts None for a missing gradient of one of several results.

    Other rules get zeros.
    """
    rule.accepts_none = True  # type: ignore[attr-defined]
    return rule


def reads(**values: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """State for each parameter from which arguments' values its gradient is computed.

    The rule reads only the shapes of the other arguments, so these may be modified in place.
    """

    def mark(rule: Callable[..., Any]) -> Callable[..., Any]:
        rule.reads = values  # type: ignore[attr-defined]
        return rule

    return mark


def reads_results(*places: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """State which of several results a rule reads.

    The rule gets None for the others, which are not saved and may be modified in place.
    """

    def mark(rule: Callable[..., Any]) -> Callable[..., Any]:
        rule.results = places  # type: ignore[attr-defined]
        return rule

    return mark


def torch_convention(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Adapt a rule for complex arguments that is written in torch's convention.

    Inside a backward pass gradients are the conjugates of torch's, so that the rule of a
    holomorphic function is its derivative. A rule for another function is often known in torch's
    convention; this conjugates the incoming gradient and the results.
    """
    code = rule.__code__
    names = code.co_varnames[2 : code.co_argcount]

    def conjugate_rule(xp: Any, g: Any, *values: Any) -> Any:
        result = rule(xp, _conjugate(xp, g), *values)
        if isinstance(result, (tuple, list)):
            return [_conjugate(xp, h) for h in result]
        return _conjugate(xp, result)

    conjugate_rule.needs = names  # type: ignore[attr-defined]
    return conjugate_rule


def _conjugate(xp: Any, g: Any) -> Any:
    """Conjugate a gradient, or each one of several; real ones and None are returned unchanged."""
    if isinstance(g, (tuple, list)):
        return tuple(_conjugate(xp, h) for h in g)
    return g if g is None or g.dtype.kind != "c" else xp.conj(g)
