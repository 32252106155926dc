"""Inference tensors: tensors created in inference mode, and the uses of them that are errors.

While no code is in inference mode, no work is done for them. While any thread is in inference mode,
new tensors are created with ``UNSETTLED`` as version cell (``_vc``), not None, and ``mark`` notes
whether they are inference tensors. Code that reads a version cell calls ``settle_version`` if it
finds ``UNSETTLED``, or raises.

Tensors created inside a function that ``vmap`` runs, and its examples, are marked in the same way:
the function may write in place only to these.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NoReturn

from ..state import Variable, bind, count_block, forget_ended_blocks, inference_enabled
from ..state.bindings import contextmanager
from .saved_tensors import is_needed


class _Unsettled(list[int]):
    """Version cell that cannot be written to."""

    def __setitem__(self, *_: object) -> NoReturn:
        raise AssertionError("a tensor's version was counted before it was settled")


#: Version cell of an inference tensor, or of a tensor that was created while another thread was in
#: inference mode.
UNSETTLED: Any = _Unsettled([0])


#: Number of the innermost ``vmap`` that runs the code of this context; 0 outside.
MAPPED: Variable[int] = Variable("mapped", 0)
#: Inside ``vmap``, a function that ``Function.apply`` calls first, with the class, arguments and
#: keywords; it returns the result or NotImplemented. None outside.
APPLYING: Variable[Any] = Variable("applying_functions", None)
_next_number = itertools.count(1).__next__


def mark(tensor: Any) -> None:
    """Mark a new tensor as created in inference mode or inside ``vmap``, if it is."""
    inference, number = inference_enabled(), MAPPED.get()
    if inference:
        tensor._inference = True
    if number:
        tensor._mapped = number
    if not inference and not number:
        forget_ended_blocks()


def settle_version(tensor: Any) -> bool:
    """Whether ``tensor``, whose version cell is ``UNSETTLED``, is an inference tensor.

    If it is not, it gets the version cell of a tensor that was never modified, None.
    """
    if not tensor._inference:
        tensor._vc = None
    return bool(tensor._inference)


def copy_marks(out: Any, source: Any) -> None:
    """Mark ``out``, which shares the memory of ``source``, as ``source`` is.

    It becomes an inference tensor, or a tensor created inside ``vmap``, if ``source`` is one.
    """
    if out._mapped or source._mapped:
        out._mapped = source._mapped
        if source._shift:
            out._shift = source._shift
    if source._inference:
        out._inference = True
        out._vc = UNSETTLED
        return
    vars(out).pop("_inference", None)
    if out._vc is UNSETTLED:
        out._vc = None
    if source._vc is UNSETTLED:
        source._vc = None


def check_saved(tensor: Any, node: Any) -> None:
    """Raise a RuntimeError if ``node`` is to save an inference tensor that its gradients need."""
    if settle_version(tensor) and is_needed(tensor, node):
        raise_saved_inference()


def raise_saved_inference() -> NoReturn:
    """Raise the RuntimeError for an inference tensor that would be saved for backward."""
    raise RuntimeError(
        "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
        "inference mode in computation tracked by autograd. To work around this, you can make "
        "a clone to get a normal tensor and use it in autograd, or use `tinytorch.no_grad()` "
        "instead of `tinytorch.inference_mode()`."
    )


def check_update(tensor: Any) -> None:
    """Raise a RuntimeError for an in-place change of an inference tensor outside inference mode."""
    if tensor._inference and not inference_enabled():
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed. You can make "
            "a clone to get a normal tensor before doing inplace update."
        )


def check_can_require_grad(tensor: Any) -> None:
    """Raise an error for ``requires_grad_()`` of an inference tensor outside inference mode."""
    if tensor._inference and not inference_enabled():
        raise RuntimeError(
            "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
        )


@contextmanager
def mark_mapped() -> Iterator[int]:
    """Mark the tensors created in a block with the number of the ``vmap`` that runs the block.

    A later ``vmap`` has a larger number: to it, tensors of an earlier one are from outside.
    """
    number = _next_number()
    count_block(1)
    try:
        with bind(MAPPED, number):
            yield number
    finally:
        count_block(-1)


def check_mapped(name: str, tensor: Any) -> None:
    """Raise a RuntimeError if a function that ``vmap`` runs changes a tensor from outside."""
    if tensor._mapped < MAPPED.get():
        raise RuntimeError(
            f"vmap: inplace arithmetic(self, *extra_args) is not possible for {name}_: the tensor "
            "written to was made outside the function that is vmapped over, which runs once for "
            "each example. Please try to use out-of-place operators instead of inplace arithmetic, "
            "or pass the tensor as an argument that is vmapped over."
        )
