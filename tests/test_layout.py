"""The shape of the source, as far as no linter knows it: what may import what, and how long a
file or function may be. `make lint` sees the rest."""

from __future__ import annotations

import ast
import configparser
import inspect
import json
import re
import tomllib
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.sources import parse
from tinytorch.dispatch import registry
from tinytorch.dispatch.op import OPS
from tinytorch.numpy import functions as numpy_functions

dir(numpy_functions)  # runs the package, which registers them

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "tinytorch"
SOURCES = sorted(PACKAGE.rglob("*.py"))
OWN_CODE = [
    path
    for folder in ("tinytorch", "tests", "stubs", "benchmarks", "examples", "docs")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "node_modules" not in path.parts
]
TEXTS = [
    *OWN_CODE,
    *sorted(ROOT.glob("*.md")),
    *(p for p in sorted((ROOT / "docs").rglob("*.md")) if "node_modules" not in p.parts),
    *sorted((ROOT / "benchmarks" / "results").glob("*-*.json")),
    *sorted(ROOT.glob("*.cfg")),
    *sorted(ROOT.glob("*.toml")),
    ROOT / "Makefile",
    *sorted(path for path in (ROOT / ".ci").iterdir() if path.is_file()),
]

FILE_LINES, FUNCTION_LINES, FOLDER_FILES = 800, 40, 50
#: Files with fewer lines are `__init__.py`, have the name of a file of PyTorch's or a reason below.
FEW_LINES = 60
#: Short files and the reason why they are files.
SHORT: dict[str, str] = {
    "backends.standard.strict_library": "imports array_api_strict, which is optional",
    "capture.errors": "PyTorch's file `_dynamo.exc`",
    "compat.as_torch.torch": "Python finds it as the module `torch` on `sys.path`",
    "compat.dask_worker": "imports Dask, which is optional",
    "distributed.algorithms.ddp_comm_hooks.debugging_hooks": "PyTorch's file",
    "distributed.elastic.multiprocessing.errors": "PyTorch's file",
    "distributed.errors": "every file of `distributed` imports it",
    "distributions._location": "two families of distributions import it",
    "facade.constants": "NumPy's constants, found by name like modules of PyTorch's",
    "func.functionalization": "`functionalize` is neither a derivative nor a mapping",
    "graph.late_bound": "what `facade.late_imports` fills, below all layers",
    "numpy.emath": "NumPy's module",
    "numpy.fft": "NumPy's module",
    "numpy.lib.stride_tricks": "NumPy's module",
    "numpy.linalg": "NumPy's module",
    "numpy.testing": "NumPy's module",
    "numpy.typing": "NumPy's module",
    "onnx.custom_operators": "PyTorch's names for operators of a program, which nothing uses",
    "state.recorder": "the dispatcher imports it, and the profiler, which is far above",
}
#: What is ours stands in these; everything else at the top is a module of PyTorch's.
ROOMS = {
    "capture", "facade", "state", "core", "dispatch", "ops", "checkpoint", "compat", "graph",
    "numpy",
}  # fmt: skip
#: PyTorch has these as they are, or they are the language's.
PUBLIC = {
    "__init__", "__main__", "accelerator", "amp", "ao", "autograd", "backends", "compiler",
    "cpu", "cuda", "distributed", "distributions", "dtypes", "export", "fft", "func",
    "functional", "functorch", "futures", "fx", "hub", "jit", "library", "linalg", "masked",
    "mps", "multiprocessing", "nn", "onnx", "optim", "overrides", "profiler", "quantization",
    "quasirandom", "random", "return_types", "serialization", "signal", "sparse", "special",
    "storage", "testing", "torch_version", "types", "utils", "version", "warnings", "xpu",
}  # fmt: skip
# Layers from the bottom up: modules import those of their own layer, without a cycle, and of lower
# ones. A module belongs to the longest name that starts its own.
LAYERS = [
    ["dtypes", "warnings"],
    ["backends"],
    ["state"],
    ["core.device", "core.layout"],
    ["graph"],
    ["core"],
    ["dispatch"],
    ["ops"],
    ["facade"],
    ["", "checkpoint", "compat"],  # numpy, nn, optim, ...
    ["facade.late_imports"],
    ["__init__"],
    ["__main__"],
]
# Imports on demand that point up, each from the one module whose purpose they are, and why.
ON_DEMAND = {
    ("dispatch.registry", "numpy.functions"): (
        "gradient rules are recorded in NumPy's functions, which consist of operations"
    ),
    ("facade.resolve", "random"): "`tt.default_generator` is another one on each backend",
}
# Rooms that import each other, and why; no two modules of theirs do.
ROOM_PAIRS = {
    frozenset({"capture", "nn"}): (
        "`Module.compile` compiles a module, and `OptimizedModule` is one; guards read parameters"
    ),
    frozenset({"compat", "distributed"}): (
        "what Lightning's module gets when it is loaded depends on the launcher; the names of "
        "`torch.distributed` that only raise are a table"
    ),
    frozenset({"distributed", "nn"}): (
        "layers synchronize their gradients and statistics between processes, and the state dict "
        "of a layer is gathered and split among them"
    ),
    frozenset({"func", "nn"}): (
        "`functional_call` calls modules, and `flex_attention` maps its `score_mod` with `vmap`, "
        "as in PyTorch"
    ),
}
# Modules that import others by names that no reader can see, and why.
COMPUTED = {
    "autograd": "its names, on first access",
    "backends": "backends by name, those of plug-ins among them",
    "backends.cupy.errors": "CuPy's modules, which may be missing",
    "backends.numpy.quiet": "NumPy's modules, on first access",
    "backends.standard.backend": "the module of an array library, which a program names",
    "checkpoint.reading": "classes that a pickle names",
    "compat.after_import": "the file about another library, once that is imported",
    "accelerator": "the module of a kind of device",
    "compat.import_hook": "the table of a module that has no file",
    "compat.module_tables": "the module that a row of a table names",
    "compat.utils": "a module that the caller names",
    "dispatch.generated_functions": "waits until the family of an operation is imported",
    "dispatch.registry": "the family of an operation",
    "facade.packages": "packages and their modules, on first access",
    "facade.resolve": "public names of the top level, on first access",
    "numpy.polynomial": "NumPy's modules",
    "overrides": "the public namespaces",
    "utils._pytree": "a class that a dumped tree names",
    "utils.tensorboard": "TensorBoard's modules, which may be missing",
    "utils.tensorboard_summary": "TensorBoard's modules, which may be missing",
}


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def module_name(path: Path) -> str:
    """Return the dotted name inside the package: ``nn.linear``, ``ops``, ``__init__``."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    if parts[-1] == "__init__" and len(parts) > 1:
        parts = parts[:-1]
    return ".".join(parts)


MODULES = {module_name(path): path for path in SOURCES}


def tree(path: Path) -> ast.Module:
    return parse(path.read_text())


@cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(tree(path)))


def is_type_checking(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def import_nodes(node: ast.AST, deferred: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports that run with the module; with ``deferred`` those of functions too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.stmt) and is_type_checking(child):
            yield from (
                inner for statement in child.orelse for inner in import_nodes(statement, deferred)
            )
        elif not isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            continue  # expressions hold no imports, and are most of a tree
        elif deferred or not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from import_nodes(child, deferred)


def imported_names(path: Path, node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield what an import statement names: an absolute module, and a member of it or nothing."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, "") for alias in node.names)
        return
    parts = [node.module] if node.module else []
    if node.level:
        package = ("tinytorch", *path.relative_to(PACKAGE).parts[:-1])
        parts = [*package[: len(package) - node.level + 1], *parts]
    yield from ((".".join(parts), alias.name) for alias in node.names)


@cache
def own_imports(path: Path, deferred: bool) -> frozenset[str]:
    """Return the package's modules that ``path`` imports, by their names inside the package."""
    found = set()
    for node in import_nodes(tree(path), deferred):
        for module, member in imported_names(path, node):
            head, _, inner = module.partition(".")
            if head == "tinytorch":
                submodule = f"{inner}.{member}".strip(".")
                found.add(submodule if submodule in MODULES else inner or "__init__")
    if deferred:
        found |= {name for name in imported_by_string(path) if name} - on_demand(path)
    return frozenset(found - {module_name(path)})


