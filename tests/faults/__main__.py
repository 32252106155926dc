"""Kill, stop, interrupt and starve programs that use tinytorch, and check what they leave behind.

``make faults`` runs the long form, ``make faults FORM=short`` the short one. Each module that
``CAMPAIGNS`` names registers its checks with ``@check``; see ``tests/faults/campaign.py``.
"""

from __future__ import annotations

import argparse
import importlib
import random
import sys
import time
import traceback

from tests.faults.campaign import CHECKS, Extent, Skipped

#: Modules of this folder that register checks, in the order in which they run.
CAMPAIGNS = ["interrupts", "saves", "workers", "ranks"]


def run(name: str, form: Extent) -> bool:
    """Run one check and print its result; whether it did not fail."""
    began = time.monotonic()
    try:
        result = CHECKS[name](form)
        word, passed = "ok", True
    except Skipped as reason:
        word, passed, result = "skipped", True, str(reason)
    except Exception:
        word, passed, result = "FAILED", False, f"\n{traceback.format_exc()}"
    print(f"{word:8}{time.monotonic() - began:6.1f} s  {name}: {result}", flush=True)
    return passed


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.faults", description=__doc__)
    parser.add_argument("--form", choices=["short", "long"], default="long")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--only", default="", help="run the checks whose name contains this text")
    options = parser.parse_args()
    for campaign in CAMPAIGNS:
        importlib.import_module(f"tests.faults.{campaign}")
    print(f"the {options.form} form, --seed {options.seed}", flush=True)
    chosen = [name for name in CHECKS if options.only in name]
    failed = [
        name for name in chosen
        if not run(name, Extent(options.form == "short", options.seed, random.Random(options.seed)))
    ]  # fmt: skip
    print(f"{len(chosen) - len(failed)} of {len(chosen)} checks passed or were skipped")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
