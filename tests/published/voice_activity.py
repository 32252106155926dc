"""Silero's detector of speech, as a module for its published weights (MIT licence).

Of each 32 ms at 16 kHz and the 4 ms before them the magnitudes of a Fourier transform, which is
itself a convolution of the file, go through four convolutions and an LSTM cell that remembers.
"""

from __future__ import annotations

import tinytorch as tt
from tinytorch import nn

SAMPLES, CONTEXT = 512, 64
State = tuple[tt.Tensor, tt.Tensor]


class VoiceActivity(nn.Module):
    """Members have the names that ``silero_vad_16k.safetensors`` has."""

    def __init__(self) -> None:
        super().__init__()
        self.stft_conv = nn.Conv1d(1, 258, 256, stride=128, bias=False)
        self.conv1 = nn.Conv1d(129, 128, 3, padding=1)
        self.conv2 = nn.Conv1d(128, 64, 3, stride=2, padding=1)
        self.conv3 = nn.Conv1d(64, 64, 3, stride=2, padding=1)
        self.conv4 = nn.Conv1d(64, 128, 3, padding=1)
        self.lstm_cell = nn.LSTMCell(128, 128)
        self.final_conv = nn.Conv1d(128, 1, 1)

    def forward(self, x: tt.Tensor, state: State | None) -> tuple[tt.Tensor, State]:
        """Samples `(batch, 576)`; gives the probability of speech `(batch,)`, and what is kept."""
        padded = nn.functional.pad(x[:, None], (0, CONTEXT), mode="reflect")
        real, imaginary = self.stft_conv(padded).chunk(2, dim=1)
        x = (real**2 + imaginary**2).sqrt()
        for layer in (self.conv1, self.conv2, self.conv3, self.conv4):
            x = layer(x).relu()
        state = self.lstm_cell(x.squeeze(-1), state)
        return self.final_conv(state[0].relu()[:, :, None]).sigmoid().mean(dim=(1, 2)), state


def speech(model: VoiceActivity, sound: tt.Tensor) -> tt.Tensor:
    """The probabilities for each whole piece of a sound `(samples,)`."""
    sound = nn.functional.pad(sound, (CONTEXT, 0))
    state: State | None = None
    found = []
    for start in range(CONTEXT, sound.numel() - SAMPLES + 1, SAMPLES):
        said, state = model(sound[None, start - CONTEXT : start + SAMPLES], state)
        found.append(said)
    return tt.cat(found)
