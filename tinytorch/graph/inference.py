"""Inference tensors: what was made in inference mode, and what may not be done with it outside.

They cost nothing where nobody is in inference mode. While some code is, tensors are made with
``UNSETTLED`` instead of None for a version, and ``mark`` is asked about them. That is never a
tensor's version: whoever meets it asks ``settle``, or refuses.

In the same way tensors are marked that a function made which ``vmap`` runs, and its examples:
what it writes to in place must be one of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from ..state import Variable, count_block, forget_ended_blocks, inference_enabled
from .saved_tensors import is_needed


class _Unsettled(list[int]):
    """A version that nothing can be written to."""

    def __setitem__(self, *_: object) -> NoReturn:
        raise AssertionError("a tensor's version was counted before it was settled")


#: Stands for the version of an inference tensor, or of one that was made while another thread was
#: in inference mode.
UNSETTLED: Any = _Unsettled([0])


#: The number of the innermost ``vmap`` that runs the code of this context; 0 outside.
MAPPED: Variable[int] = Variable("mapped", 0)
#: What a user's ``Function`` that is applied asks first, inside ``vmap``: its class, arguments and
#: keywords give its result or NotImplemented. None outside.
APPLYING: Variable[Any] = Variable("applying_functions", None)
_next_number = itertools.count(1).__next__


def mark(made: Any) -> None:
    """Note on a new tensor that it is made in inference mode or inside ``vmap``."""
    inference, number = inference_enabled(), MAPPED.get()
    if inference:
        made._inference = True
    if number:
        made._mapped = number
    if not inference and not number:
        forget_ended_blocks()


def settle(tensor: Any) -> bool:
    """Whether ``tensor``, whose version is ``UNSETTLED``, is one of inference mode.

    If it is not, it gets the version of a tensor that was never modified.
    """
    if not tensor._inference:
        tensor._vc = None
    return bool(tensor._inference)


def take_after(out: Any, source: Any) -> None:
    """Make ``out``, which shares the memory of ``source``, an inference tensor if that is one.

    It is marked as made inside ``vmap`` if the memory was.
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
    """RuntimeError for an inference tensor that ``node`` is about to save for its backward."""
    if settle(tensor) and is_needed(tensor, node):
        refuse_saved()


def refuse_saved() -> NoReturn:
    """RuntimeError for an inference tensor that a gradient would be computed from."""
    raise RuntimeError(
        "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
        "inference mode in computation tracked by autograd. To work around this, you can make "
        "a clone to get a normal tensor and use it in autograd, or use `tinytorch.no_grad()` "
        "instead of `tinytorch.inference_mode()`."
    )


def check_update(tensor: Any) -> None:
    """RuntimeError for an inference tensor that is changed in place outside inference mode."""
    if tensor._inference and not inference_enabled():
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed. You can make "
            "a clone to get a normal tensor before doing inplace update."
        )


def check_wanted(tensor: Any) -> None:
    """RuntimeError for an inference tensor that shall require grad outside inference mode."""
    if tensor._inference and not inference_enabled():
        raise RuntimeError(
            "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
        )


# -- inside vmap -----------------------------------------------------------------------------------


@contextmanager
def mapped() -> Iterator[int]:
    """Mark the tensors that are made in a block with the number of the ``vmap`` that it is.

    A later one has a larger number: what is left over from an earlier one is from outside.
    """
    number = _next_number()
    token = MAPPED.set(number)
    count_block(1)
    try:
        yield number
    finally:
        count_block(-1)
        MAPPED.reset(token)


def check_mapped(name: str, tensor: Any) -> None:
    """RuntimeError for a tensor from outside that a function changes for each example of a vmap."""
    if tensor._mapped < MAPPED.get():
        raise RuntimeError(
            f"vmap: inplace arithmetic(self, *extra_args) is not possible for {name}_: the tensor "
            "written to was made outside the function that is vmapped over, which runs once for "
            "each example. Please try to use out-of-place operators instead of inplace arithmetic, "
            "or pass the tensor as an argument that is vmapped over."
        )
