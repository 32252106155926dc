"""What a process spawned by a running script finds under the name ``torch``.

It inherits ``sys.path``, where ``install`` has put this file's folder, and no finder.
"""

from __future__ import annotations

import sys

from tinytorch.compat import as_torch

if __name__ == "torch":  # and not a tool that imports every module of the package
    # The import system returns what it finds under the name when this file is done.
    sys.modules[__name__] = as_torch.facade()
    as_torch.install_as_torch()
