"""``torch.utils.data._utils``: PyTorch's private functions that other libraries use."""

from __future__ import annotations

import re

from ...facade.packages import publish
from ._fetch import _BaseDatasetFetcher as _BaseDatasetFetcher
from ._fetch import _IterableDatasetFetcher as _IterableDatasetFetcher
from ._fetch import _MapDatasetFetcher as _MapDatasetFetcher
from ._fetch import pin as pin_memory
from ._workers import WorkerInfo as WorkerInfo
from ._workers import get_worker_info as get_worker_info
from .collate import collate as collate
from .collate import default_collate as default_collate
from .collate import default_collate_fn_map as default_collate_fn_map
from .collate import default_convert as default_convert

__all__ = ["collate", "default_collate", "default_convert", "pin_memory"]

#: Kinds of NumPy's dtypes of strings and objects, which are not converted to tensors.
np_str_obj_array_pattern = re.compile(r"[SaUO]")
default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)
publish(__name__, "collate pin_memory worker fetch")
