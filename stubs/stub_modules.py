"""Text of the stub of one module: declarations of its source, and of its dynamic names."""

from __future__ import annotations

import ast
import importlib
import sys
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stub_names import TYPE_VARIABLES, Alias, Entity, NameScope, follow, statements
from stub_numpy import is_wrapped, is_operator, write_wrapped, write_method, write_operator
from stub_numpys_own import is_from_numpy, writer_of
from stub_operations import write_attribute, write_operation
from stub_tables import table_entities, paths, tables, write_table
from stub_writer import Writer

from tinytorch import dtypes
from tinytorch.backends import load
from tinytorch.core.tensor import Tensor
from tinytorch.dispatch import registry
from tinytorch.facade import resolve
from tinytorch.facade.library_fallback import library_names
from tinytorch.numpy import methods
from tinytorch.numpy.ndarray import ndarray
from tinytorch.ops.results import RESULTS
from tinytorch.state import backend_context

#: Names that stubs leave out.
HIDDEN = ("__getattr__", "__dir__", "__slots__")
#: Classes that other modules add members to, by their own modules.
EXTENDED = {"tinytorch.core.tensor": Tensor, "tinytorch.numpy.ndarray": ndarray}


def stub_modules(root: Path) -> dict[str, Path]:
    """The modules that need a stub and their packages, each with its path."""
    found = {}
    for path in sorted((root / "tinytorch").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text(encoding="utf-8")
        # Most texts lack the word: parsing them all takes seconds.
        dynamic = "__getattr__" in text and has_getattr(ast.parse(text))
        if dynamic or module in EXTENDED or module in tables():
            found[module] = path
    found.update(paths())
    # A type checker looks for a module's stub in packages alone.
    for path in [*found.values()]:
        package = path.parent
        while package != root:
            found[".".join(package.relative_to(root).parts)] = package / "__init__.py"
            package = package.parent
    return found


def has_getattr(tree: ast.Module) -> bool:
    """Whether a module has a ``__getattr__``."""
    defined = [getattr(node, "name", "") for node in tree.body]
    assigned = [ast.unparse(node.targets[0]) for node in tree.body if isinstance(node, ast.Assign)]
    return "__getattr__" in " ".join([*defined, *assigned])


def write_module(module: str, dialects: bool = True) -> str:
    """The text of a module's stub.

    Args:
        module: Name of the module.
        dialects: Whether operations accept NumPy's names of arguments, such as ``axis``.
    """
    # Which names there are depends on the active backend.
    with backend_context("numpy"):
        return write_on_numpy(module, dialects)


def write_on_numpy(module: str, dialects: bool) -> str:
    """Implement ``write_module`` while NumPy is the active backend."""
    registry.load_all()
    scope = NameScope.of(module) or NameScope(module, Path(f"{module}.py"), "")
    dynamic = dynamic_names(module, scope) if has_getattr(scope.tree) else {}
    shown = {name: found for name, found in scope.names.items() if is_shown(scope, name)}
    sources = {n: follow(found) for n, found in shown.items() if isinstance(found, Entity)}
    public = {n: found for n, found in sources.items() if isinstance(found, Entity)}
    public |= {name: defining_entity(value, name, module) for name, value in dynamic.items()}
    public |= table_entities(module)
    writer = Writer(module, public, KNOWN | table_entities(module), dialects)
    write_imports(writer, scope, dynamic)
    write_own(writer, scope, scope.tree.body)
    if module in tables():
        write_table(writer, module)
    write_values(writer, dynamic)
    for name, value in dynamic.items():
        write = writer_of(value)
        if write is not None:
            write(writer, name, value)
        elif is_operation(value):
            write_operation(writer, name, value)
        elif is_named_result(value):
            write_named_result(writer, name, value)
    return writer.text()


def is_shown(scope: NameScope, name: str) -> bool:
    """Whether the stub declares a name of the source: its own, or imported ``as`` itself."""
    return (name in scope.own and name not in HIDDEN) or name in reexports(scope)


def reexports(scope: NameScope) -> dict[str, Entity]:
    """The names that a module re-exports: it imports each ``as`` itself."""
    return {
        alias.asname: Entity(scope.absolute(node), alias.name)
        for node in statements(scope.tree.body) if isinstance(node, ast.ImportFrom)
        for alias in node.names if alias.asname == alias.name
    }  # fmt: skip


# -- dynamic names -------------------------------------------------------------------


def dynamic_names(module: str, scope: NameScope) -> dict[str, Any]:
    """Names of ``dir(module)`` that its source does not define, with their values.

    Names that come from the active backend's library are left out. All dtypes are included,
    whether the active backend has them or not.
    """
    loaded = importlib.import_module(module)
    names = {n for n in dir(loaded) if not n.startswith("_") or is_used_by_programs(loaded, n)}
    values: dict[str, Any] = {}
    if module == "tinytorch":
        numpy = load("numpy")
        names = {n for n in names if n not in library_names(numpy) or is_own(getattr(loaded, n))}
        # Also dtypes of an optional package, such as bfloat16.
        values.update(dtypes.NAMES)
        names -= dtypes.NAMES.keys()
    dir(loaded)  # runs the code of a lazy package
    listed = "__dir__" in vars(loaded)
    names -= {
        name for name, meant in scope.names.items()
        if not listed or is_shown(scope, name) or is_foreign(meant)
    }  # fmt: skip
    values.update({name: getattr(loaded, name) for name in names})
    return dict(sorted(values.items()))


def is_used_by_programs(module: Any, name: str) -> bool:
    """Whether programs use a name that begins with an underscore, such as ``_foreach_add``."""
    value = getattr(module, name)
    home = getattr(value, "__module__", None)
    return (
        not name.startswith("__")
        and isinstance(value, types.FunctionType)
        and (is_operation(value) or home == module.__name__ == "tinytorch")
    )


def is_foreign(meant: Entity | Alias) -> bool:
    """Whether an imported name is another library's."""
    return isinstance(meant, Entity) and meant.module.partition(".")[0] != "tinytorch"


def is_own(value: Any) -> bool:
    """Whether a value is defined here rather than forwarded from an array library."""
    value = getattr(value, "__wrapped__", value)  # the function that a wrapper forwards to
    home = getattr(value, "__module__", None) or getattr(value, "__name__", "")
    return str(home).partition(".")[0] == "tinytorch"


def is_operation(value: Any) -> bool:
    """Whether a value is a public function of an operation, or its in-place form."""
    return isinstance(value, types.FunctionType) and hasattr(value, "op")


def is_named_result(value: Any) -> bool:
    """Whether a value is the class of an operation's several results."""
    return value in RESULTS.values()


def is_instance(value: Any) -> bool:
    """Whether a value is an instance of a class of this package, such as a dtype or a generator."""
    ours = type(value).__module__.partition(".")[0] == "tinytorch"
    return ours and not isinstance(value, (type, types.ModuleType, types.FunctionType))


def defining_entity(value: Any, name: str, module: str) -> Entity:
    """The entity that a stub declares or imports for a value of ``module.name``.

    Raises:
        LookupError: If no source defines the value.
    """
    if isinstance(value, types.ModuleType):
        return Entity(value.__name__)
    if writer_of(value) or is_operation(value) or is_instance(value) or is_named_result(value):
        return Entity(module, name)
    if is_from_numpy(value, name, module):
        return Entity(module.removeprefix("tinytorch."), name)
    places = [value.__module__] if hasattr(value, "__module__") else []
    places += [home for home in sorted(sys.modules) if home.partition(".")[0] == "tinytorch"]
    for home in places:
        # Parse only the sources of modules that have the value.
        if home not in sys.modules or vars(sys.modules[home]).get(name) is not value:
            continue
        scope = NameScope.of(home)
        if name in table_entities(home) or (scope is not None and name in scope.own):
            return Entity(home, name)
    raise LookupError(f"{module}.{name} is defined in no source")


#: Names that every annotation may use: the public classes, and the types that this program adds
#: to signatures.
KNOWN = {
    name: Entity(home, name)
    for home, names in resolve.HOMES.items() for name in names if name[:1].isupper()
}  # fmt: skip
KNOWN |= {
    "Any": Entity("typing", "Any"),
    "ArrayLike": Entity("numpy.typing", "ArrayLike"),
    "Class": Entity("builtins", "type"),
    "DTypeLike": Entity("numpy.typing", "DTypeLike"),
    "EllipsisType": Entity("types", "EllipsisType"),
    "Literal": Entity("typing", "Literal"),
    "NDArray": Entity("numpy.typing", "NDArray"),
    "Self": Entity("typing", "Self"),
    "Sequence": Entity("collections.abc", "Sequence"),
    "SupportsIndex": Entity("typing", "SupportsIndex"),
    "device": Entity("tinytorch.core.device", "device"),
    "dtype": Entity("tinytorch.dtypes", "dtype"),
    "ndarray": Entity("tinytorch.numpy.ndarray", "ndarray"),
    "overload": Entity("typing", "overload"),
    "return_types": Entity("tinytorch.return_types"),
}


def write_imports(writer: Writer, scope: NameScope, dynamic: dict[str, Any]) -> None:
    """Add the imports that are part of the module's interface."""
    for name, entity in reexports(scope).items():
        writer.imports[name] = f"from {entity.module} import {entity.name} as {name}"
    for name, entity in writer.public.items():
        if name not in dynamic or entity.module == writer.module:
            continue
        home, word = (entity.module, entity.name) if entity.name else split(entity.module)
        known = (
            name if name == word else f"_{word}"
        )  # an import under another name is not re-exported
        writer.imports[known] = f"from {home} import {word} as {known}"
        if known != name:
            writer.line(f"{name} = {known}")


def split(module: str) -> tuple[str, str]:
    """Split a dotted name into the package and the name of the module in it."""
    package, _, name = module.rpartition(".")
    return package, name


def write_values(writer: Writer, dynamic: dict[str, Any]) -> None:
    """Declare the values that are neither functions, classes nor modules: dtypes."""
    found = {name: type(value) for name, value in dynamic.items()
             if is_instance(value) and writer_of(value) is None}  # fmt: skip
    for name, kind in found.items():
        writer.line(f"{name}: {writer.word(defining_entity(kind, kind.__name__, kind.__module__))}")
    if found:
        writer.line()


def write_named_result(writer: Writer, name: str, value: Any) -> None:
    """Declare the named tuple of an operation's results: tensors, or NumPy's arrays."""
    named, generic = (writer.word(Entity("typing", n)) for n in ("NamedTuple", "Generic"))
    variable = writer.word(Entity("typing_extensions", "TypeVar"))
    declared = f'_T = {variable}("_T", default={writer.word(writer.known["Tensor"])})'
    if declared not in writer.lines:
        writer.line(declared)
    writer.line(f"class {name}({named}, {generic}[_T]):")
    for field in value._fields:
        writer.line(f"    {field}: _T")
    writer.line()


# -- declarations of the source ------------------------------------------------------------------


def write_own(writer: Writer, scope: NameScope, body: list[ast.stmt], indent: str = "") -> None:
    """Declare all that the source of a module or class defines."""
    overloaded = {node.name for node in statements(body) if is_overload(node)}
    for node in statements(body):
        if isinstance(node, ast.ClassDef):
            write_class(writer, scope, node, indent)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name not in HIDDEN and (node.name not in overloaded or is_overload(node)):
                writer.function(node, scope, indent)
        elif isinstance(node, ast.AnnAssign):
            write_annotated(writer, scope, node, indent)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            write_assigned(writer, scope, node, node.targets[0].id, indent)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and indent:
            write_several(writer, node.targets[0], node.value, indent)


def write_several(writer: Writer, names: ast.Tuple, value: ast.expr, indent: str) -> None:
    """Declare the names of a tuple assignment in a class.

    Args:
        writer: Writer of the stub.
        names: The tuple of names.
        value: The right side: an enumeration, or a tuple of constants of one type.
        indent: Indentation of the declarations.
    """
    values = value.elts if isinstance(value, ast.Tuple) else []
    kinds = {type(each.value).__name__ for each in values if isinstance(each, ast.Constant)}
    kind = writer.word(Entity("builtins", *kinds)) if kinds else ast.unparse(value)
    for name in names.elts:
        writer.line(f"{indent}{ast.unparse(name)}: {kind}")


def is_overload(node: ast.stmt) -> typing.TypeGuard[ast.FunctionDef]:
    """Whether a statement is a function with the decorator ``overload``."""
    return isinstance(node, ast.FunctionDef) and any(
        ast.unparse(decorator) == "overload" for decorator in node.decorator_list
    )


def write_annotated(writer: Writer, scope: NameScope, node: ast.AnnAssign, indent: str) -> None:
    """Declare ``name: type``; an alias keeps its value."""
    name = ast.unparse(node.target)
    if isinstance(scope.names.get(name), Alias) and not indent:
        assert node.value is not None
        writer.line(f"{name}: {writer.word(Entity('typing', 'TypeAlias'))} = "
                    f"{writer.expression(node.value, scope)}")  # fmt: skip
    else:
        writer.line(f"{indent}{name}: {writer.expression(node.annotation, scope)}")


def write_assigned(
    writer: Writer, scope: NameScope, node: ast.Assign, name: str, indent: str
) -> None:
    """Declare ``name = value``: an alias, a type variable or a literal.

    Raises:
        LookupError: For a public name without an annotation whose type is not evident.
    """
    value = node.value
    if name in HIDDEN:
        return
    if name == "__all__":
        if scope.module not in tables():  # their modules extend it
            writer.line(f"__all__ = {importlib.import_module(scope.module).__all__}")
    elif isinstance(value, ast.Name | ast.Attribute):
        writer.line(f"{indent}{name} = {writer.expression(value, scope)}")
    elif isinstance(value, ast.Call) and ast.unparse(value.func) in TYPE_VARIABLES:
        parts = [ast.unparse(arg) for arg in value.args]  # its name, and constraints
        parts += [f"{k.arg}={writer.expression(k.value, scope)}" for k in value.keywords]
        writer.line(f"{name} = {writer.expression(value.func, scope)}({', '.join(parts)})")
    elif isinstance(value, ast.Constant) and indent and name.isupper():
        writer.line(f"{indent}{name} = {ast.unparse(value)}")  # an enumeration's member
    elif isinstance(value, ast.Constant):
        kind = writer.word(Entity("builtins", type(value.value).__name__))
        writer.line(f"{indent}{name}: {kind}")
    elif not name.startswith("_"):
        raise LookupError(f"{scope.module}.{name} needs an annotation")


def write_class(writer: Writer, scope: NameScope, node: ast.ClassDef, indent: str = "") -> None:
    """Declare a class, with the members that other modules add."""
    bases = [writer.expression(base, scope) for base in node.bases]
    writer.line()
    head = f"{node.name}({', '.join(bases)})" if bases else node.name
    writer.line(f"{indent}class {head}:")
    more = gained_members(scope.module, node)
    writer.members = frozenset(more) | {*own_members(node)}
    before = len(writer.lines)
    write_own(writer, scope, node.body, f"{indent}    ")
    for name, value in more.items():
        write_member(writer, name, value)
    if len(writer.lines) == before:
        writer.line(f"{indent}    ...")
    writer.members = frozenset()
    writer.line()


def own_members(node: ast.ClassDef) -> Iterator[str]:
    """Yield the names that the body of a class defines."""
    for statement in statements(node.body):
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement.name
        elif isinstance(statement, ast.AnnAssign):
            yield ast.unparse(statement.target)
        elif isinstance(statement, ast.Assign):
            yield ast.unparse(statement.targets[0])


def gained_members(module: str, node: ast.ClassDef) -> dict[str, Any]:
    """The members that other modules add to a class."""
    cls = EXTENDED.get(module)
    if cls is None or cls.__name__ != node.name:
        return {}
    own = {*own_members(node), *HIDDEN}
    found = vars(cls)
    return {
        name: found[name] for name in sorted(found)
        if name not in own
        and isinstance(found[name], types.FunctionType | property)
    }  # fmt: skip


def write_member(writer: Writer, name: str, value: Any) -> None:
    """Declare a method or property that another module added to a class."""
    if isinstance(value, property):
        assert value.fget is not None
        write_attribute(writer, name, value.fget, "    ")
        if value.fset is not None:
            writer.line(f"    @{name}.setter")
            kind = writer.word(writer.known["ArrayLike"])
            writer.line(f"    def {name}(self, value: {kind}) -> None: ...")
    elif is_wrapped(value):
        write_wrapped(writer, name, value, "    ")
    elif value.__module__ == methods.__name__ and is_operator(name):
        write_operator(writer, name, value)
    elif EXTENDED[writer.module] is ndarray:
        write_method(writer, name, value)
    else:
        write_operation(writer, name, value, "    ")
