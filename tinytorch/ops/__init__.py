"""The operations, one family a file. See ``tinytorch.dispatch.op`` for what an operation is.

In PyTorch ``torch.ops`` has the operators that programs register. They are found here, too, by
the name of their library, which must not be a family's: ``ops.mylib.scale``.
"""

from __future__ import annotations

from ..dispatch.tensor_protocols import find_namespace as __getattr__  # noqa: F401
from ..dispatch.tensor_protocols import load_library as load_library


def __dir__() -> list[str]:
    return ["load_library"]
