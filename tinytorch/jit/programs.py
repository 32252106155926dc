"""``jit.trace``, ``jit.save`` and ``jit.load``: programs of traced models, without TorchScript."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, overload

from ..core.tensor import Tensor
from ..nn.module import Module

if TYPE_CHECKING:
    from ..export import ExportedProgram


class _Traced:
    """Traced module or function, which can be saved as a program."""

    _example: tuple[Any, ...] | None

    @functools.cached_property
    def graph(self) -> ExportedProgram:
        return to_program(self)

    @functools.cached_property
    def code(self) -> str:
        return str(self.graph)

    def save(self, f: Any, **kwargs: Any) -> None:
        """Write the module as a program; see ``jit.save``.

        Args:
            f: Path or binary file.
            **kwargs: Accepted for compatibility.

        Example:
            >>> import io
            >>> file = io.BytesIO()
            >>> tt.jit.trace(tt.nn.ReLU(), tt.ones(2)).save(file)
            >>> tt.jit.load(file)(tt.tensor([-1.0, 1.0]))
            tensor([0., 1.])
        """
        save(self, f)


class TopLevelTracedModule(_Traced, Module):
    """Traced module: it runs the code of the module, and is saved as a program.

    Its parameters, buffers and submodules are those of the module. ``trace`` makes it, with the
    class of the module as a further base.

    Attributes:
        graph: The operations of the example, in order, recorded at the first access.
        code: Text of ``graph``.

    Example:
        >>> layer = tt.nn.Linear(2, 1, bias=False)
        >>> traced = tt.jit.trace(layer, tt.ones(3, 2))
        >>> print(traced.code)
        ExportedProgram(input: float32[input_0_dim_0, 2], weight: float32[1, 2])
            linear = nn.functional.linear(input, weight)
            return linear
        >>> traced.weight is layer.weight and isinstance(traced, tt.nn.Linear)
        True
    """


class TracedFunction(_Traced):
    """Traced function: it runs the code of the function, and is saved as a program.

    Attributes:
        graph: The operations of the example, in order, recorded at the first access.
        code: Text of ``graph``.

    Example:
        >>> double = tt.jit.trace(lambda x: x + x, tt.ones(2))
        >>> double(tt.ones(3))
        tensor([2., 2., 2.])
    """

    def __init__(self, function: Callable[..., Any], example: tuple[Any, ...] | None) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._example = example

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


@overload
def trace(
    func: Module, example_inputs: Any = None, *args: Any, **kwargs: Any
) -> TopLevelTracedModule: ...
@overload
def trace(
    func: Callable[..., Any], example_inputs: Any = None, *args: Any, **kwargs: Any
) -> TracedFunction: ...
def trace(func: Any, example_inputs: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Return a function or module that runs ``func`` and can be saved as a program.

    A call runs the Python code of ``func``, so conditions and sizes are those of the call, not of
    the example as in PyTorch. ``save``, ``graph`` and ``code`` record the example.

    Args:
        func: A function or a module.
        example_inputs: A tensor, or a tuple of the arguments.
        *args, **kwargs: Accepted for compatibility.

    Example:
        >>> import io
        >>> layer = tt.nn.Linear(2, 1)
        >>> file = io.BytesIO()
        >>> tt.jit.trace(layer, tt.ones(3, 2)).save(file)
        >>> tt.equal(tt.jit.load(file)(tt.ones(4, 2)), layer(tt.ones(4, 2)))
        True
    """
    example = (example_inputs,) if isinstance(example_inputs, Tensor) else example_inputs
    example = example if example is None else tuple(example)
    return _trace(func, example) if isinstance(func, Module) else TracedFunction(func, example)


def _trace(module: Module, example: tuple[Any, ...] | None) -> TopLevelTracedModule:
    """Return a traced module that shares its state with ``module``."""
    kind = type(module)
    bases = (kind,) if issubclass(kind, TopLevelTracedModule) else (kind, TopLevelTracedModule)
    traced: Any = object.__new__(type(kind.__name__, bases, {"__module__": kind.__module__}))
    vars(traced).update(vars(module), _example=example)
    return traced  # type: ignore[no-any-return]


def trace_module(
    mod: Module, inputs: Mapping[str, Any] | None = None, *args: Any, **kwargs: Any
) -> TopLevelTracedModule:
    """Trace a module, as ``trace``.

    Args:
        mod: A module.
        inputs: The example by the name of the method; that of ``"forward"`` is used.
        *args, **kwargs: Accepted for compatibility.

    Example:
        >>> traced = tt.jit.trace_module(tt.nn.ReLU(), {"forward": tt.ones(1)})
        >>> traced(tt.tensor([-1.0]))
        tensor([0.])
    """
    return trace(mod, (inputs or {}).get("forward"))


def save(m: Any, f: Any, *args: Any, **kwargs: Any) -> None:
    """Write a traced model as a program that ``jit.load`` reads: JSON and arrays, no code.

    Each size of an input may differ from the example's if the model allows it by itself: sizes of
    two inputs that must be equal may not.

    Args:
        m: A result of ``jit.trace`` or ``jit.load``.
        f: Path or binary file.
        *args, **kwargs: Accepted for compatibility.

    Raises:
        RuntimeError: If ``m`` was not traced, or is no program; see ``export.export``.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> tt.jit.save(tt.jit.trace(tt.nn.ReLU(), tt.ones(2)), file)
        >>> tt.jit.load(file)(tt.tensor([-1.0, 1.0, 2.0]))
        tensor([0., 1., 2.])
    """
    from ..export import save as write  # it records programs, which few programs need

    write(to_program(m), f)


def to_program(model: Any) -> ExportedProgram:
    """Export with each dimension dynamic that the model lets be so, one after the other.

    Args:
        model: A result of ``trace`` or ``load``.

    Raises:
        RuntimeError: If it was not traced with an example.
    """
    from .. import export

    program = getattr(model, "program", None)
    if isinstance(program, export.ExportedProgram):
        return program
    example = getattr(model, "_example", None)
    if example is None:
        raise RuntimeError(
            "jit.save: expected a model that jit.trace was called with, since there is no "
            f"TorchScript here, got {type(model).__name__}"
        )
    tensors = [x for x in example if isinstance(x, Tensor)]
    dynamic: list[dict[int, str]] = [{} for _ in tensors]
    program = export.export(model, example)
    for number, tensor in enumerate(tensors):
        for dim in range(tensor.ndim):
            dynamic[number][dim] = f"input_{number}_dim_{dim}"
            try:
                program = export.export(model, example, dynamic_shapes=dynamic)
            except export.ExportError:  # it depends on this size in another way
                del dynamic[number][dim]
    return program


def load(f: Any, *args: Any, **kwargs: Any) -> Any:
    """Read a program that ``jit.save`` or ``export.save`` has written, as a Module.

    Args:
        f: Path or binary file.
        *args, **kwargs: Accepted for compatibility.

    Raises:
        NotImplementedError: For a file of PyTorch's, since there is no TorchScript here.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> tt.jit.save(tt.jit.trace(tt.nn.ReLU(), tt.ones(2)), file)
        >>> tt.jit.load(file)(tt.tensor([-1.0, 1.0]))
        tensor([0., 1.])
    """
    from ..export import ExportError
    from ..export import load as read

    try:
        return _trace(read(f).module(), None)
    except ExportError as error:
        raise NotImplementedError(
            f"jit.load: no TorchScript is run here, but programs of jit.save: {error}"
        ) from error
