"""Tests of NumPy's that are set apart: regular expressions, by reason.

A test in which the library raises because a feature is NumPy's alone is set apart when it runs.
"""

from __future__ import annotations

#: Pattern of the errors for features that are NumPy's alone or internal to it.
REFUSED = r"""(?x)
    NumPy's\ alone | NumPy\ alone\ has | expected\ the\ processor's\ order\ of\ bytes
    | missing:\ (?:\w+\.)* (?:_\w+ | (?:rec|records|char|strings|ma)\.\w+) """
#: Whole files.
FILES = {
    "strings, dates, records, masked arrays": r"""
        datetime|defchararray|strings|stringdtype|records|recfunctions|unicode|natype""",
    "memory maps, nditer and NumPy's iterators": r"memmap|nditer|arrayterator",
    "NumPy's C: interfaces, builds, allocation, processors": r"""
        test_api|argparse|arraymethod|abc|casting_unittests|conversion_utils|cpu_|custom_dtypes
        |cython|extint128|hashtable|limited_api|mem_policy|multithreading|simd|scalarbuffer
        |extending|direct|longdouble|umath_accuracy|multiprocessing|protocols|array_interface""",
    "subclasses of NumPy's array and its scalars, at the head of the file": r"dlpack|scalarinherit",
    "NumPy's deprecations": r"deprecations",
    "NumPy's own helpers, private or for programs about NumPy": r"""
        _exceptions|_datasource|_iotools|_version|test_format|test_utils|overrides|mixins""",
}
#: Tests by their name: file::class::function[parameters].
TESTS = {
    "subclasses of NumPy's array, matrices, masked arrays": r"[Ss]ubclass|Matrix\b|masked",
    "NumPy's scalars as objects of their own, which are arrays without dimensions here": r"""
        TestArrayFromScalar|TestAsIntegerRatio|TestIsInteger|TestClassGetItem
        |test_array_scalar_method_signatures|test_scalar_repr|test_integer_comparison""",
    "C": r"[Rr]efcount|PEP3118|NewBufferProtocol|CTypes|WritebackIfCopy|TestAlignment",
}
#: Tests by what their source says.
SOURCES = {
    "masked arrays, matrices, memory maps, nditer": r"""
        np\.ma\b|\bma\.|np\.matrix|asmatrix|memmap|nditer|np\.bmat""",
    "subclasses of NumPy's array": r"\(np\.ndarray\):|\(ndarray\):",
    "test modules in C": r"""
        _multiarray_tests|_umath_tests|\bumt\.|_rational_tests|rational|_operand_flag_tests|struct_ufunc
        |opflag_tests|_multiarray_umath""",
    "reference counts, addresses, the interpreter": r"""
        getrefcount|HAS_REFCOUNT|\bctypes\b|memoryview|gc\.collect|weakref|requires_memory""",
}
