# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, scans and sorts."""

from __future__ import annotations

from collections.abc import Sequence

from ..writer import Tile, Writer, is_float, tensor
from .registry import ARITHMETIC_FLOATS, IN_MEMORY_INTEGERS, INTEGERS, Build, add, kernel, load_tiles


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
        (x,) = load_tiles(w, element, 1)
        shape = tuple(size for dim, size in enumerate(x.shape) if dim not in dims)
        w.line(f"%init = arith.constant {_identity(op, element)}")
        types = f"({x.type}, {element}) -> {tensor(shape, element)}"
        text = f"triton_xla.reduce {x} dims {list(dims)} init %init : {types} {_combiner(op, element)}"
        w.store(w.value(text, shape, element))

    return build


for _name in ("addf", "maximumf", "minnumf", "mulf"):
    add(f"triton_xla.reduce {_name} of rows", ARITHMETIC_FLOATS, _reduction(f"arith.{_name}", [1]))
for _name in ("addi", "maxsi", "minui", "andi", "xori"):
    add(f"triton_xla.reduce {_name} of rows", (*INTEGERS, "i1"), _reduction(f"arith.{_name}", [1]))
add("triton_xla.reduce addf of columns", ARITHMETIC_FLOATS, _reduction("arith.addf", [0]))
add("triton_xla.reduce addf of all", ARITHMETIC_FLOATS, _reduction("arith.addf", [0, 1]))
add("triton_xla.reduce addf of nothing", ARITHMETIC_FLOATS, _reduction("arith.addf", []))
add("triton_xla.reduce addi of all", INTEGERS, _reduction("arith.addi", [0, 1]))


@kernel("triton_xla.reduce and scan with powers", INTEGERS[:-1])
def _reduced_powers(w: Writer, element: str) -> None:
    (x,) = load_tiles(w, element, 1)
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


@kernel("triton_xla.sort of powers", INTEGERS[:-1])
def _sorted_powers(w: Writer, element: str) -> None:
    (x,) = load_tiles(w, element, 1)
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


@kernel("triton_xla.sort with control flow", ("i33", "i12", *IN_MEMORY_INTEGERS[:-1]))
def _sorted_by_key(w: Writer, element: str) -> None:
    """Odd numbers come first, by a quotient; even numbers by the number of their bits and a sum."""
    (x,) = load_tiles(w, element, 1)
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


@kernel("triton_xla.reduce and triton_xla.scan with control flow", INTEGERS[:-1])
def _greatest_divisors(w: Writer, element: str) -> None:
    (x,) = load_tiles(w, element, 1)
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


@kernel("triton_xla.reduce to the position of the maximum", ARITHMETIC_FLOATS)
def _argmax(w: Writer, element: str) -> None:
    (x,) = load_tiles(w, element, 1)
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
        (x,) = load_tiles(w, element, 1)
        w.line(f"%init = arith.constant {_identity(op, element)}")
        types = f"({x.type}, {element}) -> {x.type}"
        text = f"triton_xla.scan {x} dim {dim} init %init {flags} : {types} {_combiner(op, element)}"
        w.store(w.value(text, x.shape, element))

    return build


for _flags in ("", "exclusive", "reverse", "exclusive reverse"):
    for _dim in (0, 1):
        add(
            f"triton_xla.scan addf of dim {_dim} {_flags}".strip(), ARITHMETIC_FLOATS, _scan("arith.addf", _dim, _flags)
        )
    add(f"triton_xla.scan muli of dim 1 {_flags}".strip(), INTEGERS, _scan("arith.muli", 1, _flags))


@kernel("triton_xla.scan that is not commutative", INTEGERS)
def _compositions(w: Writer, element: str) -> None:
    a, b = load_tiles(w, element, 2)
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
        (x,) = load_tiles(w, element, 1)
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


add("triton_xla.sort of rows", (*ARITHMETIC_FLOATS, *INTEGERS), _sort(1, "lt"))
add("triton_xla.sort of columns, descending", (*ARITHMETIC_FLOATS, *INTEGERS), _sort(0, "gt"))


def _histogram(masked: bool, result: str) -> Build:
    def build(w: Writer, element: str) -> None:
        (x,) = load_tiles(w, element, 1, rank=1)
        mask = f"mask {w.load(x.shape, 'i1')} " if masked else ""
        w.store(w.value(f"triton_xla.histogram {x} bins 6 {mask}: {x.type} -> {tensor((6,), result)}", (6,), result))

    return build


add("triton_xla.histogram", (*INTEGERS, "i1"), _histogram(False, "i32"))
add("triton_xla.histogram with a mask", INTEGERS, _histogram(True, "i64"))
