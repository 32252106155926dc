"""Module ``torch`` of a process that a running script has spawned.

The process inherits ``sys.path``, which has this file's folder since ``install_as_torch``, but no
finder.
"""

from __future__ import annotations

import sys

from tinytorch.compat import as_torch

if __name__ == "torch":  # and not a tool that imports every module of the package
    # The import system returns what it finds under the name when this file is done.
    sys.modules[__name__] = as_torch.facade()
    as_torch.install_as_torch()
