"""NumPy's functions: of arrays they give arrays, of Tensors what they are annotated with."""

from __future__ import annotations

import ast
import copy
import inspect
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any

from stub_names import Entity, Scope
from stub_operations import (
    as_method,
    given_forms,
    returned,
    type_keywords,
    with_named_result,
)  # fmt: skip
from stub_writer import Writer, declaration

from tinytorch.numpy.methods import OF_TWO
from tinytorch.numpy.namespace import _MAKE_ARRAYS, public
from tinytorch.numpy.ufunc import ufunc
from tinytorch.numpy.wrapping import kept

#: What an argument is that makes the result a Tensor.
TENSORS = "Tensor | Sequence[Tensor]"
SIZES = "SupportsIndex | Sequence[SupportsIndex]"
#: What these parameters take wherever the source leaves it open.
COMMON = {
    "axes": SIZES, "axis": SIZES, "backend": "Backend | str", "device": "device | str",
    "dtype": "DTypeLike | dtype",
    "key": "SupportsIndex | slice | EllipsisType | ArrayLike | tuple[Any, ...] | None",
    "new_shape": SIZES, "obj": "ArrayLike | slice", "shape": SIZES,
}  # fmt: skip
#: And these, where they are not those that make the result a Tensor.
VALUES = dict.fromkeys(
    """a_max a_min append atol aweights base condition fweights indices initial kth left max mean
    min prepend right rtol sorter step stop to_begin to_end val value values w weights where
    y""".split(), "ArrayLike",
)  # fmt: skip
#: The code of functions that keep the class of what they are given.
KEPT = kept(len).__code__
#: How sources say that a parameter is an array, and of the first that it is several.
OPEN = ("Any", "Tensor")
SEVERAL = (*OPEN, "Sequence[Any]", "Sequence[Tensor]")


def is_kept(value: Any) -> bool:
    """Whether a value is a function on Tensors that takes arrays, too, or calls one."""
    if not isinstance(value, types.FunctionType):
        return False
    return value.__code__ is KEPT or is_kept(getattr(value, "__wrapped__", None))


def is_ufunc(value: Any) -> bool:
    """Whether a value is an elementwise function."""
    return isinstance(value, ufunc)


def write_kept(writer: Writer, name: str, value: Any, indent: str = "") -> None:
    """Declare such a function, or with an indent the method that it is."""
    forms = call_forms(name, value, bool(indent))
    write_forms(writer, forms, value, indent)


def write_ufunc(writer: Writer, name: str, value: ufunc) -> None:
    """Declare an elementwise function, an object, by how it is called."""
    forms = call_forms("__call__", value)
    key = "; ".join(f"{ast.unparse(form.args)} -> {returned(form)}" for form in forms)
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
    """Declare a method of arrays that is no function on Tensors."""
    form = declaration(name, inspect.signature(value))
    type_keywords(form, COMMON | VALUES)
    as_method(form)
    write_forms(writer, [form], value, "    ")


def is_operator(name: str) -> bool:
    """Whether a method of arrays in ``numpy.methods`` is what they do at an operator."""
    return name.startswith("__") and not name.startswith("__array_")


def write_operator(writer: Writer, name: str, value: Any) -> None:
    """Declare what arrays do at an operator."""
    sign = name.strip("_")
    function = OF_TWO.get(sign) or OF_TWO.get(sign[1:])
    form = declaration(name, inspect.signature(value))
    form.returns = ast.Name("Tensor")
    if function is not None:
        form.returns = declaration(name, inspect.signature(public(function))).returns
    as_method(form)
    start = len(writer.lines)
    write_forms(writer, [*keeping(form, method=True)], value, "    ")
    error = "override" if sign in ("eq", "ne") else "misc" if returned(form) == "Self" else ""
    writer.lines[start] += f"  # type: ignore[{error}]" if error else ""


def write_forms(writer: Writer, forms: list[ast.FunctionDef], value: Any, indent: str) -> None:
    """Declare the ways a function may be called."""
    scope = Scope.of(inspect.unwrap(value).__module__)
    assert scope is not None
    for form in forms:
        form.decorator_list = [ast.Name("overload")] if len(forms) > 1 else []
        writer.function(form, scope, indent)


