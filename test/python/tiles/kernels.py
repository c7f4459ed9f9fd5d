# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of the matrix: one function for each operation, with the element types that it has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from fuzz.program import Program

from .writer import EXTENTS, Tile, Writer, is_float, memref, sizes, stored, tensor

FLOATS = ("f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2")
ARITHMETIC_FLOATS = ("f64", "f32", "f16", "bf16")
IN_MEMORY_INTEGERS = ("i64", "i32", "i16", "i8", "index")
INTEGERS = ("i33", "i12", "i3", *IN_MEMORY_INTEGERS)
"""Also types that arrays do not have. The kernels convert them."""
IN_MEMORY = (*FLOATS, "f6E2M3FN", "f6E3M2FN", *IN_MEMORY_INTEGERS, "i1")
ALL = (*FLOATS, "f6E2M3FN", "f6E3M2FN", *INTEGERS, "i1")
NUMBERS = (*ARITHMETIC_FLOATS, *INTEGERS)

Build = Callable[[Writer, str], None]


@dataclass(frozen=True)
class Case:
    """A kernel of the matrix."""

    operation: str
    element: str
    extent: str
    program: Program

    def __str__(self) -> str:
        return f"{self.operation}-{self.element}-{self.extent}"


@dataclass(frozen=True)
class _Entry:
    build: Build
    elements: Sequence[str]
    tiles: int
    extents: Sequence[str]


_ENTRIES: dict[str, _Entry] = {}


def _add(name: str, elements: Sequence[str], build: Build, *, tiles: int = 1, extents: Sequence[str] = EXTENTS) -> None:
    assert name not in _ENTRIES, name
    _ENTRIES[name] = _Entry(build, elements, tiles, extents)


def _kernel(
    name: str, elements: Sequence[str], *, tiles: int = 1, extents: Sequence[str] = EXTENTS
) -> Callable[[Build], Build]:
    def register(build: Build) -> Build:
        _add(name, elements, build, tiles=tiles, extents=extents)
        return build

    return register


def cases() -> Iterator[Case]:
    """All kernels."""
    for name, entry in _ENTRIES.items():
        for element in entry.elements:
            for extent in entry.extents:
                writer = Writer(extent)
                entry.build(writer, element)
                yield Case(name, element, extent, Program(writer.text(entry.tiles), seed=len(name)))


# --- element-wise -------------------------------------------------------------------------------------------------


def _tiles(w: Writer, element: str, count: int, rank: int = 2) -> list[Tile]:
    return [w.load(sizes(w.extent, rank), element) for _ in range(count)]


def _elementwise(op: str, count: int) -> Build:
    def build(w: Writer, element: str) -> None:
        w.store(w.op(op, *_tiles(w, element, count)))

    return build


for _name in ("addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf"):
    _add(f"arith.{_name}", ARITHMETIC_FLOATS, _elementwise(f"arith.{_name}", 2))
_add("arith.negf", ARITHMETIC_FLOATS, _elementwise("arith.negf", 1))
for _name in ("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui"):
    _add(f"arith.{_name}", (*INTEGERS, "i1"), _elementwise(f"arith.{_name}", 2))


def _division(op: str) -> Build:
    def build(w: Writer, element: str) -> None:
        x, y = _tiles(w, element, 2)
        # Divisors are odd, so they are not zero. The smallest number, which is even, must not be divided by -1.
        one = w.constant(1, y.shape, element)
        x = w.op("arith.ori", x, one) if element == "i3" else x
        w.store(w.op(op, x, w.op("arith.ori", y, one)))

    return build


for _name in ("divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"):
    _add(f"arith.{_name}", INTEGERS, _division(f"arith.{_name}"))


def _shift(op: str) -> Build:
    def build(w: Writer, element: str) -> None:
        x, y = _tiles(w, element, 2)
        w.store(w.op(op, x, w.op("arith.andi", y, w.constant(2 if element == "i3" else 7, y.shape, element))))

    return build


for _name in ("shli", "shrsi", "shrui"):
    _add(f"arith.{_name}", INTEGERS, _shift(f"arith.{_name}"))


def _comparison(op: str, predicate: str) -> Build:
    def build(w: Writer, element: str) -> None:
        x, y = _tiles(w, element, 2)
        w.store(w.value(f"arith.{op} {predicate}, {x}, {y} : {x.type}", x.shape, "i1"))

    return build


for _name in ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"):
    _add(f"arith.cmpi {_name}", (*INTEGERS, "i1"), _comparison("cmpi", _name))
for _name in ("oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno"):
    _add(f"arith.cmpf {_name}", ARITHMETIC_FLOATS, _comparison("cmpf", _name))


@_kernel("arith.select", ALL)
def _select(w: Writer, element: str) -> None:
    shape = sizes(w.extent, 2)
    c, x, y = w.load(shape, "i1"), w.load(shape, element), w.load(shape, element)
    w.store(w.value(f"arith.select {c}, {x}, {y} : {c.type}, {x.type}", shape, element))


def _conversion(op: str, result: str) -> Build:
    def build(w: Writer, element: str) -> None:
        (x,) = _tiles(w, element, 1)
        w.store(w.value(f"{op} {x} : {x.type} to {tensor(x.shape, result)}", x.shape, result))

    return build


_ORDER = ("f64", "f32", "f16", "f8E4M3FN")
_ORDER_OF_BFLOATS = ("f64", "f32", "bf16", "f8E5M2")
for _order in (_ORDER, _ORDER_OF_BFLOATS):
    for _number, _wide in enumerate(_order):
        for _narrow in _order[_number + 1 :]:
            if f"arith.truncf to {_narrow}" not in _ENTRIES:
                _wider = tuple(
                    dict.fromkeys(t for o in (_ORDER, _ORDER_OF_BFLOATS) if _narrow in o for t in o[: o.index(_narrow)])
                )
                _add(f"arith.truncf to {_narrow}", _wider, _conversion("arith.truncf", _narrow))
            if f"arith.extf to {_wide}" not in _ENTRIES:
                _narrower = tuple(
                    dict.fromkeys(t for o in (_ORDER, _ORDER_OF_BFLOATS) if _wide in o for t in o[o.index(_wide) + 1 :])
                )
                _add(f"arith.extf to {_wide}", _narrower, _conversion("arith.extf", _wide))