def on_demand(path: Path) -> set[str]:
    return {other for name, other in ON_DEMAND if name == module_name(path)}


@cache
def imported_by_string(path: Path) -> set[str | None]:
    """Return the package's modules that calls of ``import_module`` name; None: one is computed."""
    if not re.search("import_module|__import__", path.read_text()):
        return set()
    calls = [node for node in nodes(path) if isinstance(node, ast.Call)]
    imports = [call for call in calls if called_name(call) in ("import_module", "__import__")]
    named = [text_of(call.args[0], path) for call in imports]
    ours = [name for name in named if name is None or name.startswith("tinytorch.")]
    return {name and name.removeprefix("tinytorch.") for name in ours}


def called_name(call: ast.Call) -> str:
    function = call.func
    return getattr(function, "attr", "") or getattr(function, "id", "")


def text_of(node: ast.AST, path: Path) -> str | None:
    """Return the text of an expression: of a constant, or of one made with the module's name."""
    module = f"tinytorch.{module_name(path)}"
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    known = {"__name__": module, "__package__": package, "_OWN": "tinytorch"}
    match node:
        case ast.Constant(str(text)):
            return text
        case ast.JoinedStr(parts):
            texts = [text_of(part, path) for part in parts]
            return None if None in texts else "".join(text or "" for text in texts)
        case ast.FormattedValue(ast.Name(name)):
            return known.get(name)
    return None