def call_forms(name: str, value: Any, method: bool = False) -> list[ast.FunctionDef]:
    """The ways a function may be called, with Tensors and with arrays."""
    forms = []
    for form in tensor_forms(name, value):
        type_keywords(form, COMMON)
        if method:
            as_method(form)
        kinds = [*keeping(form, method)]
        for kind in kinds:
            type_keywords(kind, VALUES)
        forms += kinds[-1:] if name in _MAKE_ARRAYS else kinds
    return forms


def tensor_forms(name: str, value: Any) -> list[ast.FunctionDef]:
    """The ways the function on Tensors may be called."""
    inner = value.__wrapped__
    overloads = typing.get_overloads(inspect.unwrap(inner))
    if overloads:
        return [declaration(name, inspect.signature(each)) for each in overloads]
    signature = inspect.signature(inner)
    op = getattr(inner, "op", None)
    if op is None:
        return [declaration(name, annotated(inner, signature))]
    signature = with_named_result(op, signature)
    return given_forms(name, op, signature) if op.forms else [declaration(name, signature)]


def annotated(function: Callable[..., Any], signature: inspect.Signature) -> inspect.Signature:
    """The signature with the result that the name's own annotation, a ``Callable``, says."""
    scope = Scope.of(inspect.unwrap(function).__module__)
    node = scope.own.get(function.__name__) if scope is not None else None
    if not isinstance(node, ast.AnnAssign) or signature.return_annotation != "Any":
        return signature
    assert isinstance(node.annotation, ast.Subscript)
    assert isinstance(node.annotation.slice, ast.Tuple)
    return signature.replace(return_annotation=ast.unparse(node.annotation.slice.elts[1]))


# -- one function on Tensors as several on arrays ------------------------------------------------


def keeping(form: ast.FunctionDef, method: bool = False) -> Iterator[ast.FunctionDef]:
    """A function on Tensors for each of its arguments that may be one, and for arrays alone."""
    places = array_places(form, method)
    if returned(of_arrays(form)) == returned(form):
        yield with_arrays(form, dict.fromkeys(places, ("ArrayLike", "Tensor | ndarray")))
        return
    for chosen in places:
        texts = dict.fromkeys(places, ("ArrayLike", "Tensor | ndarray"))
        yield with_arrays(form, texts | {chosen: (TENSORS, "Tensor")})
    yield of_arrays(with_arrays(form, dict.fromkeys(places, ("ArrayLike", "Tensor"))))


def array_places(form: ast.FunctionDef, method: bool) -> list[int]:
    """Which parameters, but for a method's own array, are arrays: required ones of any type.

    Of those that there may be any number of, unless they are a function's.
    """
    said = [ast.unparse(p.annotation) if p.annotation else "" for p in unnamed(form)]
    count = len(form.args.posonlyargs + form.args.args)
    required = range(method, count - len(form.args.defaults))
    places = [i for i in required if said[i] in (OPEN if i else SEVERAL)]
    calls = any("Callable" in text for text in said)
    return places + [i for i in range(count, len(said)) if said[i] in OPEN and not calls]


def unnamed(form: ast.FunctionDef) -> list[ast.arg]:
    """The parameters that may be given by their places."""
    rest = form.args.vararg
    return [*form.args.posonlyargs, *form.args.args, *([] if rest is None else [rest])]


def with_arrays(form: ast.FunctionDef, texts: dict[int, tuple[str, str]]) -> ast.FunctionDef:
    """The form with other words for ``Any`` and for ``Tensor`` in some of its parameters."""
    form = copy.deepcopy(form)
    for place, (anything, tensor) in texts.items():
        parameter = unnamed(form)[place]
        assert parameter.annotation is not None
        said = ast.unparse(parameter.annotation)
        text = said.replace("Any", anything) if "Any" in said else said.replace("Tensor", tensor)
        parameter.annotation = ast.parse(text, mode="eval").body
    return form


def of_arrays(form: ast.FunctionDef) -> ast.FunctionDef:
    """The form with arrays for Tensors."""
    arrays: ast.FunctionDef = _Arrays().visit(copy.deepcopy(form))
    return arrays


class _Arrays(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name("ndarray") if node.id == "Tensor" else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Named results of arrays."""
        if ast.unparse(node).startswith("return_types."):
            return ast.Subscript(node, ast.Name("ndarray"))
        return node
