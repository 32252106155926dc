"""The declarations of an operation: its function, its method, and how NumPy's words call it."""

from __future__ import annotations

import ast
import copy
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from stub_names import Scope
from stub_writer import Writer, declaration

from tinytorch.core.tensor import Tensor
from tinytorch.dispatch.arguments import NUMPY_KEYWORDS, SPELLINGS, torchs_name
from tinytorch.dispatch.op import Op
from tinytorch.ops.results import RESULTS

#: How a signature annotates sizes that may be given one by one.
SIZES = "int | Sequence[int]"
LITERAL_DOTS = ast.Constant(...)
#: What these keywords take wherever the source leaves it open.
COMMON = {
    "backend": "Backend | str", "device": "device | str | int", "dtype": "dtype | Class | str",
    "generator": "Generator",
}  # fmt: skip
#: What may stand between the brackets of a tensor.
INDEX = (
    "SupportsIndex | slice | EllipsisType | Tensor | NDArray[Any] | ndarray | list[Any] "
    "| tuple[Any, ...] | range | None"
)


def write_operation(writer: Writer, name: str, value: Callable[..., Any], indent: str = "") -> None:
    """Declare an operation's function, or with an indent its method."""
    scope = Scope.of(inspect.unwrap(value).__module__)
    assert scope is not None
    forms = call_forms(name, value, writer.dialects)
    for form in forms:
        form.name = name
        take_arrays(form, value)
        form.decorator_list = [ast.Name("overload")] if len(forms) > 1 else []
        type_common_keywords(form)
        if indent:
            as_method(form)
        writer.function(form, scope, indent)


def take_arrays(form: ast.FunctionDef, value: Any) -> None:
    """Say of an operation that it takes arrays for tensors; with a kernel, the backend's, too."""
    op = getattr(value, "op", None)
    reflected = form.name.startswith("__r") and form.name != "__rshift__"  # NumPy's own come first
    if op is None or reflected:
        return
    kernel = {op.plan.params[i] for i in op.plan.tensors} if op.kernel is not None else set()
    for at, parameter in enumerate(parameters(form)):
        written = parameter.arg == "out" or (at == 0 and form.name.endswith("_"))
        if parameter.annotation is not None and not written:
            kinds = "NDArray[Any] | ndarray" if parameter.arg in kernel else "ndarray"
            parameter.annotation = _ArraysToo(kinds).visit(parameter.annotation)


class _ArraysToo(ast.NodeTransformer):
    def __init__(self, kinds: str) -> None:
        self.kinds = kinds

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id != "Tensor":
            return node
        return ast.parse(f"Tensor | {self.kinds}", mode="eval").body

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """What may hold something else than it says is read from alone."""
        word = ast.unparse(node.value)
        if word not in ("Callable", "dict", "list", "set"):
            node.slice = self.visit(node.slice)
        return node


def type_common_keywords(form: ast.FunctionDef) -> None:
    """Say what the common keywords take where the form says ``Any``."""
    common = COMMON | {"out": "Tensor" if returned(form) == "Tensor" else "Sequence[Tensor]"}
    if form.name in ("__getitem__", "__setitem__"):
        common["index"] = INDEX
    type_keywords(form, common)


def type_keywords(form: ast.FunctionDef, common: dict[str, str]) -> None:
    """Say what some parameters take where the form says ``Any``."""
    arguments = form.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    defaults += arguments.defaults
    named = zip(positional, defaults, strict=True)
    keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    several = [(arguments.vararg, None)] if arguments.vararg is not None else []
    for parameter, default in (*named, *several, *keywords):
        said = ast.unparse(parameter.annotation or LITERAL_DOTS).replace("dtypes.", "")
        if parameter.arg in common and said in ("Any", "dtype", "dtype | None"):
            optional = default is not None and ast.unparse(default) == "None"
            optional |= said.endswith("None")
            text = common[parameter.arg] + (" | None" if optional else "")
            parameter.annotation = ast.parse(text, mode="eval").body


def write_attribute(writer: Writer, name: str, getter: Callable[..., Any], indent: str) -> None:
    """Declare an operation that tensors have as an attribute."""
    scope = Scope.of(inspect.unwrap(getter).__module__)
    assert scope is not None
    form = declaration("__get__", inspect.signature(getter))
    if isinstance(getter, type):
        form.returns = ast.Name(getter.__name__)
    as_method(form)
    form.name = name
    form.decorator_list = [ast.Name("property")]
    writer.function(form, scope, indent)


def as_method(form: ast.FunctionDef) -> None:
    """Make a function of a tensor its method: the tensor is ``self``."""
    first = (form.args.posonlyargs or form.args.args)[0]
    # stubtest compares names, and the function behind the method calls its tensor ``input``;
    # it takes this name for any.
    first.arg = "self" if form.name.startswith("__") else "_self"
    first.annotation = None
    if len(form.args.defaults) == len(form.args.posonlyargs + form.args.args):
        del form.args.defaults[0]
    if writes_in_place(form.name):
        form.returns = ast.Name("Self")


