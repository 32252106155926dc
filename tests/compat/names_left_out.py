"""Public names of PyTorch's that are not here, and why: patterns, several apart by spaces.

``names.py`` walks no module of ``UNTOUCHED``; of the others' names none may be missing that no
line of ``LEFT_OUT`` has, and no line may stand that none needs.
"""

from __future__ import annotations

#: Modules, with all below them.
UNTOUCHED = {
    "torch.ao torch.quantization torch.nn.intrinsic torch.nn.qat torch.nn.quantizable "
    "torch.nn.quantized": "tensors are not quantized; what programs import is in tables",
    "torch.distributed": "one process; what programs import is in tables",
    "torch.fx torch.export torch.onnx torch.nativert torch.package torch.utils.model_dump "
    "torch.utils.bundled_inputs torch.utils.mobile_optimizer torch.utils.jit":
        "no program is recorded as a graph; what programs import is in tables",
    "torch.contrib torch.mtia torch.numa torch.utils.mkldnn torch.utils.backend_registration "
    "torch.utils.cpp_extension torch.utils.hipify torch.utils.file_baton "
    "torch.utils.cpp_backtrace": "other devices, and code that is compiled for PyTorch",
    "torch.utils.tensorboard torch.utils.viz torch.utils.bottleneck torch.utils.show_pickle "
    "torch.utils.throughput_benchmark torch.utils.debug_log torch.utils.backcompat":
        "programs to run, and what shows PyTorch's own state",
    "torch.utils.flop_counter": "tests/utils compares what it counts",
    "torch.utils.data.datapipes torch.utils.data.graph torch.utils.data.graph_settings":
        "data pipes, which PyTorch has given up",
    "torch.utils.benchmark.examples torch.utils.benchmark.op_fuzzers torch.utils.benchmark.utils":
        "scripts that measure PyTorch itself; the names in use are in utils.benchmark",
}  # fmt: skip

LEFT_OUT: dict[str, str] = {}
