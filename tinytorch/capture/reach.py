"""Python values that a function reads besides its arguments: globals, closures, attributes.

``Reach`` finds them from the function before it is recorded. They are compared after the recording,
to find side effects, and at each call, as guards. The fast comparison is by identity, in C; values
that are not identical are compared by type and value, if they are numbers, strings and the like.

Code of this library, of NumPy and of Python's library is not searched.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import attrgetter, is_, itemgetter
from types import (
    CellType, FunctionType, MethodType, ModuleType,
)  # fmt: skip
from typing import Any, NamedTuple

import numpy

from ..core.storage import attributes
from ..core.tensor import HOLDERS, Tensor, unwrap_holder
from .code_names import (
    DYNAMIC, EVALUATING, PACKAGE, PURE, SUSPICIOUS, is_dynamic, is_library, is_suspicious,
    is_user_code, names_in,
)  # fmt: skip
from .python_values import (
    FLOATS, MISSING, MOST_TERMS, OFTEN, SIMPLE, GuardText, contents_reader, has_contents,
    instance_dict, is_same, is_simple, is_unchanged, is_unset, parts_of, read_array, read_items,
    stream_state,
)  # fmt: skip

_SEQUENCES = (list, set, frozenset, deque)
#: Of containers with more items every 31st is compared, and at most so many objects are searched.
MOST_ITEMS, MOST_OBJECTS = 10_000, 20_000
#: Bytes up to which arrays of NumPy's are compared.
_MOST_BYTES = 16 << 20
_contents = attrgetter("cell_contents")
#: Modules of Python's whose objects are searched as the user's are.
_SEARCHED = frozenset((
    "argparse", "collections", "configparser", "queue", "types", "weakref", "_weakrefset",
))  # fmt: skip
#: Hooks of modules that run with ``forward`` or its backward.
_HOOKS = "_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"
#: Special methods that a recorded function does not call.
_UNCALLED = frozenset(("__init__", "__repr__", "__getstate__", "__setstate__"))
#: Attributes of modules whose entries are usually in the module's ``__dict__``, too.
_MIRRORED = "_parameters", "_buffers", "_modules"
#: Attributes of modules that ``forward`` does not read.
_UNREAD = frozenset((
    "_load_state_dict_post_hooks", "_load_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks_with_module", "_state_dict_hooks", "_state_dict_post_hooks",
    "_state_dict_pre_hooks", "_non_persistent_buffers_set", "_forward_hooks_always_called",
    "_forward_hooks_with_kwargs", "_forward_pre_hooks_with_kwargs", "_is_full_backward_hook",
    *_HOOKS, *_MIRRORED,
))  # fmt: skip
#: Errors of a read of an attribute, an entry, or the contents of a cell that was deleted.
_DELETED = AttributeError, KeyError, ValueError
#: Members of classes that an attribute of a class or of an instance may stand for.
_METHODS: tuple[Any, ...] = property, FunctionType, staticmethod, classmethod
#: Methods that the library calls by name.
_CALLED = frozenset(("forward", "__call__", "backward", "setup_context", "vjp"))


class Change(NamedTuple):
    """A value that is not as it was.

    Attributes:
        name: Its name for messages.
        is_first: Whether it was created or set for the first time: it was missing, None or False.
        where: The ``id`` of its container with its key, for ``exclude``; None for other values.
    """

    name: str
    is_first: bool = False
    where: tuple[int, Any] | None = None


class Reach:
    """Values that functions read: globals, closure cells, attributes, items of containers.

    Args:
        roots: Functions, modules and other objects, by the names used in messages.
        has_passes: Whether a backward pass may run, which calls the hooks of tensors.

    Attributes:
        roots: The argument.
        tensors: The tensors among the values, by id.
        objects: All objects that were searched.
        names: The names of attributes in the code that was searched.
        is_suspicious: Whether some code may call a function of ``IMPURE``, or write to a file.
        unsearched: Why a change of what the roots read could go unnoticed; ``""`` if none could.
    """

    def __init__(self, roots: Sequence[tuple[str, Any]], has_passes: bool = True) -> None:
        self.roots = roots
        self.tensors: dict[int, Tensor] = {}
        self.objects: dict[int, Any] = {}
        self.is_suspicious: bool = False
        self.unsearched: str = ""
        #: Containers, with their contents at the time of the search, and their names.
        #: Dicts other than ``__dict__``, whose order is compared, too.
        self._plain: list[dict[Any, Any]] = []
        self._records: list[tuple[dict[Any, Any], list[Any], str]] = []
        self._hooks: list[dict[Any, Any]] = []
        self._sequences: list[Any] = []
        self._labels: dict[int, str] = {}
        self._entries: dict[tuple[int, str], tuple[dict[str, Any], str, str]] = {}
        self._attributes: dict[tuple[int, str], tuple[Any, str, str]] = {}
        self._cells: dict[int, tuple[CellType, str]] = {}
        self._streams: list[tuple[Any, Any, str]] = []
        self._numpy_arrays: list[tuple[Any, Any, str]] = []
        #: Objects whose class may be replaced.
        self._typed: list[Any] = []
        #: Functions that return a value, with the value.
        self._reads: list[tuple[Callable[[], Any], Any, str]] = []
        self._outside: Any = None
        self.names: set[str] = set()
        #: Classes and Python modules, whose members are searched by name.
        self._scopes: list[tuple[Any, str]] = []
        for label, root in roots:
            if isinstance(root, MethodType) and root.__name__ == "forward":
                self._outside = root.__self__  # its hooks run outside of the function
            self._visit(root, label)
        self._visit_members()
        if has_passes:
            self._visit_hooks()
            self._visit_members()
        if not self.names.isdisjoint(("environ", "getenv")):
            self._visit_dict(os.environ._data, "os.environ")  # type: ignore[attr-defined]
        self._close()

    # -- search ------------------------------------------------------------------------

    def _visit(self, value: Any, label: str) -> None:
        """Search a value, which messages call ``label``."""
        kind = type(value)
        if kind in SIMPLE or kind in FLOATS or id(value) in self.objects:
            return
        if len(self.objects) >= MOST_OBJECTS:
            self.unsearched = f"it may read more than {MOST_OBJECTS:,} objects"
            return
        self.objects[id(value)] = value
        self.is_suspicious |= is_suspicious(value)
        if kind in HOLDERS:
            value = unwrap_holder(value)
            self.objects[id(value)] = value
        parts = parts_of(value)
        if parts is not None:
            for part in parts:
                self._visit(part, label)
        elif isinstance(value, Tensor):
            self.tensors[id(value)] = value
            for name in attributes(value):
                self._watch_attribute(value, name, f"{label}.{name}")
        elif isinstance(value, FunctionType):
            self._visit_function(value, label)
        elif isinstance(value, dict):
            self._plain.append(value)
            self._visit_dict(value, label)
            self._visit_subclass(value, label)
        elif isinstance(value, (tuple, *_SEQUENCES)):
            self._visit_sequence(value, label)
            self._visit_subclass(value, label)
        elif isinstance(value, (type, ModuleType)):
            self._visit_scope(value, label)
        else:
            self._visit_object(value, label)

    def _visit_function(self, function: FunctionType, label: str) -> None:
        """Search the globals, the closure and the defaults of a function of the user's."""
        code = function.__code__
        self._visit_wrapped(function, label)
        if not is_user_code(code, function.__module__):
            if function.__closure__ and not code.co_filename.startswith(PACKAGE):
                self._visit_closure(function, label)
            return
        for name in ("__code__", "__defaults__", "__kwdefaults__"):
            self._watch_attribute(function, name, f"{label}.{name}")
        self._visit(function.__defaults__, f"defaults of {function.__name__}")
        self._visit(function.__kwdefaults__, f"defaults of {function.__name__}")
        self._visit_dict(vars(function), function.__name__)
        self._visit_closure(function, label)
        names, scope = names_in(code), function.__globals__
        self.names |= names.attributes
        if is_dynamic(names.globals):
            self.names |= names.globals & DYNAMIC
        self.is_suspicious |= not SUSPICIOUS.isdisjoint(names.globals | names.attributes)
        found = names.globals & scope.keys()
        if not EVALUATING.isdisjoint(names.globals):
            skipped = type, ModuleType, FunctionType
            found |= {name for name in scope if not isinstance(scope[name], skipped)}
        for name in [name for name in found if name[:2] != "__"]:
            self._watch_entry(scope, name, f"global {name!r}")
        for name in names.imports:
            self._visit_import(name, scope.get("__package__"))

    def _visit_import(self, name: str, package: Any) -> None:
        """Search a Python module that a function imports."""
        for path in (name, f"{package}.{name}" if name else package):
            if path in sys.modules:
                self._visit(sys.modules[path], path)

    def _visit_wrapped(self, function: FunctionType, label: str) -> None:
        """Search the function that a decorator wrapped."""
        wrapped = vars(function).get("__wrapped__") or vars(function).get(
            "_torchdynamo_orig_callable"
        )
        if wrapped is not None:
            self._visit(wrapped, label)

    def _visit_closure(self, function: FunctionType, label: str) -> None:
        """Search the cells of a function's closure."""
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            self._cells[id(cell)] = cell, f"closure variable {name!r}"
            try:
                value = cell.cell_contents
            except ValueError:  # empty
                continue
            self._visit(value, name)

    def _watch_entry(self, scope: dict[str, Any], name: str, label: str) -> None:
        """Watch an entry of a dict, such as a global, and search its value."""
        if (id(scope), name) not in self._entries:
            self._entries[id(scope), name] = scope, name, label
            self._visit(scope[name], name)

    def _watch_library(self, scope: dict[str, Any], name: str, label: str) -> None:
        """Watch a member of a library's module; search it if the user has replaced it."""
        value = scope[name]
        self._entries.setdefault((id(scope), name), (scope, name, label))
        is_function = isinstance(value, FunctionType)
        if isinstance(value, ModuleType) or (
            is_function and is_user_code(value.__code__, value.__module__)
        ):
            self._visit(value, label)

    def _watch_attribute(self, owner: Any, name: str, label: str) -> None:
        """Watch an attribute that is not in a ``__dict__`` of its own."""
        self._attributes[id(owner), name] = owner, name, label

    def _visit_dict(self, value: dict[Any, Any], label: str) -> None:
        """Search a dict, or the ``__dict__`` of an object."""
        self._records.append((value, list(value), label))
        if len(value) > MOST_ITEMS:
            self._watch_items(value, label)
            return
        for key, item in list(value.items()):
            self._visit(item, f"{label}.{key}" if isinstance(key, str) else f"{label}[...]")

    def _watch_items(self, value: Any, label: str) -> None:
        """Watch the items of a large container."""
        items = value.values() if isinstance(value, dict) else value
        if not all(map(is_simple, items)):
            self.unsearched = f"{label} has more than {MOST_ITEMS:,} items, and some may change"
        self._reads.append((partial(read_items, value), None, label))

    def _visit_sequence(self, value: Any, label: str) -> None:
        """Search a tuple, list, set or deque."""
        if not isinstance(value, (tuple, frozenset)):
            self._sequences.append(value)
            self._labels[id(value)] = label
        if len(value) <= MOST_ITEMS:
            for i, item in enumerate(value):
                self._visit(item, f"{label}[{i}]")
        else:
            self._watch_items(value, label)

    def _visit_subclass(self, value: Any, label: str) -> None:
        """Search the attributes of a container of a class of the user's, and its methods."""
        if not is_library(type(value).__module__):
            self._visit_attributes(value, label)

    def _visit_scope(self, value: Any, label: str) -> None:
        """Note a class of the user's or a Python module, whose members are watched later."""
        if isinstance(value, type) and is_library(value.__module__):
            return
        self._scopes.append((value, label))
        if isinstance(value, type):
            for cls in (type(value), *value.__mro__):
                self._visit(cls, cls.__name__)

    def _visit_object(self, value: Any, label: str) -> None:
        """Search the attributes of an object, and the methods of its class."""
        stream = stream_state(value)
        if stream is not None:
            self._streams.append((value, stream, label))
        read = contents_reader(value)
        if read is not None:
            self._reads.append((read, None, label))
            self._visit(read(), label)
        elif isinstance(value, numpy.ndarray):
            if value.nbytes > _MOST_BYTES:
                self.unsearched = f"{label} is an array of NumPy's with more than 16 MB"
            else:
                self._numpy_arrays.append((value, read_array(value), label))
        elif isinstance(value, threading.local):
            for name, item in vars(value).items():
                self._watch_attribute(value, name, f"{label}.{name}")
                self._visit(item, f"{label}.{name}")
        else:
            self._visit_attributes(value, label)

    def _visit_attributes(self, value: Any, label: str) -> None:
        """Search the attributes of an object, and the methods of its class, unless it is opaque."""
        module = type(value).__module__
        state = instance_dict(value)
        if module.startswith("tinytorch.capture") and "_modules" not in (state or ()):
            # A compiled function, with its recordings.
            self._visit(getattr(value, "function", getattr(value, "__wrapped__", None)), label)
            return
        if isinstance(value, numpy.ndarray) or module.startswith(_OPAQUE):
            return
        root = module.partition(".")[0]
        if is_library(module) and root != "tinytorch" and root not in _SEARCHED:
            self.is_suspicious |= root in sys.stdlib_module_names and root not in PURE
            self._visit(getattr(value, "__wrapped__", None), label)
            return
        self._typed.append(value)
        if state is not None and "_forward_hooks" in state:
            self._visit_module(value, label)
        elif state is not None:
            self._visit_dict(state, label)
        for cls in type(value).__mro__:
            for name in _slots(cls):
                self._watch_attribute(value, name, f"{label}.{name}")
                self._visit(getattr(value, name, None), f"{label}.{name}")
        self._visit(type(value), type(value).__name__)

    def _visit_module(self, module: Any, label: str) -> None:
        """Search a module: its attributes, which include parameters, buffers and children."""
        names = [name for name in vars(module) if name not in _UNREAD]
        if not type(module)._is_mirrored:
            names += _MIRRORED
        self._records.append((vars(module), names, label))
        self._plain += [vars(module)[name] for name in _MIRRORED if len(vars(module)[name]) > 1]
        self._watch_attribute(type(module), "forward", f"{label}.forward")
        if module is not self._outside:
            self._hooks += [vars(module).get(name, {}) for name in _HOOKS]
        for name in names:
            self._visit(vars(module)[name], f"{label}.{name}")

    def _visit_hooks(self) -> None:
        """Search the hooks of the tensors that were found, which a backward pass calls."""
        for tensor in list(self.tensors.values()):
            for name in ("_backward_hooks", "_post_accumulate_grad_hooks"):
                self._watch_attribute(tensor, name, "hooks of a tensor")
                hooks = getattr(tensor, name)
                if hooks:
                    self._visit_dict(hooks, "hooks of a tensor")

    def _visit_members(self) -> None:
        """Search the members of classes and Python modules that some code names."""
        done: set[tuple[int, str]] = set()
        before = -1
        while before != len(done):
            before = len(done)
            for scope, label in list(self._scopes):
                for name in sorted(_member_names(scope, self.names | _CALLED)):
                    if (id(scope), name) not in done:
                        done.add((id(scope), name))
                        self._visit_member(scope, name, f"{label}.{name}")

    def _visit_member(self, scope: Any, name: str, label: str) -> None:
        """Watch and search a member of a class or a Python module."""
        if isinstance(scope, ModuleType):
            if is_library(scope.__name__):
                self._watch_library(vars(scope), name, label)
            else:
                self._watch_entry(vars(scope), name, label)
            return
        members = next(vars(cls) for cls in scope.__mro__ if name in vars(cls))
        value = members[name]
        if isinstance(value, _METHODS) or not hasattr(type(value), "__get__"):
            self._watch_attribute(scope, name, label)
        else:
            self._reads.append((partial(members.get, name), None, label))
        if members is vars(scope) or name in vars(scope):
            self._visit(value, label)

    # -- comparison --------------------------------------------------------------------

    def _close(self) -> None:
        """Store what everything is now."""
        self._listed = [
            (state, keys if len(keys) <= MOST_ITEMS else [], label)
            for state, keys, label in self._records
        ]
        self._getters = [(_getter(keys), state) for state, keys, _ in self._listed]
        self._listed_sequences = [s for s in self._sequences if len(s) <= MOST_ITEMS]
        self._sized = [
            *(state for state, _, _ in self._records), *self._sequences,
            *(vars(scope) for scope, _ in self._scopes if self._is_sized(scope)),
        ]  # fmt: skip
        self._kinds = list(map(type, self._typed))
        self._reads = [(read, read(), label) for read, _, label in self._reads]
        self._ordered = [state for state in self._plain if len(state) <= MOST_ITEMS]
        self._orders = list(map(list, self._ordered))
        self._scope_dicts = [scope for scope, _, _ in self._entries.values()]
        self._scope_names = [name for _, name, _ in self._entries.values()]
        self._owners = [owner for owner, _, _ in self._attributes.values()]
        self._owner_names = [name for _, name, _ in self._attributes.values()]
        self._cell_list = [cell for cell, _ in self._cells.values() if has_contents(cell)]
        self._sizes = list(map(len, self._sized))
        self._expected = list(self._current())
        #: How often all objects were the same, and the function that compares them after that.
        self._matches = 0
        self._test: Callable[[], bool] | None = None

    def _is_sized(self, scope: Any) -> bool:
        """Whether a new member of a class or a Python module is another state."""
        if isinstance(scope, type):
            return True
        return not is_library(scope.__name__) and is_dynamic(self.names)

    def exclude(self, entries: set[tuple[int, Any]]) -> None:
        """Stop to watch entries of containers, which a replay reads or changes itself.

        Args:
            entries: The ``id`` of each container, with a key; None for the whole container.
        """
        self._records = [
            (state, [key for key in keys if (id(state), key) not in entries], label)
            for state, keys, label in self._records
            if (id(state), None) not in entries
        ]
        self._sequences = [s for s in self._sequences if (id(s), None) not in entries]
        self._plain = [state for state in self._plain if (id(state), None) not in entries]
        self._close()

    def _current(self) -> Iterator[Any]:
        """Yield all values as they are now, always in the same order."""
        return itertools.chain(
            itertools.chain.from_iterable([get(state) for get, state in self._getters]),
            itertools.chain.from_iterable(self._listed_sequences),
            self._rest(),
        )

    def _rest(self) -> Iterator[Any]:
        """Yield the values of globals, attributes that are in no ``__dict__``, and cells."""
        return itertools.chain(
            map(dict.get, self._scope_dicts, self._scope_names, itertools.repeat(MISSING)),
            map(getattr, self._owners, self._owner_names, itertools.repeat(MISSING)),
            map(_contents, self._cell_list),
        )

    def holds(self) -> bool:
        """Whether everything is as it was: the same objects, or equal simple values."""
        try:
            test = self._test
            if test is not None and test():
                return True
            return self._is_equal()
        except _DELETED:
            return False

    def _is_equal(self) -> bool:
        """``holds``, by loops over the values."""
        if list(map(len, self._sized)) != self._sizes or any(self._hooks):
            return False
        if list(map(type, self._typed)) != self._kinds:
            return False
        if self._ordered and list(map(list, self._ordered)) != self._orders:
            return False
        if self._numpy_arrays and not all(map(is_unchanged, self._numpy_arrays)):
            return False
        if self._reads and not all(is_same(read(), value) for read, value, _ in self._reads):
            return False
        if not all(map(is_, self._current(), self._expected)):
            return self._holds_by_value()
        self._matches += 1
        if self._matches == OFTEN and not self._numpy_arrays and not self._reads:
            self._test = self._write_test()
        return True

    def _holds_by_value(self) -> bool:
        """Compare by value; store the new objects if all are equal to the former ones."""
        current = list(self._current())
        if all(map(is_same, current, self._expected)):
            self._expected = current
            self._test, self._matches = None, 0
            return True
        return False

    def _write_test(self) -> Callable[[], bool] | None:
        """Return a function that is True if all objects are the same; None if they are many."""
        text, expected = GuardText(), iter(self._expected)
        sequences = self._listed_sequences
        others = len(self._sized) + len(self._hooks) + len(self._typed) + len(self._ordered)
        if len(self._expected) + others > MOST_TERMS or any(type(s) is not list for s in sequences):
            return None
        if any(value is MISSING for value in self._expected):
            return None
        for owner, size in zip(self._sized, self._sizes, strict=True):
            text.add_size(owner, size)
        for owner in self._hooks:
            text.add_size(owner, 0)
        for owner, kind in zip(self._typed, self._kinds, strict=True):
            text.add_type(owner, kind)
        for state, order in zip(self._ordered, self._orders, strict=True):
            text.add_order(state, order)
        for state, keys, _ in self._listed:
            text.add_items(state, keys, expected)
        for sequence in sequences:
            text.add_items(sequence, range(len(sequence)), expected)
        for scope, name in zip(self._scope_dicts, self._scope_names, strict=True):
            text.add_items(scope, [name], expected)
        for owner, name in zip(self._owners, self._owner_names, strict=True):
            text.add_attribute(owner, name, next(expected))
        for cell in self._cell_list:
            text.add_attribute(cell, "cell_contents", next(expected))
        return text.compile()

    def changes(self) -> list[Change]:
        """Return the values that are not as they were, and random generators that have advanced."""
        expected = iter(self._expected)
        found: list[Change] = []
        for state, keys, label in self._listed:
            before = dict(zip(keys, itertools.islice(expected, len(keys)), strict=True))
            if keys or len(state) <= MOST_ITEMS:
                found += _changed_keys(before, state, label)
        sizes = dict(zip(map(id, self._sized), self._sizes, strict=True))
        for sequence in self._listed_sequences:
            items = list(itertools.islice(expected, sizes[id(sequence)]))
            if len(items) != len(sequence) or not all(map(is_same, items, sequence)):
                found.append(Change(self._labels[id(sequence)], False, (id(sequence), None)))
        labels = itertools.chain(
            (label for _, _, label in self._entries.values()),
            (label for _, _, label in self._attributes.values()),
            (label for cell, label in self._cells.values() if has_contents(cell)),
        )
        rest = zip(labels, expected, self._rest(), strict=False)
        found += [Change(label, is_unset(a)) for label, a, b in rest if not is_same(a, b)]
        found += [Change(entry[2]) for entry in self._numpy_arrays if not is_unchanged(entry)]
        found += [Change(label) for read, value, label in self._reads if not is_same(read(), value)]
        return found + [Change(label) for value, state, label in self._streams
                        if stream_state(value) != state]  # fmt: skip

    def has_hooks(self) -> bool:
        """Whether a module has hooks that run with ``forward`` or its backward."""
        return any(self._hooks)

    def describe(self) -> list[str]:
        """Return the names of the watched globals, closure variables and attributes."""
        simple = [label for scope, name, label in self._entries.values()
                  if is_simple(scope.get(name, MISSING))]  # fmt: skip
        cells = [label for cell, label in self._cells.values() if has_contents(cell)]
        return [
            *simple, *cells,
            f"contents of {len(self._records)} dicts, such as attributes of modules, and "
            f"{len(self._sequences)} lists",
        ]  # fmt: skip


