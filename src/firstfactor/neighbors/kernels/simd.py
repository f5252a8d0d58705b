"""Vectors of 8 or 16 doubles that stay in registers, for kernels.

A loop that the compiler vectorises by itself first checks whether arrays overlap, and handles the remainder one entry
at a time: with 8 numbers that takes longer than the work. Here kernels state the vectors themselves. They are added,
subtracted, multiplied and divided like numbers. A comparison gives a bit mask with one bit per lane, the lowest for
lane 0, so that kernels go from one hit to the next without testing the lanes between.

Positions count entries of a C-contiguous float64 array of any shape from its first one. They are checked only with
``NUMBA_BOUNDSCHECK=1``.
"""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic, models, overload, register_model

# Lanes of a short vector: with AVX-512 one register, with AVX2 two.
WIDTH = 8

# No vector has a NaN, and the sign of zero does not matter. A product and a sum may become one instruction.
_FLAGS = ("nnan", "nsz", "contract")

# The alignment of float64 arrays in bytes. Vectors are 64 or 128 bytes, but start at any entry.
_ALIGNMENT = 8

_DOUBLE, _INTEGER, _LANE, _BIT = ir.DoubleType(), ir.IntType(64), ir.IntType(32), ir.IntType(1)


class Vector(types.Type):
    """Numba's type of a vector of ``width`` doubles."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Vector({width})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    """How LLVM represents a vector: as one value."""

    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, ir.VectorType(_DOUBLE, kind.width))


def _define_operator(function: Any, instruction: str) -> None:
    """Define an operator for two vectors of the same width, lane by lane, as one LLVM instruction."""

    @intrinsic
    def combine(_: Any, a: Any, b: Any) -> Any:
        def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
            return getattr(builder, instruction)(*arguments, flags=_FLAGS)

        return a(a, b), generate

    @overload(function, jit_options={"forceinline": True})
    def define(a: Any, b: Any) -> Any:
        def apply(a: Any, b: Any) -> Any:  # numba wants the same annotations as above
            return combine(a, b)  # type: ignore[call-arg]

        return apply if isinstance(a, Vector) and a == b else None  # None: numba tries other definitions


_define_operator(operator.add, "fadd")
_define_operator(operator.sub, "fsub")
_define_operator(operator.mul, "fmul")
_define_operator(operator.truediv, "fdiv")


def _address(context: Any, builder: Any, kind: Any, width: int, array: Any, at: Any) -> Any:
    """The address of a vector in an array."""
    contents = context.make_array(kind)(context, builder, array)
    if config.BOUNDSCHECK:  # type: ignore[attr-defined]
        _check_bounds(context, builder, width, at, contents.nitems)
    return builder.bitcast(builder.gep(contents.data, [at]), ir.VectorType(_DOUBLE, width).as_pointer())


def _check_bounds(context: Any, builder: Any, width: int, at: Any, size: Any) -> None:
    """Raise an IndexError where a vector would not lie in its array; numba's own checks see single entries only."""
    beyond = builder.icmp_signed(">", builder.add(at, _INTEGER(width)), size)
    with builder.if_then(builder.or_(builder.icmp_signed("<", at, _INTEGER(0)), beyond), likely=False):
        context.call_conv.return_user_exc(builder, IndexError, ("a vector lies outside of its array",))


def _load(width: int) -> Any:
    @intrinsic
    def load(_: Any, array: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            return builder.load(_address(context, builder, sig.args[0], width, *arguments), align=_ALIGNMENT)

        return Vector(width)(array, types.intp), generate

    return load


def _broadcast(width: int) -> Any:
    @intrinsic
    def broadcast(_: Any, value: Any) -> Any:
        def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
            # LLVM has no instruction for this; it recognises a shuffle that takes lane 0 for all lanes.
            undefined = ir.Constant(ir.VectorType(_DOUBLE, width), ir.Undefined)
            lane_0 = ir.Constant(ir.VectorType(_LANE, width), [0] * width)
            return builder.shuffle_vector(builder.insert_element(undefined, *arguments, _LANE(0)), undefined, lane_0)

        return Vector(width)(types.float64), generate

    return broadcast


@intrinsic
def _store(_: Any, array: Any, at: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        address = _address(context, builder, sig.args[0], sig.args[2].width, *arguments[:2])
        builder.store(arguments[2], address, align=_ALIGNMENT)
        return context.get_dummy_value()

    return types.none(array, types.intp, value), generate


def _extremum(sign: str) -> Any:
    @intrinsic
    def choose(_: Any, a: Any, b: Any) -> Any:
        def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
            # A comparison and a select, which the compiler turns into one instruction and never into a branch.
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
            # The full name: llvmlite cannot derive the suffix of a vector type.
            name = f"llvm.vector.reduce.{operation}.v{sig.args[0].width}f64"
            function = builder.module.declare_intrinsic(name, fnty=ir.FunctionType(_DOUBLE, [arguments[0].type]))
            return builder.call(function, arguments, fastmath=_FLAGS[:2])

        return types.float64(vector), generate

    return reduce


@intrinsic
def _first_bit(_: Any, bits: Any) -> Any:
    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], _BIT(1))  # 1: the result for 0 may be anything

    return types.intp(types.int64), generate


@intrinsic
def _count_bits(_: Any, bits: Any) -> Any:
    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.intp(types.int64), generate


def _mask_of(flags: Any) -> int:
    """Flags as a bit mask."""
    return sum(1 << i for i, flag in enumerate(flags) if flag)


def _store_in_numpy(array: Any, at: int, vector: Any) -> None:
    array.reshape(-1)[at : at + len(vector)] = vector


# Each of them for kernels, and in plain numpy for NUMBA_DISABLE_JIT=1.
_PLAIN = config.DISABLE_JIT  # type: ignore[attr-defined]

load8: Any = (lambda array, at: array.reshape(-1)[at : at + 8].copy()) if _PLAIN else _load(8)
load16: Any = (lambda array, at: array.reshape(-1)[at : at + 16].copy()) if _PLAIN else _load(16)
"""load16(array, at): the vector that starts at a position."""
broadcast8: Any = (lambda value: np.full(8, value)) if _PLAIN else _broadcast(8)
broadcast16: Any = (lambda value: np.full(16, value)) if _PLAIN else _broadcast(16)
"""broadcast16(value): the same number in all lanes."""
store: Any = _store_in_numpy if _PLAIN else _store
"""store(array, at, vector): write a vector from a position on."""
smaller: Any = np.minimum if _PLAIN else _extremum("<")
larger: Any = np.maximum if _PLAIN else _extremum(">")
"""The smaller and the larger of two numbers, or of two vectors lane by lane, without a branch."""
where_less: Any = (lambda a, b, then, otherwise: np.where(a < b, then, otherwise)) if _PLAIN else _where_less
"""where_less(a, b, then, otherwise): lanes of ``then`` where a < b, elsewhere those of ``otherwise``."""
at_most: Any = (lambda a, b: _mask_of(a <= b)) if _PLAIN else _at_most
"""at_most(a, b): the int64 bit mask of the lanes where a ≤ b."""
least: Any = np.min if _PLAIN else _reduce("fmin")
greatest: Any = np.max if _PLAIN else _reduce("fmax")
"""The least and the greatest lane of a vector."""
first_bit: Any = (lambda bits: (int(bits) & -int(bits)).bit_length() - 1) if _PLAIN else _first_bit
"""The number of the lowest bit that is set in a mask other than 0."""
count_bits: Any = (lambda bits: int(bits).bit_count()) if _PLAIN else _count_bits
"""How many bits of a mask are set."""
