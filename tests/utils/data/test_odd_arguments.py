"""Loaders, samplers, datasets and collation with wrong and odd arguments, compared with PyTorch."""

from __future__ import annotations

import builtins
import collections
from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

P = collections.namedtuple("P", "a b")

_CASES = """
DataLoader(range(4), generator=3)
list(DataLoader(range(4), generator=3))
list(DataLoader(range(4), shuffle=True, generator=3))
DataLoader(range(4), batch_size=0)
DataLoader(range(4), batch_size=-1)
DataLoader(range(4), batch_size=2.5)
DataLoader(range(4), batch_size='2')
DataLoader(range(4), batch_size=True)
DataLoader(range(4), batch_size=None, drop_last=True)
DataLoader(range(4), batch_size=None, shuffle=True)
list(DataLoader(range(4), batch_size=None))
DataLoader(range(4), shuffle=1)
DataLoader(range(4), shuffle='yes')
DataLoader(range(4), shuffle=True, sampler=[0])
DataLoader(range(4), batch_sampler=[[0]], batch_size=2)
DataLoader(range(4), batch_sampler=[[0]], drop_last=True)
list(DataLoader(range(4), batch_sampler=[[0, 1], [2]]))
list(DataLoader(range(4), sampler=[3, 1]))
list(DataLoader(range(4), sampler=3))
DataLoader(range(4), sampler=3)
DataLoader(range(4), num_workers=-1)
DataLoader(range(4), num_workers=1.5)
DataLoader(range(4), num_workers='1')
DataLoader(range(4), timeout=-1)
DataLoader(range(4), timeout='a')
DataLoader(range(4), prefetch_factor=2)
DataLoader(range(4), num_workers=1, prefetch_factor=-2)
DataLoader(range(4), persistent_workers=True)
DataLoader(range(4), multiprocessing_context='fork')
DataLoader(range(4), num_workers=1, multiprocessing_context='nothing')
DataLoader(range(4), num_workers=1, multiprocessing_context=3)
DataLoader(range(4), drop_last='x')
DataLoader(range(4), drop_last=1)
list(DataLoader(range(4), collate_fn=3))
list(DataLoader(range(4), batch_size=2, collate_fn=list))
DataLoader(3)
list(DataLoader(3))
DataLoader(None)
DataLoader([])
list(DataLoader([]))
DataLoader([], shuffle=True)
list(DataLoader([], shuffle=True))
len(DataLoader(range(5), batch_size=2))
len(DataLoader(range(5), batch_size=2, drop_last=True))
list(DataLoader({'a': 1}))
list(DataLoader('abc', batch_size=2))
list(DataLoader([None]))
list(DataLoader([object()]))
list(DataLoader([b'a']))
list(DataLoader([1, 'a'], batch_size=2))
list(DataLoader([1, 2.5], batch_size=2))
list(DataLoader([True, 2], batch_size=2))
list(DataLoader([(1,), (1, 2)], batch_size=2))
list(DataLoader([{'a': 1}, {'b': 1}], batch_size=2))
list(DataLoader([ones(2), ones(3)], batch_size=2))
DataLoader(range(4), bogus=1)
DataLoader()
DataLoader(range(4), worker_init_fn=3)
list(DataLoader(range(2), pin_memory=False, pin_memory_device=''))
DataLoader(range(4)).batch_size
setattr(DataLoader(range(4)), 'batch_size', 3)
setattr(DataLoader(range(4)), 'dataset', 3)
setattr(DataLoader(range(4)), 'multiprocessing_context', 'fork')
SequentialSampler(3)
list(SequentialSampler(3))
len(SequentialSampler([1, 2]))
list(SequentialSampler(None))
RandomSampler(3)
len(RandomSampler([]))
RandomSampler([])
list(RandomSampler([]))
RandomSampler([1], replacement=1)
RandomSampler([1], num_samples=0)
RandomSampler([1], num_samples=-1)
RandomSampler([1], num_samples=1.5)
RandomSampler([1], num_samples=True)
RandomSampler([1], num_samples='a')
list(RandomSampler([1], generator=3))
list(RandomSampler([1], replacement=True, generator=3))
RandomSampler([1], generator='a')
list(RandomSampler([1, 2], num_samples=5, generator=Generator().manual_seed(0)))
SubsetRandomSampler(3)
list(SubsetRandomSampler(3))
list(SubsetRandomSampler([]))
list(SubsetRandomSampler([4, 5], generator=3))
sorted(SubsetRandomSampler('ab'))
sorted(SubsetRandomSampler(tensor([4, 5])))
WeightedRandomSampler([1.0], 0)
WeightedRandomSampler([1.0], 1.5)
WeightedRandomSampler([1.0], True)
WeightedRandomSampler([1.0], 1, replacement=1)
WeightedRandomSampler([[1.0]], 1)
WeightedRandomSampler(1.0, 1)
WeightedRandomSampler('a', 1)
WeightedRandomSampler(None, 1)
list(WeightedRandomSampler([1.0], 2, replacement=False))
list(WeightedRandomSampler([0.0, 0.0], 2))
list(WeightedRandomSampler([-1.0, 2.0], 2))
list(WeightedRandomSampler([float('nan'), 2.0], 2))
list(WeightedRandomSampler([float('inf'), 2.0], 2))
list(WeightedRandomSampler([], 2))
list(WeightedRandomSampler([1.0, 2.0], 2, generator=3))
list(WeightedRandomSampler(np.ones(2), 2, replacement=False, generator=Generator().manual_seed(0)))
list(WeightedRandomSampler(tensor([1, 2]), 2, generator=Generator().manual_seed(0)))
WeightedRandomSampler([1.0, 2.0], 2).weights
BatchSampler(range(3), 0, False)
BatchSampler(range(3), -1, False)
BatchSampler(range(3), 1.5, False)
BatchSampler(range(3), True, False)
BatchSampler(range(3), 2, 1)
BatchSampler(range(3), 2, None)
BatchSampler(3, 2, False)
list(BatchSampler(3, 2, False))
len(BatchSampler(iter([1]), 2, False))
list(BatchSampler(range(3), 2, True))
list(BatchSampler(range(3), 2, False))
list(BatchSampler('abc', 2, False))
BatchSampler(range(3), 2)
DistributedSampler(range(3), 2, 2)
DistributedSampler(range(3), 2, -1)
DistributedSampler(range(3))
list(DistributedSampler(range(3), 2, 1, shuffle=False))
list(DistributedSampler(range(3), 2, 1, shuffle=False, drop_last=True))
list(DistributedSampler(range(3), 2, 0, seed=3))
list(DistributedSampler(range(3), 2, 0, seed='a'))
list(DistributedSampler([], 2, 0))
DistributedSampler(3, 2, 0)
DistributedSampler(range(3), 'a', 0)
DistributedSampler(range(3), 0, 0)
len(DistributedSampler(range(3), 2, 0))
default_collate([])
default_collate(3)
default_collate(None)
default_collate([None])
default_collate([object()])
default_collate([1, None])
default_collate(['a', 'b'])
default_collate([b'a'])
default_collate('ab')
default_collate([np.float32(1), np.float32(2)])
default_collate([np.int8(1)])
default_collate([np.uint16(1)])
default_collate([np.bool_(True)])
default_collate([np.complex64(1j)])
default_collate([1j])
default_collate([np.str_('a')])
default_collate([np.datetime64('2020-01-01')])
default_collate([np.array(['2020-01-01'], 'M8[D]')])
default_collate([np.timedelta64(1, 'D')])
default_collate([np.array([1], 'm8[s]')])
default_collate([np.array(['a'])])
default_collate([np.array([b'a'])])
default_collate([np.array([None])])
default_collate([np.array([1], dtype=object)])
default_collate([np.zeros(2, 'V4')])
default_collate([np.zeros(2, [('x', 'i4')])])
default_collate([np.zeros(2, 'f2')])
default_collate([np.zeros(2, 'u4')])
default_collate([np.zeros(2, 'u8')])
default_collate([np.zeros(2, '>i4')])
default_collate([np.zeros(2, 'g')])
default_collate([np.array(3)])
default_collate([np.array([[1, 2], [3, 4]])[:, ::-1]])
default_collate([np.array([1.0]), np.array([1.0, 2.0])])
default_collate([np.ma.array([1])])
default_collate([np.matrix([[1]])])
default_collate([P(1, 'a'), P(2, 'b')])
default_collate([P(1, None)])
default_collate([(1, 2), (3, 4)])
default_collate([[1, 2], [3, 4]])
default_collate([[], []])
default_collate([()])
default_collate([{}, {}])
default_collate([{'a': {'b': [1, (2.0, 'c')]}}])
default_collate([{1, 2}])
default_collate([range(3)])
default_collate([iter([1])])
default_collate([collections.OrderedDict(a=1)])
default_collate([collections.defaultdict(int, a=1)])
default_collate([collections.deque([1, 2])])
default_collate([collections.Counter('a')])
default_collate([datetime.date(2020, 1, 1)])
default_collate([ones(2), np.ones(2)])
default_collate([ones(2), 1])
default_collate([1.5, ones(1)])
default_collate([2**70])
default_collate([True, False])
default_collate([float('nan')])
default_collate((1, 2))
default_collate({'a': 1})
default_collate([slice(3)])
default_collate([lambda: 0])
default_collate([bytearray(b'ab')])
default_collate([memoryview(b'ab')])
default_collate([ones(2, requires_grad=True)])
default_collate([ones(2).to(bfloat16)])
default_convert(np.datetime64('2020-01-01'))
default_convert(np.array(['a']))
default_convert(np.array(['2020-01-01'], 'M8[D]'))
default_convert(np.float32(1))
default_convert(P(np.ones(1), 'a'))
default_convert([np.ones(1), {'a': 3}])
default_convert(None)
default_convert('a')
random_split(range(4), [2, 1])
random_split(range(4), [2, 2, 1])
[list(s) for s in random_split(range(4), [3, 1], generator=Generator().manual_seed(0))]
[len(s) for s in random_split(range(4), [0.5, 0.5])]
[len(s) for s in random_split(range(5), [0.5, 0.5])]
random_split(range(4), [0.5, 0.6])
random_split(range(4), [-1, 5])
random_split(range(4), [1.5, -0.5])
random_split(range(4), 4)
random_split(range(4), [])
random_split(3, [1])
random_split(range(4), [4], generator=3)
random_split(range(4), ['a'])
random_split([], [])
random_split(range(4), [4, 0])
TensorDataset()
TensorDataset(ones(2), ones(3))
TensorDataset(3)
TensorDataset(tensor(1.0))
TensorDataset([1, 2])
TensorDataset(np.ones(2))[0]
TensorDataset(ones(2))[5]
TensorDataset(ones(2))['a']
TensorDataset(ones(2))[-1]
TensorDataset(ones(3))[1:]
len(TensorDataset(ones(3, 2)))
ConcatDataset([])
ConcatDataset(3)
ConcatDataset([3])
ConcatDataset([range(2), range(3)])[4]
ConcatDataset([range(2)])[2]
ConcatDataset([range(2)])[-3]
ConcatDataset([range(2)])['a']
ConcatDataset([range(2)])[1.0]
len(ConcatDataset([range(2), []]))
ConcatDataset([[]])
ChainDataset([])
list(ChainDataset([]))
list(ChainDataset([range(2)]))
len(ChainDataset([range(2)]))
list(ChainDataset(3))
Subset(range(3), [5])[0]
Subset(range(3), 3)
len(Subset(range(3), [1]))
Subset(range(3), [1])[[0]]
Subset(range(3), [1])['a']
StackDataset()
StackDataset([1], [1, 2])
StackDataset([1], a=[1])
StackDataset(a=[1])[0]
StackDataset([1], [2])[0]
StackDataset(3)
Dataset()[0]
len(Dataset())
Dataset() + Dataset()
len(range(2)) and (TensorDataset(ones(1)) + TensorDataset(ones(1)))[1]
IterableDataset()
Sampler()
list(Sampler())
len(Sampler())
repr(TensorDataset(ones(1)))[:20]
get_worker_info()
""".strip().splitlines()