#: Modules of classes whose attributes are the library's own business.
_OPAQUE = (
    "tinytorch.backends", "tinytorch.graph", "tinytorch.dispatch", "tinytorch.random",
    "tinytorch.state",
)  # fmt: skip


def _slots(cls: type) -> Iterable[str]:
    """Names of the slots that a class of the user's defines."""
    if is_library(cls.__module__):
        return ()
    slots = vars(cls).get("__slots__", ())
    names = (slots,) if isinstance(slots, str) else slots
    return [name for name in names if name not in ("__dict__", "__weakref__")]


def _member_names(scope: Any, names: set[str]) -> set[str]:
    """Names of the members of a class or a Python module that code names or Python calls.

    Members that a class inherits are among them, since an attribute of the class may hide them.
    """
    if isinstance(scope, ModuleType):
        found = names | {"__getattr__"}
        if is_dynamic(names):
            found |= {name for name, value in vars(scope).items() if is_simple(value)}
        return {name for name in found & vars(scope).keys() if name != "__builtins__"}
    found = set()
    for cls in scope.__mro__:
        if not is_library(cls.__module__):
            found |= names & vars(cls).keys()
            found |= {
                name
                for name, value in vars(cls).items()
                if name[:2] == "__" and isinstance(value, FunctionType) and name not in _UNCALLED
            }
            if is_dynamic(names):
                found |= {
                    name for name, value in vars(cls).items()
                    if name[:2] != "__" and not isinstance(value, _METHODS)
                }  # fmt: skip
    return found


def _getter(names: list[str]) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
    """Return a function of a dict that returns the tuple of the values of ``names``."""
    if len(names) > 1:
        return itemgetter(*names)
    return (lambda state: (state[names[0]],)) if names else lambda state: ()


def _changed_keys(before: dict[Any, Any], now: dict[Any, Any], label: str) -> list[Change]:
    """Return the entries that differ between two dicts."""
    hidden = _UNREAD if "_forward_hooks" in now else ()
    keys = [*before, *(key for key in list(now) if key not in before and key not in hidden)]
    return [
        Change(
            f"{label}.{key}" if isinstance(key, str) else f"{label}[{type(key).__name__}]",
            is_unset(before.get(key, MISSING)),
            (id(now), key),
        )  # fmt: skip
        for key in keys
        if not is_same(before.get(key, MISSING), now.get(key, MISSING))
    ]