@cache
def layer(name: str) -> int:
    """Return the position in ``LAYERS`` of the entry that names ``name`` most precisely."""
    best = max(
        (
            entry
            for entries in LAYERS
            for entry in entries
            if entry in ("", name) or name.startswith(f"{entry}.")
        ),
        key=len,
    )
    return next(index for index, entries in enumerate(LAYERS) if best in entries)


def parents(name: str) -> list[str]:
    """Return the packages whose ``__init__`` runs before ``name`` does, the facade left out."""
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def test_imports_point_down() -> None:
    assert [
        (name, other)
        for name, path in MODULES.items()
        for other in own_imports(path, deferred=True)
        if layer(other) > layer(name)
    ] == []


def test_nothing_imports_the_facade() -> None:
    users = {name for name in MODULES if "__init__" in own_imports(MODULES[name], deferred=True)}
    assert users <= {"__main__"}  # the REPL is a user of the facade


def test_imports_have_no_cycle() -> None:
    """When modules are loaded: packages, too, whose ``__init__`` runs before their modules do."""
    graph = {}
    for name, path in MODULES.items():
        wanted = own_imports(path, deferred=False)
        # A package's own __init__ may gather its modules, so it is nobody's prerequisite there.
        wanted |= {
            package
            for other in wanted
            for package in parents(other)
            if not name.startswith(f"{package}.") and package != name
        }
        graph[name] = wanted
    assert not rings(graph)


@cache
def every_import() -> dict[str, set[str]]:
    """Return what each module imports, at every depth, and looks up by string."""
    return {
        name: own_imports(path, deferred=True) | looked_up(path) for name, path in MODULES.items()
    }


def test_modules_stand_in_no_ring() -> None:
    assert not rings(every_import())


def test_rooms_do_not_import_each_other() -> None:
    pairs = {
        (name.partition(".")[0], other.partition(".")[0])
        for name, others in every_import().items()
        for other in others
    }
    both = {frozenset(pair) for pair in pairs if pair[::-1] in pairs and pair[0] != pair[1]}
    assert both == set(ROOM_PAIRS)


def test_computed_imports_have_a_reason() -> None:
    found = {name for name, path in MODULES.items() if None in imported_by_string(path)}
    assert found == set(COMPUTED)


def test_an_import_by_string_counts() -> None:
    file = PACKAGE / "nn" / "absent.py"
    calls = "import_module('tinytorch.ops'), importlib.import_module(f'{__package__}.linear')"
    arguments = [call.args[0] for call in ast.walk(ast.parse(calls)) if isinstance(call, ast.Call)]
    assert [text_of(node, file) for node in arguments] == ["tinytorch.ops", "tinytorch.nn.linear"]
    assert text_of(ast.Name("name"), file) is None
    assert imported_by_string(MODULES["dispatch.registry"]) == {"numpy.functions", None}


def test_a_look_up_by_string_counts() -> None:
    program = ast.parse("OPS['sin']; NAMESPACES['fft']['rfft']; find('', 'cat')")
    assert {homes(node) for node in ast.walk(program)} - {None} == {
        "ops.pointwise.trigonometric",
        "ops.fft.transforms",
        "ops.shape.joining",
    }


