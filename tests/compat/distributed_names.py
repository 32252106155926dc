"""Names below ``torch.distributed``.

``python -m tests.compat.distributed_names`` writes ``compat/tables/distributed_names.py``: names of
each module of PyTorch's for which there is no file here and which no other table makes. It needs
PyTorch, and ``PYTHONPATH`` at the root of the repository; ``compat.import_hook`` lists the modules.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

TABLE = Path(__file__).parents[2] / "tinytorch" / "compat" / "tables" / "distributed_names.py"
FOLDER = Path(__file__).parents[2] / "tinytorch" / "distributed"
PREFIX = "torch.distributed."

#: Modules that are not here, and why; a star stands for any end of the name.
LEFT_OUT = {
    "parts of PyTorch's own that measure, simulate or trace its sharding": """
        _dist2 _functional_collectives_impl _local_tensor* _mesh_layout _meta_registrations _ops*
        _pycute* _serialization _checkpointable _tools* _symmetric_memory._*
        _shard.sharded_tensor._ops* _shard.sharded_tensor.logg* _shard.sharding_spec.chunk_*_ops*
        fsdp._dynamo_utils fsdp._exec_order_utils fsdp._limiter_utils fsdp._shard_utils
        fsdp._trace_utils fsdp._fully_shard._fsdp_collectives
        pipelining._IR pipelining._schedule_visualizer pipelining._unflatten
        tensor._decompositions tensor._dispatch tensor._nonlinear_redux tensor._ops*
        tensor._sharding_prop tensor._shards_wrapper tensor._tp_conv tensor.debug._*
        tensor.experimental._context_parallel* tensor.experimental._func_map
        tensor.experimental._register_sharding tensor.experimental._tp_transform
        tensor.parallel._data_parallel_utils
    """,
    "processes and servers of PyTorch's own": """
        checkpoint._async_process_executor checkpoint._async_thread_executor
        checkpoint._consolidate_hf_safetensors checkpoint._dedup_save_plans
        checkpoint._experimental* checkpoint._pg_transport debug._* elastic.rendezvous._etcd_stub
        rpc._testing* rpc._utils
    """,
}
#: Names that are not here in modules that are, and why.
NAMES_LEFT_OUT = {
    "our launcher reads its options itself": """
        run: config_from_args determine_local_world_size get_args_parser get_rdzv_endpoint
            get_use_env parse_args parse_min_max_nnodes run run_script_path
        launch: main parse_args
        rendezvous: register_rendezvous_handler rendezvous
        debug: start_debug_server stop_debug_server
    """,
    "it stops all ranks in a debugger, and needs a terminal for each": """
        : breakpoint
    """,
    "what PyTorch's compiler puts in the place of calls": """
        _functional_collectives: all_gather_inplace all_gather_into_tensor_backward
            all_gather_into_tensor_coalesced_backward
            all_gather_into_tensor_coalesced_setup_context all_gather_into_tensor_setup_context
            all_gather_single_coalesced all_gather_tensor_inplace all_reduce_backward
            all_reduce_coalesced_backward all_reduce_coalesced_setup_context all_reduce_inplace
            all_reduce_setup_context all_to_all_inplace all_to_all_single_backward
            all_to_all_single_setup_context allow_inflight_collective_as_graph_input_ctx
            batch_p2p_ops_inplace irecv_inplace isend_inplace reduce_scatter_single_coalesced
            reduce_scatter_tensor_backward reduce_scatter_tensor_coalesced_backward
            reduce_scatter_tensor_coalesced_setup_context reduce_scatter_tensor_inplace
            reduce_scatter_tensor_setup_context wait_tensor_backward wait_tensor_setup_context
    """,
}  # fmt: skip


def parse_names(text: str) -> Iterator[tuple[str, str]]:
    """Yield module and name of each entry of a text of ``NAMES_LEFT_OUT``."""
    module = ""
    for line in text.splitlines():
        head, colon, rest = line.partition(":")
        module = head.strip() if colon else module
        yield from ((module, name) for name in (rest if colon else line).split())


def modules() -> dict[str, ModuleType]:
    """PyTorch's modules below ``torch.distributed`` that can be imported, by their paths there."""
    root = importlib.import_module("torch.distributed")
    found = {"": root}
    for path in sorted(Path(root.__path__[0]).rglob("*.py")):
        parts = path.relative_to(root.__path__[0]).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if not name or parts[-1] == "__main__":
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[name] = importlib.import_module(PREFIX + name)
        except ImportError:
            continue  # it needs a package that is not installed
    return found


