"""Neural networks: modules, parameters, initialization and functions.

Example:
    >>> net = tt.nn.Sequential(tt.nn.Linear(4, 8), tt.nn.ReLU(), tt.nn.Linear(8, 2))
    >>> net(tt.zeros(3, 4)).shape
    tinytorch.Size([3, 2])
"""

from __future__ import annotations

from . import common_types as common_types
from . import functional as functional
from . import grad as grad
from . import init as init
from . import modules as modules
from . import parallel as parallel
from . import utils as utils
from ._docstrings import complete_docstrings
from .activation import GELU as GELU
from .activation import GLU as GLU
from .activation import Hardshrink as Hardshrink
from .activation import LogSigmoid as LogSigmoid
from .activation import LogSoftmax as LogSoftmax
from .activation import Sigmoid as Sigmoid
from .activation import Softmax as Softmax
from .activation import Softmax2d as Softmax2d
from .activation import Softmin as Softmin
from .activation import Softplus as Softplus
from .activation import Softshrink as Softshrink
from .activation import Softsign as Softsign
from .activation import Tanh as Tanh
from .activation import Tanhshrink as Tanhshrink
from .adaptive import AdaptiveLogSoftmaxWithLoss as AdaptiveLogSoftmaxWithLoss
from .attention import MultiheadAttention as MultiheadAttention
from .batchnorm import BatchNorm1d as BatchNorm1d
from .batchnorm import BatchNorm2d as BatchNorm2d
from .batchnorm import BatchNorm3d as BatchNorm3d
from .batchnorm import InstanceNorm1d as InstanceNorm1d
from .batchnorm import InstanceNorm2d as InstanceNorm2d
from .batchnorm import InstanceNorm3d as InstanceNorm3d
from .batchnorm import SyncBatchNorm as SyncBatchNorm
from .container import Container as Container
from .container import ModuleDict as ModuleDict
from .container import ModuleList as ModuleList
from .container import ParameterDict as ParameterDict
from .container import ParameterList as ParameterList
from .container import Sequential as Sequential
from .conv import Conv1d as Conv1d
from .conv import Conv2d as Conv2d
from .conv import Conv3d as Conv3d
from .conv import ConvTranspose1d as ConvTranspose1d
from .conv import ConvTranspose2d as ConvTranspose2d
from .conv import ConvTranspose3d as ConvTranspose3d
from .distance import CosineSimilarity as CosineSimilarity
from .distance import PairwiseDistance as PairwiseDistance
from .dropout import AlphaDropout as AlphaDropout
from .dropout import Dropout as Dropout
from .dropout import Dropout1d as Dropout1d
from .dropout import Dropout2d as Dropout2d
from .dropout import Dropout3d as Dropout3d
from .dropout import FeatureAlphaDropout as FeatureAlphaDropout
from .embedding import Embedding as Embedding
from .embedding import EmbeddingBag as EmbeddingBag
from .lazy import LazyBatchNorm1d as LazyBatchNorm1d
from .lazy import LazyBatchNorm2d as LazyBatchNorm2d
from .lazy import LazyBatchNorm3d as LazyBatchNorm3d
from .lazy import LazyConv1d as LazyConv1d
from .lazy import LazyConv2d as LazyConv2d
from .lazy import LazyConv3d as LazyConv3d
from .lazy import LazyConvTranspose1d as LazyConvTranspose1d
from .lazy import LazyConvTranspose2d as LazyConvTranspose2d
from .lazy import LazyConvTranspose3d as LazyConvTranspose3d
from .lazy import LazyInstanceNorm1d as LazyInstanceNorm1d
from .lazy import LazyInstanceNorm2d as LazyInstanceNorm2d
from .lazy import LazyInstanceNorm3d as LazyInstanceNorm3d
from .lazy import LazyLinear as LazyLinear
from .lazy import LazyModuleMixin as LazyModuleMixin
from .linear import Bilinear as Bilinear
from .linear import Identity as Identity
from .linear import Linear as Linear
from .loss import BCELoss as BCELoss
from .loss import BCEWithLogitsLoss as BCEWithLogitsLoss
from .loss import CrossEntropyLoss as CrossEntropyLoss
from .loss import CTCLoss as CTCLoss
from .loss import GaussianNLLLoss as GaussianNLLLoss
from .loss import HuberLoss as HuberLoss
from .loss import KLDivLoss as KLDivLoss
from .loss import L1Loss as L1Loss
from .loss import LinearCrossEntropyLoss as LinearCrossEntropyLoss
from .loss import LinearCrossEntropyOptions as LinearCrossEntropyOptions
from .loss import MSELoss as MSELoss
from .loss import NLLLoss as NLLLoss
from .loss import NLLLoss2d as NLLLoss2d
from .loss import PoissonNLLLoss as PoissonNLLLoss
from .loss import SmoothL1Loss as SmoothL1Loss
from .margin_loss import CosineEmbeddingLoss as CosineEmbeddingLoss
from .margin_loss import HingeEmbeddingLoss as HingeEmbeddingLoss
from .margin_loss import MarginRankingLoss as MarginRankingLoss
from .margin_loss import MultiLabelMarginLoss as MultiLabelMarginLoss
from .margin_loss import MultiLabelSoftMarginLoss as MultiLabelSoftMarginLoss
from .margin_loss import MultiMarginLoss as MultiMarginLoss
from .margin_loss import SoftMarginLoss as SoftMarginLoss
from .margin_loss import TripletMarginLoss as TripletMarginLoss
from .margin_loss import TripletMarginWithDistanceLoss as TripletMarginWithDistanceLoss
from .module import Module as Module
from .normalization import CrossMapLRN2d as CrossMapLRN2d
from .normalization import GroupNorm as GroupNorm
from .normalization import LayerNorm as LayerNorm
from .normalization import LocalResponseNorm as LocalResponseNorm
from .normalization import RMSNorm as RMSNorm
from .padding import CircularPad1d as CircularPad1d
from .padding import CircularPad2d as CircularPad2d
from .padding import CircularPad3d as CircularPad3d
from .padding import ConstantPad1d as ConstantPad1d
from .padding import ConstantPad2d as ConstantPad2d
from .padding import ConstantPad3d as ConstantPad3d
from .padding import ReflectionPad1d as ReflectionPad1d
from .padding import ReflectionPad2d as ReflectionPad2d
from .padding import ReflectionPad3d as ReflectionPad3d
from .padding import ReplicationPad1d as ReplicationPad1d
from .padding import ReplicationPad2d as ReplicationPad2d
from .padding import ReplicationPad3d as ReplicationPad3d
from .padding import ZeroPad1d as ZeroPad1d
from .padding import ZeroPad2d as ZeroPad2d
from .padding import ZeroPad3d as ZeroPad3d
from .parallel import DataParallel as DataParallel
from .parameter import Buffer as Buffer
from .parameter import Parameter as Parameter
from .parameter import UninitializedBuffer as UninitializedBuffer
from .parameter import UninitializedParameter as UninitializedParameter
from .pooling import AdaptiveAvgPool1d as AdaptiveAvgPool1d
from .pooling import AdaptiveAvgPool2d as AdaptiveAvgPool2d
from .pooling import AdaptiveAvgPool3d as AdaptiveAvgPool3d
from .pooling import AdaptiveMaxPool1d as AdaptiveMaxPool1d
from .pooling import AdaptiveMaxPool2d as AdaptiveMaxPool2d
from .pooling import AdaptiveMaxPool3d as AdaptiveMaxPool3d
from .pooling import AvgPool1d as AvgPool1d
from .pooling import AvgPool2d as AvgPool2d
from .pooling import AvgPool3d as AvgPool3d
from .pooling import FractionalMaxPool2d as FractionalMaxPool2d
from .pooling import FractionalMaxPool3d as FractionalMaxPool3d
from .pooling import LPPool1d as LPPool1d
from .pooling import LPPool2d as LPPool2d
from .pooling import LPPool3d as LPPool3d
from .pooling import MaxPool1d as MaxPool1d
from .pooling import MaxPool2d as MaxPool2d
from .pooling import MaxPool3d as MaxPool3d
from .pooling import MaxUnpool1d as MaxUnpool1d
from .pooling import MaxUnpool2d as MaxUnpool2d
from .pooling import MaxUnpool3d as MaxUnpool3d
from .rearrangement import ChannelShuffle as ChannelShuffle
from .rearrangement import Flatten as Flatten
from .rearrangement import Fold as Fold
from .rearrangement import PixelShuffle as PixelShuffle
from .rearrangement import PixelUnshuffle as PixelUnshuffle
from .rearrangement import Unflatten as Unflatten
from .rearrangement import Unfold as Unfold
from .rectifier import CELU as CELU
from .rectifier import ELU as ELU
from .rectifier import SELU as SELU
from .rectifier import Hardsigmoid as Hardsigmoid
from .rectifier import Hardswish as Hardswish
from .rectifier import Hardtanh as Hardtanh
from .rectifier import LeakyReLU as LeakyReLU
from .rectifier import Mish as Mish
from .rectifier import PReLU as PReLU
from .rectifier import ReLU as ReLU
from .rectifier import ReLU6 as ReLU6
from .rectifier import RReLU as RReLU
from .rectifier import SiLU as SiLU
from .rectifier import Threshold as Threshold
from .rnn import GRU as GRU
from .rnn import LSTM as LSTM
from .rnn import RNN as RNN
from .rnn import RNNBase as RNNBase
from .rnn_cell import GRUCell as GRUCell
from .rnn_cell import LSTMCell as LSTMCell
from .rnn_cell import RNNCell as RNNCell
from .rnn_cell import RNNCellBase as RNNCellBase
from .transformer import Transformer as Transformer
from .transformer import TransformerDecoder as TransformerDecoder
from .transformer import TransformerDecoderLayer as TransformerDecoderLayer
from .transformer import TransformerEncoder as TransformerEncoder
from .transformer import TransformerEncoderLayer as TransformerEncoderLayer
from .upsampling import Upsample as Upsample
from .upsampling import UpsamplingBilinear2d as UpsamplingBilinear2d
from .upsampling import UpsamplingNearest2d as UpsamplingNearest2d

_layers = [v for v in globals().values() if isinstance(v, type) and issubclass(v, Module)]
complete_docstrings([layer for layer in _layers if layer is not Module], root=Module)


def __dir__() -> list[str]:
    """List the layers and the public modules, without the modules that define the layers."""
    modules = {"common_types", "functional", "grad", "init", "modules", "parallel", "utils"}
    return sorted(name for name in globals() if name[0].isupper() or name in modules)
