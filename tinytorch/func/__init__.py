"""``torch.func``: transforms of functions.

``grad``, ``grad_and_value``, ``vjp``, ``jvp``, ``linearize``, ``jacrev``, ``jacfwd`` and
``hessian`` compute derivatives of a function; ``vmap`` applies it to a batch. Transforms can be
nested: per-sample gradients are ``vmap(grad(loss))``, second derivatives ``jacfwd(jacrev(f))``.

    >>> from tinytorch.func import grad, vmap
    >>> vmap(grad(tt.sin))(tt.tensor([0.0, 1.0]))
    tensor([1.0000, 0.5403])

Arguments and results may be tensors, or nested dicts, lists and tuples of tensors. A function is
called with ordinary tensors. A result requires grad only if it depends on a tensor outside the call
that requires grad.

Differences to PyTorch: ``vmap`` is a loop over the examples, so that control flow may depend on
their values, and tensors from outside may not be written to. ``jvp``, ``linearize`` and ``jacfwd``
are computed by backward passes, so that the results of a ``no_grad`` block are constants, as for
``grad``. ``backward()``, ``item()`` and ``detach().numpy()`` work inside. A differentiated function
may write in place to a tensor from outside, for which PyTorch raises: the write is recorded as it
is outside of transforms. There is no ``debug_unwrap``.
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

# `help`, tracebacks and pickles show this module as that of the public functions.
for _function in (
    functional_call, functionalize, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize,
    replace_all_batch_norm_modules_, stack_module_state, vjp, vmap,
):  # fmt: skip
    _function.__module__ = "tinytorch.func"
