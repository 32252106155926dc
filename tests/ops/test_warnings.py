"""Calls that PyTorch warns of are warned of, and no others."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import tinytorch as tt
from tests.calls import Call, call_with_names, words

#: Calls of a library ``L`` and its ``nn.functional`` as ``F``, and how the warning begins, None
#: where there is none.
CALLS: list[tuple[Call, str | None]] = [
    (lambda L: L.stft(L.ones(16), 8, return_complex=True), "A window was not provided"),
    (lambda L: L.stft(L.ones(16), 8, window=L.ones(8), return_complex=True), None),
    (lambda L: L.istft(L.ones(5, 9) + 0j, 8), "A window was not provided"),
    (lambda L: L.istft(L.ones(5, 9) + 0j, 8, window=L.ones(8)), None),
    (
        lambda L: L.istft(L.ones(5, 9) + 0j, 8, window=L.ones(8), length=99),
        "The length of signal is shorter",
    ),
    (lambda L: L.istft(L.ones(5, 9) + 0j, 8, window=L.ones(8), length=9), None),
    (
        lambda L: L.stft(L.ones(16), 8, window=L.ones(8), return_complex=False),
        "stft with return_complex=Fal",
    ),
    (
        lambda L: L.fft.fftfreq(4, out=L.empty(1)),
        "The number of elements in the out tensor of shape",
    ),
    (lambda L: L.fft.rfftfreq(4, out=L.empty(3)), None),
    (lambda L: L.arange(3, out=L.empty(1)), "The number of elements in the out tensor of shape"),
    (lambda L: (L.arange(4, out=L.empty(2, 2)), L.arange(4, out=L.empty(0))), None),
    (lambda L: L.linspace(0, 1, 3, out=L.empty(1)), None),
    (lambda L: L.addmm(2, L.ones(1, 1), 3, L.ones(1, 1), L.ones(1, 1)), "This overload of addmm"),
    (
        lambda L: L.ones(1, 1, 1).baddbmm_(2, L.ones(1, 1, 1), L.ones(1, 1, 1)),
        "This overload of baddbmm",
    ),
    (lambda L: L.ones(2).add_(2, L.ones(2)), "This overload of add_? is deprecated"),
    (lambda L: L.ones(2).add_(L.ones(2), alpha=2), None),
    (lambda L: L.addmm(L.ones(1, 1), L.ones(1, 1), L.ones(1, 1), beta=2), None),
    (lambda L: L.cov(L.ones(2, 2), correction=2), r"cov\(\): degrees of freedom is <= 0"),
    (lambda L: L.cov(L.ones(2, 1)), r"cov\(\): degrees of freedom is <= 0"),
    (lambda L: L.cov(L.ones(2, 2)), None),
    (
        lambda L, F: F.conv1d(L.ones(1, 1, 6), L.ones(1, 1, 4), padding="same"),
        "Using padding='same' with even",
    ),
    (lambda L, F: F.conv1d(L.ones(1, 1, 6), L.ones(1, 1, 4), padding="same", dilation=2), None),
    (lambda L, F: F.conv1d(L.ones(1, 1, 6), L.ones(1, 1, 3), padding="same", dilation=3), None),
    (
        lambda L: L.nn.Conv2d(1, 1, 2, padding="same")(L.ones(1, 1, 4, 4)),
        "Using padding='same' with even",
    ),
    (lambda L: L.chain_matmul(L.ones(2, 2), L.ones(2, 2)), r"\w+\.chain_matmul is deprecated"),
    (lambda L: L.chain_matmul(L.ones(2, 2)), r"\w+\.chain_matmul is deprecated"),
    (lambda L: L.linalg.multi_dot([L.ones(2, 2), L.ones(2, 2)]), None),
    (lambda L, F: F.gumbel_softmax(L.ones(2), eps=1e-3), "`eps` parameter is deprecated"),
    (lambda L, F: F.gumbel_softmax(L.ones(2)), None),
    (lambda L: (L.ones(2, requires_grad=True) * 2).grad, "The .grad attribute of a Tensor that is"),
    (lambda L: L.ones(2, requires_grad=True).grad, None),
    (lambda L: (L.ones(2).grad, (L.ones(2) * 2).grad), None),
    (lambda L: L.ones(2, requires_grad=True).detach().grad, None),
    (lambda L: (L.ones(2, requires_grad=True) * 2).register_hook(print), None),
    (
        lambda L: [t.grad for t in [L.ones(2, requires_grad=True) * 2] if t.retain_grad() is None],
        None,
    ),
    (
        lambda L: [
            t.grad for t in [L.ones(2, requires_grad=True) * 2] if not t.detach_().requires_grad
        ],
        None,
    ),
    (
        lambda L: L.ones((), requires_grad=True).mul(2).backward(create_graph=True),
        r"Using backward\(\) with create_graph=True will create a reference cycle",
    ),
    (
        lambda L: L.autograd.backward(L.ones((), requires_grad=True).mul(2), create_graph=True),
        r"Using backward\(\) with create_graph=True will create a reference cycle",
    ),
    (
        lambda L: [
            L.autograd.grad(x * 2, x, create_graph=True) for x in [L.ones((), requires_grad=True)]
        ],
        None,
    ),
    (
        lambda L: L.autograd.detect_anomaly().__exit__(None, None, None),
        "Anomaly Detection has been enabled",
    ),
    (lambda L: L.autograd.set_detect_anomaly(False), None),
    (lambda L: L.tensor(L.ones(2)), "To copy construct from a tensor, it is recommended to use"),
    (
        lambda L: L.tensor(L.ones(2, requires_grad=True), requires_grad=True),
        "To copy construct from",
    ),
    (
        lambda L: L.ones(2).new_tensor(L.ones(2)),
        "To copy construct from a tensor, it is recommended to use",
    ),
    (lambda L: L.tensor([L.ones(()), L.ones(())]), None),
    (lambda L: (L.as_tensor(L.ones(2)), L.asarray(L.ones(2), copy=True)), None),
    (lambda L: L.ones(2, 3, 4).T, r"The use of `x\.T` on tensors of dimension other than 2"),
    (lambda L: L.ones(2).T, r"The use of `x\.T` on tensors of dimension other than 2"),
    (
        lambda L: L.ones(()).T,
        r"Tensor\.T is deprecated on 0-D tensors\. This function is the identity",
    ),
    (
        lambda L: L.ones(()).mT,
        r"Tensor\.mT is deprecated on 0-D tensors\. This function is the identity",
    ),
    (
        lambda L: L.ones(()).H,
        r"Tensor\.H is deprecated on 0-D tensors\. Consider using x\.conj\(\)",
    ),
    (
        lambda L: L.ones(()).mH,
        r"Tensor\.mH is deprecated on 0-D tensors\. Consider using x\.conj\(\)",
    ),
    (lambda L: (L.ones(2, 3).T, L.ones(2, 3).H, L.ones(1, 2, 3).mT, L.ones(1, 2, 3).mH), None),
    (lambda L: (L.ones(2, 3).t(), L.ones(2).t(), L.ones(2, 3, 4).permute(2, 1, 0)), None),
    (
        lambda L, F: F.mse_loss(L.ones(2, 3), L.ones(3)),
        r"Using a target size \(\w+\.Size\(\[3\]\)\) that is",
    ),
    (lambda L, F: F.l1_loss(L.ones(2, 3), L.ones(2, 1)), "Using a target size"),
    (lambda L, F: F.smooth_l1_loss(L.ones(2, 3), L.ones(2, 3)), None),
    (
        lambda L, F: F.l1_loss(L.ones(2), L.ones(2), reduction="elementwise_mean"),
        "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead",
    ),
    (
        lambda L, F: F.affine_grid(L.ones(1, 2, 3), [1, 1, 1, 3], align_corners=True),
        "Since version 1.3.0, affine_grid behavior has changed for unit-size grids",
    ),
    (lambda L, F: F.affine_grid(L.ones(1, 2, 3), [1, 1, 2, 3], align_corners=True), None),
    (lambda L, F: F.affine_grid(L.ones(1, 2, 3), [1, 1, 1, 3], align_corners=False), None),
    (lambda L: L.affine_grid_generator(L.ones(1, 2, 3), [1, 1, 1, 3], True), None),
    (
        lambda L: L.where(L.ones(3, dtype=L.uint8), L.ones(3), L.zeros(3)),
        "where received a uint8 condition tensor. This behavior is deprecated",
    ),
    (lambda L: L.where(L.ones(3, dtype=L.bool), L.ones(3), L.zeros(3)), None),
    (
        lambda L: L.zeros(2).scatter(0, L.tensor([0]), L.ones(1), reduce="add"),
        "The reduce argument of torch.scatter with Tensor src is deprecated",
    ),
    (lambda L: L.zeros(2).scatter_(0, L.tensor([0]), 2.0, reduce="add"), None),
    (lambda L: L.zeros(2).scatter_(0, L.tensor([0]), L.ones(1)), None),
    (
        lambda L: L.nn.MultiheadAttention(4, 2)(
            *[L.ones(3, 1, 4)] * 3,
            attn_mask=L.zeros(3, 3),
            key_padding_mask=L.zeros(1, 3, dtype=L.bool),
        ),
        "Support for mismatched key_padding_mask and attn_mask is deprecated",
    ),
    (
        lambda L: L.nn.MultiheadAttention(4, 2)(
            *[L.ones(3, 1, 4)] * 3, attn_mask=L.zeros(3, 3), key_padding_mask=L.zeros(1, 3)
        ),
        None,
    ),
    (
        lambda L: float(L.ones(1, requires_grad=True) * 2),
        "Converting a tensor with requires_grad=True to a",
    ),
    (
        lambda L: complex(L.ones(1, requires_grad=True)),
        "Converting a tensor with requires_grad=True to a",
    ),
    (
        lambda L: [
            (int(x), bool(x), x.item(), float(x.detach())) for x in [L.ones(1, requires_grad=True)]
        ],
        None,
    ),
    (lambda L: L.no_grad()(lambda x: float(x))(L.ones(1, requires_grad=True)), None),
    (
        lambda L: (L.ones(2) + 1j).to(L.float64),
        "Casting complex values to real discards the imaginary part",
    ),
    (
        lambda L: (L.ones(2) + 1j).long(),
        "Casting complex values to real discards the imaginary part",
    ),
    (lambda L: ((L.ones(2) + 1j).bool(), (L.ones(2) + 1j).real, (L.ones(2) + 1j).cdouble()), None),
    (
        lambda L: [
            L.autograd.grad((x.to(L.complex64) * 1j).imag.square().sum(), x, create_graph=g)
            for g in (True, False)
            for x in [L.ones(2, requires_grad=True)]
        ],
        None,
    ),
    (
        lambda L, F: F.kl_div(L.ones(2), L.ones(2)),
        "reduction: 'mean' divides the total loss by both the batch size and the support "
        "size.'batchmean' divides only by the batch size, and aligns with the KL div math",
    ),
    (
        lambda L: L.set_default_tensor_type(L.FloatTensor),
        r"torch.set_default_tensor_type\(\) is deprecated as of PyTorch 2.1",
    ),
    (
        lambda L: L.ones(2, 3, 4)[[[0, 1], [1, 2]]],
        "Using a non-tuple sequence for multidimensional indexing is deprecated",
    ),
    (
        lambda L: L.ones(2, 3).__setitem__([slice(None), 0], 1),
        "Using a non-tuple sequence for multidim",
    ),
    (
        lambda L: (
            L.ones(2, 3)[[0, 1]],
            L.ones(2, 3)[[0, 1], [1, 2]],
            L.ones(2, 3)[L.tensor([[0, 1]])],
        ),
        None,
    ),
    (
        lambda L: [L.from_numpy(a) for a in [L.ones(2).numpy()] if a.setflags(write=False) is None],
        "The given NumPy array is not writable",
    ),
    (lambda L: (L.from_numpy(L.ones(2).numpy()), L.as_tensor(L.ones(2).numpy())), None),
    (
        lambda L: L.cross(L.ones(2, 3), L.ones(2, 3)),
        "Using torch.cross without specifying the dim arg",
    ),
    (
        lambda L: (
            L.cross(L.ones(2, 3), L.ones(2, 3), dim=1),
            L.linalg.cross(L.ones(3), L.ones(3)),
        ),
        None,
    ),
    (
        lambda L: L.ones(2).index_reduce(0, L.tensor([0]), L.ones(1), "prod"),
        r"index_reduce\(\) is in beta",
    ),
    (
        lambda L: L.ones(2).index_reduce_(0, L.tensor([0]), L.ones(1), "amax"),
        r"index_reduce\(\) is in beta",
    ),
    (lambda L: L.add(L.ones(2), 2, L.ones(2)), "This overload of add is deprecated"),
    (
        lambda L: L.ones(2).addcdiv_(2, L.ones(2), L.ones(2)),
        "This overload of addcdiv_? is deprecated",
    ),
    (lambda L: (L.add(L.ones(2), L.ones(2), alpha=2), L.addcmul(*[L.ones(2)] * 3, value=2)), None),
    (
        lambda L: L.autograd.gradcheck(L.square, L.ones(2, requires_grad=True), eps=1e-2, atol=0.1),
        "Input #0 requires gradient and is not a double precision floating point or complex",
    ),
    (
        lambda L: L.autograd.gradcheck(L.square, L.ones(2, dtype=L.float64, requires_grad=True)),
        None,
    ),
]
#: Those that are no UserWarning.
OTHERS: list[tuple[Call, type[Warning], str]] = [
    (
        lambda L, x: L.autograd.grad(x.sum(), x, only_inputs=False),
        FutureWarning,
        "only_inputs argument is",
    ),
    (lambda L: L.autograd.Function(), DeprecationWarning, r"<class .* should not be instantiated"),
    (
        lambda L: list(L.utils.data.DataLoader([1], pin_memory=True, pin_memory_device="cuda")),
        UserWarning,
        "pin_memory_device is deprecated, the current accelerator will be used",
    ),
    (
        lambda L: L.cuda.amp.GradScaler(enabled=False),
        FutureWarning,
        r"`torch.cuda.amp.GradScaler\(args",
    ),
    (
        lambda L: L.cuda.amp.autocast(enabled=False),
        FutureWarning,
        r"`torch.cuda.amp.autocast\(args",
    ),
    (lambda L: L.cuda.amp.custom_fwd(len), FutureWarning, r"`torch.cuda.amp.custom_fwd\(args"),
    (lambda L: L.cuda.amp.custom_bwd(len), FutureWarning, r"`torch.cuda.amp.custom_bwd\(args"),
    (
        lambda L: L.cpu.amp.GradScaler(enabled=False),
        FutureWarning,
        r"`torch.cpu.amp.GradScaler\(args",
    ),
    (lambda L: L.cpu.amp.autocast(enabled=False), FutureWarning, r"`torch.cpu.amp.autocast\(args"),
    (lambda L: L.nn.Container(act=L.nn.ReLU()), FutureWarning, "`nn.Container` is deprecated"),
    (
        lambda L: L.backends.cuda.sdp_kernel().__enter__(),
        FutureWarning,
        r"`torch.backends.cuda.sdp_kernel\(\)` is deprecated",
    ),
]


@pytest.fixture(autouse=True)
def every_time(torch: Any) -> Iterator[None]:
    """PyTorch gives many of its warnings but once in a process, and tinytorch some."""
    before = [library.is_warn_always_enabled() for library in (torch, tt)]
    torch.set_warn_always(True)
    tt.set_warn_always(True)
    yield
    torch.set_warn_always(before[0])
    tt.set_warn_always(before[1])


@pytest.mark.parametrize(("call", "begin"), CALLS, ids=words)
def test_warnings_have_pytorchs_text(call: Call, begin: str | None) -> None:
    import torch

    for library in (torch, tt):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            call_with_names(call, {"L": library, "F": library.nn.functional})
        texts = [str(w.message) for w in seen if w.category is UserWarning]
        assert len(texts) == (begin is not None)
        assert begin is None or re.match(begin, texts[0])


@pytest.mark.filterwarnings("ignore:'pin_memory' argument is set as true but:UserWarning")
@pytest.mark.parametrize(("call", "category", "begin"), OTHERS, ids=words)
def test_the_warning_is_pytorchs_and_of_its_class(
    call: Call, category: type[Warning], begin: str
) -> None:
    import torch

    for library in (torch, tt):
        x = library.ones(2, requires_grad=True)
        with pytest.warns(category, match=begin):
            call_with_names(call, {"L": library, "x": x})
