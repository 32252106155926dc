"""Eight threads at once use what is loaded when it is first used; prints what failed."""

import faulthandler
import importlib
import random
import sys
import threading
import traceback

import tinytorch as tt

MODULES = """
    nn nn.functional nn.init nn.utils nn.utils.rnn nn.parameter nn.modules nn.parallel optim
    optim.adam optim.lr_scheduler optim.swa_utils func distributions distributions.normal
    distributions.kl distributions.transforms numpy numpy.linalg numpy.random fft linalg special
    signal.windows utils.data utils.data.dataset utils.checkpoint autograd.function
    autograd.functional autograd.graph amp cuda cuda.amp jit testing overrides library sparse
    random quasirandom profiler hub onnx fx futures distributed multiprocessing backends.cudnn
    storage serialization return_types compiler export _C xpu mps accelerator
""".split()
NAMES = """
    nn.Linear nn.LSTM nn.Conv2d nn.TransformerEncoderLayer nn.functional.relu nn.init.zeros_
    nn.utils.clip_grad_norm_ nn.utils.parametrizations.weight_norm optim.Adam optim.SGD
    optim.lr_scheduler.StepLR func.grad func.vmap func.jacrev distributions.Normal
    distributions.kl_divergence numpy.mean numpy.linalg.norm fft.fft linalg.inv special.expit
    signal.windows.hann utils.data.DataLoader utils.checkpoint.checkpoint autograd.gradcheck
    autograd.functional.jacobian autograd.Function amp.autocast cuda.is_available jit.script save
    load testing.assert_close overrides.is_tensor_like random.fork_rng library.custom_op vmap
    quasirandom.SobolEngine ops.aten.add Generator compile sort topk einsum where stft conv1d
    lobpcg Tensor.sort Tensor.add_ Tensor.softmax Tensor.scatter_add FloatTensor Size device
    float32 int64 get_backend set_printoptions mgrid c_ inf no_grad get_default_dtype
""".split()
CALLS = [
    lambda x: x.softmax(0),
    lambda x: x.sort(),
    lambda x: x.topk(1),
    lambda x: x.cumsum(0),
    lambda x: x @ x,
    lambda x: x[0],
    lambda x: x[x > 1],
    lambda x: x + 1,
    lambda x: x.add_(0),
    lambda x: 2 * x,
    lambda x: x.mean(0),
    lambda x: x.reshape(4),
    lambda x: x.T,
    lambda x: x.norm(),
    lambda x: x.svd(),
    lambda x: x.clamp(0, 1),
    lambda x: x.masked_fill(x > 1, 0.0),
    lambda x: x.to(tt.float64),
    lambda x: x.logsumexp(0),
    lambda x: repr(x),
    lambda x: x.requires_grad_().sin().sum().backward(),
    lambda x: (x.requires_grad_() @ x).prod().backward(),
    lambda x: tt.cat([x, x]),
    lambda x: tt.einsum("ij,jk->ik", x, x),
    lambda x: tt.where(x > 1, x, x),
    lambda x: tt.fft.fft(x),
    lambda x: tt.linalg.inv(x),
    lambda x: tt.randn(3),
    lambda x: tt.zeros(2),
    lambda x: tt.func.grad(lambda y: y.sin().sum())(x),
    lambda x: tt.func.vmap(tt.sin)(x),
    lambda x: tt.nn.Linear(2, 2)(x).sum().backward(),
    lambda x: tt.nn.functional.cross_entropy(x, tt.tensor([0, 1])),
    lambda x: tt.nn.functional.conv2d(tt.ones(1, 1, 4, 4), tt.ones(1, 1, 2, 2)),
    lambda x: tt.nn.functional.interpolate(tt.ones(1, 1, 4), 8),
    lambda x: tt.optim.SGD([x.requires_grad_()], 0.1),
    lambda x: tt.distributions.Normal(0.0, 1.0).sample(),
    lambda x: tt.numpy.mean(x),
    lambda x: dir(tt.nn),
    lambda x: dir(tt.Tensor),
    lambda x: hasattr(tt, "nothing_of_the_kind"),
]


def name(path):
    found = tt
    for part in path.split("."):
        found = getattr(found, part)


def touches(random_):
    """Imports, first uses of names and calls of one thread, in random order."""
    some = [(importlib.import_module, f"tinytorch.{m}") for m in random_.sample(MODULES, 8)]
    some += [(name, path) for path in random_.sample(NAMES, 12)]
    some += [(call, None) for call in random_.sample(CALLS, 8)]
    random_.shuffle(some)
    return some


def main(seed):
    """``seed`` chooses who touches what."""
    start, failed = threading.Barrier(8), []

    def work(todo):
        start.wait()
        for do, what in todo:
            x = tt.tensor([[1.0, 2.0], [3.0, 4.0]])
            try:
                do(x if what is None else what)
            except BaseException:
                failed.append(f"{what}: {traceback.format_exc()}")

    faulthandler.dump_traceback_later(100, exit=True)  # where threads wait for each other
    sys.setswitchinterval(1e-6)
    threads = [
        threading.Thread(target=work, args=(touches(random.Random(f"{seed} {i}")),))
        for i in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(*failed, sep="\n", end="")
