"""State of this thread and task: backend, default dtype, grad mode, random generator.

Each setting is looked up in the innermost scope of the current task, then in the choice of this
thread, then in the default of the process; see ``scopes``. Operations call the functions without
``get_`` or ``is_`` (``current_backend``, ``grad_enabled``, ...), which take tens of nanoseconds.
"""

from __future__ import annotations

from ..backends import BackendType as BackendType
from ..backends import BackendUnavailableError as BackendUnavailableError
from ..backends import UnknownBackendError as UnknownBackendError
from ..backends import list_backends as list_backends
from ..backends import register_backend as register_backend
from .backend import backend_context as backend_context
from .backend import backend_settings as backend_settings
from .backend import current_backend as current_backend
from .backend import get_backend as get_backend
from .backend import get_default_backend as get_default_backend
from .backend import reset_backend as reset_backend
from .backend import set_backend as set_backend
from .backend import set_default_backend as set_default_backend
from .bindings import VariableScope as VariableScope
from .bindings import Stacked as Stacked
from .bindings import bind as bind
from .context_managers import Scope as Scope
from .defaults import DRAWN as DRAWN
from .defaults import default_dtype as default_dtype
from .defaults import default_dtype_context as default_dtype_context
from .defaults import default_generator as default_generator
from .defaults import generator as generator
from .defaults import generator_context as generator_context
from .defaults import get_default_dtype as get_default_dtype
from .defaults import place_of_new as place_of_new
from .defaults import set_default_dtype as set_default_dtype
from .defaults import set_generator as set_generator
from .defaults import set_generator_factory as set_generator_factory
from .grad import GRAD as GRAD
from .grad import count_block as count_block
from .grad import enable_grad as enable_grad
from .grad import forget_ended_blocks as forget_ended_blocks
from .grad import grad_enabled as grad_enabled
from .grad import inference_enabled as inference_enabled
from .grad import inference_mode as inference_mode
from .grad import is_grad_enabled as is_grad_enabled
from .grad import is_inference_mode_enabled as is_inference_mode_enabled
from .grad import no_grad as no_grad
from .grad import scoped_grad as scoped_grad
from .grad import set_grad_enabled as set_grad_enabled
from .grad import when_inference as when_inference
from .propagation import State as State
from .propagation import get_state as get_state
from .propagation import propagate as propagate
from .propagation import reset_state as reset_state
from .propagation import set_state as set_state
from .propagation import state as state
from .scopes import Settings as Settings
from .variable import Variable as Variable

__all__ = [
    "BackendType", "BackendUnavailableError", "State", "UnknownBackendError", "backend_context",
    "default_dtype_context", "enable_grad", "get_backend", "get_default_backend",
    "get_default_dtype", "get_state", "inference_mode", "is_grad_enabled",
    "is_inference_mode_enabled", "list_backends", "no_grad", "propagate", "register_backend",
    "reset_backend", "reset_state", "set_backend", "set_default_backend", "set_default_dtype",
    "set_grad_enabled", "set_state", "state",
]  # fmt: skip

# The module of public functions in `help`, tracebacks and pickles is the one they are used by.
for _function in (
    get_backend, get_default_backend, get_default_dtype, get_state, is_grad_enabled,
    is_inference_mode_enabled, list_backends, propagate, register_backend, reset_backend,
    reset_state, set_backend, set_default_backend, set_default_dtype, set_state, state,
):  # fmt: skip
    _function.__module__ = "tinytorch"
