"""Graphs of programs: recorded by a run on proxies, changed, and run as generated code.

``symbolic_trace`` records a module or function, ``Graph`` and ``Node`` are what it did,
``GraphModule`` runs it, ``Interpreter`` and ``Transformer`` go through it, ``replace_pattern``
rewrites it.
"""

from __future__ import annotations

from ._symbolic_trace import PH as PH
from ._symbolic_trace import Tracer as Tracer
from ._symbolic_trace import symbolic_trace as symbolic_trace
from ._symbolic_trace import wrap as wrap
from .graph import CodeGen as CodeGen
from .graph import Graph as Graph
from .graph_module import GraphModule as GraphModule
from .interpreter import Interpreter as Interpreter
from .interpreter import Transformer as Transformer
from .node import Node as Node
from .node import has_side_effect as has_side_effect
from .node import map_arg as map_arg
from .proxy import Proxy as Proxy
from .subgraph_rewriter import replace_pattern as replace_pattern

__all__ = [
    "Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "Transformer",
    "has_side_effect", "map_arg", "replace_pattern", "symbolic_trace", "wrap",
]  # fmt: skip
