"""Expressions that construct instances of PyTorch's public classes, here and in PyTorch."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from typing import Any

_LAYERS = {
    "": """AlphaDropout BCELoss BCEWithLogitsLoss CELU CTCLoss CosineEmbeddingLoss CosineSimilarity
        CrossEntropyLoss Dropout Dropout1d Dropout2d Dropout3d ELU FeatureAlphaDropout Flatten GELU
        GLU GaussianNLLLoss Hardshrink Hardsigmoid Hardswish Hardtanh HingeEmbeddingLoss HuberLoss
        Identity KLDivLoss L1Loss LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d
        LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d LeakyReLU LogSigmoid LogSoftmax
        MSELoss MarginRankingLoss Mish Module MultiLabelMarginLoss MultiLabelSoftMarginLoss
        MultiMarginLoss NLLLoss NLLLoss2d PReLU PairwiseDistance PoissonNLLLoss RReLU ReLU ReLU6
        SELU SiLU Sigmoid SmoothL1Loss SoftMarginLoss Softmax Softmax2d Softmin Softplus Softshrink
        Softsign Tanh Tanhshrink TripletMarginLoss TripletMarginWithDistanceLoss
        UninitializedBuffer UninitializedParameter UpsamplingBilinear2d Container""",
    "2": """AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d
        AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d BatchNorm1d BatchNorm2d
        BatchNorm3d ChannelShuffle CircularPad1d CircularPad2d CircularPad3d CrossMapLRN2d
        InstanceNorm1d InstanceNorm2d InstanceNorm3d LayerNorm LazyLinear LocalResponseNorm
        MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d PixelShuffle
        PixelUnshuffle RMSNorm ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d
        ReplicationPad2d ReplicationPad3d SyncBatchNorm Unfold Upsample UpsamplingNearest2d
        ZeroPad1d ZeroPad2d ZeroPad3d""",
    "2, 2": """ConstantPad1d ConstantPad2d ConstantPad3d Fold GroupNorm LPPool1d LPPool2d LPPool3d
        LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d
        LazyConvTranspose3d Linear Threshold""",
    "2, output_size=2": "FractionalMaxPool2d FractionalMaxPool3d",
    "1, 2, 2": "Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d",
    "1, 2, 3, padding='same'": "Conv1d Conv2d Conv3d",
    "2, 3": "Embedding EmbeddingBag GRU GRUCell LSTM LSTMCell RNN RNNCell LinearCrossEntropyLoss",
    "4, 2": "MultiheadAttention",
    "4, 2, 8": "TransformerDecoderLayer TransformerEncoderLayer",
    "4, 2, 1, 1, 8": "Transformer",
    "1, (1, 2)": "Unflatten",
    "'LSTM', 2, 3": "RNNBase",
    "2, 3, True, 4": "RNNCellBase",
    "nn.TransformerEncoderLayer(4, 2, 8), 1": "TransformerEncoder",
    "nn.TransformerDecoderLayer(4, 2, 8), 1": "TransformerDecoder",
    "4, 6, [2, 4]": "AdaptiveLogSoftmaxWithLoss",
    "nn.ReLU()": "DataParallel Sequential",
    "[nn.ReLU()]": "ModuleList",
    "{'a': nn.ReLU()}": "ModuleDict",
    "[ones(1)]": "ParameterList",
    "{'a': ones(1)}": "ParameterDict",
    "ones(2)": "Buffer Parameter",
}
_PARAMETERS = "[nn.Parameter(ones(2, 2))]"
_OPTIMIZERS = """ASGD Adadelta Adafactor Adagrad Adam AdamW Adamax LBFGS Muon NAdam RAdam RMSprop
    Rprop SGD SparseAdam"""
_SGD = f"optim.SGD({_PARAMETERS}, lr=0.1, momentum=0.9)"
_SCHEDULERS = {
    "ConstantLR": "", "CosineAnnealingLR": "3", "CosineAnnealingWarmRestarts": "3",
    "CyclicLR": "0.1, 1.0", "ExponentialLR": "0.5", "LambdaLR": "lambda n: 0.5", "LinearLR": "",
    "MultiStepLR": "[1]", "MultiplicativeLR": "lambda n: 0.5", "OneCycleLR": "1.0, 10",
    "PolynomialLR": "", "ReduceLROnPlateau": "", "StepLR": "1",
    "SequentialLR": "[optim.lr_scheduler.StepLR(o, 1), optim.lr_scheduler.StepLR(o, 1)], [1]",
}  # fmt: skip
#: ``h`` stands for a half, ``p`` for probabilities.
_DISTRIBUTIONS = {
    "": """AbsTransform CorrCholeskyTransform Distribution ExpTransform ExponentialFamily
        LowerCholeskyTransform PositiveDefiniteTransform SigmoidTransform SoftmaxTransform
        SoftplusTransform StickBreakingTransform TanhTransform Transform""",
    "h": """Bernoulli Chi2 ContinuousBernoulli Exponential Geometric HalfCauchy HalfNormal Poisson
        PowerTransform StudentT""",
    "h, h": """Beta Cauchy FisherSnedecor Gamma Gumbel InverseGamma Kumaraswamy Laplace LogNormal
        Normal Pareto RelaxedBernoulli VonMises Weibull""",
    "h, h, h": "GeneralizedPareto",
    "h, 2 * h": "AffineTransform Uniform",
    "h, p": "RelaxedOneHotCategorical",
    "p": "Categorical Dirichlet OneHotCategorical OneHotCategoricalStraightThrough",
    "logits=p": "Bernoulli Categorical",
    "p, p": "LogisticNormal",
    "3, h": "Binomial NegativeBinomial",
    "3, p": "Multinomial",
    "2": "LKJCholesky",
    "p, eye(2)": "MultivariateNormal",
    "p, eye(2), p": "LowRankMultivariateNormal",
    "3.0, eye(2)": "Wishart",
    "distributions.Normal(p, p), 1": "Independent",
    "distributions.Normal(h, h)": "CumulativeDistributionTransform",
    "distributions.Normal(h, h), [distributions.ExpTransform()]": "TransformedDistribution",
    "distributions.Categorical(p), distributions.Normal(p, p)": "MixtureSameFamily",
    "distributions.ExpTransform(), 1": "IndependentTransform",
    "[distributions.ExpTransform()]": "CatTransform ComposeTransform StackTransform",
    "(2,), (1, 2)": "ReshapeTransform",
}
_OTHERS = f"""
    optim.Optimizer({_PARAMETERS}, dict(lr=0.1))
    optim.lr_scheduler.ChainedScheduler([optim.lr_scheduler.StepLR({_SGD}, 1)])
    optim.swa_utils.SWALR({_SGD}, 0.1)
    optim.swa_utils.AveragedModel(nn.Linear(2, 2))
    distributions.Normal(zeros(2), 1.0).expand([3, 2])
    distributions.constraints.interval(0, 1)
    distributions.constraints.independent(distributions.constraints.real, 1)
    utils.data.BatchSampler(range(3), 2, False)
    utils.data.ChainDataset([])
    utils.data.ConcatDataset([[1]])
    utils.data.DataLoader([1, 2])
    utils.data.DataLoader([1, 2], num_workers=1)
    iter(utils.data.DataLoader([1, 2]))
    iter(utils.data.DataLoader([1, 2], num_workers=1))
    iter(utils.data.DataLoader([1, 2]))._dataset_fetcher
    utils.data.Dataset()
    utils.data.DistributedSampler([1, 2], 2, 0)
    utils.data.RandomSampler([1])
    utils.data.Sampler()
    utils.data.SequentialSampler([1])
    utils.data.StackDataset([1])
    utils.data.Subset([1], [0])
    utils.data.SubsetRandomSampler([0])
    utils.data.TensorDataset(ones(2))
    utils.data.WeightedRandomSampler([1.0], 1)
    amp.GradScaler('cpu')
    [s for s in [amp.GradScaler('cpu', growth_interval=3)] if s.scale(ones(1)) is not None][0]
    amp.autocast('cpu')
    Generator()
    ones(2)
    [x.sum() for x in [ones(2, requires_grad=True)]][0]
    nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
    nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)).parametrizations.weight
    nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)).parametrizations.weight[0]
    nn.utils.parametrizations.spectral_norm(nn.Linear(2, 2)).parametrizations.weight[0]
    nn.utils.parametrizations.orthogonal(nn.Linear(2, 2)).parametrizations.weight[0]
    nn.utils.weight_norm(nn.Linear(2, 2))
    nn.utils.spectral_norm(nn.Linear(2, 2))
    nn.utils.rnn.pack_sequence([ones(2, 1)])
    nn.utils.prune.l1_unstructured(nn.Linear(2, 2), 'weight', 0.5)
    nn.utils.prune.CustomFromMask(ones(2))
    nn.utils.prune.L1Unstructured(1)
    nn.utils.prune.LnStructured(1, 1)
    nn.utils.prune.PruningContainer()
    nn.utils.prune.RandomUnstructured(1)
    nn.ReLU().register_forward_hook(print)
    futures.Future()
    Size((1,))
