"""Which family of operations, a module of ``tinytorch.ops``, holds which names.

Written by ``stubs/generate.py``, as the stubs are. By namespace (``""`` is the top level, under
``Tensor`` are the methods) and family.
"""

from typing import Final

FAMILIES: Final[dict[str, dict[str, str]]] = {
    "": {
        "create.array_creation": """array asanyarray ascontiguousarray astype copy frombuffer
            fromfunction fromiter geomspace identity tri""",
        "create.array_files": "savez savez_compressed",
        "create.conversion": "clone to",
        "create.factories": """as_tensor asarray empty empty_permuted empty_strided eye from_numpy
            full ones scalar_tensor tensor zeros""",
        "create.factories_like": "empty_like full_like ones_like zeros_like",
        "create.file_memory": "from_file",
        "create.ranges": "arange linspace logspace range",
        "create.storages": "is_storage",
        "create.unsupported_layouts": """ccol_indices_copy chalf choose_qparams_optimized
            col_indices_copy crow_indices_copy dequantize dsmm fake_quantize_per_channel_affine
            fake_quantize_per_tensor_affine fused_moving_avg_obs_fake_quant hsmm hspmm indices_copy
            int_repr is_distributed q_per_channel_axis q_per_channel_scales
            q_per_channel_zero_points q_scale q_zero_point quantize_per_channel quantize_per_tensor
            quantize_per_tensor_dynamic quantized_batch_norm quantized_gru_cell quantized_lstm_cell
            quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell
            quantized_rnn_tanh_cell resize_as_sparse_ row_indices_copy saddmm smm sparse_bsc_tensor
            sparse_bsr_tensor sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor
            sparse_csr_tensor spmm sspaddmm values_copy""",
        "fft.numpy_windows": "bartlett blackman hamming hanning kaiser",
        "fft.sampled_signals": "convolve correlate digitize ediff1d interp unwrap",
        "fft.spectral_windows": """bartlett_window blackman_window hamming_window hann_window
            kaiser_window""",
        "fft.stft": "istft stft",
        "index.array_editing": """append block compress delete extract flatnonzero insert resize
            take_along_axis trim_zeros""",
        "index.array_writing": "copyto fill_diagonal place put_along_axis putmask",
        "index.assignment": "index_put index_put_",
        "index.filling": "fill fill_ zero_",
        "index.gathering": """argwhere gather index_select nonzero nonzero_static take
            take_along_dim""",
        "index.index_grids": """diag_indices diag_indices_from indices ix_ ravel_multi_index
            tril_indices_from triu_indices_from""",
        "index.index_writing": """index_add index_add_ index_copy index_copy_ index_fill index_fill_
            index_reduce index_reduce_ put put_""",
        "index.masking": "masked_fill masked_fill_ masked_scatter masked_scatter_ masked_select",
        "index.scattering": """scatter scatter_ scatter_add scatter_add_ scatter_reduce
            scatter_reduce_""",
        "index.slicing": """diagonal_scatter narrow narrow_copy select select_scatter slice_scatter
            unfold""",
        "linalg.addmm": "addbmm addbmm_ addmm addmm_ addmv addmv_ addr addr_ baddbmm baddbmm_",
        "linalg.bilinear": "bilinear",
        "linalg.deprecated": "eig lstsq matrix_rank solve symeig",
        "linalg.determinant": "det logdet",
        "linalg.distance_matrix": "cdist pdist",
        "linalg.einsum": "einsum inner kron tensordot",
        "linalg.lobpcg": "lobpcg",
        "linalg.lu": "lu_unpack",
        "linalg.matmul": "bmm dot ger matmul mm mv outer",
        "linalg.matrix_factors": "lu lu_solve pca_lowrank qr slogdet svd svd_lowrank",
        "linalg.power": "matrix_exp matrix_power",
        "linalg.products": "chain_matmul",
        "linalg.qr": "geqrf orgqr ormqr",
        "linalg.solve": "inverse",
        "linalg.svd": "pinverse",
        "linalg.triangular": "cholesky cholesky_inverse cholesky_solve triangular_solve",
        "linalg.vector_products": "cross trace vander vdot",
        "nn.activation": "relu relu_ sigmoid sigmoid_",
        "nn.adaptive_pooling": "adaptive_avg_pool1d",
        "nn.aten": """_log_softmax_backward_data _softmax_backward_data affine_grid_generator
            alpha_dropout_ batch_norm binary_cross_entropy_with_logits cosine_embedding_loss
            ctc_loss dropout_ embedding embedding_renorm_ feature_alpha_dropout_ feature_dropout_
            grid_sampler grid_sampler_2d grid_sampler_3d group_norm hinge_embedding_loss
            instance_norm kl_div layer_norm margin_ranking_loss native_batch_norm native_dropout
            native_group_norm native_layer_norm poisson_nll_loss rrelu_ triplet_margin_loss""",
        "nn.convolution": """conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d
            conv_transpose3d convolution""",
        "nn.dropout": "alpha_dropout dropout feature_alpha_dropout feature_dropout rrelu",
        "nn.embedding_bag_facts": "embedding_bag",
        "nn.normalization": "rms_norm",
        "nn.padding": "constant_pad_nd",
        "nn.pooling": "avg_pool1d max_pool1d max_pool2d max_pool3d",
        "nn.pooling_indices": "adaptive_max_pool1d max_pool1d_with_indices",
        "nn.rectifiers": "celu celu_ hardshrink prelu selu selu_ threshold threshold_",
        "nn.recurrent": "gru gru_cell lstm lstm_cell rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell",
        "nn.shuffling": "channel_shuffle native_channel_shuffle pixel_shuffle pixel_unshuffle",
        "nn.softmax": "log_softmax softmax",
        "pointwise.addcmul_lerp": "addcdiv addcdiv_ addcmul addcmul_ lerp lerp_",
        "pointwise.arithmetic": """abs abs_ absolute absolute_ add add_ mul mul_ multiply multiply_
            neg neg_ negative negative_ positive reciprocal reciprocal_ square square_ sub sub_
            subtract subtract_""",
        "pointwise.bitwise": """bitwise_and bitwise_and_ bitwise_invert bitwise_invert_
            bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or bitwise_or_
            bitwise_right_shift bitwise_right_shift_ bitwise_xor bitwise_xor_ invert left_shift
            right_shift""",
        "pointwise.comparison": """allclose eq eq_ equal ge ge_ greater greater_ greater_equal
            greater_equal_ gt gt_ isclose isfinite isinf isnan isneginf isposinf isreal le le_ less
            less_ less_equal less_equal_ logical_and logical_and_ logical_not logical_not_
            logical_or logical_or_ logical_xor logical_xor_ lt lt_ ne ne_ not_equal not_equal_""",
        "pointwise.complex_numbers": """angle complex conj conj_physical conj_physical_ conjugate
            imag polar real resolve_conj resolve_neg sgn sgn_ view_as_complex view_as_real""",
        "pointwise.division": """div div_ divide divide_ floor_divide floor_divide_ mod remainder
            remainder_ true_divide true_divide_""",
        "pointwise.exponential": """exp exp2 exp2_ exp_ expm1 expm1_ log log10 log10_ log1p log1p_
            log2 log2_ log_ pow pow_ power rsqrt rsqrt_ sqrt sqrt_""",
        "pointwise.floating_point": """float_power float_power_ frexp ldexp ldexp_ nan_to_num
            nan_to_num_""",
        "pointwise.foreach": """_foreach_abs _foreach_abs_ _foreach_acos _foreach_acos_ _foreach_add
            _foreach_add_ _foreach_addcdiv _foreach_addcdiv_ _foreach_addcmul _foreach_addcmul_
            _foreach_asin _foreach_asin_ _foreach_atan _foreach_atan_ _foreach_ceil _foreach_ceil_
            _foreach_clamp_max _foreach_clamp_max_ _foreach_clamp_min _foreach_clamp_min_
            _foreach_clone _foreach_copy_ _foreach_cos _foreach_cos_ _foreach_cosh _foreach_cosh_
            _foreach_div _foreach_div_ _foreach_erf _foreach_erf_ _foreach_erfc _foreach_erfc_
            _foreach_exp _foreach_exp_ _foreach_expm1 _foreach_expm1_ _foreach_floor _foreach_floor_
            _foreach_frac _foreach_frac_ _foreach_lerp _foreach_lerp_ _foreach_lgamma
            _foreach_lgamma_ _foreach_log _foreach_log10 _foreach_log10_ _foreach_log1p
            _foreach_log1p_ _foreach_log2 _foreach_log2_ _foreach_log_ _foreach_max _foreach_maximum
            _foreach_maximum_ _foreach_minimum _foreach_minimum_ _foreach_mm _foreach_mul
            _foreach_mul_ _foreach_neg _foreach_neg_ _foreach_norm _foreach_pow _foreach_pow_
            _foreach_powsum _foreach_reciprocal _foreach_reciprocal_ _foreach_round _foreach_round_
            _foreach_rsqrt _foreach_rsqrt_ _foreach_sigmoid _foreach_sigmoid_ _foreach_sign
            _foreach_sign_ _foreach_sin _foreach_sin_ _foreach_sinh _foreach_sinh_ _foreach_sqrt
            _foreach_sqrt_ _foreach_sub _foreach_sub_ _foreach_tan _foreach_tan_ _foreach_tanh
            _foreach_tanh_ _foreach_trunc _foreach_trunc_ _foreach_zero_""",
        "pointwise.integers": "gcd gcd_ lcm lcm_",
        "pointwise.logarithms": "logaddexp logaddexp2 logit logit_ xlogy xlogy_",
        "pointwise.number_parts": "bitwise_count cbrt divmod fabs iscomplex modf rint",
        "pointwise.promotion": "can_cast result_type",
        "pointwise.rounding": """around ceil ceil_ copysign copysign_ fix fix_ floor floor_ fmod
            fmod_ frac frac_ heaviside heaviside_ nextafter nextafter_ round round_ sign sign_
            signbit trunc trunc_""",
        "pointwise.selection": """clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_
            fmax fmin maximum minimum where""",
        "pointwise.trigonometric": """acos acos_ acosh acosh_ arccos arccos_ arccosh arccosh_ arcsin
            arcsin_ arcsinh arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh arctanh_ asin asin_
            asinh asinh_ atan atan2 atan2_ atan_ atanh atanh_ cos cos_ cosh cosh_ deg2rad deg2rad_
            degrees hypot hypot_ rad2deg rad2deg_ radians sin sin_ sinc sinc_ sinh sinh_ tan tan_
            tanh tanh_""",
        "random.discrete": "binomial poisson",
        "random.sampling": "bernoulli multinomial normal rand randint randn randperm",
        "random.sampling_like": "rand_like randint_like randn_like",
        "reduce.applied_functions": "apply_along_axis piecewise",
        "reduce.array_histograms": "histogram2d histogram_bin_edges",
        "reduce.averages": "average cumulative_prod cumulative_sum percentile ptp",
        "reduce.cumulative": "cummax cummin cumprod cumprod_ cumsum cumsum_ logcumsumexp",
        "reduce.differences": "cumulative_trapezoid diff trapezoid trapz",
        "reduce.distances": "cosine_similarity pairwise_distance",
        "reduce.extrema": "amax amin aminmax argmax argmin max min",
        "reduce.hashing": "hash_tensor",
        "reduce.histograms": "bincount histc histogram histogramdd",
        "reduce.nan_reductions": """nanargmax nanargmin nancumprod nancumsum nanmax nanmin
            nanpercentile nanprod nanstd nanvar""",
        "reduce.norms": "dist frobenius_norm norm norm_except_dim nuclear_norm renorm renorm_",
        "reduce.quantiles": "nanquantile quantile",
        "reduce.reduction": "all any count_nonzero logsumexp mean nanmean nansum prod sum",
        "reduce.sampled_gradients": "gradient",
        "reduce.segments": "segment_reduce",
        "reduce.statistics": "corrcoef cov",
        "reduce.variance": "std std_mean var var_mean",
        "shape.array_facts": """array_equal array_equiv common_type iscomplexobj isdtype isrealobj
            isscalar issubdtype min_scalar_type ndim shape size""",
        "shape.array_shapes": """broadcast_arrays expand_dims matrix_transpose matvec permute_dims
            repeat rollaxis unstack vecdot vecmat""",
        "shape.broadcasting": "broadcast_shapes broadcast_tensors broadcast_to expand_as",
        "shape.combining": "block_diag cartesian_prod combinations meshgrid unravel_index",
        "shape.diagonal": """diag diag_embed diagflat diagonal tril tril_ tril_indices triu triu_
            triu_indices""",
        "shape.inspection": "is_conj is_inference is_neg is_nonzero is_same_size is_tensor",
        "shape.joining": """atleast_1d atleast_2d atleast_3d cat column_stack concat concatenate
            dstack hstack row_stack stack vstack""",
        "shape.padding_modes": "pad",
        "shape.rearranging": "fliplr flipud repeat_interleave roll rot90 tile",
        "shape.reshaping_inplace": """as_strided_ resize_as_ squeeze_ swapaxes_ swapdims_ t_
            transpose_ unsqueeze_""",
        "shape.sizes": """expand flatten flip permute ravel reshape squeeze swapaxes swapdims
            transpose unflatten unsqueeze""",
        "shape.splitting": """array_split chunk dsplit hsplit split split_with_sizes tensor_split
            unbind unsafe_chunk unsafe_split unsafe_split_with_sizes vsplit""",
        "shape.strides": "as_strided as_strided_copy as_strided_scatter",
        "shape.tensor_functions": """detach detach_ from_dlpack get_device is_complex
            is_floating_point is_signed numel rsub""",
        "shape.transposition": "adjoint moveaxis movedim t",
        "shape.view_copies": """alias_copy detach_copy diagonal_copy expand_copy permute_copy
            select_copy slice_copy split_copy split_with_sizes_copy squeeze_copy t_copy
            transpose_copy unbind_copy unfold_copy unsqueeze_copy view_as_complex_copy
            view_as_real_copy view_copy""",
        "shape.views": "contiguous reshape_as view view_as",
        "sort.membership": "isin",
        "sort.order_statistics": "kthvalue median mode nanmedian",
        "sort.partial_orders": "argpartition lexsort partition",
        "sort.set_operations": """intersect1d setdiff1d setxor1d union1d unique_all unique_counts
            unique_inverse unique_values""",
        "sort.sorting": "argsort bucketize msort searchsorted sort topk",
        "sort.unique": "unique unique_consecutive",
        "special.bessel_functions": "i0 i0_",
        "special.error_functions": "erf erf_ erfc erfc_ erfinv erfinv_",
        "special.gamma_functions": """digamma digamma_ igamma igamma_ igammac igammac_ lgamma
            lgamma_ mvlgamma mvlgamma_ polygamma""",
    },
    "Tensor": {
        "create.conversion": """astype bfloat16 bool byte cdouble cfloat char clone cpu cuda double
            float half int is_pinned long pin_memory short to type type_as""",
        "create.factories_like": """new_empty new_empty_strided new_full new_ones new_tensor
            new_zeros""",
        "create.shared_memory": "is_shared share_memory_",
        "create.storages": "set_ storage untyped_storage",
        "create.unsupported_layouts": """ccol_indices chalf coalesce col_indices crow_indices
            dense_dim dequantize indices int_repr is_coalesced is_distributed is_ipu is_maia
            is_mkldnn is_mps is_mtia is_nested is_sparse_csr is_vulkan is_xla is_xpu
            q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point
            qscheme resize_as_sparse_ row_indices smm sparse_dim sparse_mask sparse_resize_
            sparse_resize_and_clear_ sspaddmm to_dense to_mkldnn to_padded_tensor to_sparse
            to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr values""",
        "fft.stft": "istft stft",
        "index.array_methods": "argpartition choose compress conjugate copy flat to_device",
        "index.assignment": "__setitem__ index_put index_put_",
        "index.diagonal_filling": "fill_diagonal_",
        "index.filling": "copy_ fill fill_ module_load zero_",
        "index.gathering": """argwhere gather index_select nonzero nonzero_static take
            take_along_dim""",
        "index.index_writing": """index_add index_add_ index_copy index_copy_ index_fill index_fill_
            index_reduce index_reduce_ put put_""",
        "index.indexing": "__getitem__",
        "index.masking": "masked_fill masked_fill_ masked_scatter masked_scatter_ masked_select",
        "index.scattering": """scatter scatter_ scatter_add scatter_add_ scatter_reduce
            scatter_reduce_""",
        "index.slicing": """diagonal_scatter narrow narrow_copy select select_scatter slice_scatter
            unfold""",
        "linalg.addmm": "addbmm addbmm_ addmm addmm_ addmv addmv_ addr addr_ baddbmm baddbmm_",
        "linalg.deprecated": "eig lstsq reinforce resize resize_as solve symeig",
        "linalg.determinant": "det logdet",
        "linalg.einsum": "inner kron",
        "linalg.matmul": "__matmul__ __rmatmul__ bmm dot ger matmul mm mv outer",
        "linalg.matrix_factors": "lu lu_solve qr slogdet svd",
        "linalg.power": "matrix_exp matrix_power",
        "linalg.qr": "geqrf orgqr ormqr",
        "linalg.solve": "inverse",
        "linalg.svd": "pinverse",
        "linalg.triangular": "cholesky cholesky_inverse cholesky_solve triangular_solve",
        "linalg.vector_products": "cross trace vdot",
        "nn.activation": "relu relu_ sigmoid sigmoid_",
        "nn.rectifiers": "hardshrink prelu",
        "nn.softmax": "log_softmax softmax",
        "pointwise.addcmul_lerp": "addcdiv addcdiv_ addcmul addcmul_ lerp lerp_",
        "pointwise.arithmetic": """__abs__ __add__ __iadd__ __imul__ __isub__ __mul__ __neg__
            __pos__ __radd__ __rmul__ __rsub__ __sub__ abs abs_ absolute absolute_ add add_ mul mul_
            multiply multiply_ neg neg_ negative negative_ positive reciprocal reciprocal_ square
            square_ sub sub_ subtract subtract_""",
        "pointwise.bitwise": """__and__ __iand__ __ilshift__ __invert__ __ior__ __irshift__ __ixor__
            __lshift__ __or__ __rand__ __rlshift__ __ror__ __rrshift__ __rshift__ __rxor__ __xor__
            bitwise_and bitwise_and_ bitwise_invert bitwise_invert_ bitwise_left_shift
            bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or bitwise_or_ bitwise_right_shift
            bitwise_right_shift_ bitwise_xor bitwise_xor_""",
        "pointwise.comparison": """__eq__ __ge__ __gt__ __le__ __lt__ __ne__ allclose eq eq_ equal
            ge ge_ greater greater_ greater_equal greater_equal_ gt gt_ isclose isfinite isinf isnan
            isneginf isposinf isreal le le_ less less_ less_equal less_equal_ logical_and
            logical_and_ logical_not logical_not_ logical_or logical_or_ logical_xor logical_xor_ lt
            lt_ ne ne_ not_equal not_equal_""",
        "pointwise.complex_numbers": """angle conj conj_physical conj_physical_ imag real
            resolve_conj resolve_neg sgn sgn_""",
        "pointwise.division": """__div__ __floordiv__ __idiv__ __ifloordiv__ __imod__ __itruediv__
            __mod__ __rdiv__ __rfloordiv__ __rmod__ __rtruediv__ __truediv__ div div_ divide divide_
            floor_divide floor_divide_ remainder remainder_ true_divide true_divide_""",
        "pointwise.exponential": """__ipow__ __pow__ __rpow__ exp exp2 exp2_ exp_ expm1 expm1_ log
            log10 log10_ log1p log1p_ log2 log2_ log_ pow pow_ rsqrt rsqrt_ sqrt sqrt_""",
        "pointwise.floating_point": """float_power float_power_ frexp ldexp ldexp_ nan_to_num
            nan_to_num_""",
        "pointwise.integers": "gcd gcd_ lcm lcm_",
        "pointwise.logarithms": "logaddexp logaddexp2 logit logit_ xlogy xlogy_",
        "pointwise.mapping": "apply_ map2_ map_",
        "pointwise.rounding": """ceil ceil_ copysign copysign_ fix fix_ floor floor_ fmod fmod_ frac
            frac_ heaviside heaviside_ nextafter nextafter_ round round_ sign sign_ signbit trunc
            trunc_""",
        "pointwise.selection": """clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_
            fmax fmin maximum minimum where""",
        "pointwise.trigonometric": """acos acos_ acosh acosh_ arccos arccos_ arccosh arccosh_ arcsin
            arcsin_ arcsinh arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh arctanh_ asin asin_
            asinh asinh_ atan atan2 atan2_ atan_ atanh atanh_ cos cos_ cosh cosh_ deg2rad deg2rad_
            hypot hypot_ rad2deg rad2deg_ sin sin_ sinc sinc_ sinh sinh_ tan tan_ tanh tanh_""",
        "random.inplace": """bernoulli_ cauchy_ exponential_ geometric_ log_normal_ normal_ random_
            uniform_""",
        "random.sampling": "bernoulli multinomial",
        "reduce.cumulative": "cummax cummin cumprod cumprod_ cumsum cumsum_ logcumsumexp",
        "reduce.differences": "diff",
        "reduce.extrema": "amax amin aminmax argmax argmin max min",
        "reduce.hashing": "hash_tensor",
        "reduce.histograms": "bincount histc histogram",
        "reduce.norms": "dist norm renorm renorm_",
        "reduce.quantiles": "nanquantile quantile",
        "reduce.reduction": "all any count_nonzero logsumexp mean nanmean nansum prod sum",
        "reduce.statistics": "corrcoef cov",
        "reduce.variance": "std var",
        "shape.broadcasting": "broadcast_to expand_as sum_to_size",
        "shape.combining": "combinations",
        "shape.diagonal": "diag diag_embed diagflat diagonal tril tril_ triu triu_",
        "shape.inspection": """data_ptr dim_order is_conj is_cpu is_cuda is_meta is_neg is_nonzero
            is_quantized is_same_size is_set_to is_sparse storage_offset""",
        "shape.rearranging": "fliplr flipud repeat repeat_interleave roll rot90 tile",
        "shape.reshaping_inplace": """as_strided_ resize_ resize_as_ squeeze_ swapaxes_ swapdims_ t_
            transpose_ unsqueeze_""",
        "shape.sizes": """expand flatten flip permute ravel reshape squeeze swapaxes swapdims
            transpose unflatten unsqueeze""",
        "shape.splitting": """array_split chunk dsplit hsplit split split_with_sizes tensor_split
            unbind unsafe_chunk unsafe_split unsafe_split_with_sizes vsplit""",
        "shape.strides": "as_strided as_strided_copy as_strided_scatter",
        "shape.tensor_functions": "as_subclass new",
        "shape.transposition": "H T adjoint mH mT moveaxis movedim t",
        "shape.views": "contiguous reshape_as view view_as",
        "sort.order_statistics": "kthvalue median mode nanmedian",
        "sort.sorting": "argsort msort searchsorted sort topk",
        "sort.unique": "unique unique_consecutive",
        "special.bessel_functions": "i0 i0_",
        "special.error_functions": "erf erf_ erfc erfc_ erfinv erfinv_",
        "special.gamma_functions": """digamma digamma_ igamma igamma_ igammac igammac_ lgamma
            lgamma_ mvlgamma mvlgamma_ polygamma polygamma_""",
    },
    "fft": {
        "fft.frequencies": "fftfreq fftshift ifftshift rfftfreq",
        "fft.many_dimensions": "fftn hfftn ifftn ihfftn irfftn rfftn",
        "fft.one_dimension": "fft hfft ifft ihfft irfft rfft",
        "fft.two_dimensions": "fft2 hfft2 ifft2 ihfft2 irfft2 rfft2",
    },
    "linalg": {
        "linalg.determinant": "det slogdet",
        "linalg.eigen": "eig eigh eigvals eigvalsh",
        "linalg.ldl": "ldl_factor ldl_factor_ex ldl_solve",
        "linalg.lstsq": "lstsq",
        "linalg.lu": "lu lu_factor lu_factor_ex lu_solve",
        "linalg.matmul": "matmul",
        "linalg.matrix_factors": "diagonal",
        "linalg.norm": "cond matrix_norm norm vector_norm",
        "linalg.power": "matrix_exp matrix_power",
        "linalg.products": "cross multi_dot vander vecdot",
        "linalg.qr": "householder_product qr",
        "linalg.solve": "inv inv_ex solve solve_ex tensorinv tensorsolve",
        "linalg.svd": "matrix_rank pinv svd svdvals",
        "linalg.triangular": "cholesky cholesky_ex solve_triangular",
        "shape.array_shapes": "matrix_transpose outer tensordot trace",
    },
    "nn.functional": {
        "linalg.bilinear": "bilinear",
        "linalg.distance_matrix": "pdist",
        "linalg.grouped_products": "grouped_mm",
        "linalg.matmul": "linear",
        "nn.activation": """elu elu_ gelu leaky_relu leaky_relu_ relu relu_ sigmoid sigmoid_ silu
            silu_""",
        "nn.adaptive_pooling": """adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
            adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d""",
        "nn.aten": "rrelu_",
        "nn.attention": "scaled_dot_product_attention",
        "nn.batch_normalization": "batch_norm instance_norm local_response_norm",
        "nn.class_loss": "cross_entropy linear_cross_entropy nll_loss",
        "nn.convolution": """conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d
            conv_transpose3d""",
        "nn.ctc_loss": "ctc_loss",
        "nn.dropout": """alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout
            rrelu""",
        "nn.embedding": "embedding embedding_bag one_hot",
        "nn.grid": "affine_grid grid_sample",
        "nn.interpolation": "interpolate upsample upsample_bilinear upsample_nearest",
        "nn.loss": "huber_loss l1_loss mse_loss smooth_l1_loss",
        "nn.margin_loss": """cosine_embedding_loss hinge_embedding_loss margin_ranking_loss
            multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss soft_margin_loss
            triplet_margin_loss triplet_margin_with_distance_loss""",
        "nn.multi_head_attention": "multi_head_attention_forward",
        "nn.normalization": "group_norm layer_norm normalize rms_norm",
        "nn.padding": "pad",
        "nn.pooling": "avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d max_pool3d",
        "nn.pooling_indices": """adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices
            adaptive_max_pool3d_with_indices fractional_max_pool2d_with_indices
            fractional_max_pool3d_with_indices max_pool1d_with_indices max_pool2d_with_indices
            max_pool3d_with_indices""",
        "nn.power_pooling": "lp_pool1d lp_pool2d lp_pool3d",
        "nn.probability_loss": """binary_cross_entropy binary_cross_entropy_with_logits
            gaussian_nll_loss kl_div poisson_nll_loss""",
        "nn.rectifiers": """celu celu_ hardshrink hardsigmoid hardsigmoid_ hardswish hardswish_
            hardtanh hardtanh_ prelu relu6 relu6_ selu selu_ softshrink threshold threshold_""",
        "nn.shuffling": "channel_shuffle native_channel_shuffle pixel_shuffle pixel_unshuffle",
        "nn.smooth_activation": """glu gumbel_softmax logsigmoid mish mish_ softmin softplus
            softsign tanhshrink""",
        "nn.softmax": "log_softmax softmax",
        "nn.unfolding": "fold unfold",
        "nn.unpooling": """fractional_max_pool2d fractional_max_pool3d max_unpool1d max_unpool2d
            max_unpool3d""",
        "pointwise.trigonometric": "tanh tanh_",
        "reduce.distances": "cosine_similarity pairwise_distance",
    },
    "private": {
        "create.conversion": """_assigned _clear_region _laid _pinned _to_dtype _view_scatter
            _written_over""",
        "create.factories_like": "_ones_like _zeros_like",
        "fft.stft": "_framed _overlapped",
        "fft.transforms": """_complex_transform _from_half _real_transform _resized _scale_inside
            _to_half""",
        "index.assignment": "_additem _clear_item _setitem",
        "index.diagonal_filling": "_diagonal_filled",
        "index.filling": "_copied_over _zeros_over",
        "index.gathering": "_from_front _index_sum _take_sum chosen gather_sum largest_at_places",
        "index.index_writing": "_put_zeros",
        "index.indexing": "_getitem _scatter_item",
        "index.masking": "_masked_read _masked_write",
        "index.scattering": """_gather_into _scatter _scatter_count _scatter_extreme
            _scatter_product""",
        "index.slicing": "_part_write _select _unfold_sum slice",
        "linalg.determinant": "_cofactor _cofactor_slope",
        "linalg.distance_matrix": "_distances",
        "linalg.eigen": "_eigvals _eigvalsh",
        "linalg.einsum": "_contract",
        "linalg.lu": "_permutation_matrix _swap_rows",
        "linalg.power": "_identity",
        "linalg.svd": "_svdvals",
        "linalg.triangular": "_inverse _solved",
        "linalg.vector_products": "_scaled_identity _trace",
        "nn.adaptive_pooling": "_means _uneven_mean _uneven_spread largest_at largest_in_image",
        "nn.attention": "attended attention_in_blocks attention_weights",
        "nn.class_loss": """_negative_at _negative_onto _reduced_surprise _spread _surprise
            _surprise_grad _target_weights""",
        "nn.conv_correlation": "_conv _conv_input _conv_weight",
        "nn.ctc_loss": "_ctc _ctc_grad",
        "nn.dropout": "_dropped _scaled_and_moved _sloped",
        "nn.embedding": """_bag_rows _bag_sums _embedding _embedding_sum _masked_rows
            _scale_gradient""",
        "nn.grid": "_add_pixels _clipped _mapped _pixels _reflected _unmapped",
        "nn.interpolation": "resample",
        "nn.loss": "_huber_error _mean_squared_error _squared_error _sum_of_squares",
        "nn.margin_loss": "_before_end _gaps _label_mask _slopes",
        "nn.normalization": "_layer_norm standardize",
        "nn.padding": "_fold_edge _pad_constant _pad_edge _repeated",
        "nn.pooling": "max_indices",
        "nn.probability_loss": "_binary_cross_entropy _logits_cross_entropy _slope_of_bce",
        "nn.rectifiers": "_prelu_gradient",
        "nn.recurrent": "_gru_gates _lstm_gates",
        "nn.smooth_activation": "_tanhshrink",
        "nn.softmax": "_log_softmax _softmax",
        "nn.unfolding": """_columns _summed slide_max slide_pick slide_place slide_put slide_spread
            slide_sum""",
        "nn.unpooling": "_add_back _fetch _fractional_indices _put_back",
        "pointwise.bitwise": "_invert",
        "pointwise.comparison": "_all_equal",
        "pointwise.complex_numbers": "_conj _imag _real",
        "pointwise.floating_point": "_raised _scaled",
        "pointwise.number_parts": "_bits",
        "pointwise.selection": "Tensor._where_method _masked",
        "random.gammas": "_dirichlet_grad _sample_dirichlet _standard_gamma _standard_gamma_grad",
        "random.inplace": "_refilled",
        "random.sampling": "_normal_around _normal_both _normal_scaled",
        "reduce.cumulative": "_recurrence _running_index",
        "reduce.extrema": "_extreme_of_all _max_along _min_along",
        "reduce.histograms": "_edges _histogram",
        "reduce.norms": "p_norm",
        "reduce.quantiles": "_between _last_rank",
        "reduce.variance": "_std _var _var_along",
        "shape.combining": "_chosen",
        "shape.diagonal": "_diagonal_write triangle_indices",
        "shape.rearranging": "_repeat_index _tile",
        "shape.strides": "_as_strided _placed _strided_scatter _window",
        "shape.views": "_in_format _view _view_dtype in_order",
        "sort.order_statistics": "_median_of_all _most_frequent _ranked",
        "sort.sorting": "_search _top order_along",
        "sort.unique": "_distinct _distinct_elements",
        "special.error_functions": "_ndtr",
        "special.gamma_functions": "_polygamma",
    },
    "return_types": {
        "linalg.determinant": "linalg_slogdet linalg_slogdet_out",
        "linalg.eigen": "linalg_eig linalg_eig_out linalg_eigh linalg_eigh_out",
        "linalg.ldl": """linalg_ldl_factor linalg_ldl_factor_ex linalg_ldl_factor_ex_out
            linalg_ldl_factor_out""",
        "linalg.lstsq": "linalg_lstsq linalg_lstsq_out",
        "linalg.lu": """linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_lu_factor_ex_out
            linalg_lu_factor_out linalg_lu_out lu_unpack lu_unpack_out""",
        "linalg.matrix_factors": "qr qr_out slogdet slogdet_out svd svd_out",
        "linalg.qr": "geqrf geqrf_out linalg_qr linalg_qr_out",
        "linalg.solve": "linalg_inv_ex linalg_inv_ex_out linalg_solve_ex linalg_solve_ex_out",
        "linalg.svd": "linalg_svd linalg_svd_out",
        "linalg.triangular": """linalg_cholesky_ex linalg_cholesky_ex_out triangular_solve
            triangular_solve_out""",
        "pointwise.floating_point": "frexp frexp_out",
        "reduce.cumulative": "cummax cummax_out cummin cummin_out",
        "reduce.extrema": "aminmax aminmax_out max max_out min min_out",
        "reduce.histograms": "histogram histogram_out histogramdd histogramdd_out",
        "sort.order_statistics": """kthvalue kthvalue_out median median_out mode mode_out nanmedian
            nanmedian_out""",
        "sort.set_operations": """unique_all unique_all_out unique_counts unique_counts_out
            unique_inverse unique_inverse_out""",
        "sort.sorting": "sort sort_out topk topk_out",
    },
    "signal.windows": {
        "fft.signal_windows": """bartlett blackman cosine exponential gaussian general_cosine
            general_hamming hamming hann kaiser nuttall""",
    },
    "special": {
        "nn.activation": "expit",
        "nn.softmax": "log_softmax softmax",
        "pointwise.exponential": "exp2 exp2_ expm1 expm1_ log1p log1p_",
        "pointwise.logarithms": "logit logit_ xlog1py xlogy xlogy_",
        "pointwise.rounding": "round round_",
        "pointwise.trigonometric": "sinc sinc_",
        "reduce.reduction": "logsumexp",
        "special.bessel_functions": """airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 i0 i0_ i0e i1
            i1e modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1
            scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0""",
        "special.error_functions": """entr erf erf_ erfc erfc_ erfcx erfinv erfinv_ log_ndtr ndtr
            ndtri""",
        "special.gamma_functions": """digamma digamma_ gammainc gammaincc gammaln multigammaln
            polygamma psi zeta""",
        "special.orthogonal_polynomials": """chebyshev_polynomial_t chebyshev_polynomial_u
            chebyshev_polynomial_v chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he
            laguerre_polynomial_l legendre_polynomial_p shifted_chebyshev_polynomial_t
            shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v
            shifted_chebyshev_polynomial_w""",
    },
}
