"""C text that all libraries of compiled groups begin with: types, selection, elementary functions.

The functions of float32 are polynomials that a compiler vectorizes, within 2 units in the last
place; those of float64 are the C library's. The polynomials were fitted to the functions in
float64, weighted by the relative error of the result.

Reference:
    W. J. Cody, W. Waite, Software Manual for the Elementary Functions, 1980 (reduction of the
    arguments of exp and log).
"""

from __future__ import annotations

#: Types, macros, and how a function gets its addresses.
HEADER = r"""
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
typedef float f32; typedef double f64; typedef uint8_t b8; typedef uint8_t u8;
typedef int8_t i8; typedef int16_t i16; typedef int32_t i32; typedef int64_t i64;
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define FMA(a, b, c) __builtin_fmaf(a, b, c)
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#endif
#define INLINE static inline __attribute__((always_inline))
/* The library reads the addresses of arrays from a tuple of NumPy's arrays. */
INLINE void bind(char **p, const i64 *slots, const char *tuple) {
  for (i64 k = 0; k < slots[0]; k++) {
    const char *array = *(char *const *)(tuple + TUPLE_OFFSET + k * (i64)sizeof(char *));
    p[slots[k + 1]] = *(char *const *)(array + ARRAY_OFFSET);
  }
}
/* The arguments of a function for all rows, since Python converts each argument of a call. */
typedef struct { char **p; const i64 *n, *slots; i64 lo, hi; } call_arguments;
#define FOR_ALL_ROWS(name) \
  void name##_all(const call_arguments *a, const char *tuple) { \
    name(a->p, a->n, a->slots, tuple, a->lo, a->hi); \
  } \
  void name##_part(const call_arguments *a, const char *tuple, i64 lo, i64 hi) { \
    name(a->p, a->n, a->slots, tuple, lo, hi); \
  }
"""
#: Functions of elements, which the kernels of a GPU share.
FUNCTIONS = r"""
INLINE f32 as_f32(i32 bits) { f32 x; memcpy(&x, &bits, 4); return x; }
INLINE i32 as_i32(f32 x) { i32 bits; memcpy(&bits, &x, 4); return bits; }
/* float16 and bfloat16, rounded to even */
typedef uint16_t h16; typedef uint16_t g16;
INLINE f32 from_h16(h16 h) {
  i32 sign = (i32)(h & 0x8000) << 16, bits = (h & 0x7fff) << 13;
  f32 x = as_f32(bits) * 0x1p112f;
  i32 large = as_i32(x) | 0x7f800000;
  x = (h & 0x7c00) == 0x7c00 ? as_f32(large) : x;
  return as_f32(as_i32(x) | sign);
}
INLINE h16 to_h16(f32 x) {
  i32 bits = as_i32(x), sign = (bits >> 16) & 0x8000, a = bits & 0x7fffffff;
  f32 y = as_f32(a);
  i32 tiny = as_i32(y + 0.5f) - 0x3f000000;
  i32 usual = (a - 0x38000000 + 0xfff + ((a >> 13) & 1)) >> 13;
  i32 h = a < 0x38800000 ? tiny : a >= 0x477ff000 ? 0x7c00 : usual;
  h = a > 0x7f800000 ? 0x7e00 | ((a >> 13) & 0x3ff) : h;
  return (h16)(h | sign);
}
INLINE f32 from_g16(g16 g) { return as_f32((i32)((uint32_t)g << 16)); }
INLINE g16 to_g16(f32 x) {
  uint32_t bits = (uint32_t)as_i32(x);
  uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return (g16)(x != x ? (bits >> 16) | 0x40 : rounded);
}
/* 2**n for the integer n that is added to 1.5 * 2**23 in x, or the lower half of its bits */
INLINE f32 power_of_two(i32 bits) { return as_f32((i32)(((uint32_t)bits << 23) + 0x3f800000u)); }
/* exp(x) = 2**n * (1 + r + r*r*p) with x = n * log(2) + r, |r| <= log(2) / 2; n is in *bits */
INLINE f32 exp_part(f32 x, i32 *bits) {
  f32 z = FMA(x, 0x1.715476p+0f, 0x1.8p23f), n = z - 0x1.8p23f;
  f32 r = FMA(n, -0x1.62e400p-1f, x);
  r = FMA(n, -0x1.7f7d1cp-20f, r);
  f32 p = 0x1.6a2434p-10f;
  p = FMA(p, r, 0x1.1239e2p-7f);
  p = FMA(p, r, 0x1.5558f2p-5f);
  p = FMA(p, r, 0x1.555492p-3f);
  p = FMA(p, r, 0x1.fffffcp-2f);
  *bits = as_i32(z);
  return FMA(p * r, r, r) + 1.0f;
}
/* 0 below -104 without a product that underflows, which takes processors 100 times longer */
INLINE f32 exp_f32(f32 x) {
  f32 c = x < -104.0f ? 0.0f : x;
  i32 bits;
  f32 y = exp_part(c > 89.0f ? 89.0f : c, &bits);
  f32 second = x < -104.0f ? 0.0f : power_of_two(bits - (bits >> 1));
  return y * power_of_two(bits >> 1) * second;
}
INLINE f32 log_f32(f32 x) {
  i32 tiny = x < 0x1p-126f;
  f32 y = tiny ? x * 0x1p23f : x;
  i32 bits = as_i32(y);
  i32 e = ((bits - 0x3f3504f3) >> 23);
  f32 m = as_f32(bits - (e << 23));
  f32 f = m - 1.0f, n = (f32)e - (tiny ? 23.0f : 0.0f), s = f * f;
  f32 p = 0x1.1457a2p-4f;
  p = FMA(p, f, -0x1.de3c14p-4f);
  p = FMA(p, f, 0x1.e6f06cp-4f);
  p = FMA(p, f, -0x1.fc2208p-4f);
  p = FMA(p, f, 0x1.233768p-3f);
  p = FMA(p, f, -0x1.555c4ep-3f);
  p = FMA(p, f, 0x1.99a4b6p-3f);
  p = FMA(p, f, -0x1.000006p-2f);
  p = FMA(p, f, 0x1.555548p-2f);
  f32 t = p * f * s;
  t = FMA(n, 0x1.7f7d1cp-20f, t);
  t = FMA(-0.5f, s, t);
  f32 z = FMA(n, 0x1.62e400p-1f, f + t);
  z = x == INFINITY ? x : z;
  z = x == 0.0f ? -INFINITY : z;
  return x < 0.0f || x != x ? NAN : z;
}
/* |x|, at most a positive number; NaN becomes that number */
INLINE f32 size_below(f32 x, f32 most) {
  i32 bits = as_i32(x) & 0x7fffffff;
  return as_f32(bits < as_i32(most) ? bits : as_i32(most));
}
/* tanh(a) = g / (1 - g), g = (1 - exp(-2a)) / 2, exp(-2a) = 2**n * (1 - 2p), with
   a = r - n * log(2) / 2, |r| <= log(2) / 4, 2p = 1 - exp(-2r) */
INLINE f32 tanh_f32(f32 x) {
  f32 a = size_below(x, 10.0f);
  f32 z = FMA(a, -0x1.715476p+1f, 0x1.8p23f), n = z - 0x1.8p23f;
  f32 r = FMA(n, 0x1.62e400p-2f, a);
  r = FMA(n, 0x1.7f7d1cp-21f, r);
  f32 p = -0x1.6ba49cp-5f;
  p = FMA(p, r, 0x1.122a72p-3f);
  p = FMA(p, r, -0x1.5556f0p-2f);
  p = FMA(p, r, 0x1.5554aep-1f);
  p = FMA(p, r, -0x1.fffffep-1f);
  p = FMA(p * r, r, r);
  f32 s = power_of_two(as_i32(z));
  f32 g = FMA(p, s, FMA(s, -0.5f, 0.5f)), rest = FMA(-p, s, FMA(s, 0.5f, 0.5f));
  f32 y = __builtin_copysignf(g / rest, x);
  return x != x ? x : y;
}
INLINE f32 erf_f32(f32 x) {
  f32 a = fabsf(x), s = x * x;
  f32 p = 0x1.6510c4p-14f;
  p = FMA(p, s, -0x1.aca394p-11f);
  p = FMA(p, s, 0x1.550a44p-8f);
  p = FMA(p, s, -0x1.b81524p-6f);
  p = FMA(p, s, 0x1.ce2e54p-4f);
  p = FMA(p, s, -0x1.812744p-2f);
  p = FMA(p, s, 0x1.06eba8p-3f);
  f32 small = FMA(p, x, x);
  f32 c = size_below(x, 4.0f);
  f32 q = 0x1.8bf14ap-21f;
  q = FMA(q, c, 0x1.7b86b0p-17f);
  q = FMA(q, c, -0x1.8d3fc8p-12f);
  q = FMA(q, c, 0x1.05c1b8p-8f);
  q = FMA(q, c, -0x1.95e7c0p-6f);
  q = FMA(q, c, 0x1.b9c982p-4f);
  q = FMA(q, c, 0x1.446f86p-1f);
  q = FMA(q, c, 0x1.211f2ap+0f);
  q = FMA(q, c, -0x1.3bdb5ep-13f);
  i32 bits;
  q = exp_part(-q, &bits);
  f32 large = __builtin_copysignf(1.0f - q * power_of_two(bits), x);
  return x != x ? x : a < 0.9f ? small : large;
}
/* exp(-x * x / 2) * p(|x|) below 0: the gradient of gelu computes the same exp */
INLINE f32 ndtr_f32(f32 x) {
  f32 a = size_below(x, 6.0f);
  f32 p = 0x1.d00426p-26f;
  p = FMA(p, a, -0x1.d9d57cp-21f);
  p = FMA(p, a, 0x1.af34aep-17f);
  p = FMA(p, a, -0x1.d2dcbcp-14f);
  p = FMA(p, a, 0x1.54ce50p-11f);
  p = FMA(p, a, -0x1.6bce30p-9f);
  p = FMA(p, a, 0x1.2fc6fap-7f);
  p = FMA(p, a, -0x1.a57f3ap-6f);
  p = FMA(p, a, 0x1.fc8e2ep-5f);
  p = FMA(p, a, -0x1.101a72p-3f);
  p = FMA(p, a, 0x1.fff77ap-3f);
  p = FMA(p, a, -0x1.988420p-2f);
  p = FMA(p, a, 0.5f);
  f32 tail = p * exp_f32(x * x * -0.5f);
  return x < 0.0f ? tail : 1.0f - tail;
}
INLINE f64 exp_f64(f64 x) { return exp(x); }
INLINE f64 log_f64(f64 x) { return log(x); }
INLINE f64 tanh_f64(f64 x) { return tanh(x); }
INLINE f64 erf_f64(f64 x) { return erf(x); }
#define REAL(T, suffix, abs, root, down, up, cut, near, copy) \
  INLINE T maximum_##T(T a, T b) { return a > b || a != a ? a : b; } \
  INLINE T minimum_##T(T a, T b) { return a < b || a != a ? a : b; } \
  INLINE T absolute_##T(T a) { return abs(a); } \
  INLINE T sqrt_##T(T a) { return root(a); } \
  INLINE T floor_##T(T a) { return down(a); } \
  INLINE T ceil_##T(T a) { return up(a); } \
  INLINE T trunc_##T(T a) { return cut(a); } \
  INLINE T rint_##T(T a) { return near(a); } \
  INLINE T copysign_##T(T a, T b) { return copy(a, b); } \
  INLINE T sign_##T(T a) { return a > 0 ? (T)1 : a < 0 ? (T)-1 : a == 0 ? (T)0 : a; }
REAL(f32, f, fabsf, sqrtf, floorf, ceilf, truncf, rintf, __builtin_copysignf)
REAL(f64, , fabs, sqrt, floor, ceil, trunc, rint, __builtin_copysign)
#define WHOLE(T) \
  INLINE T maximum_##T(T a, T b) { return a > b ? a : b; } \
  INLINE T minimum_##T(T a, T b) { return a < b ? a : b; } \
  INLINE T absolute_##T(T a) { return a < 0 ? (T)-a : a; } \
  INLINE T sign_##T(T a) { return (T)((a > 0) - (a < 0)); }
WHOLE(i8) WHOLE(i16) WHOLE(i32) WHOLE(i64) WHOLE(u8)
"""
PRELUDE = HEADER + FUNCTIONS