"""

#: Public classes of these modules without an expression, with the reason.
WITHOUT = {
    "IterableDataset": "abstract",
    "LRScheduler": "abstract",
    "LinearCrossEntropyOptions": "chunks of a fused CUDA kernel",
    "DataChunk DFIterDataPipe IterDataPipe MapDataPipe argument_validation functional_datapipe "
    "guaranteed_datapipes_determinism non_deterministic runtime_validation "
    "runtime_validation_disabled": "data pipes, which PyTorch has given up",
}
MODULES = ("nn", "optim", "optim.lr_scheduler", "distributions", "utils.data", "amp")


def expressions() -> Iterator[str]:
    """Yield an expression for each instance."""
    for arguments, names in _LAYERS.items():
        yield from (f"nn.{name}({arguments})" for name in names.split())
    yield from (f"optim.{name}({_PARAMETERS}, lr=0.1)" for name in _OPTIMIZERS.split())
    for name, arguments in _SCHEDULERS.items():
        yield f"[optim.lr_scheduler.{name}(o, {arguments}) for o in [{_SGD}]][0]"
    for arguments, names in _DISTRIBUTIONS.items():
        given = re.sub(r"\bh\b", "tensor(0.5)", arguments)
        given = re.sub(r"\bp\b", "tensor([0.5, 0.5])", given)
        yield from (f"distributions.{name}({given})" for name in names.split())
    yield from (line.strip() for line in _OTHERS.strip().splitlines())


class _Names(dict[str, Any]):
    """Names of an expression: a library's, and Python's built-in ones."""

    def __init__(self, library: Any) -> None:
        super().__init__()
        self._library = library

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, None) or getattr(self._library, name)


def construct(library: Any, expression: str) -> Any:
    """Evaluate an expression with a library's names."""
    library.manual_seed(0)
    return eval(expression, _Names(library))
