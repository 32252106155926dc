"""Which family of operations, a module of ``ops`` or ``numpy.functions``, holds which names.

Written by ``stubs/generate.py``, as the stubs are. By namespace (``""`` is the top level, under
``Tensor`` are the methods) and family.
"""

from typing import Final

FAMILIES: Final[dict[str, dict[str, str]]] = {
    "": {
        "numpy.functions.applied_functions": "apply_along_axis piecewise",
        "numpy.functions.creation": """array asanyarray ascontiguousarray astype copy fromfunction
            fromiter geomspace identity tri""",
        "numpy.functions.editing": """append block compress copyto delete extract fill_diagonal
            flatnonzero insert place put_along_axis putmask resize take_along_axis trim_zeros""",
        "numpy.functions.elementwise": "bitwise_count cbrt divmod fabs iscomplex modf rint",
        "numpy.functions.files": "savez savez_compressed",
        "numpy.functions.index_grids": """diag_indices diag_indices_from indices ix_
            ravel_multi_index tril_indices_from triu_indices_from""",
        "numpy.functions.inspection": """array_equal array_equiv common_type iscomplexobj isdtype
            isrealobj isscalar issubdtype min_scalar_type ndim shape size""",
        "numpy.functions.joins": "pad",
        "numpy.functions.ordering": """argpartition intersect1d lexsort partition setdiff1d setxor1d
            union1d unique_all unique_counts unique_inverse unique_values""",
        "numpy.functions.products": "matvec vecdot vecmat",
        "numpy.functions.quantiles": "nanpercentile percentile",
        "numpy.functions.reductions": """average cumulative_prod cumulative_sum nanargmax nanargmin
            nancumprod nancumsum nanmax nanmin nanprod nanstd nanvar ptp""",
        "numpy.functions.shapes": """broadcast_arrays expand_dims matrix_transpose permute_dims
            repeat rollaxis unstack""",
        "numpy.functions.signals": """bartlett blackman convolve correlate digitize ediff1d hamming
            hanning interp kaiser unwrap""",
        "numpy.functions.statistics": "histogram2d histogram_bin_edges",
        "ops.create.conversion": "can_cast clone result_type to",
        "ops.create.factories": """as_tensor asarray empty empty_like empty_permuted empty_strided
            eye from_numpy frombuffer full full_like ones ones_like scalar_tensor tensor zeros
            zeros_like""",
        "ops.create.file_memory": "from_file",
        "ops.create.ranges": "arange linspace logspace range",
        "ops.create.storages": "is_storage",
        "ops.create.unsupported_layouts": """ccol_indices_copy chalf choose_qparams_optimized
            col_indices_copy crow_indices_copy dequantize dsmm fake_quantize_per_channel_affine
            fake_quantize_per_tensor_affine fused_moving_avg_obs_fake_quant hsmm hspmm indices_copy
            int_repr is_distributed q_per_channel_axis q_per_channel_scales
            q_per_channel_zero_points q_scale q_zero_point quantize_per_channel quantize_per_tensor
            quantize_per_tensor_dynamic quantized_batch_norm quantized_gru_cell quantized_lstm_cell
            quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell
            quantized_rnn_tanh_cell resize_as_sparse_ row_indices_copy saddmm smm sparse_bsc_tensor
            sparse_bsr_tensor spmm sspaddmm values_copy""",
        "ops.fft.stft": "istft stft",
        "ops.fft.windows": """bartlett_window blackman_window hamming_window hann_window
            kaiser_window""",
        "ops.index.assignment": "index_put index_put_",
        "ops.index.filling": "fill fill_ zero_",
        "ops.index.gathering": """argwhere gather index_select masked_fill masked_fill_
            masked_scatter masked_scatter_ masked_select nonzero nonzero_static take
            take_along_dim""",
        "ops.index.index_writing": """index_add index_add_ index_copy index_copy_ index_fill
            index_fill_ index_reduce index_reduce_ put put_""",
        "ops.index.scattering": """scatter scatter_ scatter_add scatter_add_ scatter_reduce
            scatter_reduce_""",
        "ops.index.slicing": """diagonal_scatter narrow narrow_copy select select_scatter
            slice_scatter unfold""",
        "ops.linalg.deprecated": "eig lstsq matrix_rank solve symeig",
        "ops.linalg.eigen": "lobpcg",
        "ops.linalg.einsum": "einsum inner kron tensordot",
        "ops.linalg.lu": "lu_unpack",
        "ops.linalg.matmul": "bmm dot ger matmul mm mv outer",
        "ops.linalg.matrix_factors": "lu lu_solve pca_lowrank qr slogdet svd svd_lowrank",
        "ops.linalg.matrix_functions": "det logdet matrix_exp matrix_power",
        "ops.linalg.products": """addbmm addbmm_ addmm addmm_ addmv addmv_ addr addr_ baddbmm
            baddbmm_ bilinear chain_matmul""",
        "ops.linalg.qr": "geqrf orgqr ormqr",
        "ops.linalg.solve": "inverse",
        "ops.linalg.svd": "pinverse",
        "ops.linalg.triangular": "cholesky cholesky_inverse cholesky_solve triangular_solve",
        "ops.linalg.vector_products": "cdist cross pdist trace vander vdot",
        "ops.nn.activation": "relu relu_ sigmoid sigmoid_",
        "ops.nn.adaptive_pooling": "adaptive_avg_pool1d",
        "ops.nn.aten": """_log_softmax_backward_data _softmax_backward_data affine_grid_generator
            alpha_dropout_ batch_norm binary_cross_entropy_with_logits cosine_embedding_loss
            ctc_loss dropout_ embedding embedding_bag embedding_renorm_ feature_alpha_dropout_
            feature_dropout_ grid_sampler grid_sampler_2d grid_sampler_3d group_norm
            hinge_embedding_loss instance_norm kl_div layer_norm margin_ranking_loss
            native_batch_norm native_dropout native_group_norm native_layer_norm poisson_nll_loss
            rrelu_ triplet_margin_loss""",
        "ops.nn.convolution": """conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d
            conv_transpose3d convolution""",
        "ops.nn.dropout": "alpha_dropout dropout feature_alpha_dropout feature_dropout rrelu",
        "ops.nn.normalization": "rms_norm",
        "ops.nn.padding": "constant_pad_nd",
        "ops.nn.pooling": "avg_pool1d max_pool1d max_pool2d max_pool3d",
        "ops.nn.rectifiers": "celu celu_ hardshrink prelu selu selu_ threshold threshold_",
        "ops.nn.recurrent": """gru gru_cell lstm lstm_cell rnn_relu rnn_relu_cell rnn_tanh
            rnn_tanh_cell""",
        "ops.nn.shuffling": "channel_shuffle native_channel_shuffle pixel_shuffle pixel_unshuffle",
        "ops.nn.softmax": "log_softmax softmax",
        "ops.nn.unpooling": "adaptive_max_pool1d max_pool1d_with_indices",
        "ops.pointwise.addcmul_lerp": "addcdiv addcdiv_ addcmul addcmul_ lerp lerp_",
        "ops.pointwise.arithmetic": """abs abs_ absolute absolute_ add add_ mul mul_ multiply
            multiply_ neg neg_ negative negative_ positive reciprocal reciprocal_ square square_ sub
            sub_ subtract subtract_""",
        "ops.pointwise.bitwise": """bitwise_and bitwise_and_ bitwise_invert bitwise_invert_
            bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or bitwise_or_
            bitwise_right_shift bitwise_right_shift_ bitwise_xor bitwise_xor_ gcd gcd_ invert lcm
            lcm_ left_shift right_shift""",
        "ops.pointwise.comparison": """allclose eq eq_ equal ge ge_ greater greater_ greater_equal
            greater_equal_ gt gt_ isclose isfinite isinf isnan isneginf isposinf isreal le le_ less
            less_ less_equal less_equal_ logical_and logical_and_ logical_not logical_not_
            logical_or logical_or_ logical_xor logical_xor_ lt lt_ ne ne_ not_equal not_equal_""",
        "ops.pointwise.complex_numbers": """angle complex conj conj_physical conj_physical_
            conjugate imag polar real resolve_conj resolve_neg sgn sgn_ view_as_complex
            view_as_real""",
        "ops.pointwise.division": """div div_ divide divide_ floor_divide floor_divide_ mod
            remainder remainder_ true_divide true_divide_""",
        "ops.pointwise.exponential": """exp exp2 exp2_ exp_ expm1 expm1_ log log10 log10_ log1p
            log1p_ log2 log2_ log_ logaddexp logaddexp2 logit logit_ pow pow_ power rsqrt rsqrt_
            sqrt sqrt_ xlogy xlogy_""",
        "ops.pointwise.floating_point": """float_power float_power_ frexp ldexp ldexp_ nan_to_num
            nan_to_num_""",
        "ops.pointwise.foreach": """_foreach_abs _foreach_abs_ _foreach_acos _foreach_acos_
            _foreach_add _foreach_add_ _foreach_addcdiv _foreach_addcdiv_ _foreach_addcmul
            _foreach_addcmul_ _foreach_asin _foreach_asin_ _foreach_atan _foreach_atan_
            _foreach_ceil _foreach_ceil_ _foreach_clamp_max _foreach_clamp_max_ _foreach_clamp_min
            _foreach_clamp_min_ _foreach_clone _foreach_copy_ _foreach_cos _foreach_cos_
            _foreach_cosh _foreach_cosh_ _foreach_div _foreach_div_ _foreach_erf _foreach_erf_
            _foreach_erfc _foreach_erfc_ _foreach_exp _foreach_exp_ _foreach_expm1 _foreach_expm1_
            _foreach_floor _foreach_floor_ _foreach_frac _foreach_frac_ _foreach_lerp _foreach_lerp_
            _foreach_lgamma _foreach_lgamma_ _foreach_log _foreach_log10 _foreach_log10_
            _foreach_log1p _foreach_log1p_ _foreach_log2 _foreach_log2_ _foreach_log_ _foreach_max
            _foreach_maximum _foreach_maximum_ _foreach_minimum _foreach_minimum_ _foreach_mm
            _foreach_mul _foreach_mul_ _foreach_neg _foreach_neg_ _foreach_norm _foreach_pow
            _foreach_pow_ _foreach_powsum _foreach_reciprocal _foreach_reciprocal_ _foreach_round
            _foreach_round_ _foreach_rsqrt _foreach_rsqrt_ _foreach_sigmoid _foreach_sigmoid_
            _foreach_sign _foreach_sign_ _foreach_sin _foreach_sin_ _foreach_sinh _foreach_sinh_
            _foreach_sqrt _foreach_sqrt_ _foreach_sub _foreach_sub_ _foreach_tan _foreach_tan_
            _foreach_tanh _foreach_tanh_ _foreach_trunc _foreach_trunc_ _foreach_zero_""",
        "ops.pointwise.rounding": """around ceil ceil_ copysign copysign_ fix fix_ floor floor_ fmod
            fmod_ frac frac_ heaviside heaviside_ nextafter nextafter_ round round_ sign sign_
            signbit trunc trunc_""",
        "ops.pointwise.selection": """clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip
            clip_ fmax fmin maximum minimum where""",
        "ops.pointwise.trigonometric": """acos acos_ acosh acosh_ arccos arccos_ arccosh arccosh_
            arcsin arcsin_ arcsinh arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh arctanh_ asin
            asin_ asinh asinh_ atan atan2 atan2_ atan_ atanh atanh_ cos cos_ cosh cosh_ deg2rad
            deg2rad_ degrees hypot hypot_ rad2deg rad2deg_ radians sin sin_ sinc sinc_ sinh sinh_
            tan tan_ tanh tanh_""",
        "ops.random.gammas": "_sample_dirichlet",
        "ops.random.sampling": """bernoulli binomial multinomial normal poisson rand rand_like
            randint randint_like randn randn_like randperm""",
        "ops.reduce.cumulative": "cummax cummin cumprod cumprod_ cumsum cumsum_ logcumsumexp",
        "ops.reduce.differences": "cumulative_trapezoid diff trapezoid trapz",
        "ops.reduce.extrema": "amax amin aminmax argmax argmin max min",
        "ops.reduce.histograms": "bincount histc histogram histogramdd",
        "ops.reduce.norms": """cosine_similarity dist frobenius_norm norm norm_except_dim
            nuclear_norm pairwise_distance renorm renorm_""",
        "ops.reduce.quantiles": "nanquantile quantile",
        "ops.reduce.reduction": """all any count_nonzero hash_tensor logsumexp mean nanmean nansum
            prod sum""",
        "ops.reduce.sampled_gradients": "gradient",
        "ops.reduce.segments": "segment_reduce",
        "ops.reduce.variance": "corrcoef cov std std_mean var var_mean",
        "ops.shape.diagonal": """diag diag_embed diagflat diagonal tril tril_ tril_indices triu
            triu_ triu_indices""",
        "ops.shape.inspection": "is_conj is_inference is_neg is_nonzero is_same_size is_tensor",
        "ops.shape.joining": """atleast_1d atleast_2d atleast_3d block_diag cartesian_prod cat
            column_stack combinations concat concatenate dstack hstack meshgrid row_stack stack
            unravel_index vstack""",
        "ops.shape.rearranging": """adjoint fliplr flipud moveaxis movedim repeat_interleave roll
            rot90 t tile""",
        "ops.shape.reshaping_inplace": """as_strided_ resize_as_ squeeze_ swapaxes_ swapdims_ t_
            transpose_ unsqueeze_""",
        "ops.shape.sizes": """expand flatten flip permute ravel reshape squeeze swapaxes swapdims
            transpose unflatten unsqueeze""",
        "ops.shape.splitting": """array_split chunk dsplit hsplit split split_with_sizes
            tensor_split unbind unsafe_chunk unsafe_split unsafe_split_with_sizes vsplit""",
        "ops.shape.strides": """as_strided as_strided_copy as_strided_scatter broadcast_shapes
            broadcast_tensors broadcast_to expand_as""",
        "ops.shape.tensor_functions": """detach detach_ from_dlpack get_device is_complex
            is_floating_point is_signed numel rsub""",
        "ops.shape.view_copies": """alias_copy detach_copy diagonal_copy expand_copy permute_copy
            select_copy slice_copy split_copy split_with_sizes_copy squeeze_copy t_copy
            transpose_copy unbind_copy unfold_copy unsqueeze_copy view_as_complex_copy
            view_as_real_copy view_copy""",
        "ops.shape.views": "contiguous reshape_as view view_as",
        "ops.sort.order_statistics": "kthvalue median mode nanmedian",
        "ops.sort.sorting": "argsort bucketize isin msort searchsorted sort topk",
        "ops.sort.unique": "unique unique_consecutive",
        "ops.sparse.creation": """_convert_indices_from_coo_to_csr _convert_indices_from_csr_to_coo
            sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor""",
        "ops.special.bessel_functions": "i0 i0_",
        "ops.special.error_functions": "erf erf_ erfc erfc_ erfinv erfinv_",
        "ops.special.gamma_functions": """digamma digamma_ igamma igamma_ igammac igammac_ lgamma
            lgamma_ mvlgamma mvlgamma_ polygamma""",
    },
    "Tensor": {
        "ops.create.conversion": """astype bfloat16 bool byte cdouble cfloat char clone cpu cuda
            double float half int is_pinned long pin_memory short to type type_as""",
        "ops.create.factories": """new_empty new_empty_strided new_full new_ones new_tensor
            new_zeros""",
        "ops.create.file_memory": "is_shared share_memory_",
        "ops.create.storages": "_typed_storage record_stream set_ storage untyped_storage",
        "ops.create.unsupported_layouts": """chalf dequantize int_repr is_distributed is_ipu is_maia
            is_mkldnn is_mps is_mtia is_nested is_sparse_csr is_vulkan is_xla is_xpu
            q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point
            qscheme resize_as_sparse_ smm sparse_resize_ sparse_resize_and_clear_ sspaddmm to_mkldnn
            to_padded_tensor to_sparse_bsc to_sparse_bsr""",
        "ops.fft.stft": "istft stft",
        "ops.index.array_methods": "argpartition choose compress conjugate copy flat to_device",
        "ops.index.assignment": "__setitem__ index_put index_put_",
        "ops.index.filling": "copy_ fill fill_ fill_diagonal_ module_load zero_",
        "ops.index.gathering": """argwhere gather index_select masked_fill masked_fill_
            masked_scatter masked_scatter_ masked_select nonzero nonzero_static take
            take_along_dim""",
        "ops.index.index_writing": """index_add index_add_ index_copy index_copy_ index_fill
            index_fill_ index_reduce index_reduce_ put put_""",
        "ops.index.indexing": "__getitem__",
        "ops.index.scattering": """scatter scatter_ scatter_add scatter_add_ scatter_reduce
            scatter_reduce_""",
        "ops.index.slicing": """diagonal_scatter narrow narrow_copy select select_scatter
            slice_scatter unfold""",
        "ops.linalg.deprecated": "eig lstsq reinforce resize resize_as solve symeig",
        "ops.linalg.einsum": "inner kron",
        "ops.linalg.matmul": "__matmul__ __rmatmul__ bmm dot ger matmul mm mv outer",
        "ops.linalg.matrix_factors": "lu lu_solve qr slogdet svd",
        "ops.linalg.matrix_functions": "det logdet matrix_exp matrix_power",
        "ops.linalg.products": """addbmm addbmm_ addmm addmm_ addmv addmv_ addr addr_ baddbmm
            baddbmm_""",
        "ops.linalg.qr": "geqrf orgqr ormqr",
        "ops.linalg.solve": "inverse",
        "ops.linalg.svd": "pinverse",
        "ops.linalg.triangular": "cholesky cholesky_inverse cholesky_solve triangular_solve",
        "ops.linalg.vector_products": "cross trace vdot",
        "ops.nn.activation": "relu relu_ sigmoid sigmoid_",
        "ops.nn.rectifiers": "hardshrink prelu",
        "ops.nn.softmax": "log_softmax softmax",
        "ops.pointwise.addcmul_lerp": "addcdiv addcdiv_ addcmul addcmul_ lerp lerp_",
        "ops.pointwise.arithmetic": """__abs__ __add__ __iadd__ __imul__ __isub__ __mul__ __neg__
            __pos__ __radd__ __rmul__ __rsub__ __sub__ abs abs_ absolute absolute_ add add_ mul mul_
            multiply multiply_ neg neg_ negative negative_ positive reciprocal reciprocal_ square
            square_ sub sub_ subtract subtract_""",
        "ops.pointwise.bitwise": """__and__ __iand__ __ilshift__ __invert__ __ior__ __irshift__
            __ixor__ __lshift__ __or__ __rand__ __rlshift__ __ror__ __rrshift__ __rshift__ __rxor__
            __xor__ bitwise_and bitwise_and_ bitwise_invert bitwise_invert_ bitwise_left_shift
            bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or bitwise_or_ bitwise_right_shift
            bitwise_right_shift_ bitwise_xor bitwise_xor_ gcd gcd_ lcm lcm_""",
        "ops.pointwise.comparison": """__eq__ __ge__ __gt__ __le__ __lt__ __ne__ allclose eq eq_
            equal ge ge_ greater greater_ greater_equal greater_equal_ gt gt_ isclose isfinite isinf
            isnan isneginf isposinf isreal le le_ less less_ less_equal less_equal_ logical_and
            logical_and_ logical_not logical_not_ logical_or logical_or_ logical_xor logical_xor_ lt
            lt_ ne ne_ not_equal not_equal_""",
        "ops.pointwise.complex_numbers": """angle conj conj_physical conj_physical_ imag real
            resolve_conj resolve_neg sgn sgn_""",
        "ops.pointwise.division": """__div__ __floordiv__ __idiv__ __ifloordiv__ __imod__
            __itruediv__ __mod__ __rdiv__ __rfloordiv__ __rmod__ __rtruediv__ __truediv__ div div_
            divide divide_ floor_divide floor_divide_ remainder remainder_ true_divide
            true_divide_""",
        "ops.pointwise.exponential": """__ipow__ __pow__ __rpow__ exp exp2 exp2_ exp_ expm1 expm1_
            log log10 log10_ log1p log1p_ log2 log2_ log_ logaddexp logaddexp2 logit logit_ pow pow_
            rsqrt rsqrt_ sqrt sqrt_ xlogy xlogy_""",
        "ops.pointwise.floating_point": """float_power float_power_ frexp ldexp ldexp_ nan_to_num
            nan_to_num_""",
        "ops.pointwise.mapping": "apply_ map2_ map_",
        "ops.pointwise.rounding": """ceil ceil_ copysign copysign_ fix fix_ floor floor_ fmod fmod_
            frac frac_ heaviside heaviside_ nextafter nextafter_ round round_ sign sign_ signbit
            trunc trunc_""",
        "ops.pointwise.selection": """clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip
            clip_ fmax fmin maximum minimum where""",
        "ops.pointwise.trigonometric": """acos acos_ acosh acosh_ arccos arccos_ arccosh arccosh_
            arcsin arcsin_ arcsinh arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh arctanh_ asin
            asin_ asinh asinh_ atan atan2 atan2_ atan_ atanh atanh_ cos cos_ cosh cosh_ deg2rad
            deg2rad_ hypot hypot_ rad2deg rad2deg_ sin sin_ sinc sinc_ sinh sinh_ tan tan_ tanh
            tanh_""",
        "ops.random.inplace": """bernoulli_ cauchy_ exponential_ geometric_ log_normal_ normal_
            random_ uniform_""",
        "ops.random.sampling": "bernoulli multinomial",
        "ops.reduce.cumulative": "cummax cummin cumprod cumprod_ cumsum cumsum_ logcumsumexp",
        "ops.reduce.differences": "diff",
        "ops.reduce.extrema": "amax amin aminmax argmax argmin max min",
        "ops.reduce.histograms": "bincount histc histogram",
        "ops.reduce.norms": "dist norm renorm renorm_",
        "ops.reduce.quantiles": "nanquantile quantile",
        "ops.reduce.reduction": """all any count_nonzero hash_tensor logsumexp mean nanmean nansum
            prod sum""",
        "ops.reduce.variance": "corrcoef cov std var",
        "ops.shape.diagonal": "diag diag_embed diagflat diagonal tril tril_ triu triu_",
        "ops.shape.inspection": """data_ptr dim_order is_conj is_cpu is_cuda is_meta is_neg
            is_nonzero is_quantized is_same_size is_set_to is_sparse storage_offset""",
        "ops.shape.joining": "combinations",
        "ops.shape.rearranging": """H T adjoint fliplr flipud mH mT moveaxis movedim repeat
            repeat_interleave roll rot90 t tile""",
        "ops.shape.reshaping_inplace": """as_strided_ resize_ resize_as_ squeeze_ swapaxes_
            swapdims_ t_ transpose_ unsqueeze_""",
        "ops.shape.sizes": """expand flatten flip permute ravel reshape squeeze swapaxes swapdims
            transpose unflatten unsqueeze""",
        "ops.shape.splitting": """array_split chunk dsplit hsplit split split_with_sizes
            tensor_split unbind unsafe_chunk unsafe_split unsafe_split_with_sizes vsplit""",
        "ops.shape.strides": """as_strided as_strided_copy as_strided_scatter broadcast_to expand_as
            sum_to_size""",
        "ops.shape.tensor_functions": "as_subclass new",
        "ops.shape.views": "contiguous reshape_as view view_as",
        "ops.sort.order_statistics": "kthvalue median mode nanmedian",
        "ops.sort.sorting": "argsort msort searchsorted sort topk",
        "ops.sort.unique": "unique unique_consecutive",
        "ops.sparse.creation": """_indices _nnz _values ccol_indices coalesce col_indices
            crow_indices dense_dim indices is_coalesced row_indices sparse_dim sparse_mask to_dense
            to_sparse to_sparse_coo to_sparse_csc to_sparse_csr values""",
        "ops.special.bessel_functions": "i0 i0_",
        "ops.special.error_functions": "erf erf_ erfc erfc_ erfinv erfinv_",
        "ops.special.gamma_functions": """digamma digamma_ igamma igamma_ igammac igammac_ lgamma
            lgamma_ mvlgamma mvlgamma_ polygamma polygamma_""",
    },
    "fft": {
        "ops.fft.frequencies": "fftfreq fftshift ifftshift rfftfreq",
        "ops.fft.many_dimensions": """fft2 fftn hfft2 hfftn ifft2 ifftn ihfft2 ihfftn irfft2 irfftn
            rfft2 rfftn""",
        "ops.fft.transforms": "fft hfft ifft ihfft irfft rfft",
    },
    "linalg": {
        "numpy.functions.linalg_products": "outer tensordot trace",
        "numpy.functions.shapes": "matrix_transpose",
        "ops.linalg.eigen": "eig eigh eigvals eigvalsh",
        "ops.linalg.lu": "ldl_factor ldl_factor_ex ldl_solve lu lu_factor lu_factor_ex lu_solve",
        "ops.linalg.matmul": "matmul",
        "ops.linalg.matrix_factors": "diagonal",
        "ops.linalg.matrix_functions": "det matrix_exp matrix_power slogdet",
        "ops.linalg.norm": "cond matrix_norm norm vector_norm",
        "ops.linalg.products": "cross multi_dot vander vecdot",
        "ops.linalg.qr": "householder_product qr",
        "ops.linalg.solve": "inv inv_ex lstsq solve solve_ex tensorinv tensorsolve",
        "ops.linalg.svd": "matrix_rank pinv svd svdvals",
        "ops.linalg.triangular": "cholesky cholesky_ex solve_triangular",
    },
    "nn.functional": {
        "ops.linalg.matmul": "linear",
        "ops.linalg.products": "bilinear grouped_mm",
        "ops.linalg.vector_products": "pdist",
        "ops.nn.activation": """elu elu_ gelu leaky_relu leaky_relu_ relu relu_ sigmoid sigmoid_
            silu silu_""",
        "ops.nn.adaptive_pooling": """adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
            adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d""",
        "ops.nn.aten": "rrelu_",
        "ops.nn.attention": "multi_head_attention_forward scaled_dot_product_attention",
        "ops.nn.batch_normalization": "batch_norm instance_norm local_response_norm",
        "ops.nn.class_loss": "cross_entropy linear_cross_entropy nll_loss",
        "ops.nn.convolution": """conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d
            conv_transpose3d""",
        "ops.nn.ctc_loss": "ctc_loss",
        "ops.nn.dropout": """alpha_dropout dropout dropout1d dropout2d dropout3d
            feature_alpha_dropout rrelu""",
        "ops.nn.embedding": "embedding embedding_bag one_hot",
        "ops.nn.grid": "affine_grid grid_sample",
        "ops.nn.interpolation": "interpolate upsample upsample_bilinear upsample_nearest",
        "ops.nn.loss": """binary_cross_entropy binary_cross_entropy_with_logits gaussian_nll_loss
            huber_loss kl_div l1_loss mse_loss poisson_nll_loss smooth_l1_loss""",
        "ops.nn.margin_loss": """cosine_embedding_loss hinge_embedding_loss margin_ranking_loss
            multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss soft_margin_loss
            triplet_margin_loss triplet_margin_with_distance_loss""",
        "ops.nn.normalization": "group_norm layer_norm normalize rms_norm",
        "ops.nn.padding": "pad",
        "ops.nn.pooling": """avg_pool1d avg_pool2d avg_pool3d lp_pool1d lp_pool2d lp_pool3d
            max_pool1d max_pool2d max_pool3d""",
        "ops.nn.rectifiers": """celu celu_ glu gumbel_softmax hardshrink hardsigmoid hardsigmoid_
            hardswish hardswish_ hardtanh hardtanh_ logsigmoid mish mish_ prelu relu6 relu6_ selu
            selu_ softmin softplus softshrink softsign tanhshrink threshold threshold_""",
        "ops.nn.shuffling": "channel_shuffle native_channel_shuffle pixel_shuffle pixel_unshuffle",
        "ops.nn.softmax": "log_softmax softmax",
        "ops.nn.unfolding": "fold unfold",
        "ops.nn.unpooling": """adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices
            adaptive_max_pool3d_with_indices fractional_max_pool2d
            fractional_max_pool2d_with_indices fractional_max_pool3d
            fractional_max_pool3d_with_indices max_pool1d_with_indices max_pool2d_with_indices
            max_pool3d_with_indices max_unpool1d max_unpool2d max_unpool3d""",
        "ops.pointwise.trigonometric": "tanh tanh_",
        "ops.reduce.norms": "cosine_similarity pairwise_distance",
    },
    "private": {
        "numpy.functions.elementwise": "_bits",
        "ops.create.conversion": """_clear_region _copy_assigned _copy_strided _overwrite _pin
            _to_dtype _view_scatter""",
        "ops.create.factories": "_ones_like _zeros_like",
        "ops.fft.stft": "_frame _overlap_add",
        "ops.fft.transforms": """_complex_transform _half_to_real _real_to_half _real_transform
            _resize _scale_inside""",
        "ops.index.assignment": "_add_at_index _clear_item _setitem",
        "ops.index.filling": "_copy_into _fill_diagonal _write_zeros",
        "ops.index.gathering": """_index_sum _read_masked _spread_masked _take_sum _wrap_negative
            _write_masked gather_computed gather_sum largest_at_places""",
        "ops.index.index_writing": "_put_zeros",
        "ops.index.indexing": "_getitem _scatter_item",
        "ops.index.scattering": """_gather_into _scatter _scatter_count _scatter_extreme
            _scatter_product""",
        "ops.index.slicing": "_select _unfold_sum _write_slice slice",
        "ops.linalg.eigen": "_eigvals _eigvalsh",
        "ops.linalg.einsum": "_contract",
        "ops.linalg.lu": "_permutation_matrix _swap_rows",
        "ops.linalg.matrix_functions": "_cofactor _cofactor_derivative _identity",
        "ops.linalg.svd": "_svdvals",
        "ops.linalg.triangular": "_cholesky_inverse _cholesky_solve",
        "ops.linalg.vector_products": "_distances _scaled_identity _trace",
        "ops.nn.adaptive_pooling": """_adaptive_maxima _adaptive_maxima_and_indices _adaptive_means
            _uneven_mean _uneven_spread adaptive_argmax""",
        "ops.nn.attention": "attention_in_blocks attention_weights weighted_values",
        "ops.nn.axis_windows": """window_argmax window_gather window_max window_scatter
            window_spread window_sum""",
        "ops.nn.batch_normalization": "_scale_and_shift",
        "ops.nn.class_loss": """_cross_entropy _cross_entropy_backward _nll _nll_backward
            _reduced_cross_entropy _reduction_backward _target_weights""",
        "ops.nn.conv_kernels": "_conv _conv_input _conv_weight",
        "ops.nn.ctc_loss": "_ctc _ctc_backward",
        "ops.nn.dropout": "_multiply_add_noise _multiply_mask _multiply_noise _multiply_slopes",
        "ops.nn.embedding": """_bag_rows _bag_sums _embedding _embedding_sum _masked_embedding
            _scale_gradient _sparse_embedding""",
        "ops.nn.grid": """_add_pixels _affine_points _affine_points_backward _append_zero _clip
            _clip_backward _floor _pixel_indices _pixels _reflect _reflect_backward _sample""",
        "ops.nn.interpolation": "resample",
        "ops.nn.loss": """_bce_derivative _binary_cross_entropy _huber_error _logits_cross_entropy
            _mean_squared_error _squared_error _sum_of_squares""",
        "ops.nn.margin_loss": """_label_mask _leading_labels _margin_curvature _margin_slopes
            _multi_margin _pair_derivatives _pair_losses""",
        "ops.nn.normalization": "_layer_norm mean_and_scale standardize",
        "ops.nn.padding": "_fold_edge _pad_constant _pad_edge _pad_edges",
        "ops.nn.pooling": "_spread_means maxima_and_indices window_maxima window_means",
        "ops.nn.rectifiers": "_prelu_backward _tanhshrink",
        "ops.nn.recurrent": "_gru_gates _lstm_gates",
        "ops.nn.recurrent_sequences": "gru_sequence lstm_sequence",
        "ops.nn.regions": """_region_maxima _region_means _region_means_backward _spread_maxima
            _take_maxima""",
        "ops.nn.shuffling": "_rearrange",
        "ops.nn.softmax": "_log_softmax _softmax",
        "ops.nn.unfolding": "_col2im _im2col",
        "ops.nn.unpooling": """_fractional_indices _unpool_gather _unpool_scatter
            _unpool_scatter_add""",
        "ops.pointwise.bitwise": "_invert",
        "ops.pointwise.comparison": "_all_equal",
        "ops.pointwise.complex_numbers": "_conj _imag _real",
        "ops.pointwise.floating_point": "_add_to_exponent _multiply_by_power",
        "ops.pointwise.selection": "Tensor._where_method _zero_unmasked",
        "ops.random.gammas": "_dirichlet_grad _standard_gamma _standard_gamma_grad",
        "ops.random.inplace": "_refill",
        "ops.reduce.cumulative": "_cummax_along _cummin_along _recurrence",
        "ops.reduce.extrema": "_aminmax _extreme_of_all _max_along _min_along",
        "ops.reduce.histograms": "_edges _histogram",
        "ops.reduce.norms": "_cosine p_norm",
        "ops.reduce.quantiles": "_positions",
        "ops.reduce.variance": "_std _std_mean _var _var_along _var_mean",
        "ops.shape.diagonal": "_diagonal_write triangle_indices",
        "ops.shape.joining": """_all_combinations _block_diagonal _cat_expanded _combination_indices
            _expand_along""",
        "ops.shape.rearranging": "_repeat_each _repeat_index _rotate _tile",
        "ops.shape.strides": "_add_window _as_strided _read_window _strided_scatter",
        "ops.shape.views": "_to_format _view _view_dtype own_copy to_row_major",
        "ops.sort.order_statistics": """_kth_along _median_along _median_of_all _mode_along
            _nanmedian_along""",
        "ops.sort.sorting": "_search _sort_along _top_along order_along",
        "ops.sort.unique": "_distinct _distinct_elements",
        "ops.sparse.kernels": "_gather_elements _sampled_product _scatter_elements _sparse_product",
        "ops.special.error_functions": "_ndtr",
        "ops.special.gamma_functions": "_polygamma",
    },
    "return_types": {
        "numpy.functions.ordering": """unique_all unique_all_out unique_counts unique_counts_out
            unique_inverse unique_inverse_out""",
        "ops.linalg.eigen": "linalg_eig linalg_eig_out linalg_eigh linalg_eigh_out",
        "ops.linalg.lu": """linalg_ldl_factor linalg_ldl_factor_ex linalg_ldl_factor_ex_out
            linalg_ldl_factor_out linalg_lu linalg_lu_factor linalg_lu_factor_ex
            linalg_lu_factor_ex_out linalg_lu_factor_out linalg_lu_out lu_unpack lu_unpack_out""",
        "ops.linalg.matrix_factors": "qr qr_out slogdet slogdet_out svd svd_out",
        "ops.linalg.matrix_functions": "linalg_slogdet linalg_slogdet_out",
        "ops.linalg.qr": "geqrf geqrf_out linalg_qr linalg_qr_out",
        "ops.linalg.solve": """linalg_inv_ex linalg_inv_ex_out linalg_lstsq linalg_lstsq_out
            linalg_solve_ex linalg_solve_ex_out""",
        "ops.linalg.svd": "linalg_svd linalg_svd_out",
        "ops.linalg.triangular": """linalg_cholesky_ex linalg_cholesky_ex_out triangular_solve
            triangular_solve_out""",
        "ops.pointwise.floating_point": "frexp frexp_out",
        "ops.reduce.cumulative": "cummax cummax_out cummin cummin_out",
        "ops.reduce.extrema": "aminmax aminmax_out max max_out min min_out",
        "ops.reduce.histograms": "histogram histogram_out histogramdd histogramdd_out",
        "ops.sort.order_statistics": """kthvalue kthvalue_out median median_out mode mode_out
            nanmedian nanmedian_out""",
        "ops.sort.sorting": "sort sort_out topk topk_out",
    },
    "signal.windows": {
        "ops.fft.windows": """bartlett blackman cosine exponential gaussian general_cosine
            general_hamming hamming hann kaiser nuttall""",
    },
    "special": {
        "ops.nn.activation": "expit",
        "ops.nn.softmax": "log_softmax softmax",
        "ops.pointwise.exponential": """exp2 exp2_ expm1 expm1_ log1p log1p_ logit logit_ xlog1py
            xlogy xlogy_""",
        "ops.pointwise.rounding": "round round_",
        "ops.pointwise.trigonometric": "sinc sinc_",
        "ops.reduce.reduction": "logsumexp",
        "ops.special.bessel_functions": """airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 i0 i0_
            i0e i1 i1e modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1
            scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0""",
        "ops.special.error_functions": """entr erf erf_ erfc erfc_ erfcx erfinv erfinv_ log_ndtr
            ndtr ndtri""",
        "ops.special.gamma_functions": """digamma digamma_ gammainc gammaincc gammaln multigammaln
            polygamma psi zeta""",
        "ops.special.orthogonal_polynomials": """chebyshev_polynomial_t chebyshev_polynomial_u
            chebyshev_polynomial_v chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he
            laguerre_polynomial_l legendre_polynomial_p shifted_chebyshev_polynomial_t
            shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v
            shifted_chebyshev_polynomial_w""",
    },
}