#: What PyTorch raises for and is accepted here, or raises another error, with the reason.
_DIFFERENT = {
    "default_collate([np.zeros(2, '>i4')])": "other byte orders are converted",
    "default_collate([np.array([[1, 2], [3, 4]])[:, ::-1]])": "strides may be negative",
    "TensorDataset(np.ones(2))[0]": "arrays have rows, too",
    "repr(TensorDataset(ones(1)))[:20]": "it says what is in it",
    "WeightedRandomSampler(None, 1)": "tensor(None) does not look at the dtype first",
}
#: Beginnings of PyTorch's texts that name its own C++ functions and their signatures.
_OF_SIGNATURES = (
    "random_() received", "randperm() received", "randint() received", "multinomial(): argument",
    "'>=' not supported", "invalid multinomial distribution", "Dimension specified as 0",
)  # fmt: skip


class _Names(dict[str, Any]):
    """Names of a case: ``utils.data``'s, Python's, the library's and this file's."""

    def __init__(self, library: Any) -> None:
        super().__init__()
        self._homes = (library.utils.data, builtins, library)

    def __missing__(self, name: str) -> Any:
        for home in self._homes:
            if hasattr(home, name):
                return getattr(home, name)
        return globals()[name]


def _summary(library: Any, value: Any) -> Any:
    """Values and types in terms of Python's own."""
    if isinstance(value, library.Tensor):
        numbers = value.detach().double() if value.is_floating_point() else value
        return str(value.dtype).rpartition(".")[2], tuple(value.shape), numbers.tolist()
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *(_summary(library, item) for item in value)]
    if isinstance(value, dict):
        items = [(key, _summary(library, item)) for key, item in value.items()]
        return [type(value).__name__, *items]
    if value is None or isinstance(value, (int, float, str, bytes, np.generic)):
        return value
    return type(value).__name__


def _outcome(library: Any, case: str) -> tuple[Any, Exception | None]:
    library.manual_seed(0)
    try:
        return repr(_summary(library, eval(case, _Names(library)))), None
    except Exception as error:
        return None, error


@pytest.mark.parametrize("case", [case for case in _CASES if case not in _DIFFERENT])
def test_odd_arguments_have_pytorchs_outcome(torch: Any, case: str) -> None:
    import tinytorch as tt

    value, error = _outcome(torch, case)
    ours, ours_error = _outcome(tt, case)
    assert ours == value, ours_error
    if error is None:
        return
    assert isinstance(ours_error, type(error)), repr(ours_error)
    text = str(error)
    if not text.startswith(_OF_SIGNATURES):
        assert str(ours_error).replace("tinytorch", "torch")[:30] == text[:30]


@pytest.mark.parametrize("case", _DIFFERENT)
def test_listed_differences_from_pytorch_exist(torch: Any, case: str) -> None:
    import tinytorch as tt

    (value, error), (ours, ours_error) = _outcome(torch, case), _outcome(tt, case)
    assert (value, type(error)) != (ours, type(ours_error))
