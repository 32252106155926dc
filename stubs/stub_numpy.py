"""Declarations of NumPy's functions: of arrays they return arrays, of Tensors their annotation."""

from __future__ import annotations

import ast
import copy
import inspect
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any

from stub_names import Entity, NameScope
from stub_operations import (
    as_method,
    declared_forms,
    name_result,
    return_annotation,
    type_keywords,
)  # fmt: skip
from stub_writer import Writer, declaration

from tinytorch.numpy.methods import BINARY
from tinytorch.numpy.namespace import _MAKE_ARRAYS, get_function
from tinytorch.numpy.ufunc import ufunc
from tinytorch.numpy.wrapping import wrap_function

#: Annotation of an argument that makes the result a Tensor.
TENSORS = "Tensor | Sequence[Tensor]"
SIZES = "SupportsIndex | Sequence[SupportsIndex]"
#: Annotations of parameters that the source annotates with ``Any``.
COMMON = {
    "axes": SIZES, "axis": SIZES, "backend": "Backend | str", "device": "device | str",
    "dtype": "DTypeLike | dtype",
    "key": "SupportsIndex | slice | EllipsisType | ArrayLike | tuple[Any, ...] | None",
    "new_shape": SIZES, "obj": "ArrayLike | slice", "shape": SIZES,
}  # fmt: skip
#: Annotations of parameters that are array-likes and do not decide the class of the result.
VALUES = dict.fromkeys(
    """a_max a_min append atol aweights base condition fweights indices initial kth left max mean
    min prepend right rtol sorter step stop to_begin to_end val value values w weights where
    y""".split(), "ArrayLike",
)  # fmt: skip
#: The code of functions that wrap one on Tensors for arrays.
WRAPPER = wrap_function(len).__code__
#: Annotations in the source of a parameter that is an array, and of a first parameter that is an
#: array or a sequence of arrays.
OPEN = ("Any", "Tensor")
SEVERAL = (*OPEN, "Sequence[Any]", "Sequence[Tensor]")


def is_wrapped(value: Any) -> bool:
    """Whether a value wraps a function on Tensors so that it accepts arrays, or calls one."""
    if not isinstance(value, types.FunctionType):
        return False
    return value.__code__ is WRAPPER or is_wrapped(getattr(value, "__wrapped__", None))


def is_ufunc(value: Any) -> bool:
    """Whether a value is an elementwise function."""
    return isinstance(value, ufunc)


def write_wrapped(writer: Writer, name: str, value: Any, indent: str = "") -> None:
    """Declare a function that accepts Tensors and arrays; with an indent, a method."""
    forms = call_forms(name, value, bool(indent))
    write_forms(writer, forms, value, indent)


def write_ufunc(writer: Writer, name: str, value: ufunc) -> None:
    """Declare a ufunc as an object with a protocol of its calls."""
    forms = call_forms("__call__", value)
    key = "; ".join(f"{ast.unparse(form.args)} -> {return_annotation(form)}" for form in forms)
    if key not in writer.protocols:
        writer.protocols[key] = f"_{name}"
        writer.line(f"class _{name}({writer.word(Entity('typing', 'Protocol'))}):")
        for form in forms:
            form.args.posonlyargs.insert(0, ast.arg("self"))
        write_forms(writer, forms, value, "    ")
        writer.line()
    kind = writer.word(Entity("tinytorch.numpy.ufunc", "ufunc"))
    writer.line(f"{name}: {kind}[{writer.protocols[key]}]")


def write_method(writer: Writer, name: str, value: Any) -> None:
    """Declare a method that arrays alone have."""
    form = declaration(name, inspect.signature(value))
    type_keywords(form, COMMON | VALUES)
    as_method(form)
    write_forms(writer, [form], value, "    ")


def is_operator(name: str) -> bool:
    """Whether a method of arrays in ``numpy.methods`` implements an operator."""
    return name.startswith("__") and not name.startswith("__array_")


def write_operator(writer: Writer, name: str, value: Any) -> None:
    """Declare a method of arrays that implements an operator."""
    sign = name.strip("_")
    function = BINARY.get(sign) or BINARY.get(sign[1:])
    form = declaration(name, inspect.signature(value))
    form.returns = ast.Name("Tensor")
    if function is not None:
        form.returns = declaration(name, inspect.signature(get_function(function))).returns
    as_method(form)
    start = len(writer.lines)
    write_forms(writer, [*array_overloads(form, method=True)], value, "    ")
    error = (
        "override" if sign in ("eq", "ne") else "misc" if return_annotation(form) == "Self" else ""
    )
    writer.lines[start] += f"  # type: ignore[{error}]" if error else ""


def write_forms(writer: Writer, forms: list[ast.FunctionDef], value: Any, indent: str) -> None:
    """Declare a function in one or several forms; several are overloads.

    Args:
        writer: Writer of the stub.
        forms: The declarations.
        value: The function, whose source module resolves the names in annotations.
        indent: Indentation of the declarations.
    """
    scope = NameScope.of(inspect.unwrap(value).__module__)
    assert scope is not None
    for form in forms:
        form.decorator_list = [ast.Name("overload")] if len(forms) > 1 else []
        writer.function(form, scope, indent)


