"""Vectors of eight or sixteen numbers that stay in registers, for kernels.

A loop that the compiler turns into vectors by itself asks first whether arrays overlap, and does what is left over one
by one: with eight numbers that takes longer than the work. Here a kernel says what it wants. Vectors are added,
subtracted, multiplied and divided like numbers. A comparison gives bits, one for each entry: that is how kernels go
from an entry that is near to the next one without looking at the others.

Positions count from the first number of an array, whatever its shape, which must be contiguous. Nobody checks them.
"""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

# Numbers in a short vector.
WIDTH = 8

# No NaN ever gets here, and the sign of zero does not matter.
_FLAGS = ("nnan", "nsz", "contract")

_DOUBLE, _INTEGER = ir.DoubleType(), ir.IntType(64)


class Vector(types.Type):
    """The type of vectors with so many entries."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Vector({width})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, ir.VectorType(_DOUBLE, kind.width))


def _define_operator(function: Any, instruction: str) -> None:
    """Let an operator work with two vectors."""

    class Template(AbstractTemplate):
        def generic(self, arguments: Any, _: Any) -> Any:
            both = len(arguments) == 2 and all(isinstance(one, Vector) for one in arguments)
            return signature(arguments[0], *arguments) if both else None

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return getattr(builder, instruction)(*arguments, flags=_FLAGS)

    infer_global(function)(Template)
    lower_builtin(function, Vector, Vector)(generate)


_define_operator(operator.add, "fadd")
_define_operator(operator.sub, "fsub")
_define_operator(operator.mul, "fmul")
_define_operator(operator.truediv, "fdiv")


def _address(context: Any, builder: Any, kind: Any, width: int, array: Any, at: Any) -> Any:
    contents = context.make_array(kind)(context, builder, array)
    if config.BOUNDSCHECK:  # type: ignore[attr-defined]
        _refuse_outside(context, builder, width, at, contents.nitems)
    return builder.bitcast(builder.gep(contents.data, [at]), ir.VectorType(_DOUBLE, width).as_pointer())


def _refuse_outside(context: Any, builder: Any, width: int, at: Any, size: Any) -> None:
    """Raise an IndexError where a vector would not lie in its array; numba itself checks single numbers only."""
    beyond = builder.icmp_signed(">", builder.add(at, _INTEGER(width)), size)
    with builder.if_then(builder.or_(builder.icmp_signed("<", at, _INTEGER(0)), beyond), likely=False):
        context.call_conv.return_user_exc(builder, IndexError, ("a vector lies outside of its array",))


def _load(width: int) -> Any:
    @intrinsic
    def load(_: Any, array: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            return builder.load(_address(context, builder, sig.args[0], width, *arguments), align=8)

        return Vector(width)(array, types.intp), generate

    return load


def _spread(width: int) -> Any:
    @intrinsic
    def spread(_: Any, value: Any) -> Any:
        def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
            nothing, first = ir.Constant(ir.VectorType(_DOUBLE, width), ir.Undefined), ir.IntType(32)(0)
            everywhere = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
            return builder.shuffle_vector(builder.insert_element(nothing, *arguments, first), nothing, everywhere)

        return Vector(width)(types.float64), generate

    return spread


@intrinsic
def _store(_: Any, array: Any, at: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        address = _address(context, builder, sig.args[0], sig.args[2].width, *arguments[:2])
        builder.store(arguments[2], address, align=8)
        return context.get_dummy_value()

    return types.none(array, types.intp, value), generate


def _extremum(sign: str) -> Any:
    @intrinsic
    def choose(_: Any, a: Any, b: Any) -> Any:
        def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
            return builder.select(builder.fcmp_ordered(sign, *arguments), *arguments)

        both = a if isinstance(a, Vector) else types.float64
        return both(both, both), generate

    return choose


@intrinsic
def _where_less(_: Any, a: Any, b: Any, then: Any, otherwise: Any) -> Any:
    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", *arguments[:2]), *arguments[2:])

    return then(a, b, then, otherwise), generate


@intrinsic
def _at_most(_: Any, a: Any, b: Any) -> Any:
    def generate(_: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        bits = builder.bitcast(builder.fcmp_ordered("<=", *arguments), ir.IntType(sig.args[0].width))
        return builder.zext(bits, _INTEGER)

    return types.int64(a, b), generate


def _reduce(operation: str) -> Any:
    @intrinsic
    def reduce(_: Any, vector: Any) -> Any:
        def generate(_: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            name = f"llvm.vector.reduce.{operation}.v{sig.args[0].width}f64"
            kind = ir.FunctionType(_DOUBLE, [arguments[0].type])
            function = cgutils.get_or_insert_function(builder.module, kind, name)
            return builder.call(function, arguments, fastmath=_FLAGS[:2])

        return types.float64(vector), generate

    return reduce


@intrinsic
def _first_bit(_: Any, bits: Any) -> Any:
    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.intp(types.int64), generate


@intrinsic
def _count_bits(_: Any, bits: Any) -> Any:
    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.intp(types.int64), generate


def _as_bits(flags: Any) -> int:
    return sum(1 << i for i, flag in enumerate(flags) if flag)


def _put(array: Any, at: int, vector: Any) -> None:
    array.reshape(-1)[at : at + len(vector)] = vector


# Each of them for kernels, and in plain numpy for when nothing is compiled.
_PLAIN = config.DISABLE_JIT  # type: ignore[attr-defined]

load8: Any = (lambda array, at: array.reshape(-1)[at : at + 8].copy()) if _PLAIN else _load(8)
load16: Any = (lambda array, at: array.reshape(-1)[at : at + 16].copy()) if _PLAIN else _load(16)
broadcast8: Any = (lambda value: np.full(8, value)) if _PLAIN else _spread(8)
broadcast16: Any = (lambda value: np.full(16, value)) if _PLAIN else _spread(16)
store: Any = _put if _PLAIN else _store
"""store(array, at, vector)"""
smaller: Any = np.minimum if _PLAIN else _extremum("<")
larger: Any = np.maximum if _PLAIN else _extremum(">")
"""The smaller and the larger of two numbers, or of each two entries; never a branch."""
where_less: Any = (lambda a, b, then, otherwise: np.where(a < b, then, otherwise)) if _PLAIN else _where_less
"""where_less(a, b, then, otherwise): entries of ``then`` where those of a are less than those of b."""
at_most: Any = (lambda a, b: _as_bits(a <= b)) if _PLAIN else _at_most
"""Bits that say which entries of the first are at most those of the second."""
least: Any = np.min if _PLAIN else _reduce("fmin")
greatest: Any = np.max if _PLAIN else _reduce("fmax")
first_bit: Any = (lambda bits: (int(bits) & -int(bits)).bit_length() - 1) if _PLAIN else _first_bit
count_bits: Any = (lambda bits: int(bits).bit_count()) if _PLAIN else _count_bits
