"""Declarations of an operation: its function, its method, and its calls in NumPy's spelling."""

from __future__ import annotations

import ast
import copy
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from stub_names import NameScope
from stub_writer import Writer, declaration

from tinytorch.core.tensor import Tensor
from tinytorch.dispatch.arguments import NUMPY_KEYWORDS, SPELLINGS, torch_parameter
from tinytorch.dispatch.op import Op
from tinytorch.ops.results import RESULTS

#: Annotation of sizes that can be passed one by one.
SIZES = "int | Sequence[int]"
LITERAL_DOTS = ast.Constant(...)
#: Annotations of keywords that the source annotates with ``Any``.
COMMON = {
    "backend": "Backend | str", "device": "device | str | int", "dtype": "dtype | Class | str",
    "generator": "Generator",
}  # fmt: skip
#: Annotation of the index in ``tensor[index]``.
INDEX = (
    "SupportsIndex | slice | EllipsisType | Tensor | NDArray[Any] | ndarray | list[Any] "
    "| tuple[Any, ...] | range | None"
)


def write_operation(writer: Writer, name: str, value: Callable[..., Any], indent: str = "") -> None:
    """Declare an operation's function, or with an indent its method."""
    scope = NameScope.of(inspect.unwrap(value).__module__)
    assert scope is not None
    forms = call_forms(name, value, writer.dialects)
    for form in forms:
        form.name = name
        accept_arrays(form, value)
        form.decorator_list = [ast.Name("overload")] if len(forms) > 1 else []
        type_common_keywords(form)
        if indent:
            as_method(form)
        writer.function(form, scope, indent)


def accept_arrays(form: ast.FunctionDef, value: Any) -> None:
    """Let an operation accept arrays for tensors; one with a kernel also those of the backend."""
    op = getattr(value, "op", None)
    reflected = (
        form.name.startswith("__r") and form.name != "__rshift__"
    )  # NumPy's own method is called first
    if op is None or reflected:
        return
    kernel = {op.plan.params[i] for i in op.plan.tensors} if op.kernel is not None else set()
    for at, parameter in enumerate(parameters(form)):
        written = parameter.arg == "out" or (at == 0 and form.name.endswith("_"))
        if parameter.annotation is not None and not written:
            kinds = "NDArray[Any] | ndarray" if parameter.arg in kernel else "ndarray"
            parameter.annotation = _AddArrays(kinds).visit(parameter.annotation)


class _AddArrays(ast.NodeTransformer):
    """Replace ``Tensor`` by ``Tensor | kinds`` in annotations.

    Args:
        kinds: Text of the array types to add.
    """

    def __init__(self, kinds: str) -> None:
        self.kinds = kinds

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id != "Tensor":
            return node
        return ast.parse(f"Tensor | {self.kinds}", mode="eval").body

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Change the element types of containers that are read only."""
        word = ast.unparse(node.value)
        if word not in ("Callable", "dict", "list", "set"):
            node.slice = self.visit(node.slice)
        return node


def type_common_keywords(form: ast.FunctionDef) -> None:
    """Annotate the common keywords where the form says ``Any``."""
    common = COMMON | {
        "out": "Tensor" if return_annotation(form) == "Tensor" else "Sequence[Tensor]"
    }
    if form.name in ("__getitem__", "__setitem__"):
        common["index"] = INDEX
    type_keywords(form, common)


def type_keywords(form: ast.FunctionDef, common: dict[str, str]) -> None:
    """Annotate some parameters where the form says ``Any``."""
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
    """Declare an operation that is a property of tensors."""
    scope = NameScope.of(inspect.unwrap(getter).__module__)
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
    # stubtest compares names, and the function calls its tensor ``input``; stubtest accepts
    # any name for ``_self``.
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
    """The overloads of an operation.

    Args:
        name: Its name.
        value: Its function, an in-place form or the method behind an operator.
        dialects: Whether to go beyond the run-time signature, to NumPy's spellings.
    """
    op = getattr(value, "op", None)
    signature = inspect.signature(value)
    if op is None or value is not op.function and value.__qualname__ != f"Tensor.{op.name}":
        return [declaration(name, signature)]
    signature = name_result(op, signature)
    forms = declared_forms(name, op, signature) if op.forms else list(sized_forms(name, signature))
    return [*numpy_forms(op, forms)] if dialects else forms


def declared_forms(name: str, op: Op, signature: inspect.Signature) -> list[ast.FunctionDef]:
    """The overloads that an operation declares for its stub."""
    forms = [declared_form(name, form, signature) for form in op.forms]
    if any("Literal[" in form for form in op.forms):
        forms.append(undecided_form(name, forms, signature))
    return forms


def name_result(op: Op, signature: inspect.Signature) -> inspect.Signature:
    """Replace the tuple that a signature returns by the named tuple of the results."""
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
    """One of the overloads that an operation declares for its stub.

    ``"(..., return_indices: Literal[True]) -> tuple[Tensor, Tensor]"`` stands for the
    run-time signature with another annotation of that parameter.
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
    """The overload for flags that are known at run time only: a union of the results."""
    results = dict.fromkeys(return_annotation(form) for form in forms)
    return declaration(name, signature.replace(return_annotation=" | ".join(results)))


