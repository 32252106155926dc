"""``jit.trace``, ``jit.save`` and ``jit.load``: programs of traced models, without TorchScript."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import ref

from ..core.tensor import Tensor

_F = TypeVar("_F", bound=Callable[..., Any])
#: By id, a weak reference to the function of ``trace``, and its example inputs.
_EXAMPLES: dict[int, tuple[ref[Any], tuple[Any, ...]]] = {}


def trace(func: _F, example_inputs: Any = None, *args: Any, **kwargs: Any) -> _F:
    """Return ``func`` itself, and remember the example for ``jit.save``.

    Python runs as it is written, as under PyTorch's ``PYTORCH_JIT=0``.

    Args:
        func: A function or a module.
        example_inputs: A tensor, or a tuple of the arguments.
        *args, **kwargs: Accepted for compatibility.

    Example:
        >>> layer = tt.nn.Linear(1, 1)
        >>> tt.jit.trace(layer, tt.ones(1)) is layer
        True
    """
    if example_inputs is not None:
        # Drop the examples of functions that no longer exist.
        for key in [key for key, (reference, _) in _EXAMPLES.items() if reference() is None]:
            _EXAMPLES.pop(key, None)
        is_one = isinstance(example_inputs, Tensor)
        _EXAMPLES[id(func)] = ref(func), (example_inputs,) if is_one else tuple(example_inputs)
    return func


def trace_module(mod: _F, inputs: Any = None, *args: Any, **kwargs: Any) -> _F:
    """Return ``mod`` itself, as ``trace``.

    Args:
        mod: A module.
        inputs: The example by the name of the method; that of ``"forward"`` is remembered.
        *args, **kwargs: Accepted for compatibility.

    Example:
        >>> layer = tt.nn.Linear(1, 1)
        >>> tt.jit.trace_module(layer, {"forward": tt.ones(1)}) is layer
        True
    """
    return trace(mod, (inputs or {}).get("forward"))


def save(m: Any, f: Any, *args: Any, **kwargs: Any) -> None:
    """Write a traced model as a program that ``jit.load`` reads: JSON and arrays, no code.

    Each size of an input may differ from the example's if the model allows it by itself: sizes of
    two inputs that must be equal may not.

    Args:
        m: What ``jit.trace`` returned, or what ``jit.load`` did.
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
    from .. import export  # it records programs, which few programs need

    program = getattr(m, "program", None)
    if isinstance(program, export.ExportedProgram):
        export.save(program, f)
        return
    reference, example = _EXAMPLES.get(id(m), (lambda: None, ()))
    if reference() is None:
        raise RuntimeError(
            "jit.save: expected a model that jit.trace was called with, since there is no "
            f"TorchScript here, got {type(m).__name__}"
        )
    export.save(_export(m, example), f)


def _export(model: Any, example: tuple[Any, ...]) -> Any:
    """Export with each dimension dynamic that the model lets be so, one after the other."""
    from .. import export

    tensors = [x for x in example if isinstance(x, Tensor)]
    dynamic: list[dict[int, str]] = [{} for _ in tensors]
    program: Any = export.export(model, example)
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
        return read(f).module()
    except ExportError as error:
        raise NotImplementedError(
            f"jit.load: no TorchScript is run here, but programs of jit.save: {error}"
        ) from error
