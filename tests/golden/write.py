"""Write the pickles and names that later versions must read: ``python tests/golden/write.py FILE``.

``FILE`` lists PyTorch's modules, one on each line. The pickles are written once, by the version
they stand for, and never again for a version that cannot read them.
"""

from __future__ import annotations

import io
import json
import pickle
import sys
import warnings
import zipfile
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2])]

import tinytorch as tt  # noqa: E402
from tests.golden.names import public_names  # noqa: E402
from tests.golden.objects import collect, describe  # noqa: E402

LARGE = 50_000  # bytes; larger checkpoints are not kept, nor pickles of five times that
FOLDER = Path(__file__).parent


def checkpoint(value: Any) -> bytes | None:
    """Return the object as ``tt.save`` writes it; None for one that it does not take."""
    file = io.BytesIO()
    try:
        tt.save(value, file)
    except Exception:
        return None
    return file.getvalue()


def main(modules: list[str]) -> None:
    warnings.simplefilter("ignore")
    objects = collect()
    with zipfile.ZipFile(FOLDER / "objects.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in sorted(objects.items()):
            text = pickle.dumps(value, protocol=4)
            if len(text) > 5 * LARGE:
                continue
            archive.writestr(f"{name}.pickle", text)
            archive.writestr(
                f"{name}.description", pickle.dumps(describe(pickle.loads(text)), protocol=4)
            )
            saved = checkpoint(value)
            if saved is not None and len(saved) < LARGE:
                archive.writestr(f"{name}.pt", saved)
        names = {module: public_names(module) for module in modules}
        found = {module: names for module, names in names.items() if names is not None}
        archive.writestr("names.json", json.dumps(found, indent=0, sort_keys=True))
    print(len(objects), "objects", len(found), "modules", sum(map(len, found.values())), "names")


if __name__ == "__main__":
    main(Path(sys.argv[1]).read_text().split())