def writes_in_place(name: str) -> bool:
    """Whether a method returns its own tensor: ``add_``, ``__iadd__``."""
    if name.startswith("_"):
        return name.startswith("__i") and hasattr(Tensor, f"__{name[3:]}")
    return name.endswith("_")


def call_forms(name: str, value: Any, dialects: bool) -> list[ast.FunctionDef]:
    """The ways an operation may be called.

    Args:
        name: What it is called.
        value: Its function, an in-place form or the method behind an operator.
        dialects: Whether to go beyond the run-time signature, to NumPy's spellings.
    """
    op = getattr(value, "op", None)
    signature = inspect.signature(value)
    if op is None or value is not op.function and value.__qualname__ != f"Tensor.{op.name}":
        return [declaration(name, signature)]
    signature = with_named_result(op, signature)
    forms = given_forms(name, op, signature) if op.forms else list(sized_forms(name, signature))
    return [*numpy_forms(op, forms)] if dialects else forms


def given_forms(name: str, op: Op, signature: inspect.Signature) -> list[ast.FunctionDef]:
    """The signatures that an operation declares for its stub."""
    forms = [declared_form(name, form, signature) for form in op.forms]
    if any("Literal[" in form for form in op.forms):
        forms.append(undecided_form(name, forms, signature))
    return forms


def with_named_result(op: Op, signature: inspect.Signature) -> inspect.Signature:
    """The signature with the class of the results in the place of a tuple."""
    if not re.match(r"tuple\[|Any$", str(signature.return_annotation)):
        return signature
    space = op.namespaces[0]
    name = f"{space}_{op.name}" if space else op.name
    if op.returns is not None:
        name = op.returns.__name__
    if name not in RESULTS:
        return signature
    return signature.replace(return_annotation=f"return_types.{name}")


def declared_form(name: str, form: str, signature: inspect.Signature) -> ast.FunctionDef:
    """One of the signatures that an operation declares for its stub.

    ``"(..., return_indices: Literal[True]) -> tuple[Tensor, Tensor]"`` stands for the
    run-time signature with the parameters that are named changed.
    """
    if not form.startswith("(...,"):
        return parse(name, form)
    changed = parse(name, "(*," + form.removeprefix("(...,"))
    whole = declaration(name, signature)
    whole.returns = changed.returns
    for new, default in zip(changed.args.kwonlyargs, changed.args.kw_defaults, strict=True):
        change_parameter(whole.args, new, default)
    return whole


def undecided_form(
    name: str, forms: list[ast.FunctionDef], signature: inspect.Signature
) -> ast.FunctionDef:
    """The call with flags that are known at run time only: any of the results."""
    results = dict.fromkeys(returned(form) for form in forms)
    return declaration(name, signature.replace(return_annotation=" | ".join(results)))


def change_parameter(arguments: ast.arguments, new: ast.arg, default: ast.expr | None) -> None:
    """Give a parameter another annotation and default.

    One that loses its default after others that have one can only be a keyword, and so can
    those that follow it.
    """
    names = [a.arg for a in arguments.args]
    if new.arg not in names:
        at = [a.arg for a in arguments.kwonlyargs].index(new.arg)
        arguments.kwonlyargs[at], arguments.kw_defaults[at] = new, default
        return
    at = names.index(new.arg)
    defaults: list[ast.expr | None] = [None] * (len(names) - len(arguments.defaults))
    defaults += arguments.defaults
    arguments.args[at], defaults[at] = new, default
    if default is None and any(d is not None for d in defaults[:at]):
        arguments.kwonlyargs = arguments.args[at:] + arguments.kwonlyargs
        arguments.kw_defaults = defaults[at:] + arguments.kw_defaults
        arguments.args, defaults = arguments.args[:at], defaults[:at]
    arguments.defaults = [d for d in defaults if d is not None]


def parse(name: str, signature: str) -> ast.FunctionDef:
    """A signature as text, as a function definition."""
    node = ast.parse(f"def {name}{signature}: ...").body[0]
    assert isinstance(node, ast.FunctionDef)
    return node


def sized_forms(name: str, signature: inspect.Signature) -> Iterator[ast.FunctionDef]:
    """One form, or two where sizes may come one by one."""
    parameters = list(signature.parameters.values())
    sizes = [p for p in parameters if p.kind is p.VAR_POSITIONAL and p.annotation == SIZES]
    if not sizes:
        yield declaration(name, signature)
        return
    (size,) = sizes
    for kind, annotation in (
        (size.POSITIONAL_OR_KEYWORD, "Sequence[int]"),
        (size.VAR_POSITIONAL, "int"),
    ):
        form = size.replace(kind=kind, annotation=annotation)
        replaced = [form if p is size else p for p in parameters]
        yield declaration(name, signature.replace(parameters=replaced))


# -- NumPy's spellings --------------------------------------------------------------------------


