"""Three backends without an array library, filed under the names of colours."""

from __future__ import annotations

import math
from typing import ClassVar

from tinytorch.backends import Backend, register_backend


class Engine:
    """A random engine that knows its seed and nothing else."""

    def manual_seed(self, seed: int) -> None:
        self.seed = seed

    def get_state(self) -> int:
        return self.seed

    def set_state(self, state: int) -> None:
        self.seed = state


class Colour(Backend):
    """Enough of a backend to be chosen; ``engines`` remembers the seeds it was given."""

    library = math
    array_type = list

    def __init__(self) -> None:
        self.seeds: list[int] = []

    def make_generator(self, seed: int) -> object:
        self.seeds.append(seed)
        engine = Engine()
        engine.manual_seed(seed)
        return engine


class Red(Colour):
    name = "red"


class Green(Colour):
    name = "green"


class Blue(Colour):
    name = "blue"


COLOURS: list[str] = ["red", "green", "blue"]
CLASSES: dict[str, type[Colour]] = {"red": Red, "green": Green, "blue": Blue}
for _name, _class in CLASSES.items():
    register_backend(_name, _class)


class Flaky(Colour):
    """A backend whose constructor raises whatever ``error`` holds."""

    name = "flaky"
    error: ClassVar[Exception | None] = None

    def __init__(self) -> None:
        if Flaky.error is not None:
            raise Flaky.error
        super().__init__()