def call_forms(name: str, value: Any, method: bool = False) -> list[ast.FunctionDef]:
    """Overloads of a function that accepts Tensors and arrays.

    Args:
        name: Its name.
        value: The function on arrays and Tensors, which wraps the one on Tensors.
        method: Whether it is a method, whose first parameter is ``self``.
    """
    forms = []
    for form in tensor_forms(name, value):
        type_keywords(form, COMMON)
        if method:
            as_method(form)
        kinds = [*array_overloads(form, method)]
        for kind in kinds:
            type_keywords(kind, VALUES)
        forms += kinds[-1:] if name in _MAKE_ARRAYS else kinds
    return forms


def tensor_forms(name: str, value: Any) -> list[ast.FunctionDef]:
    """Overloads of the function on Tensors that ``value`` wraps, one without overloads."""
    inner = value.__wrapped__
    overloads = typing.get_overloads(inspect.unwrap(inner))
    if overloads:
        return [declaration(name, inspect.signature(each)) for each in overloads]
    signature = inspect.signature(inner)
    op = getattr(inner, "op", None)
    if op is None:
        return [declaration(name, annotate_result(inner, signature))]
    signature = name_result(op, signature)
    return declared_forms(name, op, signature) if op.forms else [declaration(name, signature)]


def annotate_result(
    function: Callable[..., Any], signature: inspect.Signature
) -> inspect.Signature:
    """Return ``signature`` with the annotated result of a function that is made at run time.

    In its source such a function is declared as ``name: Callable[..., Result] = ...``. Another
    function's signature is returned as it is.
    """
    scope = NameScope.of(inspect.unwrap(function).__module__)
    node = scope.own.get(function.__name__) if scope is not None else None
    if not isinstance(node, ast.AnnAssign) or signature.return_annotation != "Any":
        return signature
    assert isinstance(node.annotation, ast.Subscript)
    assert isinstance(node.annotation.slice, ast.Tuple)
    return signature.replace(return_annotation=ast.unparse(node.annotation.slice.elts[1]))


# -- overloads for arrays ------------------------------------------------


def array_overloads(form: ast.FunctionDef, method: bool = False) -> Iterator[ast.FunctionDef]:
    """Yield an overload for each argument that may be a Tensor, and one for arrays alone."""
    places = array_places(form, method)
    if return_annotation(as_array_form(form)) == return_annotation(form):
        yield annotate_arrays(form, dict.fromkeys(places, ("ArrayLike", "Tensor | ndarray")))
        return
    for chosen in places:
        texts = dict.fromkeys(places, ("ArrayLike", "Tensor | ndarray"))
        yield annotate_arrays(form, texts | {chosen: (TENSORS, "Tensor")})
    yield as_array_form(annotate_arrays(form, dict.fromkeys(places, ("ArrayLike", "Tensor"))))


def array_places(form: ast.FunctionDef, method: bool) -> list[int]:
    """The positions of the parameters that are arrays: required ones of any type.

    The array of a method itself is not among them. ``*args`` is, unless the function takes a
    callable, whose arguments they are.
    """
    said = [ast.unparse(p.annotation) if p.annotation else "" for p in positional_parameters(form)]
    count = len(form.args.posonlyargs + form.args.args)
    required = range(method, count - len(form.args.defaults))
    places = [i for i in required if said[i] in (OPEN if i else SEVERAL)]
    calls = any("Callable" in text for text in said)
    return places + [i for i in range(count, len(said)) if said[i] in OPEN and not calls]


def positional_parameters(form: ast.FunctionDef) -> list[ast.arg]:
    """The parameters that can be passed by position."""
    rest = form.args.vararg
    return [*form.args.posonlyargs, *form.args.args, *([] if rest is None else [rest])]


def annotate_arrays(form: ast.FunctionDef, texts: dict[int, tuple[str, str]]) -> ast.FunctionDef:
    """Replace ``Any`` or ``Tensor`` in the annotations of some parameters.

    Args:
        form: The declaration; it is copied.
        texts: By position, the texts that replace ``Any`` and ``Tensor``.
    """
    form = copy.deepcopy(form)
    for place, (anything, tensor) in texts.items():
        parameter = positional_parameters(form)[place]
        assert parameter.annotation is not None
        said = ast.unparse(parameter.annotation)
        text = said.replace("Any", anything) if "Any" in said else said.replace("Tensor", tensor)
        parameter.annotation = ast.parse(text, mode="eval").body
    return form


def as_array_form(form: ast.FunctionDef) -> ast.FunctionDef:
    """The form with arrays in the place of Tensors."""
    arrays: ast.FunctionDef = _TensorToArray().visit(copy.deepcopy(form))
    return arrays


class _TensorToArray(ast.NodeTransformer):
    """Replace ``Tensor`` by ``ndarray`` in annotations."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name("ndarray") if node.id == "Tensor" else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Make a named tuple of results one of arrays."""
        if ast.unparse(node).startswith("return_types."):
            return ast.Subscript(node, ast.Name("ndarray"))
        return node