def rings(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected parts of more than one module (Tarjan, 1972)."""
    found, stack, order, low = [], [], {}, {}

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        for other in sorted(graph.get(name, ())):
            if other not in order:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == order[name]:
            part = stack[stack.index(name) :]
            del stack[-len(part) :]
            if len(part) > 1:
                found.append(part)

    for name in graph:
        if name not in order:
            visit(name)
    return found


def looked_up(path: Path) -> set[str]:
    """Return the modules whose operations ``path`` asks for by name."""
    if not re.search(r"\b(OPS\[|NAMESPACES\[|find\()", path.read_text()):
        return set()
    found = {homes(node) for node in nodes(path)}
    return {name for name in found if name} - {module_name(path)}


def homes(node: ast.AST) -> str | None:
    """Return the module that defines what an expression looks up by a string, if it does."""
    match node:
        case ast.Subscript(ast.Name("OPS"), ast.Constant(str(name))):
            return defined_in(OPS[name].function)
        case ast.Subscript(
            ast.Subscript(ast.Name("NAMESPACES"), ast.Constant(str(space))), ast.Constant(str(name))
        ):
            return defined_in(registry.find(space, name))
        case ast.Call(ast.Name("find"), [ast.Constant(str(space)), ast.Constant(str(name))]):
            return defined_in(registry.find(space, name))
    return None


def defined_in(function: Any) -> str:
    file = inspect.unwrap(function).__code__.co_filename
    return module_name(Path(file))


def tells_backends_apart(node: ast.AST) -> bool:
    """Whether an expression names a backend or tests its class; rules read ``xp.records``."""
    if isinstance(node, ast.Compare):
        parts = {ast.unparse(part) for part in ast.walk(node)}
        return bool(parts & {"xp.name", "xp.device_type", "xp.library", "'cupy'", "'cuda'"})
    call = ast.unparse(node) if isinstance(node, ast.Call) else ""
    return call.startswith("isinstance(xp,")


def branches_on_the_backend(module: ast.Module) -> list[str]:
    """In kernels and rules, whose first parameter is ``xp``."""
    kernels = [
        node
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef | ast.Lambda)
        and [each.arg for each in node.args.args[:1]] == ["xp"]
    ]
    return [
        ast.unparse(node)
        for kernel in kernels
        for node in ast.walk(kernel)
        if tells_backends_apart(node)
    ]


def test_no_operation_branches_on_the_backend() -> None:
    """It calls a method of ``xp`` instead."""
    named = re.compile(r"xp\.(name|device_type|library)\b|['\"](cupy|cuda)['\"]|isinstance\(xp,")
    files = [p for p in SOURCES if "backends" not in p.parts and named.search(p.read_text())]
    assert {relative(p): found for p in files if (found := branches_on_the_backend(tree(p)))} == {}


@pytest.mark.parametrize(
    "test", ["xp.name == 'cupy'", "'cu' in xp.device_type", "isinstance(xp, Backend)"]
)
def test_a_branch_on_the_backend_is_found(test: str) -> None:
    for kernel in (f"def f(xp, x):\n    if {test}:\n        return x", f"f = lambda xp, g: {test}"):
        assert branches_on_the_backend(ast.parse(kernel)) == [test]


def test_files_are_short() -> None:
    lengths = {relative(path): len(path.read_text().splitlines()) for path in OWN_CODE}
    assert {name: lines for name, lines in lengths.items() if lines > FILE_LINES} == {}


def test_files_below_60_lines_are_public_or_have_a_reason() -> None:
    with zipfile.ZipFile(ROOT / "tests/golden/objects.zip") as archive:
        public = {name.removeprefix("torch.") for name in json.loads(archive.read("names.json"))}
    short = {
        name
        for name, path in MODULES.items()
        if path.name != "__init__.py" and len(path.read_text().splitlines()) < FEW_LINES
    }
    assert short - public == SHORT.keys()


def test_the_top_level_holds_rooms_and_public_modules() -> None:
    assert {name.partition(".")[0] for name in MODULES} == ROOMS | PUBLIC


@pytest.mark.parametrize("folder", sorted({path.parent for path in SOURCES}), ids=relative)
def test_folders_can_be_overlooked(folder: Path) -> None:
    assert len(list(folder.glob("*.py"))) <= FOLDER_FILES


def is_too_long(node: ast.AST) -> bool:
    """Whether a function has many lines besides its docstring, which does not say "Long"."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    documentation = ast.get_docstring(node)
    body = node.body if documentation is None else node.body[1:]
    length = body[-1].end_lineno - body[0].lineno + 1 if body else 0
    return length > FUNCTION_LINES and not re.search(r"\bLong\b", documentation or "")


def test_functions_are_short() -> None:
    """A longer one says why in its docstring, in a sentence that begins with "Long"."""
    assert [
        f"{relative(path)}:{node.lineno}"
        for path in SOURCES
        for node in nodes(path)
        if is_too_long(node)
    ] == []


def hides_its_error(handler: ast.ExceptHandler) -> bool:
    """Tell whether a handler for everything neither raises nor passes the error on."""
    broad = handler.type is None or ast.unparse(handler.type) in ("Exception", "BaseException")
    inside = [node for statement in handler.body for node in ast.walk(statement)]
    used = any(isinstance(node, ast.Name) and node.id == handler.name for node in inside)
    return broad and not used and not any(isinstance(node, ast.Raise) for node in inside)


def test_no_error_is_hidden() -> None:
    """No handler catches everything and drops it."""
    assert [
        f"{relative(path)}:{node.lineno}"
        for path in SOURCES
        for node in nodes(path)
        if isinstance(node, ast.ExceptHandler) and hides_its_error(node)
    ] == []


#: What tests the package as a whole, or serves the tests.
BESIDE = {
    "browser", "clients", "decompositions", "faults", "fuzz", "golden", "numpy_suite",
    "plugin_example", "published", "strictcupy", "typing",
}  # fmt: skip


def test_tests_mirror_the_package() -> None:
    folders = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("*.py")}
    for folder in folders:
        if not BESIDE & set(folder.parts):
            room = folder.parent if folder.name == "programs" else folder
            assert (ROOT / "tinytorch" / room).is_dir() or (
                ROOT / "tinytorch" / f"{room}.py"
            ).exists()