_add("arith.truncf to f4E2M1FN", FLOATS, _conversion("arith.truncf", "f4E2M1FN"), extents=("aligned",))
_add("arith.extf to f8E5M2", ("f4E2M1FN",), _conversion("arith.extf", "f8E5M2"), extents=("aligned",))
for _name in ARITHMETIC_FLOATS:
    _add(f"arith.sitofp to {_name}", INTEGERS[:-1], _conversion("arith.sitofp", _name))
    _add(f"arith.uitofp to {_name}", (*INTEGERS[:-1], "i1"), _conversion("arith.uitofp", _name))
for _name in INTEGERS[:-1]:
    _add(f"arith.fptosi to {_name}", ARITHMETIC_FLOATS, _conversion("arith.fptosi", _name))
_add("arith.extsi to i64", ("i32", "i16", "i8", "i1"), _conversion("arith.extsi", "i64"))
_add("arith.extui to i32", ("i16", "i8", "i1"), _conversion("arith.extui", "i32"))
_add("arith.trunci to i8", ("i64", "i32", "i16"), _conversion("arith.trunci", "i8"))
_add("arith.trunci to i1", ("i64", "i32", "i16", "i8"), _conversion("arith.trunci", "i1"))
_add("arith.index_cast to index", ("i64", "i32"), _conversion("arith.index_cast", "index"))
_add("arith.index_cast to i32", ("index",), _conversion("arith.index_cast", "i32"))
for _element, _name in (
    ("f64", "i64"),
    ("f32", "i32"),
    ("f16", "i16"),
    ("bf16", "i16"),
    ("i32", "f32"),
    ("i16", "bf16"),
):
    _add(f"arith.bitcast {_element} to {_name}", (_element,), _conversion("arith.bitcast", _name))


def _extended(op: str) -> Build:
    def build(w: Writer, element: str) -> None:
        x, y = _tiles(w, element, 2)
        second = "i1" if op == "addui_extended" else element
        types = x.type if second == element else f"{x.type}, {tensor(x.shape, second)}"
        w.line(f"%low, %high = arith.{op} {x}, {y} : {types}")
        w.store(Tile("%low", x.shape, element))
        w.store(Tile("%high", x.shape, second))

    return build


for _name in ("addui_extended", "mulsi_extended", "mului_extended"):
    _add(f"arith.{_name}", INTEGERS[:-1], _extended(_name))


def _of_positive(op: str) -> Build:
    def build(w: Writer, element: str) -> None:
        (x,) = _tiles(w, element, 1)
        w.store(w.op(op, w.op("math.absf", x)))

    return build


def _of_unit(op: str) -> Build:
    """A function of numbers between -1 and 1."""

    def build(w: Writer, element: str) -> None:
        (x,) = _tiles(w, element, 1)
        eighth = w.constant(0.125, x.shape, element)
        w.store(w.op(op, w.op("arith.mulf", x, eighth)))

    return build


for _name in (
    "exp",
    "exp2",
    "expm1",
    "sin",
    "cos",
    "tan",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "erf",
    "erfc",
    "cbrt",
):
    _add(f"math.{_name}", ARITHMETIC_FLOATS, _elementwise(f"math.{_name}", 1))
for _name in ("absf", "ceil", "floor", "round", "roundeven", "trunc"):
    _add(f"math.{_name}", ARITHMETIC_FLOATS, _elementwise(f"math.{_name}", 1))
for _name in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt"):
    _add(f"math.{_name}", ARITHMETIC_FLOATS, _of_positive(f"math.{_name}"))
for _name in ("asin", "acos", "atanh"):
    _add(f"math.{_name}", ARITHMETIC_FLOATS, _of_unit(f"math.{_name}"))
_add("math.acosh", ARITHMETIC_FLOATS, _of_positive("math.acosh"))
for _name in ("atan2", "copysign"):
    _add(f"math.{_name}", ARITHMETIC_FLOATS, _elementwise(f"math.{_name}", 2))
_add("math.fma", ARITHMETIC_FLOATS, _elementwise("math.fma", 3))
for _name in ("absi", "ctlz", "cttz", "ctpop"):
    _add(f"math.{_name}", INTEGERS, _elementwise(f"math.{_name}", 1))


@_kernel("math.clampf", ARITHMETIC_FLOATS)
def _clampf(w: Writer, element: str) -> None:
    x, low, high = _tiles(w, element, 3)
    w.store(w.value(f"math.clampf {x} to [{low}, {high}] : {x.type}", x.shape, element))


@_kernel("math.sincos", ARITHMETIC_FLOATS)
def _sincos(w: Writer, element: str) -> None:
    (x,) = _tiles(w, element, 1)
    w.line(f"%sin, %cos = math.sincos {x} : {x.type}")
    w.store(Tile("%sin", x.shape, element))
    w.store(Tile("%cos", x.shape, element))


# Scales of other types than f8E8M0FNU are truncated to powers of two.
SCALES = ("f8E8M0FNU", *ARITHMETIC_FLOATS, "f8E4M3FN")


@_kernel("arith.scaling_extf", ("f8E4M3FN", "f8E5M2"))
def _scaling_extf(w: Writer, element: str) -> None:
    x = w.load(sizes(w.extent, 2), element)
    for scale in [w.load(x.shape, scale) for scale in SCALES]:
        for wide in ARITHMETIC_FLOATS:
            types = f"{x.type}, {scale.type} to {tensor(x.shape, wide)}"
            w.store(w.value(f"arith.scaling_extf {x}, {scale} : {types}", x.shape, wide))


