"""Neural networks: modules, parameters, initialisation and functions.

Example:
    >>> import tinytorch as tt
    >>> from tinytorch import nn
    >>> net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    >>> net(tt.zeros(3, 4)).shape
    tinytorch.Size([3, 2])
"""

from __future__ import annotations

from . import functional as functional
from . import init as init
from . import utils as utils
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
from .class_loss import CrossEntropyLoss as CrossEntropyLoss
from .class_loss import CTCLoss as CTCLoss
from .class_loss import LinearCrossEntropyLoss as LinearCrossEntropyLoss
from .class_loss import NLLLoss as NLLLoss
from .container import ModuleDict as ModuleDict
from .container import ModuleList as ModuleList
from .container import ParameterDict as ParameterDict
from .container import ParameterList as ParameterList
from .container import Sequential as Sequential
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
from .flatten import Flatten as Flatten
from .flatten import Unflatten as Unflatten
from .linear import Bilinear as Bilinear
from .linear import Identity as Identity
from .linear import Linear as Linear
from .loss import BCELoss as BCELoss
from .loss import BCEWithLogitsLoss as BCEWithLogitsLoss
from .loss import GaussianNLLLoss as GaussianNLLLoss
from .loss import HuberLoss as HuberLoss
from .loss import KLDivLoss as KLDivLoss
from .loss import L1Loss as L1Loss
from .loss import MSELoss as MSELoss
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
from .normalization import GroupNorm as GroupNorm
from .normalization import LayerNorm as LayerNorm
from .normalization import LocalResponseNorm as LocalResponseNorm
from .normalization import RMSNorm as RMSNorm
from .parameter import Buffer as Buffer
from .parameter import Parameter as Parameter
from .parameter import UninitializedBuffer as UninitializedBuffer
from .parameter import UninitializedParameter as UninitializedParameter
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