def change_parameter(arguments: ast.arguments, new: ast.arg, default: ast.expr | None) -> None:
    """Give a parameter another annotation and default.

    A parameter that loses its default after others that have one becomes keyword-only, and so
    do those that follow it.
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
    """Parse the text of a signature to a function definition."""
    node = ast.parse(f"def {name}{signature}: ...").body[0]
    assert isinstance(node, ast.FunctionDef)
    return node


def sized_forms(name: str, signature: inspect.Signature) -> Iterator[ast.FunctionDef]:
    """Yield one overload, or two if sizes can be passed one by one."""
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
    """Yield the overloads of an operation in PyTorch's and in NumPy's spelling.

    A keyword of NumPy that means the same as one of PyTorch's becomes an optional keyword. If
    PyTorch's is required, or if the result of a call with NumPy's differs, there is an additional
    overload with NumPy's keyword.

    Args:
        op: The operation.
        forms: Its overloads in PyTorch's spelling.
    """
    numpy_names = numpy_keywords(op)
    if not numpy_names or (len(forms) > 1 and op.registered.numpy_form is None):
        yield from forms
        yield from axis_forms(forms, numpy_names)
        return
    returns = numpy_result(op)
    if len(forms) > 1 and all(return_annotation(form) == returns for form in forms):
        for form in map(copy.deepcopy, forms):
            add_keywords(form, numpy_names)
            yield form
        return
    if len(forms) > 1 or returns not in (None, return_annotation(forms[0])):
        yield from forms
        yield numpy_only_form(op, forms[0], numpy_names, returns)
        return
    (form,) = forms
    required = {a.arg for a in form.args.args[: len(form.args.args) - len(form.args.defaults)]}
    optional = {new: old for new, old in numpy_names.items() if old.arg not in required}
    first = copy.deepcopy(form)
    add_keywords(first, optional)
    yield first
    if "axis" in numpy_names and numpy_names["axis"].arg in required:
        yield rename_parameter(form, "axis", numpy_names["axis"].arg, optional)


def axis_forms(
    forms: list[ast.FunctionDef], numpy_names: dict[str, ast.arg]
) -> Iterator[ast.FunctionDef]:
    """Yield the overloads that require an int ``dim``, with ``axis`` in its place.

    Args:
        forms: The overloads in PyTorch's spelling.
        numpy_names: NumPy's keywords; see ``numpy_keywords``.
    """
    if "axis" not in numpy_names:
        return
    others = {new: old for new, old in numpy_names.items() if new != "axis"}
    for form in forms:
        required = form.args.args[: len(form.args.args) - len(form.args.defaults)]
        named = {a.arg: a for a in required}
        annotation = getattr(named.get(numpy_names["axis"].arg), "annotation", None)
        if ast.unparse(annotation or LITERAL_DOTS) == "int" and form.args.vararg is None:
            found = rename_parameter(form, "axis", numpy_names["axis"].arg, {})
            add_keywords(found, others)
            yield found


def numpy_keywords(op: Op) -> dict[str, ast.arg]:
    """NumPy's keywords that ``op`` accepts, each with the parameter of the same meaning."""
    own = {p.arg: p for p in parameters(declaration(op.name, inspect.signature(op.function)))}
    found = {}
    if op.registered.numpy_form is not None:
        form = declaration(op.name, inspect.signature(op.registered.numpy_form))
        found = {p.arg: p for p in parameters(form) if p.arg in NUMPY_KEYWORDS - own.keys()}
    for new in SPELLINGS:
        old = torch_parameter(op, new)
        if new in NUMPY_KEYWORDS and old in own and new not in own:
            found.setdefault(new, own[old])
    return found


