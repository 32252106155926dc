"""``torch.utils.model_zoo``, the older name of ``hub``'s downloads: nothing is downloaded."""

from __future__ import annotations

from ..hub import load_state_dict_from_url
from ..hub import tqdm as tqdm

__all__ = ["load_url"]

load_url = load_state_dict_from_url