@_kernel("arith.scaling_truncf", ARITHMETIC_FLOATS)
def _scaling_truncf(w: Writer, element: str) -> None:
    x = w.load(sizes(w.extent, 2), element)
    for scale in [w.load(x.shape, scale) for scale in SCALES]:
        types = f"{x.type}, {scale.type} to {tensor(x.shape, 'f8E5M2')}"
        w.store(w.value(f"arith.scaling_truncf {x}, {scale} : {types}", x.shape, "f8E5M2"))


@_kernel("math.powf", ARITHMETIC_FLOATS)
def _powf(w: Writer, element: str) -> None:
    x, y = _tiles(w, element, 2)
    w.store(w.op("math.powf", w.op("math.absf", x), y))


@_kernel("math.fpowi", ARITHMETIC_FLOATS)
def _fpowi(w: Writer, element: str) -> None:
    x, n = w.load(sizes(w.extent, 2), element), w.load(sizes(w.extent, 2), "i32")
    n = w.op("arith.andi", n, w.constant(3, n.shape, "i32"))
    w.store(w.value(f"math.fpowi {x}, {n} : {x.type}, {n.type}", x.shape, element))


@_kernel("math.ipowi", INTEGERS[:-1])
def _ipowi(w: Writer, element: str) -> None:
    x, n = _tiles(w, element, 2)
    w.store(w.op("math.ipowi", x, w.op("arith.andi", n, w.constant(3, n.shape, element))))


for _name in ("isfinite", "isinf", "isnan", "isnormal"):

    @_kernel(f"math.{_name}", ARITHMETIC_FLOATS)
    def _class(w: Writer, element: str, name: str = _name) -> None:
        (x,) = _tiles(w, element, 1)
        w.store(w.value(f"math.{name} {x} : {x.type}", x.shape, "i1"))


@_kernel("arith.constant", ALL)
def _constant(w: Writer, element: str) -> None:
    shape = sizes(w.extent, 1)
    bools = ["true" if n % 3 == 0 else "false" for n in range(shape[0])]
    numbers = [f"{n % 7}.0" if is_float(element) else str(n % 7) for n in range(shape[0])]
    elements = ", ".join(bools if element == "i1" else numbers)
    w.store(w.value(f"arith.constant dense<[{elements}]> : {tensor(shape, element)}", shape, element))


@_kernel("tensor.splat", (*FLOATS, *INTEGERS))
def _splat(w: Writer, element: str) -> None:
    memory = stored(element)
    name, ty = w.argument((1,), memory)
    w.line("%zero = arith.constant 0 : index")
    w.line(f"%s = memref.load {name}[%zero] : {ty}")
    if memory != element:
        w.line(f"%t = arith.trunci %s : {memory} to {element}")
    shape = sizes(w.extent, 2)
    w.store(w.value(f"tensor.splat {'%s' if memory == element else '%t'} : {tensor(shape, element)}", shape, element))


@_kernel("tensor.extract", ALL)
def _extract_element(w: Writer, element: str) -> None:
    """An element of the first row, which is in memory also if the tile is ragged."""
    (x,) = _tiles(w, element, 1)
    w.line("%row = arith.constant 0 : index")
    w.line(f"%column = arith.constant {x.shape[1] // 2} : index")
    w.line(f"%s = tensor.extract {x}[%row, %column] : {x.type}")
    w.store(w.value(f"tensor.splat %s : {x.type}", x.shape, element))


@_kernel("triton_xla.mask", ALL)
def _mask(w: Writer, element: str) -> None:
    (x,) = _tiles(w, element, 1)
    w.line("%n = arith.constant 3 : index")
    number = "true" if element == "i1" else "9.0" if is_float(element) else "3"
    w.line(f"%fill = arith.constant {number}{'' if element == 'i1' else f' : {element}'}")
    rows, columns = x.shape
    w.store(w.value(f"triton_xla.mask {x} [%n, {columns // 2}], %fill : {x.type}", (rows, columns), element))


# --- shapes -------------------------------------------------------------------------------------------------------


@_kernel("triton_xla.broadcast of a row", ALL)
def _broadcast_row(w: Writer, element: str) -> None:
    rows, columns = sizes(w.extent, 2)
    x = w.load((columns,), element)
    result = tensor((rows, columns), element)
    w.store(w.value(f"triton_xla.broadcast {x} dims [1] : {x.type} -> {result}", (rows, columns), element))


@_kernel("triton_xla.broadcast of a column", ALL)
def _broadcast_column(w: Writer, element: str) -> None:
    rows, columns = sizes(w.extent, 2)
    x = w.load((rows, 1), element)
    result = tensor((rows, columns), element)
    w.store(w.value(f"triton_xla.broadcast {x} dims [0, 1] : {x.type} -> {result}", (rows, columns), element))


@_kernel("triton_xla.transpose", ALL)
def _transpose(w: Writer, element: str) -> None:
    (x,) = _tiles(w, element, 1)
    shape = x.shape[::-1]
    w.store(w.value(f"triton_xla.transpose {x} [1, 0] : {x.type} -> {tensor(shape, element)}", shape, element))


@_kernel("triton_xla.transpose of rank 3", ALL)
def _transpose_3(w: Writer, element: str) -> None:
    (x,) = _tiles(w, element, 1, rank=3)
    a, b, c = x.shape
    shape = (c, a, b)
    w.store(w.value(f"triton_xla.transpose {x} [2, 0, 1] : {x.type} -> {tensor(shape, element)}", shape, element))


@_kernel("triton_xla.reshape", ALL)
def _reshape(w: Writer, element: str) -> None:
    (x,) = _tiles(w, element, 1)
    shape = (x.shape[0] * x.shape[1],)
    w.store(w.value(f"triton_xla.reshape {x} : {x.type} -> {tensor(shape, element)}", shape, element))


@_kernel("triton_xla.reshape to columns", ALL)
def _reshape_columns(w: Writer, element: str) -> None:
    (x,) = _tiles(w, element, 1)
    shape = (x.shape[1], x.shape[0])
    w.store(w.value(f"triton_xla.reshape {x} : {x.type} -> {tensor(shape, element)}", shape, element))