def return_annotation(form: ast.FunctionDef) -> str:
    """The text of the return annotation."""
    assert form.returns is not None, f"{form.name} has no return annotation"
    return ast.unparse(form.returns)


def numpy_result(op: Op) -> str | None:
    """The annotated result of a call with NumPy's keywords; None if there is none."""
    if op.registered.numpy_form is None:
        return None
    return str(inspect.signature(op.registered.numpy_form).return_annotation)


def parameters(form: ast.FunctionDef) -> list[ast.arg]:
    """All named parameters of a function."""
    return [*form.args.posonlyargs, *form.args.args, *form.args.kwonlyargs]


def add_keywords(form: ast.FunctionDef, numpy_names: dict[str, ast.arg]) -> None:
    """Add NumPy's keywords, see ``numpy_keywords``, to a form as optional ones."""
    for new, old in numpy_names.items():
        form.args.kwonlyargs.append(ast.arg(new, old.annotation))
        form.args.kw_defaults.append(LITERAL_DOTS)


def rename_parameter(
    form: ast.FunctionDef, new: str, old: str, optional: dict[str, ast.arg]
) -> ast.FunctionDef:
    """Return a copy of a form in which a required parameter has NumPy's name.

    It and all parameters after it become keyword-only.

    Args:
        form: The declaration.
        new: NumPy's name.
        old: PyTorch's name.
        optional: NumPy's optional keywords to add, each with the parameter of the same meaning,
            which they replace.
    """
    form = copy.deepcopy(form)
    arguments = form.args
    names = [a.arg for a in arguments.args]
    at = names.index(old)
    defaults: list[ast.expr | None] = [None] * (len(names) - len(arguments.defaults))
    defaults += arguments.defaults
    replaced = {parameter.arg for parameter in optional.values()}
    moved = [(a, d) for a, d in zip(arguments.args[at:], defaults[at:], strict=True)
             if a.arg not in replaced]  # fmt: skip
    moved[0][0].arg = new
    arguments.args = arguments.args[:at]
    arguments.defaults = [d for d in defaults[:at] if d is not None]
    arguments.kwonlyargs = [a for a, _ in moved] + arguments.kwonlyargs
    arguments.kw_defaults = [d for _, d in moved] + arguments.kw_defaults
    add_keywords(form, optional)
    return form


def numpy_only_form(
    op: Op, form: ast.FunctionDef, numpy_names: dict[str, ast.arg], returns: str | None
) -> ast.FunctionDef:
    """The overload of a call with NumPy's keywords whose result differs from torch's.

    It has the parameters of the NumPy form of the operation. The first of NumPy's own keywords
    is required, so that type checkers can tell the overloads apart.
    """
    required = next(iter(numpy_names))
    keywords = dict(numpy_names)
    if op.registered.numpy_form is not None:
        named = parameters(declaration(op.name, inspect.signature(op.registered.numpy_form)))[1:]
        keywords |= {p.arg: p for p in named}
    form = parse(form.name, f"(input: Tensor) -> {returns or return_annotation(form)}")
    form.args.kwonlyargs = [ast.arg(required, keywords.pop(required).annotation)]
    form.args.kw_defaults = [None]
    add_keywords(form, keywords)
    return form
