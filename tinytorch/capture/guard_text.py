"""Guards of a recording that is replayed often, as one expression.

A call of a small compiled function takes some microseconds, of which a loop over the guards would
be a large part.
"""

from __future__ import annotations

from collections.abc import Callable
from keyword import iskeyword
from typing import Any

#: Most terms of an expression: compiling one takes as long as some hundred comparisons.
MOST_TERMS = 200


class GuardText:
    """Expression that is true if some values are as they were.

    Attributes:
        terms: The texts of the comparisons.
    """

    def __init__(self) -> None:
        self.terms: list[str] = []
        self._space: dict[str, Any] = {}

    def share(self, thing: Any) -> str:
        """Return the name of an object in the expression."""
        name = f"v{len(self._space)}"
        self._space[name] = thing
        return name

    def add_size(self, container: Any, size: int) -> None:
        """Compare the number of items of a container."""
        self.terms.append(f"len({self.share(container)}) == {size}")

    def add_type(self, value: Any, kind: type) -> None:
        """Compare the class of a value."""
        self.terms.append(f"type({self.share(value)}) is {self.share(kind)}")

    def add_items(self, container: Any, keys: Any, items: Any) -> None:
        """Compare the identity of items of a list or dict; ``items`` may have more."""
        name = self.share(container)
        for key, item in zip(keys, items, strict=False):
            text = repr(key) if key.__class__ in (str, int) else self.share(key)
            self.terms.append(f"{name}[{text}] is {self.share(item)}")

    def add_order(self, container: Any, keys: list[Any]) -> None:
        """Compare the keys of a dict, in order."""
        self.terms.append(f"list({self.share(container)}) == {self.share(keys)}")

    def add_attribute(self, owner: Any, name: str, value: Any) -> None:
        """Compare the identity of an attribute."""
        if name.isidentifier() and not iskeyword(name):
            self.terms.append(f"{self.share(owner)}.{name} is {self.share(value)}")
        else:
            self.terms.append(f"getattr({self.share(owner)}, {name!r}) is {self.share(value)}")

    def compile(self) -> Callable[[], bool]:
        """Return the function of the expression; it raises if something was deleted."""
        text = f"def holds():\n    return {' and '.join(self.terms) or 'True'}\n"
        exec(compile(text, "<guards>", "exec"), self._space)
        return self._space["holds"]  # type: ignore[no-any-return]