@_kernel("triton_xla.squeeze_dims", ALL)
def _squeeze(w: Writer, element: str) -> None:
    rows, columns = sizes(w.extent, 2)
    x = w.load((rows, 1, columns), element)
    result = tensor((rows, columns), element)
    w.store(w.value(f"triton_xla.squeeze_dims {x} [1] : {x.type} -> {result}", (rows, columns), element))


for _dim in (0, 1):

    @_kernel(f"triton_xla.iota of dim {_dim}", (*FLOATS, "i33", "i12", *IN_MEMORY_INTEGERS))
    def _iota(w: Writer, element: str, dim: int = _dim) -> None:
        shape = sizes(w.extent, 2)
        w.store(w.value(f"triton_xla.iota dim {dim} : {tensor(shape, element)}", shape, element))

    @_kernel(f"triton_xla.concat of dim {_dim}", ALL)
    def _concat(w: Writer, element: str, dim: int = _dim) -> None:
        x, y = _tiles(w, element, 2)
        shape = tuple(size * 2 if d == dim else size for d, size in enumerate(x.shape))
        types = f"({x.type}, {y.type}) -> {tensor(shape, element)}"
        w.store(w.value(f"triton_xla.concat {x}, {y} dim {dim} : {types}", shape, element))


@_kernel("triton_xla.slice", ALL)
def _slice(w: Writer, element: str) -> None:
    (x,) = _tiles(w, element, 1)
    rows, columns = x.shape
    shape = ((rows + 1) // 2, max(1, columns - 3))
    window = f"[0, {columns - shape[1]}] {list(shape)} [2, 1]"
    w.store(w.value(f"triton_xla.slice {x} {window} : {x.type} -> {tensor(shape, element)}", shape, element))


@_kernel("triton_xla.split", ALL, extents=("aligned", "ragged"))
def _split(w: Writer, element: str) -> None:
    (x,) = _tiles(w, element, 1)
    shape = (x.shape[0], x.shape[1] // 2)
    part = tensor(shape, element)
    w.line(f"%left, %right = triton_xla.split {x} dim 1 : {x.type} -> ({part}, {part})")
    w.store(Tile("%right", shape, element))
    w.store(Tile("%left", shape, element))


# --- reductions ---------------------------------------------------------------------------------------------------


def _combiner(op: str, element: str) -> str:
    return f"""{{
  ^bb0(%x: {element}, %y: {element}):
    %r = {op} %x, %y : {element}
    triton_xla.yield %r : {element}
  }}"""


def _identity(op: str, element: str) -> str:
    if element == "i1":
        return "true" if op == "arith.andi" else "false"
    number = {"arith.mulf": "1.0", "arith.muli": "1", "arith.andi": "-1"}.get(op, "2.0" if is_float(element) else "2")
    return f"{number} : {element}"


def _reduction(op: str, dims: Sequence[int]) -> Build:
    def build(w: Writer, element: str) -> None:
        (x,) = _tiles(w, element, 1)
        shape = tuple(size for dim, size in enumerate(x.shape) if dim not in dims)
        w.line(f"%init = arith.constant {_identity(op, element)}")
        types = f"({x.type}, {element}) -> {tensor(shape, element)}"
        text = f"triton_xla.reduce {x} dims {list(dims)} init %init : {types} {_combiner(op, element)}"
        w.store(w.value(text, shape, element))

    return build


for _name in ("addf", "maximumf", "minnumf", "mulf"):
    _add(f"triton_xla.reduce {_name} of rows", ARITHMETIC_FLOATS, _reduction(f"arith.{_name}", [1]))
for _name in ("addi", "maxsi", "minui", "andi", "xori"):
    _add(f"triton_xla.reduce {_name} of rows", (*INTEGERS, "i1"), _reduction(f"arith.{_name}", [1]))
_add("triton_xla.reduce addf of columns", ARITHMETIC_FLOATS, _reduction("arith.addf", [0]))
_add("triton_xla.reduce addf of all", ARITHMETIC_FLOATS, _reduction("arith.addf", [0, 1]))
_add("triton_xla.reduce addf of nothing", ARITHMETIC_FLOATS, _reduction("arith.addf", []))
_add("triton_xla.reduce addi of all", INTEGERS, _reduction("arith.addi", [0, 1]))


@_kernel("triton_xla.reduce and scan with powers", INTEGERS[:-1])
def _reduced_powers(w: Writer, element: str) -> None:
    (x,) = _tiles(w, element, 1)
    w.line(f"%init = arith.constant 2 : {element}")
    w.line(f"%one = arith.constant 1 : {element}")
    combiner = f"""{{
  ^bb0(%x: {element}, %y: {element}):
    %p = math.ipowi %y, %one : {element}
    %r = arith.addi %x, %p : {element}
    triton_xla.yield %r : {element}
  }}"""
    types, shape = f"({x.type}, {element})", x.shape[:1]
    rows = f"triton_xla.reduce {x} dims [1] init %init : {types} -> {tensor(shape, element)} {combiner}"
    w.store(w.value(rows, shape, element))
    w.store(w.value(f"triton_xla.scan {x} dim 1 init %init : {types} -> {x.type} {combiner}", x.shape, element))


@_kernel("triton_xla.sort of powers", INTEGERS[:-1])
def _sorted_powers(w: Writer, element: str) -> None:
    (x,) = _tiles(w, element, 1)
    w.line(f"""%k = triton_xla.sort {x} dim 1 : ({x.type}) -> {x.type} {{
  ^bb0(%k0: {element}, %k1: {element}):
    %three = arith.constant 3 : {element}
    %n0 = arith.andi %k0, %three : {element}
    %n1 = arith.andi %k1, %three : {element}
    %p0 = math.ipowi %k0, %n0 : {element}
    %p1 = math.ipowi %k1, %n1 : {element}
    %before = arith.cmpi slt, %p0, %p1 : {element}
    triton_xla.yield %before : i1
  }}""")
    w.store(Tile("%k", x.shape, element))


_KEY = """
      %odd{v} = arith.cmpi ne, %bit{v}, %c0 : {ty}
      %key{v} = scf.if %odd{v} -> {ty} {{
        %hundred = arith.constant 100 : {ty}
        %q = arith.divsi %hundred, %{v} : {ty}
        scf.yield %q : {ty}
      }} else {{
        %c3 = arith.constant 3 : {ty}
        %end = arith.andi %{v}, %c3 : {ty}
        %sum = scf.for %i = %c0 to %end step %c1 iter_args(%n = %c0) -> ({ty}) : {ty} {{
          %t = arith.addi %n, %i : {ty}
          scf.yield %t : {ty}
        }}
        %u, %bits = scf.while (%u = %{v}, %n = %sum) : ({ty}, {ty}) -> ({ty}, {ty}) {{
          %go = arith.cmpi sgt, %u, %c0 : {ty}
          scf.condition(%go) %u, %n : {ty}, {ty}
        }} do {{
        ^bb0(%u: {ty}, %n: {ty}):
          %half = arith.shrui %u, %c1 : {ty}
          %m = arith.addi %n, %c1 : {ty}
          scf.yield %half, %m : {ty}, {ty}
        }}
        scf.yield %bits : {ty}
      }}"""


@_kernel("triton_xla.sort with control flow", ("i33", "i12", *IN_MEMORY_INTEGERS[:-1]))
def _sorted_by_key(w: Writer, element: str) -> None:
    """Odd numbers come first, by a quotient; even numbers by the number of their bits and a sum."""
    (x,) = _tiles(w, element, 1)
    keys = "".join(_KEY.format(v=v, ty=element) for v in "ab")
    w.line(f"""%c0 = arith.constant 0 : {element}
  %c1 = arith.constant 1 : {element}
  %k = triton_xla.sort {x} dim 1 : ({x.type}) -> {x.type} {{
  ^bb0(%a: {element}, %b: {element}):
    %bita = arith.andi %a, %c1 : {element}
    %bitb = arith.andi %b, %c1 : {element}
    %same = arith.cmpi eq, %bita, %bitb : {element}
    %before = scf.if %same -> i1 {{{keys}
      %less = arith.cmpi slt, %keya, %keyb : {element}
      scf.yield %less : i1
    }} else {{
      %greater = arith.cmpi ugt, %bita, %bitb : {element}
      scf.yield %greater : i1
    }}
    triton_xla.yield %before : i1
  }}""")
    w.store(Tile("%k", x.shape, element))


_GCD = """{{
  ^bb0(%a: {ty}, %b: {ty}):
    %none = arith.cmpi eq, %b, %zero : {ty}
    %gcd = scf.if %none -> {ty} {{
      scf.yield %a : {ty}
    }} else {{
      %u, %v = scf.while (%u = %a, %v = %b) : ({ty}, {ty}) -> ({ty}, {ty}) {{
        %go = arith.cmpi ne, %v, %zero : {ty}
        scf.condition(%go) %u, %v : {ty}, {ty}
      }} do {{
      ^bb0(%u: {ty}, %v: {ty}):
        %rest = arith.remui %u, %v : {ty}
        scf.yield %v, %rest : {ty}, {ty}
      }}
      scf.yield %u : {ty}
    }}
    triton_xla.yield %gcd : {ty}
  }}"""


@_kernel("triton_xla.reduce and triton_xla.scan with control flow", INTEGERS[:-1])
def _greatest_divisors(w: Writer, element: str) -> None:
    (x,) = _tiles(w, element, 1)
    w.line(f"%zero = arith.constant 0 : {element}")
    rows, gcd = x.shape[:1], _GCD.format(ty=element)
    w.line(f"%r = triton_xla.reduce {x} dims [1] init %zero : ({x.type}, {element}) -> {tensor(rows, element)} {gcd}")
    w.line(f"%s = triton_xla.scan {x} dim 1 init %zero : ({x.type}, {element}) -> {x.type} {gcd}")
    w.store(Tile("%r", rows, element))
    w.store(Tile("%s", x.shape, element))


_ARGMAX = """{{
  ^bb0(%lv: {ty}, %li: i32, %rv: {ty}, %ri: i32):
    %greater = arith.cmpf ogt, %lv, %rv : {ty}
    %equal = arith.cmpf oeq, %lv, %rv : {ty}
    %before = arith.cmpi slt, %li, %ri : i32
    %first = arith.andi %equal, %before : i1
    %left = arith.ori %greater, %first : i1
    %value = arith.select %left, %lv, %rv : {ty}
    %number = arith.select %left, %li, %ri : i32
    triton_xla.yield %value, %number : {ty}, i32
  }}"""


@_kernel("triton_xla.reduce to the position of the maximum", ARITHMETIC_FLOATS)
def _argmax(w: Writer, element: str) -> None:
    (x,) = _tiles(w, element, 1)
    n = w.value(f"triton_xla.iota dim 1 : {tensor(x.shape, 'i32')}", x.shape, "i32")
    w.line(f"%low = arith.constant -1000.0 : {element}")
    w.line("%none = arith.constant -1 : i32")
    results = f"({tensor(x.shape[:1], element)}, {tensor(x.shape[:1], 'i32')})"
    types = f"({x.type}, {n.type}, {element}, i32) -> {results}"
    w.line(f"%v, %i = triton_xla.reduce {x}, {n} dims [1] init %low, %none : {types} {_ARGMAX.format(ty=element)}")
    w.store(Tile("%v", x.shape[:1], element))
    w.store(Tile("%i", x.shape[:1], "i32"))


def _scan(op: str, dim: int, flags: str) -> Build:
    def build(w: Writer, element: str) -> None:
        (x,) = _tiles(w, element, 1)
        w.line(f"%init = arith.constant {_identity(op, element)}")
        types = f"({x.type}, {element}) -> {x.type}"
        text = f"triton_xla.scan {x} dim {dim} init %init {flags} : {types} {_combiner(op, element)}"
        w.store(w.value(text, x.shape, element))

    return build


for _flags in ("", "exclusive", "reverse", "exclusive reverse"):
    for _dim in (0, 1):
        _add(
            f"triton_xla.scan addf of dim {_dim} {_flags}".strip(), ARITHMETIC_FLOATS, _scan("arith.addf", _dim, _flags)
        )
    _add(f"triton_xla.scan muli of dim 1 {_flags}".strip(), INTEGERS, _scan("arith.muli", 1, _flags))


@_kernel("triton_xla.scan that is not commutative", INTEGERS)
def _compositions(w: Writer, element: str) -> None:
    a, b = _tiles(w, element, 2)
    w.line(f"%one = arith.constant 1 : {element}")
    w.line(f"%two = arith.constant 2 : {element}")
    types = f"({a.type}, {b.type}, {element}, {element}) -> ({a.type}, {b.type})"
    w.line(f"""%s, %t = triton_xla.scan {a}, {b} dim 1 init %one, %two : {types} {{
  ^bb0(%a0: {element}, %b0: {element}, %a1: {element}, %b1: {element}):
    %a = arith.muli %a0, %a1 : {element}
    %m = arith.muli %a1, %b0 : {element}
    %b = arith.addi %m, %b1 : {element}
    triton_xla.yield %a, %b : {element}, {element}
  }}""")
    w.store(Tile("%s", a.shape, element))
    w.store(Tile("%t", b.shape, element))


def _sort(dim: int, predicate: str) -> Build:
    def build(w: Writer, element: str) -> None:
        (x,) = _tiles(w, element, 1)
        n = w.value(f"triton_xla.iota dim {dim} : {tensor(x.shape, 'i32')}", x.shape, "i32")
        op = "arith.cmpf o" if is_float(element) else "arith.cmpi s"
        w.line(f"""%k, %p = triton_xla.sort {x}, {n} dim {dim} : ({x.type}, {n.type}) -> ({x.type}, {n.type}) {{
  ^bb0(%k0: {element}, %k1: {element}, %n0: i32, %n1: i32):
    %before = {op}{predicate}, %k0, %k1 : {element}
    triton_xla.yield %before : i1
  }}""")
        w.store(Tile("%k", x.shape, element))
        w.store(Tile("%p", x.shape, "i32"))

    return build


_add("triton_xla.sort of rows", (*ARITHMETIC_FLOATS, *INTEGERS), _sort(1, "lt"))
_add("triton_xla.sort of columns, descending", (*ARITHMETIC_FLOATS, *INTEGERS), _sort(0, "gt"))


def _histogram(masked: bool, result: str) -> Build:
    def build(w: Writer, element: str) -> None:
        (x,) = _tiles(w, element, 1, rank=1)
        mask = f"mask {w.load(x.shape, 'i1')} " if masked else ""
        w.store(w.value(f"triton_xla.histogram {x} bins 6 {mask}: {x.type} -> {tensor((6,), result)}", (6,), result))

    return build


_add("triton_xla.histogram", (*INTEGERS, "i1"), _histogram(False, "i32"))
_add("triton_xla.histogram with a mask", INTEGERS, _histogram(True, "i64"))


# --- indexed accesses ---------------------------------------------------------------------------------------------


for _dim in (0, 1):

    @_kernel(f"triton_xla.gather_tile of dim {_dim}", ALL)
    def _gather_tile(w: Writer, element: str, dim: int = _dim) -> None:
        (x,) = _tiles(w, element, 1)
        shape = tuple(size + 3 if d == dim else size for d, size in enumerate(x.shape))
        n = w.load(shape, "i32")
        types = f"{x.type}, {n.type} -> {tensor(shape, element)}"
        w.store(w.value(f"triton_xla.gather_tile {x}[{n}] dim {dim} : {types}", shape, element))


def _positions(w: Writer, count: int, index: str) -> Tile:
    """Positions of both signs, some of which are out of bounds."""
    return w.load((count,), index)


def _gather(index: str, masked: bool) -> Build:
    def build(w: Writer, element: str) -> None:
        (count,) = sizes(w.extent, 1)
        name, ty = w.argument((6, 3), element)
        n = _positions(w, count, index)
        mask = f"mask {w.load((count,), 'i1')} " if masked else ""
        w.line("%column = arith.constant 2 : index")
        types = f"{ty}, {n.type}, index -> {tensor((count,), element)}"
        w.store(w.value(f"triton_xla.gather {name}[{n}, %column] {mask}: {types}", (count,), element))

    return build


for _name in ("i32", "i64", "index"):
    _add(f"triton_xla.gather by {_name}", IN_MEMORY, _gather(_name, False))
_add("triton_xla.gather with a mask", IN_MEMORY, _gather("i32", True))


def _scatter(flags: str, masked: bool) -> Build:
    def build(w: Writer, element: str) -> None:
        (count,) = sizes(w.extent, 1)
        name, ty = w.argument((count + 2,), element)
        x = w.load((count,), element)
        if flags:
            n = w.value(f"triton_xla.iota dim 0 : {tensor((count,), 'i32')}", (count,), "i32")
            n = w.op("arith.addi", n, w.constant(3, n.shape, "i32"))
        else:
            n = _positions(w, count, "i32")
        mask = f"mask {w.load((count,), 'i1')} " if masked else ""
        w.line(f"triton_xla.scatter {x} into {name}[{n}] {mask}{flags} : {x.type} into {ty}, {n.type}")

    return build


_add("triton_xla.scatter", IN_MEMORY, _scatter("", False))
_add("triton_xla.scatter with a mask", IN_MEMORY, _scatter("", True))
_add("triton_xla.scatter unique sorted", IN_MEMORY, _scatter("unique sorted", False))


def _atomic(kind: str, flags: str = "", masked: bool = False) -> Build:
    def build(w: Writer, element: str) -> None:
        (count,) = sizes(w.extent, 1)
        name, ty = w.argument((6,), element)
        x, n = w.load((count,), element), _positions(w, count, "i32")
        mask = f"mask {w.load((count,), 'i1')} " if masked else ""
        w.line(f"%o = triton_xla.atomic_rmw {kind} {x} into {name}[{n}] {mask}{flags} : {x.type} into {ty}, {n.type}")

    return build


for _name in ("addf", "maximumf", "minimumf", "maxnumf", "minnumf"):
    _add(f"triton_xla.atomic_rmw {_name}", ARITHMETIC_FLOATS, _atomic(_name), tiles=2)
for _name in ("addi", "muli", "maxs", "maxu", "mins", "minu", "andi", "ori", "xori"):
    _add(f"triton_xla.atomic_rmw {_name}", IN_MEMORY_INTEGERS, _atomic(_name), tiles=2)
_add("triton_xla.atomic_rmw addf deterministic", ARITHMETIC_FLOATS, _atomic("addf", "deterministic"))
_add("triton_xla.atomic_rmw addf with a mask", ARITHMETIC_FLOATS, _atomic("addf", masked=True))
_add(
    "triton_xla.atomic_rmw assign deterministic",
    (*ARITHMETIC_FLOATS, *IN_MEMORY_INTEGERS),
    _atomic("assign", "deterministic"),
)


@_kernel("triton_xla.atomic_rmw mulf", ARITHMETIC_FLOATS)
def _atomic_multiplication(w: Writer, element: str) -> None:
    """No order of the multiplications overflows or underflows."""
    (count,) = sizes(w.extent, 1)
    name, ty = w.argument((6,), element)
    x, n = w.load((count,), element), _positions(w, count, "i32")
    two, half = (w.constant(number, x.shape, element) for number in (2.0, -0.5))
    w.line(f"%p = arith.cmpf ogt, {x}, {half} : {x.type}")
    w.line(f"%f = arith.select %p, {two}, {half} : {tensor(x.shape, 'i1')}, {x.type}")
    w.line(f"%o = triton_xla.atomic_rmw mulf %f into {name}[{n}] : {x.type} into {ty}, {n.type}")


def _ordered_old_values(kind: str) -> Build:
    def build(w: Writer, element: str) -> None:
        (count,) = sizes(w.extent, 1)
        name, ty = w.argument((6,), element)
        x, n = w.load((count,), element), _positions(w, count, "i32")
        types = f"{x.type} into {ty}, {n.type}"
        w.store(
            w.value(f"triton_xla.atomic_rmw {kind} {x} into {name}[{n}] deterministic : {types}", (count,), element)
        )

    return build


_add("triton_xla.atomic_rmw addf deterministic with its result", ARITHMETIC_FLOATS, _ordered_old_values("addf"))
_add("triton_xla.atomic_rmw maxs deterministic with its result", IN_MEMORY_INTEGERS, _ordered_old_values("maxs"))


def _old_values(op: str) -> Build:
    def build(w: Writer, element: str) -> None:
        (count,) = sizes(w.extent, 1)
        name, ty = w.argument((count + 1,), element)
        x = w.load((count,), element)
        n = w.value(f"triton_xla.iota dim 0 : {tensor((count,), 'i32')}", (count,), "i32")
        n = w.op("arith.addi", n, w.constant(2, n.shape, "i32"))
        values = str(x) if op != "atomic_cas" else f"{x}, {w.load((count,), element)}"
        w.store(w.value(f"triton_xla.{op} {values} into {name}[{n}] : {x.type} into {ty}, {n.type}", (count,), element))

    return build


for _name in ("addf", "assign"):
    _add(f"triton_xla.atomic_rmw {_name} with its result", ARITHMETIC_FLOATS, _old_values(f"atomic_rmw {_name}"))
for _name in ("addi", "maxs"):
    _add(f"triton_xla.atomic_rmw {_name} with its result", IN_MEMORY_INTEGERS, _old_values(f"atomic_rmw {_name}"))
_add("triton_xla.atomic_cas", IN_MEMORY_INTEGERS, _old_values("atomic_cas"))


@_kernel("triton_xla.atomic_rmw of a scalar", IN_MEMORY_INTEGERS, tiles=4, extents=("one",))
def _atomic_scalar(w: Writer, element: str) -> None:
    name, ty = w.argument((2,), element)
    w.line("%one = arith.constant 1 : index")
    w.line(f"%v = arith.constant 3 : {element}")
    w.line(f"%o = triton_xla.atomic_rmw addi %v into {name}[%one] : {element} into {ty}, index")


@_kernel("memref.load and memref.store", (*FLOATS, *IN_MEMORY_INTEGERS), tiles=5, extents=("one",))
def _load_and_store(w: Writer, element: str) -> None:
    source, destination = w.argument((5, 2), element), w.argument((5,), element)
    w.line("%one = arith.constant 1 : index")
    w.line(f"%v = memref.load {source[0]}[%tile, %one] : {source[1]}")
    w.line(f"memref.store %v, {destination[0]}[%tile] : {destination[1]}")


# --- control flow -------------------------------------------------------------------------------------------------


def _sum_op(element: str) -> str:
    return "arith.addf" if is_float(element) else "arith.addi"


@_kernel("scf.for", NUMBERS)
def _for(w: Writer, element: str) -> None:
    x, y = _tiles(w, element, 2)
    for number in (0, 1, 3):
        w.line(f"%c{number} = arith.constant {number} : index")
    w.line(f"%r = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = {x}) -> ({x.type}) {{")
    w.line(f"  %u = {_sum_op(element)} %t, {y} : {x.type}")
    w.line(f"  scf.yield %u : {x.type}")
    w.line("}")
    w.store(Tile("%r", x.shape, element))


@_kernel("scf.if", NUMBERS, tiles=2)
def _if(w: Writer, element: str) -> None:
    x, y = _tiles(w, element, 2)
    name, ty = w.argument((2, *x.shape), stored(element))
    w.line("%c0 = arith.constant 0 : index")
    w.line("%is_first = arith.cmpi eq, %tile, %c0 : index")
    w.line(f"%r = scf.if %is_first -> ({x.type}) {{")
    w.line(f"  %u = {_sum_op(element)} {x}, {y} : {x.type}")
    w.line(f"  scf.yield %u : {x.type}")
    w.line("} else {")
    w.line(f"  scf.yield {y} : {x.type}")
    w.line("}")
    window = f"[%tile, 0, 0] [1, {x.shape[0]}, {x.shape[1]}] [1, 1, 1]"
    r = w.in_memory(Tile("%r", x.shape, element))
    w.line(f"triton_xla.insert {r} into {name}{window} : {r.type} into {ty}")


@_kernel("scf.while", NUMBERS)
def _while(w: Writer, element: str) -> None:
    x, y = _tiles(w, element, 2)
    w.line("%c0 = arith.constant 0 : index")
    w.line("%c1 = arith.constant 1 : index")
    w.line("%c4 = arith.constant 4 : index")
    w.line(f"%n, %r = scf.while (%i = %c0, %t = {x}) : (index, {x.type}) -> (index, {x.type}) {{")
    w.line("  %more = arith.cmpi slt, %i, %c4 : index")
    w.line(f"  scf.condition(%more) %i, %t : index, {x.type}")
    w.line("} do {")
    w.line(f"^bb0(%i: index, %t: {x.type}):")
    w.line("  %j = arith.addi %i, %c1 : index")
    w.line(f"  %u = {_sum_op(element)} %t, {y} : {x.type}")
    w.line(f"  scf.yield %j, %u : index, {x.type}")
    w.line("}")
    w.store(Tile("%r", x.shape, element))


@_kernel("scf.index_switch", NUMBERS, tiles=3)
def _index_switch(w: Writer, element: str) -> None:
    x, y = _tiles(w, element, 2)
    name, ty = w.argument((3, *x.shape), stored(element))
    w.line(f"%r = scf.index_switch %tile -> {x.type}")
    w.line(f"case 1 {{\n    scf.yield {x} : {x.type}\n  }}")
    w.line(f"default {{\n    scf.yield {y} : {x.type}\n  }}")
    window = f"[%tile, 0, 0] [1, {x.shape[0]}, {x.shape[1]}] [1, 1, 1]"
    r = w.in_memory(Tile("%r", x.shape, element))
    w.line(f"triton_xla.insert {r} into {name}{window} : {r.type} into {ty}")


# --- matmuls and random bits --------------------------------------------------------------------------------------

_DOT_SIZES = {"aligned": (32, 16, 32), "ragged": (32, 16, 32), "one": (1, 1, 1), "odd": (21, 5, 13)}


def _dot(accumulator: str, flags: str = "") -> Build:
    def build(w: Writer, element: str) -> None:
        m, n, k = _DOT_SIZES[w.extent]
        a, b, c = w.load((m, k), element), w.load((k, n), element), w.load((m, n), accumulator)
        types = f"{a.type}, {b.type} -> {c.type}"
        w.store(w.value(f"triton_xla.dot {a}, {b}, {c} {flags} : {types}", (m, n), accumulator))

    return build


_add("triton_xla.dot", ("f16", "bf16", "f32", "f8E4M3FN", "f8E5M2"), _dot("f32"))
_add("triton_xla.dot in i32", ("i8",), _dot("i32"))
_add("triton_xla.dot of unsigned operands", ("i8",), _dot("i32", "unsigned_lhs unsigned_rhs"))
_add("triton_xla.dot of an unsigned operand", ("i8",), _dot("i32", "unsigned_lhs"))
_add("triton_xla.dot in f64", ("f64",), _dot("f64"))
_add("triton_xla.dot in f16", ("f16",), _dot("f16"))
for _algorithm in ("tf32", "tf32x3", "bf16x3", "bf16x6", "bf16x9"):
    _add(f"triton_xla.dot with {_algorithm}", ("f32",), _dot("f32", f"algorithm {_algorithm}"))


@_kernel("triton_xla.random_bits", ("i32",))
def _random_bits(w: Writer, element: str) -> None:
    x, y = _tiles(w, element, 2)
    w.line("%k0 = arith.constant 123456789 : i32")
    w.line("%k1 = arith.constant -5 : i32")
    types = f"(i32, i32, {x.type}, {x.type}) -> ({', '.join([x.type] * 4)})"
    w.line(f"%r:4 = triton_xla.random_bits %k0, %k1, {x}, {y} : {types}")
    for number in range(4):
        w.store(Tile(f"%r#{number}", x.shape, "i32"))


# --- memory -------------------------------------------------------------------------------------------------------


@_kernel("a window with strides and a fill", (*FLOATS, *IN_MEMORY_INTEGERS), tiles=3, extents=("aligned",))
def _strided_window(w: Writer, element: str) -> None:
    source, destination = w.argument((11, 37), element), w.argument((3, 8, 16), element)
    number = "5.0" if is_float(element) else "5"
    w.line("%c4 = arith.constant 4 : index")
    w.line("%m2 = arith.constant -2 : index")
    w.line("%row = arith.muli %tile, %c4 : index")
    window = "[%row, %m2] [8, 16] [1, 3]"
    tile = tensor((8, 16), element)
    w.line(f"%t = triton_xla.extract {source[0]}{window} fill {number} : {element} : {source[1]} to {tile}")
    w.line(
        f"triton_xla.insert %t into {destination[0]}[%tile, 0, 0] [1, 8, 16] [1, 1, 1] : {tile} into {destination[1]}"
    )


@_kernel("facts", ("index",), extents=("one",))
def _facts(w: Writer, element: str) -> None:
    name, ty = w.argument((3,), element)
    w.line("%c3 = arith.constant 3 : index")
    w.line("%twice = arith.addi %tile, %tile : index")
    w.line("%m = triton_xla.assume_multiple %twice, 2 : index")
    w.line("%c = arith.cmpi slt, %m, %c3 : index")
    w.line("triton_xla.assume %c")
    w.line('triton_xla.assert %c, "small" : i1')
    w.line(f"memref.store %c3, {name}[%m] : {memref((3,), element)}")
    assert ty == memref((3,), element)