def names(module: ModuleType, private: bool = False) -> set[str]:
    """Functions and classes that a module lists or defines; private ones, too, if ``private``."""
    own = {
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__
        and (private or not name.startswith("_"))
    }
    return {
        n for n in {*getattr(module, "__all__", ()), *own} if _word(getattr(module, n, None), n)
    }


def _word(value: Any, name: str) -> str:
    """Entry of the table for a name and its value; empty for values that have no entry."""
    if inspect.isclass(value) and issubclass(value, enum.Enum):
        members = {key: each.value for key, each in value.__members__.items()}
        if all(isinstance(each, int) or str(each).isidentifier() for each in members.values()):
            return " ".join(f"{name}={key}:{each}" for key, each in members.items())
    if inspect.isclass(value) and issubclass(value, BaseException):
        base = next(each for each in value.__mro__ if each.__module__ == "builtins")
        return f"{name}!{base.__name__}"
    if inspect.isclass(value):
        return name
    return f"{name}()" if isinstance(value, FunctionType) else ""


def rows(module: ModuleType, made: set[str]) -> Iterator[str]:
    """Entries of a module in the table; ``made`` are the modules that the table has."""
    own = names(module, "._" in module.__name__)
    for name, value in sorted(vars(module).items()):
        source = getattr(value, "__module__", None) or ""
        path = source.removeprefix(PREFIX)
        elsewhere = source != module.__name__ and source.startswith(PREFIX)
        if elsewhere and not name.startswith("_") and _word(value, name):
            if path in made and name in names(importlib.import_module(source)):
                yield f"{name}@{path}"
                continue
        if name in own:
            yield _word(value, name)


def write(found: dict[str, list[str]]) -> None:
    """Regenerate the table's data."""
    text = TABLE.read_text()
    head, begin, rest = text.partition("_NAMES = {\n")
    end = rest[rest.index("}  # fmt: skip\n") :]
    lines = []
    for module, words in found.items():
        parts = textwrap.wrap(" ".join(words), 86, break_long_words=False, break_on_hyphens=False)
        quoted = [f'"{part} "' for part in parts[:-1]] + [f'"{part}"' for part in parts[-1:]]
        one = f'    "{module}": {quoted[0] if quoted else chr(34) * 2},'
        more = "\n".join([f'    "{module}":', *(f"        {part}" for part in quoted)]) + ","
        lines.append(one if len(quoted) < 2 and len(one) < 101 else more)
    TABLE.write_text("\n".join([head + begin.rstrip(), *lines, end]))


def main() -> None:
    from fnmatch import fnmatchcase

    from tinytorch.compat.tables.distributed_names import _NAMES

    patterns = " ".join(LEFT_OUT.values()).split()

    def is_missing(name: str) -> bool:
        published = name.startswith("elastic.multiprocessing.errors.")
        if published or any(fnmatchcase(name, pattern) for pattern in patterns):
            return False
        try:
            importlib.import_module(f"tinytorch.distributed.{name}")
        except ImportError:
            return True
        return name in _NAMES and not FOLDER.joinpath(*name.split(".")).with_suffix(".py").exists()

    every = modules()
    wanted = {name for name in every if name and is_missing(name)}
    write({name: list(rows(every[name], wanted)) for name in sorted(wanted)})


if __name__ == "__main__":
    main()
