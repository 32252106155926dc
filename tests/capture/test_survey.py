"""PyTorch's operations and their gradients, recorded and replayed on other numbers.

A twelfth of the operations, chosen by a hash; ``python -m tests.capture.survey`` runs all.
"""

from __future__ import annotations

import pytest

from tests.capture import survey

pytestmark = pytest.mark.torch

#: Operations whose results, or the shapes of them, are values of their arguments.
BREAKS = {
    "allclose", "argwhere", "equal", "index_put", "item",
    "linspace.tensor_overload", "logspace.tensor_overload", "masked_select", "narrow",
    "nn.functional.ctc_loss", "nn.functional.one_hot",
    "nn.functional.rrelu", "nonzero", "nonzero_static", "tensor_split", "unique",
    "unique_consecutive",
}  # fmt: skip


@pytest.mark.parametrize(("dtype", "engine"), [("float64", ""), ("float32", "numpy")])
def test_replays_of_operations_are_right_or_a_named_break(
    dtype: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey, "ENGINE", engine)
    infos = survey.choose(survey.operations(), 12, {"float64": 1, "float32": 2}[dtype])
    found = survey.survey(infos, dtype, count=2)
    counts = {kind: [n for n, verdict in found.items() if verdict == kind] for kind in survey.KINDS}
    print({kind: len(names) for kind, names in counts.items()})
    assert not counts["wrong"], counts["wrong"]
    assert not counts["raises"], counts["raises"]
    assert {*counts["break"]} <= BREAKS
    assert len(counts["right"]) >= 40


def test_a_number_that_is_baked_in_is_found() -> None:
    class Info:
        name = "baked"

    import torch

    class Sample:
        input, args, kwargs = torch.arange(4.0, dtype=torch.float64), (), {}

    def bakes(x: object) -> object:
        from tinytorch.capture.recorder import current_recorder

        recorder = current_recorder()
        if recorder is None:
            return x * float(x[0])  # type: ignore[operator, index]
        out = x * float(x[0])  # type: ignore[operator, index]
        recorder.breaks.clear()  # as if the recorder had not seen it
        return out

    assert survey.judge(Info.name, bakes, Sample) == "wrong"
