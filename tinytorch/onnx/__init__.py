"""ONNX files: ``export`` writes models, ``load`` runs files as modules."""

from __future__ import annotations

from typing import Any as Any  # as in PyTorch's file

from ..compat.tables.unsupported import TABLES, fill
from .custom_operators import OnnxExporterError as OnnxExporterError
from .custom_operators import parse_args as parse_args
from .custom_operators import register_custom_op_symbolic as register_custom_op_symbolic
from .custom_operators import unregister_custom_op_symbolic as unregister_custom_op_symbolic
from .exporting import ONNXProgram as ONNXProgram
from .exporting import export as export
from .model import load as load

__all__ = [
    "ONNXProgram", "OnnxExporterError", "export", "load", "register_custom_op_symbolic",
    "unregister_custom_op_symbolic",
]  # fmt: skip

fill(globals(), TABLES["onnx"])
