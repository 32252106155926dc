"""Operations: their options, and the functions that are generated at the first call."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest

import tinytorch as tt
from tinytorch.dispatch.op import op
from tinytorch.dispatch.operation import OPS, Array, Backend, Op


@pytest.mark.parametrize("function", [tt.add, tt.Tensor.__add__, tt.zeros, tt.Tensor.add_])
def test_a_kernel_may_import_something_in_c(function: FunctionType) -> None:
    """CuPy's do: what imports in C asks its caller's names for the builtins."""
    names = {**function.__globals__, "parse": datetime.strptime}
    asked = FunctionType((lambda: parse("2020", "%Y")).__code__, names)  # noqa: F821
    assert asked() == datetime(2020, 1, 1)


@pytest.mark.parametrize("join", [tt.cat, tt.stack])
def test_each_joined_tensor_gets_its_part(join: FunctionType) -> None:
    """A leaf, a constant and a view."""
    leaf, base = tt.ones(2, requires_grad=True), tt.ones(4, requires_grad=True)
    joined = join([leaf, tt.ones(2), base[1:3]])
    joined.backward(tt.arange(6.0).reshape(joined.shape))
    assert leaf.grad.tolist() == [0, 1]
    assert base.grad.tolist() == [0, 4, 5, 0]


@pytest.mark.parametrize("part", [tt.chunk, tt.Tensor.split])
def test_errors_for_writing_to_a_part_name_how_it_was_made(part: FunctionType) -> None:
    x = tt.ones(4, requires_grad=True)
    with tt.no_grad():
        unrecorded = part(x, 2)[1]
    with pytest.raises(RuntimeError, match="was created in no_grad mode"):
        unrecorded.add_(1)
    recorded = part(x * 1, 2)[1]
    with pytest.raises(RuntimeError, match="output of a function that returns multiple views"):
        recorded.add_(1)
    plain = tt.ones(4)
    part(plain, 2)[1].add_(1)
    assert plain.tolist() == [1, 1, 2, 2]


def test_a_cast_to_the_same_dtype_is_the_tensor_itself() -> None:
    x = tt.ones(2)
    assert x.to(tt.float32) is x is x.to(dtype=tt.float32)
    assert x.to(tt.float32, copy=True) is not x


def test_two_operations_of_one_name_are_an_error() -> None:
    def _copy_twice(xp: Backend, input: Array) -> Array:
        return xp.copy(input)

    op(_copy_twice)
    op(_copy_twice)  # defined again, as in a reloaded module
    other = FunctionType(_copy_twice.__code__, globals(), "_copy_twice")
    other.__qualname__, other.__annotations__ = "_copy_twice", _copy_twice.__annotations__
    with pytest.raises(RuntimeError, match="expected one operation '_copy_twice', got two: "):
        op(other)
    del OPS["_copy_twice"]


#: Fields of ``Op`` that each operation has, which are no options.
OF_EACH = {"name", "kernel", "body", "function", "registered"}


def has_option(each: Op, name: str) -> bool:
    """Whether an operation sets an option to another value than its default."""
    default = Op.__dataclass_fields__[name].default
    if name == "public":  # by default the underscore decides
        default = not each.name.startswith("_")
    return getattr(each, name) != default


def test_each_option_of_an_operation_has_three_users_and_there_are_nineteen_at_most() -> None:
    folder = Path(tt.__file__).parent / "ops"
    for path in sorted(folder.rglob("[!_]*.py")):
        import_module(
            ".".join(("tinytorch", *path.relative_to(folder.parent).with_suffix("").parts))
        )
    options = [field.name for field in dataclasses.fields(Op) if field.name not in OF_EACH]
    users = {name: sum(has_option(each, name) for each in OPS.values()) for name in options}
    assert {name: count for name, count in users.items() if count < 3} == {}
    assert len(options) <= 19
