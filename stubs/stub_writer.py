"""Writer of one stub: declarations with resolved annotations, and the imports they need."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable

from stub_names import Alias, Entity, NameScope, follow

LINE = 100


class Writer:
    """Text of one stub, line by line.

    Attributes:
        module: The module it is for.
        public: The entity of each of its top-level names. An annotation that means another
            entity by such a name uses an underscore: ``_int`` where ``int`` is a dtype.
        known: Names that every annotation may use.
        dialects: Whether to declare NumPy's spellings beside torch's.
        protocols: Names of the protocols of callable objects, by their overloads.
    """

    def __init__(
        self, module: str, public: dict[str, Entity], known: dict[str, Entity], dialects: bool
    ) -> None:
        self.module = module
        self.public = public
        self.known = known
        self.dialects = dialects
        self.members: frozenset[str] = frozenset()
        self.imports: dict[str, str] = {}
        self.lines: list[str] = []
        self.protocols: dict[str, str] = {}

    # -- annotations ---------------------------------------------------------------------

    def expression(self, node: ast.expr, scope: NameScope) -> str:
        """The text of a type expression, with the names of this stub."""
        resolved = _Resolver(self, scope).visit(_copy(node))
        return ast.unparse(ast.fix_missing_locations(resolved))

    def word(self, entity: Entity) -> str:
        """Return the name of ``entity`` in this stub; add its import."""
        word = entity.word
        if word in self.members or self.public.get(word, entity) != entity:
            word = f"_{word}"
            while self.imports.get(word, _import(entity, word)) != _import(entity, word):
                word = f"_{word}"
        elif word in self.public or entity.module == "builtins":
            return word
        self.imports[word] = _import(entity, word)
        return word

    # -- declarations ----------------------------------------------------------------------

    def line(self, text: str = "") -> None:
        """Add a line."""
        self.lines.append(text)

    def function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: NameScope, indent: str = ""
    ) -> None:
        """Add a function without its body and docstring."""
        for decorator in node.decorator_list:
            # The declaration is that of the result of a decorator, except for ``contextmanager``.
            is_ours = self._is_ours(decorator, scope)
            if is_ours and ast.unparse(decorator) != "contextmanager":
                continue
            found = Entity("contextlib", "contextmanager")
            text = self.word(found) if is_ours else self._decorator(decorator, scope)
            self.line(f"{indent}@{text}")
        parameters = self._parameters(node.args, scope)
        returns = f" -> {self.expression(node.returns, scope)}" if node.returns else ""
        word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
        # An elementwise comparison does not override that of `object`, which returns a bool.
        overrides_wrongly = node.name in ("__eq__", "__ne__") and returns != " -> bool"
        # Type checkers report an error of overloads at the first one.
        overrides_wrongly &= not node.decorator_list
        note = "  # type: ignore[override]" if overrides_wrongly else ""
        head, tail = f"{indent}{word} {node.name}(", f"){returns}: ..."
        one_line = head + ", ".join(parameters) + tail
        if len(one_line) <= LINE:
            self.line(one_line + note)
        else:
            self.line(head + note)
            self.lines += [f"{indent}    {parameter}," for parameter in parameters]
            self.line(indent + tail)

    def _is_ours(self, node: ast.expr, scope: NameScope) -> bool:
        """Whether a decorator is a name that this package defines."""
        found = scope.resolve(node.id) if isinstance(node, ast.Name) else None
        return isinstance(found, Entity) and found.module.partition(".")[0] == "tinytorch"

    def _decorator(self, node: ast.expr, scope: NameScope) -> str:
        """The text of a decorator, with the names of this stub."""
        if isinstance(node, ast.Attribute) and node.attr in ("setter", "deleter"):
            return ast.unparse(node)
        return self.expression(node, scope)

    def _parameters(self, arguments: ast.arguments, scope: NameScope) -> list[str]:
        """The texts of the parameters, with ``/`` and ``*``."""
        positional = [*arguments.posonlyargs, *arguments.args]
        first_default = len(positional) - len(arguments.defaults)
        texts = [
            self._parameter(p, arguments.defaults[i - first_default] if i >= first_default
                            else None, scope)
            for i, p in enumerate(positional)
        ]  # fmt: skip
        if arguments.posonlyargs:
            texts.insert(len(arguments.posonlyargs), "/")
        if arguments.vararg:
            texts.append("*" + self._parameter(arguments.vararg, None, scope))
        elif arguments.kwonlyargs:
            texts.append("*")
        texts += [
            self._parameter(p, default, scope)
            for p, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        ]
        if arguments.kwarg:
            texts.append("**" + self._parameter(arguments.kwarg, None, scope))
        return texts

    def _parameter(self, node: ast.arg, default: ast.expr | None, scope: NameScope) -> str:
        """The text of one parameter, such as ``dim: int = 0``."""
        text = node.arg
        if node.annotation is not None:
            text += f": {self.expression(node.annotation, scope)}"
        if default is not None:
            text += f"{' = ' if node.annotation else '='}{literal_default(default)}"
        return text

    def text(self) -> str:
        """The whole stub."""
        parts = ["# generated by stubs/generate.py; run `make stubs`"]
        parts.append("\n".join(sorted(self.imports.values(), key=_import_order)))
        parts.append("\n".join(self.lines).strip("\n").replace("\n\n\n", "\n\n"))
        return "\n\n".join(part for part in parts if part) + "\n"


class _Resolver(ast.NodeTransformer):
    """Replace each name in a type expression by the name of its entity in the stub."""

    def __init__(self, writer: Writer, scope: NameScope) -> None:
        self.writer = writer
        self.scope = scope

    def visit_Name(self, node: ast.Name) -> ast.expr:
        found = self.scope.resolve(node.id)
        if found is None:
            found = self.writer.known.get(node.id)
        if found is None:
            raise LookupError(f"{self.scope.module}: nothing is called {node.id!r} in annotations")
        return self._name_entity(found)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        found = self._resolve_member(node)
        if found is None:
            node.value = self.visit(node.value)
            return node
        return self._name_entity(found)

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, str):
            return self._visit_expression(ast.parse(node.value, mode="eval").body)
        return node

    def _visit_expression(self, node: ast.expr) -> ast.expr:
        """``visit`` of an expression, whose result is an expression for type checkers, too."""
        found = self.visit(node)
        assert isinstance(found, ast.expr)
        return found

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        node.value = self.visit(node.value)
        if not ast.unparse(node.value).endswith("Literal"):
            node.slice = self.visit(node.slice)
        return node

    def _name_entity(self, found: Entity | Alias) -> ast.expr:
        """The name of an entity in the stub; for an alias, the expression it stands for."""
        if isinstance(found, Alias):
            return _Resolver(self.writer, found.scope)._visit_expression(_copy(found.value))
        return ast.Name(self.writer.word(found))

    def _resolve_member(self, node: ast.expr) -> Entity | Alias | None:
        """Resolve ``module.member`` to the member, so that a stub does not import the module.

        A name is resolved only if it is that of a module. The result is None for other expressions.
        """
        if isinstance(node, ast.Name):
            found = self.scope.resolve(node.id)
            return found if isinstance(found, Entity) and not found.name else None
        if isinstance(node, ast.Attribute):
            parent = self._resolve_member(node.value)
            if isinstance(parent, Entity) and not parent.name:
                return follow(Entity(parent.module, node.attr))
        return None


def declaration(name: str, signature: inspect.Signature) -> ast.FunctionDef:
    """Convert a run-time signature, whose annotations are text, to a function definition."""
    parameters = [
        p.replace(
            annotation=_Text(p.annotation) if p.annotation is not p.empty else p.empty,
            default=_Text(_default_text(p.default)) if p.default is not p.empty else p.empty,
        )
        for p in signature.parameters.values()
    ]
    returns = signature.return_annotation
    shown = signature.replace(
        parameters=parameters,
        return_annotation=_Text(returns) if returns is not signature.empty else signature.empty,
    )
    node = ast.parse(f"def {name}{shown}: ...").body[0]
    assert isinstance(node, ast.FunctionDef)
    return node


class _Text(str):
    """String whose ``repr`` is its text: an annotation or default in a printed signature."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _default_text(value: object) -> str:
    """The source of a default, or ``...`` if it is not a literal."""
    text = repr(value)
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return "..."
    return literal_default(node)


def literal_default(node: ast.expr) -> str:
    """The text of a default in a stub: literals as they are, ``...`` for all other expressions."""
    plain = (ast.Constant, ast.Tuple, ast.UnaryOp, ast.USub, ast.Load)
    return ast.unparse(node) if all(isinstance(n, plain) for n in ast.walk(node)) else "..."


def _copy(node: ast.expr) -> ast.expr:
    """A copy of an expression, which may be changed."""
    return ast.parse(ast.unparse(node), mode="eval").body


def _import(entity: Entity, word: str) -> str:
    """The statement that imports an entity under the name ``word``."""
    if not entity.name:
        return f"import {entity.module}" + (f" as {word}" if word != entity.module else "")
    renamed = f" as {word}" if word != entity.name else ""
    return f"from {entity.module} import {entity.name}{renamed}"


def _import_order(line: str) -> tuple[bool, str]:
    """Key that sorts import statements: first those of other packages, then alphabetically."""
    return line.split()[1].partition(".")[0] == "tinytorch", line


def entities(names: Iterable[str], module: str) -> dict[str, Entity]:
    """The members of a module with these names."""
    return {name: Entity(module, name) for name in names}
