"""Expressions whose node has PyTorch's name, for ``test_names``, a line each."""

EXPRESSIONS = r"""
x[0]
x[0, 1]
x[1:]
x[:]
x[...]
x[None]
x[:, 0]
x[0, 1:]
x[1:, 0]
x[:, None]
x[..., 0]
x[0, ...]
x[::2]
x[idx]
x[idx, 0]
x[0, idx]
x[mask]
x[:, idx]
x[idx, :]
x[1:, idx]
x[True]
x[-1]
x[None, 0]
x[0][None]
x[[0, 1]]
x[L.tensor(1)]
x.select(0, 1)
x.narrow(0, 0, 1)
x[0, 1, None]
x @ x.T
x @ v
v @ x.T
v @ v
x3 @ x.T
x3 @ v
x3 @ x3.mT
x @ x3.mT
v @ x3.mT
L.matmul(x4, x4.mT)
L.mm(x, x.T)
L.bmm(x3, x3.mT)
L.mv(x, v)
L.dot(v, v)
L.inner(v, v)
L.outer(v, v)
F.linear(x, w)
F.linear(x, w, b)
F.linear(v, w, b)
F.linear(v, w)
F.linear(x3, w, b)
F.linear(x3, w)
F.linear(x.detach(), w, b)
F.linear(x3.detach(), w, b)
L.nn.Linear(3, 2)(x)
x.reshape(6)
x.T.reshape(6)
x.reshape(2, 3)
x.view(6)
x.view(-1)
x.flatten()
x.T.flatten()
x3.flatten(1)
x.ravel()
x.T.ravel()
x.unflatten(1, (3, 1))
x.contiguous()
x.T.contiguous()
x.T
x.t()
x.mT
x.transpose(0, 1)
x.swapaxes(0, 1)
x.permute(1, 0)
x.movedim(0, 1)
x.unsqueeze(0)
x.unsqueeze(0).squeeze()
x.unsqueeze(0).squeeze(0)
x.unsqueeze(0).squeeze((0,))
x.squeeze(0)
x.expand(4, 2, 3)
x.expand_as(x3)
L.broadcast_to(x, (4, 2, 3))
x.repeat(2, 1)
x.tile(2)
x.flip(0)
x.roll(1)
x.clone()
x.double()
x.to(L.float64)
x.half()
x.type(L.float64)
x.sum()
x.sum(0)
x.sum(0, keepdim=True)
x.sum(())
x.mean()
x.mean(1)
x.prod()
x.prod(1)
x.max()
x.min()
x.max(1)[0]
x.max(1).values
x.min(1, keepdim=True)[0]
x.median()
x.median(1)[0]
x.mode(1)[0]
x.kthvalue(1)[0]
x.sort()[0]
x.sort(1, descending=True)[0]
x.topk(2)[0]
x.msort()
x.cummax(1)[0]
x.amax()
x.amax(1)
x.aminmax(dim=0)[0]
x.std()
x.var(1)
x.std(1, unbiased=False)
L.var_mean(x)[0]
L.std_mean(x, 1)[1]
x.norm()
x.norm(dim=1)
x.norm(p=1)
x.norm(p=1, dim=1)
L.linalg.norm(x)
L.linalg.vector_norm(x)
L.linalg.norm(x, dim=1)
L.norm(x, 'fro')
L.norm(x)
L.dist(x, x + 1)
x.cumsum(0)
x.cumprod(0)
x.diff()
x.argsort()
x ** 2
x ** 2.5
2 ** x
x ** x
x.pow(2)
L.pow(x, x)
x.square()
x.sqrt()
x.exp()
x.log1p()
x / 2
x / x
2 / x
1 - x
x - 1
-x
x * 2
2 * x
x + 1
1 + x
x % 2
x % x
L.fmod(x, 2)
L.fmod(x, x)
L.remainder(x, 2)
L.div(x, 2, rounding_mode='floor')
L.div(x, x, rounding_mode='trunc')
L.rsub(x, 1)
x.clamp(0, 1)
x.clamp(min=0)
x.clamp(max=0)
x.clamp(min=x.detach())
x.clip(0, 1)
x.clamp_min(0)
L.lerp(x, x, 0.5)
L.lerp(x, x, x)
x.masked_fill(m2, 0)
x.masked_select(m2)
L.where(m2, x, 0.)
x.where(m2, x)
x.tril()
x.triu()
x.diag()
x.diagonal()
v.diag()
L.diag_embed(v)
L.trace(x[:, :2])
x.gather(1, L.zeros(2, 1, dtype=L.int64))
x.index_select(0, idx)
x.scatter(1, L.zeros(2, 1, dtype=L.int64), 2.)
x.scatter(1, L.zeros(2, 1, dtype=L.int64), x)
x.scatter_add(1, L.zeros(2, 1, dtype=L.int64), x)
x.index_add(0, idx, x)
x.index_fill(0, idx, 3.)
x.index_copy(0, idx, x)
L.take(x, idx)
x.masked_scatter(m2, x)
L.cat([x, x])
L.stack([x, x])
L.hstack([x, x])
L.vstack([x, x])
L.dstack([x, x])
L.column_stack([x, x])
x.split(1)[0]
x.chunk(2)[0]
x.unbind()[0]
list(x)[0]
L.tensor_split(x, 2)[0]
x.split([1, 1])[1]
x.hsplit(3)[0]
L.einsum('ij,kj->ik', x, x)
L.einsum('ij->i', x)
L.einsum('i,i->', v, v)
L.einsum('ij->ji', x)
L.einsum('bij,bjk->bik', x3, x3.mT)
L.tensordot(x, x, ([1], [1]))
L.kron(x, x)
L.addmm(x[:, :2], x, x.T)
L.baddbmm(x3[:, :, :2], x3, x3.mT)
L.addmv(v[:2], x, v)
L.addcmul(x, x, x)
L.addcdiv(x, x, x)
L.cross(v, v, dim=0)
L.cdist(x, x)
L.cosine_similarity(x, x)
F.pairwise_distance(x, x)
F.normalize(x)
F.relu(x)
x.relu()
F.relu(x.clone(), inplace=True)
F.relu6(x)
F.leaky_relu(x)
F.elu(x)
F.selu(x)
F.celu(x)
F.gelu(x)
F.silu(x)
F.mish(x)
F.softplus(x)
F.hardtanh(x)
F.hardswish(x)
F.hardsigmoid(x)
F.logsigmoid(x)
F.softsign(x)
F.tanhshrink(x)
F.threshold(x, 0, 0)
F.glu(x4)
F.prelu(x, L.tensor([.1]))
F.sigmoid(x)
F.tanh(x)
F.softmax(x, 1)
F.log_softmax(x, 1)
F.softmin(x, 1)
F.gumbel_softmax(x)
F.dropout(x, .5)
F.dropout(x, .5, False)
F.dropout2d(img, .5)
F.alpha_dropout(x, .5, True)
F.mse_loss(x, x.detach())
F.mse_loss(x, x.detach(), reduction='none')
F.mse_loss(x, x.detach(), reduction='sum')
F.l1_loss(x, x.detach())
F.l1_loss(x, x.detach(), reduction='sum')
F.l1_loss(x, x.detach(), reduction='none')
F.smooth_l1_loss(x, x.detach())
F.huber_loss(x, x.detach())
F.nll_loss(F.log_softmax(x, 1), tgt)
F.nll_loss(F.log_softmax(x, 1), tgt, reduction='none')
F.cross_entropy(x, tgt)
F.cross_entropy(x, tgt, reduction='sum')
F.cross_entropy(x4, L.zeros(2, 2, 2, dtype=L.int64))
F.binary_cross_entropy(x.sigmoid(), x.detach().sigmoid())
F.binary_cross_entropy_with_logits(x, x.detach().sigmoid())
F.binary_cross_entropy_with_logits(x, x.detach().sigmoid(), reduction='none')
F.kl_div(x, x.detach())
F.poisson_nll_loss(x, x.detach())
F.gaussian_nll_loss(x, x.detach(), L.ones(2, 3))
F.cosine_embedding_loss(x, x, L.ones(2))
F.margin_ranking_loss(v, v, v.detach().sign())
F.triplet_margin_loss(x, x + 1, x + 2)
F.hinge_embedding_loss(x, x.detach().sign())
F.soft_margin_loss(x, x.detach().sign())
F.multi_margin_loss(x, tgt)
F.multilabel_margin_loss(x, L.tensor([[0, -1, -1], [1, -1, -1]]))
F.multilabel_soft_margin_loss(x, L.ones(2, 3))
F.conv1d(x3, L.ones(1, 2, 2))
F.conv2d(img, L.ones(1, 2, 3, 3))
F.conv2d(img, L.ones(1, 2, 3, 3), L.ones(1), padding=1)
F.conv2d(img[0], L.ones(1, 2, 3, 3))
F.conv_transpose2d(img, L.ones(2, 1, 3, 3))
F.conv_transpose1d(x3, L.ones(2, 1, 3), L.ones(1))
F.conv_transpose2d(img, L.ones(2, 1, 3, 3), L.ones(1))
F.max_pool2d(img, 2)
F.max_pool2d(img[0], 2)
F.max_pool1d(x3, 2)
F.max_pool2d(img, 2, return_indices=True)[0]
F.max_pool3d(img[None], (1, 2, 2))
F.avg_pool2d(img, 2)
F.avg_pool1d(x3, 2)
F.avg_pool2d(img, 2, padding=1, count_include_pad=False)
F.adaptive_avg_pool2d(img, 1)
F.adaptive_avg_pool2d(img, 2)
F.adaptive_avg_pool2d(img, 3)
F.adaptive_avg_pool1d(x3, 1)
F.adaptive_avg_pool1d(x3, 2)
F.adaptive_avg_pool3d(img[None], 2)
F.adaptive_max_pool1d(x3, 2)
F.adaptive_max_pool2d(img, 2)
F.adaptive_max_pool2d(img, 1)
F.adaptive_max_pool3d(img[None], 2)
F.lp_pool2d(img, 2., 2)
F.max_unpool2d(*F.max_pool2d(img, 2, return_indices=True), 2)
F.pad(x, (1, 1))
F.pad(x3, (1, 1), mode='reflect')
F.pad(x3, (1, 1), mode='replicate')
F.pad(img, (1, 1, 1, 1), mode='reflect')
F.pad(img, (1, 1, 1, 1), mode='replicate')
F.pad(x3, (1, 1), mode='circular')
F.interpolate(img, scale_factor=2)
F.interpolate(img, scale_factor=2, mode='bilinear')
F.interpolate(img, size=(3, 3), mode='bicubic')
F.interpolate(img, size=(3, 3), mode='area')
F.interpolate(x3, size=5, mode='linear')
F.interpolate(x3, size=5)
F.interpolate(img[None], size=(2, 2, 2), mode='trilinear')
F.interpolate(img[None], size=(2, 2, 2))
F.unfold(img, 2)
F.fold(F.unfold(img, 2), (4, 4), 2)
F.pixel_shuffle(L.cat([img, img], 1), 2)
F.grid_sample(img, L.zeros(1, 2, 2, 2))
F.affine_grid(x[None], (1, 1, 2, 2))
F.layer_norm(x, (3,))
F.group_norm(x3, 2)
F.group_norm(img, 1)
F.batch_norm(x3, None, None, training=True)
F.batch_norm(x3, L.zeros(2), L.ones(2))
F.instance_norm(img)
F.rms_norm(x, (3,))
F.local_response_norm(img, 2)
L.nn.BatchNorm1d(3)(x)
L.nn.BatchNorm2d(2)(img)
L.nn.LayerNorm(3)(x)
L.nn.GroupNorm(1, 2)(x3)
L.nn.Embedding(4, 3)(idx)
F.embedding(idx, x)
F.embedding_bag(idx[None], x)
F.one_hot(tgt) * x[:, :2]
F.scaled_dot_product_attention(x3, x3, x3, is_causal=True)
F.bilinear(x, x, L.ones(2, 3, 3))
L.nn.RNN(3, 2)(x3)[0]
L.nn.GRU(3, 2)(x3)[0]
L.nn.GRU(3, 2)(x3)[1]
L.nn.RNNCell(3, 2)(x)
L.nn.LSTMCell(3, 2)(x)[0]
L.nn.GRUCell(3, 2)(x)
L.nn.MultiheadAttention(3, 1)(x, x, x)[0]
L.nn.MultiheadAttention(3, 1)(x, x, x)[1]
L.nn.Sequential(L.nn.Linear(3, 4), L.nn.ReLU(), L.nn.Linear(4, 1))(x)
L.nn.TransformerEncoderLayer(3, 1, 4)(x3)
L.nn.MSELoss()(x, x.detach())
L.nn.CrossEntropyLoss()(x, tgt)
L.nn.BCELoss()(x.sigmoid(), x.detach().sigmoid())
L.nn.NLLLoss()(x.log_softmax(1), tgt)
L.nn.L1Loss()(x, x.detach())
L.nn.Conv2d(2, 3, 3)(img)
L.nn.MaxPool2d(2)(img)
L.nn.Flatten()(img)
L.nn.Softmax(1)(x)
x.softmax(-1)
x.log_softmax(-1)
x.logsumexp(1)
x.abs()
x.sign()
x.round()
x.floor()
x.clone().add_(1)
x.clone().mul_(x)
x.clone().zero_()
x.clone().fill_(1)
x.clone().copy_(x)
x.clone().relu_()
x.clone().clamp_(0)
x.clone().masked_fill_(m2, 0.)
x.clone().normal_()
x.clone().uniform_()
x.clone().transpose_(0, 1)
x.clone().unsqueeze_(0)
x.clone().squeeze_()
x.clone().t_()
x.clone().sub_(1)
x.clone().div_(2)
x.clone().pow_(2)
x.clone().exp_()
x.clone().sqrt_()
x.clone().add_(x, alpha=2)
x.clone().index_add_(0, idx, x)
x.clone().scatter_(1, L.zeros(2, 1, dtype=L.int64), 2.)
x.clone().scatter_add_(1, L.zeros(2, 1, dtype=L.int64), x)
x.clone().addcmul_(x, x)
x.clone().lerp_(x, .5)
x.clone().bernoulli_()
x.clone().detach_().requires_grad_()
x.clone().triu_()
x.clone().cumsum_(0)
x.clone().floor_()
x.clone().eq_(1)
L.linalg.inv(x[:, :2])
L.inverse(x[:, :2])
L.linalg.det(x[:, :2])
L.det(x[:, :2])
L.logdet(x[:, :2] @ x[:, :2].T)
L.linalg.slogdet(x[:, :2])[1]
L.linalg.solve(x[:, :2], x[:, :2])
L.linalg.cholesky(x[:, :2] @ x[:, :2].T)
L.linalg.qr(x)[0]
L.linalg.svd(x, full_matrices=False)[1]
L.svd(x)[1]
L.linalg.svdvals(x)
L.linalg.eigh(x[:, :2])[0]
L.linalg.eigvalsh(x[:, :2])
L.linalg.eig(x[:, :2])[0]
L.linalg.eigvals(x[:, :2])
L.linalg.pinv(x)
L.linalg.matrix_power(x[:, :2], 2)
L.linalg.matrix_exp(x[:, :2])
L.linalg.lstsq(x.T, x.T)[0]
L.linalg.cross(v, v)
L.linalg.multi_dot([x, x.T, x])
L.linalg.matrix_norm(x)
L.linalg.solve_triangular(x[:, :2], x[:, :2], upper=True)
L.fft.rfft(x)
L.fft.irfft(x.to(L.complex64))
L.fft.fft2(x)
L.fft.fftn(x)
L.fft.fftshift(x)
x.to(L.complex64).real
x.to(L.complex64).imag
x.to(L.complex64).abs()
x.to(L.complex64).conj()
L.view_as_real(x.to(L.complex64))
L.complex(x, x)
L.special.erf(x)
L.special.expit(x)
L.special.log_softmax(x, 1)
L.cumulative_trapezoid(x)
L.meshgrid(v, v, indexing='ij')[0]
L.cartesian_prod(v, v)
L.atleast_2d(v)
L.block_diag(x, x)
L.nan_to_num(x)
L.nansum(x)
L.quantile(x, .5)
L.searchsorted(v.detach().sort()[0], v) * v.sum()
L.logaddexp(x, x)
L.hypot(x, x)
L.atan2(x, x)
L.maximum(x, x)
L.bucketize(x, v.detach().sort()[0]) * v.sum()
L.polygamma(1, x)
L.renorm(x, 2, 0, 1)
L.vander(v)
L.rot90(x)
x.unfold(1, 2, 1)
x.as_strided((2, 2), (1, 1))
x.repeat_interleave(2)
L.utils.checkpoint.checkpoint(L.sin, x, use_reentrant=False)
x.sum().item() * x
x.mean().backward() or x.sum()
(x ** 2).mean()
((x - 1) ** 2).sum()
(x * w).sum(dim=-1)
L.nn.utils.parameters_to_vector([x, w])
L.nn.CTCLoss()(L.zeros(5, 1, 3).log_softmax(2) * x.mean(), L.tensor([[1]]), (5,), (1,))
F.ctc_loss(x3.log_softmax(2), L.tensor([[1], [1]]), (4, 4), (1, 1), reduction="none")
"""