# Assembled from parts so that this file does not hold what it looks for.
UNWELCOME = {
    "a task without an issue": re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b(?!\(#\d+\))"),
    "a machine's path": re.compile(
        r"(?<![\w.])/(wo" r"rk|ro" r"ot|ho" r"me|op" r"t|tm" r"p|us" r"r/lib)/"
    ),
    "an extra of somebody else's package": re.compile(r"install.*tiny" r"torch\["),
    "a package index": re.compile(r"py" r"pi\.|index" r"-url"),
}


def test_texts_speak_of_the_project_alone() -> None:
    assert [
        f"{relative(path)}:{text.count(chr(10), 0, match.start()) + 1}: {what}"
        for path in TEXTS
        for text in [path.read_text()]
        for what, pattern in UNWELCOME.items()
        for match in pattern.finditer(text)
    ] == []


def test_top_level_holds_nothing_unforeseen() -> None:
    allowed = {
        "setup.cfg",
        "pyproject.toml",
        "Makefile",
        "README.md",
        "CHANGELOG.md",
        "LICENSE",
        "PKG-INFO",  # an sdist has it
        "tinytorch",
        "tests",
        "stubs",
        "examples",
        "benchmarks",
        "docs",
        "build",
        "dist",
        *(path.with_suffix(".png").name for path in (ROOT / "examples").glob("*.py")),
    }
    found = {
        path.name
        for path in ROOT.iterdir()
        if not path.name.startswith((".", "__")) and path.suffix != ".egg-info"
    }
    assert found <= allowed


def test_every_package_is_installed() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    listed = config["options"]["packages"].split()
    present = {".".join(path.parent.relative_to(ROOT).parts) for path in SOURCES}
    assert sorted(listed) == sorted(present | {"tinytorch-stubs"})


def test_pyproject_declares_the_build_and_the_linter_alone() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert declared.keys() == {"build-system", "tool"}
    assert declared["tool"].keys() == {"ruff"}


def test_library_needs_numpy_alone() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    (requirement,) = config["options"]["install_requires"].split()
    assert re.match(r"numpy\b", requirement)


def test_a_recorded_add_is_read_in_few_files() -> None:
    page = (ROOT / "docs" / "internals.md").read_text()
    page = page.partition("## One call and its backward pass")[2].partition("\n## ")[0]
    files = [ROOT / name for name in re.findall(r"^\| \d \| `(.+?)`", page, re.MULTILINE)]
    assert 1 < len(files) <= 8
    assert sum(len(file.read_text().splitlines()) for file in files) <= 2000
