"""Attributes of instances: what PyTorch's have, private ones too, those here have."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

import pytest

from tests.compat.instances import MODULES, WITHOUT, construct, expressions

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

#: Attributes that are absent here: by reason and class of PyTorch's that has them.
_LEFT_OUT = {
    "devices that no backend has": {"Module": "ipu mtia xpu", "TensorBase": "ipu mtia xpu"},
    "a type variable, for annotations": {"Module": "T_destination"},
    "the warning is decided where the node is made": {
        "Module": "_maybe_warn_non_full_backward_hook"
    },
    "inner steps of load_state_dict, for groups of a fused kernel": {
        "Optimizer": "_process_value_according_to_param_policy"
    },
    "one device, as PyTorch's on the CPU, where these are never called": {
        "DataParallel": "gather parallel_apply replicate scatter"
    },
    "of typing.Protocol": {"Generic": "_is_protocol"},
    "tensors that are sparse, nested, quantized or wrapped by a compiler": {
        "TensorBase": """_coalesced_ _dimI _dimV _dtensor__new__ _make_wrapper_subclass
            _nested_tensor_size _nested_tensor_storage_offsets _nested_tensor_strides
            _python_dispatch _sparse_mask_projection _to_dense _to_sparse _to_sparse_bsc
            _to_sparse_bsr _to_sparse_csc _to_sparse_csr""",
        "Tensor": "_clear_non_serializable_cached_data _reduce_ex_internal",
    },
    "bindings of PyTorch's C++ operations that its own Python calls": {
        "TensorBase": """_addmm_activation _autocast_to_full_precision
            _autocast_to_reduced_precision _fix_weakref _lazy_clone _neg_view _philox_normal_
            _philox_uniform_ _rev_view_func_unsafe _use_count _view_func _view_func_unsafe
            const_data_ptr index slice_inverse""",
        "Tensor": "storage_type",
        "Generator": "_cdata graphsafe_get_state graphsafe_set_state",
        "Future": "_pybind11_conduit_v1_ _set_unwrap_func",
    },
    "which functions of the C++ parts work on an uninitialized tensor": {
        "UninitializedTensorMixin": "_allowed_methods"
    },
    "queues and threads of PyTorch's workers; batches arrive through pipes and shared memory": {
        "_MultiProcessingDataLoaderIter": """_clean_up_persistent_workers_atexit _data_queue
            _get_data _index_queues _register_persistent_workers_atexit _task_info _try_get_data
            _worker_pids_set _worker_result_queue _workers_done_event _workers_num_tasks"""
    },
    "devices registered by C++ extensions": {"autocast": "custom_backend_name"},
    "decorators are not copied to be entered again": {"autocast": "clone"},
    "handles share one counter; options are held by the handle": {
        "RemovableHandle": "extra_dict_ref next_id"
    },
}
#: Attributes with other values, with the reason.
_OTHER_VALUES = {
    "id": "how many handles there were before",
    "_load_hook": "a subclass of RemovableHandle",
    "_initialize_hook": "a subclass of RemovableHandle",
    "orthogonal_map": "an enumeration of PyTorch's, a name here",
    "_state_dict_hooks": "spectral_norm: versions of the hooks before PyTorch 1.0 are not read",
    "_load_state_dict_pre_hooks": "the same",
    "_workers": "a class of the start method",
}


def _left_out(theirs: Any) -> set[str]:
    """Names that are exempt for an instance of PyTorch's."""
    owners = {base.__name__ for base in type(theirs).__mro__}
    return {
        name
        for exempt in _LEFT_OUT.values()
        for owner, names in exempt.items()
        if owner in owners
        for name in names.split()
    }


def _names(instance: Any) -> set[str]:
    """Names of attributes, but for those with two underscores, that can be read."""
    found = {*object.__dir__(instance), *getattr(instance, "__dict__", ())}
    return {name for name in found if not name.startswith("__") and _can_read(instance, name)}


def _can_read(instance: Any, name: str) -> bool:
    try:
        getattr(instance, name)
    except Exception:
        return False
    return True


def _is_absent(instance: Any, name: str) -> bool:
    """Whether reading an attribute raises AttributeError; it may raise another error."""
    try:
        return not hasattr(instance, name)
    except Exception:
        return False


def _summary(value: Any) -> Any:
    """Python's values as they are, containers' contents, shapes of tensors, kinds of the rest."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        # Hooks stand under the ids of their handles.
        keys = {key: key if isinstance(key, str) else type(key).__name__ for key in value}
        return [(keys[key], _summary(value[key])) for key in sorted(value, key=keys.__getitem__)]
    if type(value) in (tuple, list):
        return type(value)(map(_summary, value))
    if hasattr(value, "requires_grad") and type(value).__name__[:5] != "Unini":
        return tuple(value.shape), str(value.dtype).rpartition(".")[2], value.requires_grad
    return "a function or module" if callable(value) else type(value).__name__


@pytest.mark.parametrize("expression", list(expressions()))
def test_instances_have_the_attributes_of_pytorchs(torch: Any, expression: str) -> None:
    import tinytorch as tt

    for path in ("optim.swa_utils", "nn.utils.parametrizations", "nn.utils.prune", "utils.data"):
        importlib.import_module(f"torch.{path}")
    # The import of PyTorch's compiler, in another test of this process, turns it off.
    torch.distributions.Distribution.set_default_validate_args(True)
    theirs, ours = construct(torch, expression), construct(tt, expression)
    names = _names(theirs)
    assert {name for name in names if _is_absent(ours, name)} - _left_out(theirs) == set()
    stored = dict(getattr(theirs, "__dict__", {}))
    for name in stored.keys() & names - _left_out(theirs) - set(_OTHER_VALUES):
        if not hasattr(stored[name], "itemsize"):  # a dtype is a class here
            assert (name, _summary(getattr(ours, name))) == (name, _summary(stored[name]))


def test_every_public_class_is_constructed(torch: Any) -> None:
    text = "\n".join(expressions())
    without = {name for names in WITHOUT for name in names.split()}
    for path in MODULES:
        module = importlib.import_module(f"torch.{path}")
        for name in getattr(module, "__all__", dir(module)):
            kind = getattr(module, name)
            if inspect.isclass(kind) and kind.__module__.startswith("torch") and name[0] != "_":
                assert name in without or f".{name}(" in text, f"{path}.{name}"