def numpy_forms(op: Op, forms: list[ast.FunctionDef]) -> Iterator[ast.FunctionDef]:
    """The forms with NumPy's keywords beside torch's, and forms that are NumPy's alone.

    A keyword that only stands for one of torch's becomes another optional keyword. Where
    torch's is required, or NumPy's changes the result, the call gets a form of its own.
    """
    spelt = numpy_keywords(op)
    if not spelt or (len(forms) > 1 and op.registered.numpy_form is None):
        yield from forms
        yield from axis_forms(forms, spelt)
        return
    returns = numpy_result(op)
    if len(forms) > 1 and all(returned(form) == returns for form in forms):
        for form in map(copy.deepcopy, forms):
            add_keywords(form, spelt)
            yield form
        return
    if len(forms) > 1 or returns not in (None, returned(forms[0])):
        yield from forms
        yield alone(op, forms[0], spelt, returns)
        return
    (form,) = forms
    required = {a.arg for a in form.args.args[: len(form.args.args) - len(form.args.defaults)]}
    optional = {new: old for new, old in spelt.items() if old.arg not in required}
    first = copy.deepcopy(form)
    add_keywords(first, optional)
    yield first
    if "axis" in spelt and spelt["axis"].arg in required:
        yield renamed(form, "axis", spelt["axis"].arg, optional)


def axis_forms(
    forms: list[ast.FunctionDef], spelt: dict[str, ast.arg]
) -> Iterator[ast.FunctionDef]:
    """The forms that require ``dim``, with ``axis`` in its place."""
    if "axis" not in spelt:
        return
    others = {new: old for new, old in spelt.items() if new != "axis"}
    for form in forms:
        required = form.args.args[: len(form.args.args) - len(form.args.defaults)]
        named = {a.arg: a for a in required}
        annotation = getattr(named.get(spelt["axis"].arg), "annotation", None)
        if ast.unparse(annotation or LITERAL_DOTS) == "int" and form.args.vararg is None:
            found = renamed(form, "axis", spelt["axis"].arg, {})
            add_keywords(found, others)
            yield found


def numpy_keywords(op: Op) -> dict[str, ast.arg]:
    """NumPy's keywords that ``op`` takes, each with the parameter it stands for."""
    own = {p.arg: p for p in parameters(declaration(op.name, inspect.signature(op.function)))}
    found = {}
    if op.registered.numpy_form is not None:
        form = declaration(op.name, inspect.signature(op.registered.numpy_form))
        found = {p.arg: p for p in parameters(form) if p.arg in NUMPY_KEYWORDS - own.keys()}
    for new in SPELLINGS:
        old = torchs_name(op, new)
        if new in NUMPY_KEYWORDS and old in own and new not in own:
            found.setdefault(new, own[old])
    return found


def returned(form: ast.FunctionDef) -> str:
    """A form's return annotation."""
    assert form.returns is not None, f"{form.name} has no return annotation"
    return ast.unparse(form.returns)


def numpy_result(op: Op) -> str | None:
    """What a call in NumPy's words returns, if that is said anywhere."""
    if op.registered.numpy_form is None:
        return None
    return str(inspect.signature(op.registered.numpy_form).return_annotation)


def parameters(form: ast.FunctionDef) -> list[ast.arg]:
    """All named parameters of a function."""
    return [*form.args.posonlyargs, *form.args.args, *form.args.kwonlyargs]


def add_keywords(form: ast.FunctionDef, spelt: dict[str, ast.arg]) -> None:
    """Add optional keywords to a form."""
    for new, old in spelt.items():
        form.args.kwonlyargs.append(ast.arg(new, old.annotation))
        form.args.kw_defaults.append(LITERAL_DOTS)


def renamed(
    form: ast.FunctionDef, new: str, old: str, optional: dict[str, ast.arg]
) -> ast.FunctionDef:
    """The form with a required parameter under NumPy's name: from there on, keywords."""
    form = copy.deepcopy(form)
    arguments = form.args
    names = [a.arg for a in arguments.args]
    at = names.index(old)
    defaults: list[ast.expr | None] = [None] * (len(names) - len(arguments.defaults))
    defaults += arguments.defaults
    twins = {twin.arg for twin in optional.values()}
    moved = [(a, d) for a, d in zip(arguments.args[at:], defaults[at:], strict=True)
             if a.arg not in twins]  # fmt: skip
    moved[0][0].arg = new
    arguments.args = arguments.args[:at]
    arguments.defaults = [d for d in defaults[:at] if d is not None]
    arguments.kwonlyargs = [a for a, _ in moved] + arguments.kwonlyargs
    arguments.kw_defaults = [d for _, d in moved] + arguments.kw_defaults
    add_keywords(form, optional)
    return form


def alone(
    op: Op, form: ast.FunctionDef, spelt: dict[str, ast.arg], returns: str | None
) -> ast.FunctionDef:
    """The call in NumPy's words where it means something else than torch's.

    It takes what the function that serves it takes; the first of NumPy's own keywords tells.
    """
    telling = next(iter(spelt))
    keywords = dict(spelt)
    if op.registered.numpy_form is not None:
        named = parameters(declaration(op.name, inspect.signature(op.registered.numpy_form)))[1:]
        keywords |= {p.arg: p for p in named}
    form = parse(form.name, f"(input: Tensor) -> {returns or returned(form)}")
    form.args.kwonlyargs = [ast.arg(telling, keywords.pop(telling).annotation)]
    form.args.kw_defaults = [None]
    add_keywords(form, keywords)
    return form
