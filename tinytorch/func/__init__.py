"""``torch.func``: transforms, which make of a function one that computes something else.

``grad``, ``vjp``, ``jacrev`` and their kin make functions that compute derivatives, ``vmap`` one
that works on batches of what the function works on. They can be put into each other: per-sample
gradients are ``vmap(grad(loss))``, second derivatives ``jacfwd(jacrev(f))``.

    >>> from tinytorch.func import grad, vmap
    >>> vmap(grad(tt.sin))(tt.tensor([0.0, 1.0]))
    tensor([1.0000, 0.5403])

Arguments and results may be tensors or dicts, lists and tuples of them, nested as you like. The
functions run as they are written, on ordinary tensors: what a transform adds ends with the call,
so that a result requires grad only if it depends on something outside that does.

What is not as in PyTorch follows from that. ``vmap`` is a loop over the examples; so control flow
may depend on their values, and tensors from outside may not be written to. ``jvp``, ``linearize``
and ``jacfwd`` are made of backward passes; so a ``no_grad`` block is a constant to them, as it is
to ``grad``. ``backward()``, ``item()`` and ``detach().numpy()`` work inside. A tensor from outside
that a differentiated function writes to in place, which PyTorch refuses, becomes a part of its
graph, as it does outside of transforms. There is no ``debug_unwrap``.
"""

from __future__ import annotations

from .forward import jvp as jvp
from .forward import linearize as linearize
from .functionalization import functionalize as functionalize
from .jacobians import hessian as hessian
from .jacobians import jacfwd as jacfwd
from .jacobians import jacrev as jacrev
from .mapping import vmap as vmap
from .models import functional_call as functional_call
from .models import replace_all_batch_norm_modules_ as replace_all_batch_norm_modules_
from .models import stack_module_state as stack_module_state
from .reverse import grad as grad
from .reverse import grad_and_value as grad_and_value
from .reverse import vjp as vjp

__all__ = [
    "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev",
    "jvp", "linearize", "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
]  # fmt: skip

# Public functions answer to the name they are used by: in `help`, tracebacks and pickles.
for _function in (
    functional_call, functionalize, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize,
    replace_all_batch_norm_modules_, stack_module_state, vjp, vmap,
):  # fmt: skip
    _function.__module__ = "tinytorch.func"
