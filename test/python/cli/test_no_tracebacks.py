# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Messages for inputs that cannot work, and files that cannot be written."""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import smalti
from conftest import SCALE
from helpers import Shell
from smalti import dtypes, files, inputs
from smalti.calling import arrays, calls
from smalti.calling.arguments import Argument, Entry
from smalti.launch import archive
from smalti.launch.kernels import Kernel


def argument(element: str, shape: tuple[int | None, ...] | None = None, strides: Any = None) -> Argument:
    dtype = dtypes.from_mlir(element)
    assert dtype is not None
    return Argument(0, element, dtype, shape, strides, True, False)


# --- Scalars ----------------------------------------------------------------------------------------------------------

SCALARS = [
    ("f32", 1e300, "1e+300 is out of range for f32"),
    ("f32", np.float64(-1e39), "-1e+39 is out of range for f32"),
    ("f16", 70000, "70000 is out of range for f16"),
    ("bf16", 1e39, "is out of range for bf16"),
    ("f64", 10**400, "an integer of 1329 bits is out of range for f64"),
    ("f32", "one", "a number is required, not str"),
    ("f32", None, "a number is required, not NoneType"),
    ("i32", 2**32, "4294967296 is out of range for i32"),
    ("i32", 10**5000, "an integer of 16610 bits is out of range for i32"),
    ("ui8", -1, "-1 is out of range for ui8"),
    ("i32", 1.5, "an integer is required, not float"),
    ("i1", np.zeros(3), "a bool is required, not ndarray"),
    ("i1", "x", "a bool is required, not str"),
    ("i1", 1.0, "a bool is required, not float"),
    ("i1", np.float32(1), "a bool is required, not float32"),
    ("i1", 2, "2 is out of range for i1; 0 or 1 is required"),
    ("i1", np.int32(-1), "-1 is out of range for i1; 0 or 1 is required"),
]


@pytest.mark.parametrize("element, value, message", SCALARS, ids=[f"{e}-{m[:20]}" for e, _, m in SCALARS])
def test_scalars_that_do_not_fit(element: str, value: Any, message: str) -> None:
    with pytest.raises(smalti.LaunchError) as caught:
        calls.scalar(argument(element), value)
    assert message in str(caught.value)


@pytest.mark.parametrize("value", [True, 1, np.True_, np.int8(1), np.array(True)])
def test_values_of_a_bool(value: Any) -> None:
    assert calls.scalar(argument("i1"), value) is True


@pytest.mark.parametrize("value", [3.4028235e38, float("inf"), float("-inf"), 0, np.float32(2)])
def test_scalars_that_fit(value: Any) -> None:
    assert calls.scalar(argument("f32"), value) == value


# --- Targets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [5, b"cpu", 1.5, ["cpu"], object()], ids=lambda target: type(target).__name__)
def test_targets_that_are_not_names(target: Any) -> None:
    with pytest.raises(
        smalti.TargetError, match=f"a target must be a string such as 'sm_90a', not {type(target).__name__}"
    ):
        smalti.compile(SCALE, target)


# --- Arrays -----------------------------------------------------------------------------------------------------------

GOOD = dict(np.zeros((4, 2), np.float32).__array_interface__)


class Foreign:
    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class Raises:
    @property
    def __array_interface__(self) -> Any:
        raise ValueError("no luck")


INTERFACES: list[tuple[Any, str]] = [
    (5, "is 5; a dictionary is required"),
    ({}, "'typestr' of Foreign.{name} is None; an element type"),
    ({**GOOD, "typestr": "zz"}, "'typestr' of Foreign.{name} is 'zz'; a"),
    ({**GOOD, "typestr": 5}, "'typestr' of Foreign.{name} is 5; a"),
    ({**GOOD, "typestr": "|V0"}, "'typestr' of Foreign.{name} is '|V0'; a"),
    ({"typestr": "<f4"}, "'shape' of Foreign.{name} is None; a"),
    ({**GOOD, "shape": 5}, "'shape' of Foreign.{name} is 5; a"),
    ({**GOOD, "shape": ("a", 2)}, "'shape' of Foreign.{name} is ('a', 2); a"),
    ({**GOOD, "shape": (4.0, 2)}, "'shape' of Foreign.{name} is (4.0, 2); a"),
    ({**GOOD, "shape": (-4, 2)}, "sizes must not be negative"),
    ({**GOOD, "shape": (2**70, 2)}, "must fit in 64 bits"),
    ({**GOOD, "strides": "ab"}, "'strides' of Foreign.{name} is 'ab'; a"),
    ({**GOOD, "strides": (4,)}, "1 stride and 2 dimensions"),
    ({**GOOD, "strides": (8, 2)}, "not multiples of the element size"),
    ({**GOOD, "data": None}, "does not have the entry 'data'"),
    ({**GOOD, "data": 5}, "'data' of Foreign.{name} is 5; a tuple of an address"),
    ({**GOOD, "data": (1, 2, 3)}, "'data' of Foreign.{name} is (1, 2, 3); a tuple of an address"),
    ({**GOOD, "data": ("x", False)}, "'data' of Foreign.{name} is ('x', False); a tuple of an address"),
    ({**GOOD, "data": (2**70, False)}, "outside of the 64-bit range"),
    ({**GOOD, "data": (-16, False)}, "outside of the 64-bit range"),
]


@pytest.mark.parametrize("name", ["__array_interface__", "__cuda_array_interface__"])
@pytest.mark.parametrize("interface, message", INTERFACES, ids=[message for _, message in INTERFACES])
def test_array_interfaces_that_are_wrong(name: str, interface: Any, message: str) -> None:
    with pytest.raises(arrays.NotAnArray) as caught:
        arrays.view(Foreign(**{name: interface}))
    assert message.format(name=name) in str(caught.value)


def test_array_protocols_that_raise() -> None:
    with pytest.raises(arrays.NotAnArray, match=r"__array_interface__ raises ValueError: no luck"):
        arrays.view(Raises())
    with pytest.raises(arrays.NotAnArray, match=r"__dlpack_device__\(\) raises TypeError"):
        arrays.view(Foreign(__dlpack__=lambda **_: None, __dlpack_device__=lambda: 5))


SIZES = [
    ((2**62,), None, "an array of 4611686018427387904 elements exceeds the memory of this machine"),
    ((2**40, 2**10), None, "1099511627776x1024 elements exceeds"),
    ((None,), str(2**62), "exceeds the memory of this machine"),
    ((None,), "9" * 30, "exceeds the memory of this machine"),
    ((None,), "-5", "'-5' is not a shape; pass sizes that are separated by x, such as 500x300"),
    ((None,), "5x", "'5x' is not a shape; pass sizes that are separated by x, such as 500x300"),
]


@pytest.mark.parametrize("shape, text, message", SIZES, ids=[message for *_, message in SIZES])
def test_random_arguments_that_cannot_be(shape: tuple[int | None, ...], text: str | None, message: str) -> None:
    strides = arrays.row_major(tuple(1 if size is None else size for size in shape))
    entry = Entry("f", (argument("f32", shape, strides),), 1)
    with pytest.raises(smalti.LaunchError) as caught:
        inputs.random_arguments(entry, 0, {} if text is None else {0: text})
    assert message in str(caught.value)


def test_a_memref_of_2_62_elements_on_the_shell(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "k.mlir").write_text(SCALE.replace("%src: memref<100x60xf32>", f"%src: memref<{2**62}x1xf32>").replace(
        "%src[%row, 0] [32, 64] [1, 1] : memref<100x60xf32>", f"%src[%row, 0] [32, 64] [1, 1] : memref<{2**62}x1xf32>"
    ))  # fmt: skip
    done = shell("run", "k.mlir", "--target", "cpu")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "with an array of 2^63 bytes or more is not supported" in done.stderr


# --- Archives ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stored() -> bytes:
    return archive.dumps(smalti.compile(SCALE, "emu:sm_80"))


def _rewritten(data: bytes, change: Callable[[dict[str, Any]], Any], code: bytes | None = None) -> bytes:
    """The archive with other facts, or with other code and its hash."""
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        facts = json.loads(old.read("kernel.json"))
        member = facts["code"]["file"]
        code = old.read(member) if code is None else code
    facts["code"]["sha256"] = hashlib.sha256(code).hexdigest()
    change(facts)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as new:
        new.writestr("kernel.json", json.dumps(facts))
        new.writestr(member, code)
    return out.getvalue()


ARCHIVES: list[tuple[Callable[[dict[str, Any]], Any], bytes | None, str]] = [
    (
        lambda f: f.update(symbol="other"),
        None,
        "the compiled code does not have a kernel @other; its kernels: @scale",
    ),
    (lambda f: f.update(symbol="a\0b"), None, "symbol is 'a\\x00b', which has unprintable characters"),
    (lambda f: f.update(symbol="\ud800"), None, "which has unprintable characters"),
    (lambda f: f["arguments"][0].update(name=5), None, "name is 5"),
    (lambda f: None, b"", "target triple is ''"),
    (lambda f: None, b"BC\xc0\xde junk", "is not LLVM IR"),
    (lambda f: f["arguments"].pop(), None, "takes 1 argument"),
    (lambda f: f["resources"].update(block=[2**40, 1, 1]), None, "block 1099511627776"),
]


@pytest.mark.parametrize("change, code, message", ARCHIVES, ids=[message for *_, message in ARCHIVES])
def test_archives_that_do_not_fit_their_code(
    change: Callable[[dict[str, Any]], Any], code: bytes | None, message: str, stored: bytes
) -> None:
    source = np.zeros((100, 60), np.float32)
    with pytest.raises(smalti.SmaltiError) as caught:
        archive.loads(_rewritten(stored, change, code), Kernel)(source, np.zeros_like(source))
    assert message in str(caught.value)


# --- Files ------------------------------------------------------------------------------------------------------------


def _fails(path: Path) -> None:
    with files.replacing(path) as stream:
        stream.write(b"half")
        raise OSError(28, "No space left on device")


def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    with pytest.raises(smalti.SmaltiError, match=r"cannot write .*k\.ptx: No space left on device"):
        _fails(path)
    assert not list(tmp_path.iterdir())
    path.write_bytes(b"whole")
    path.chmod(0o640)
    with pytest.raises(smalti.SmaltiError):
        _fails(path)
    assert path.read_bytes() == b"whole" and list(tmp_path.iterdir()) == [path]
    files.write(path, "new")
    assert path.read_text() == "new" and path.stat().st_mode & 0o777 == 0o640 and list(tmp_path.iterdir()) == [path]


def test_links_and_devices_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    files.write(link, b"data")
    assert link.is_symlink() and target.read_bytes() == b"data"
    files.write(os.devnull, b"data")
    assert Path(os.devnull).is_char_device()


def _kernel() -> smalti.Kernel:
    return smalti.compile(SCALE, "emu:sm_80")


def _timeline(path: str) -> None:
    source = np.zeros((100, 60), np.float32)
    smalti.compile(SCALE, "sim:sm_90a").timeline(source, source.copy()).save(path)  # type: ignore[attr-defined]


def _simulated(path: str) -> None:
    from click.testing import CliRunner
    from smalti.cli import commands

    done = CliRunner().invoke(commands.main, ["sim", "-", "--save", path], input=SCALE)
    if done.exit_code:
        raise smalti.SmaltiError(done.output)


WRITERS: dict[str, Callable[[str], Any]] = {
    "k.smalti": lambda path: _kernel().save(path),
    "k.ll": lambda path: _kernel().save(path),
    "k.mlir": lambda path: _kernel().save(path),
    "arrays.npz": lambda path: inputs.save(path, [np.zeros(9)]),
    "simulated.npz": _simulated,
    "timeline.json": _timeline,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_writer_leaves_nothing_if_it_fails(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out" / name
    with pytest.raises(smalti.SmaltiError, match="cannot write"):
        WRITERS[name](str(path))
    path.parent.mkdir()

    def full(*_: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(smalti.SmaltiError, match="No space left on device"):
        WRITERS[name](str(path))
    assert not list(path.parent.iterdir())
    monkeypatch.undo()
    WRITERS[name](str(path))
    assert list(path.parent.iterdir()) == [path] and path.stat().st_size


# --- Ctrl-C -----------------------------------------------------------------------------------------------------------

SPIN = """
import time, smalti
smalti.register_pass("spin", lambda module: (print("here", flush=True), time.sleep(60)))
"""

LONG = SCALE.replace("tiles 4", "tiles 4000000")

SUBCOMMANDS = {
    "opt": ["opt", "k.mlir", "--load", "spin.py", "--pass-pipeline=builtin.module(spin)"],
    "compile": ["compile", "k.mlir", "--target", "sm_80"],
    "run-cpu": ["run", "k.mlir", "--target", "cpu", "--repeat", "100000000"],
    "run-emulated": ["run", "k.mlir", "--target", "emu:sm_80", "--workers", "1"],
    "run-simulated": ["run", "k.mlir", "--target", "sim:sm_90a"],
    "sim": ["sim", "k.mlir"],
    "layout": ["layout", "WGMMA", "--shape", "64x16"],
    "targets": ["targets"],
    "doctor": ["doctor"],
}

# If a command is short, Ctrl-C is sent while its modules load.
STOPPED_WHILE_IT_LOADS = {"compile": "smalti.compiler.driver", "layout": "smalti.lane_maps", "targets": "smalti.targets",
                          "doctor": "smalti.cli.doctor"}  # fmt: skip
# A note on the standard error reports that a kernel of these commands runs.
STOPPED_WHILE_IT_RUNS = ("run-cpu", "run-emulated", "run-simulated", "sim")


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_ctrl_c_exits_with_130(name: str, tmp_path: Path) -> None:
    (tmp_path / "k.mlir").write_text(LONG)
    (tmp_path / "spin.py").write_text(SPIN)
    awaited = STOPPED_WHILE_IT_LOADS.get(name)
    # Started in the background of a shell, a process would ignore the signal.
    start = f"""
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
class Finder:
    def find_spec(self, name, *_):
        if name == {awaited!r}:
            print("here", flush=True)
            time.sleep(60)
sys.meta_path.insert(0, Finder())
if {name in STOPPED_WHILE_IT_RUNS!r}:
    import smalti.pace
    smalti.pace.SILENT = smalti.pace.LONG = 0.1
sys.argv = ["smalti", *{SUBCOMMANDS[name]!r}]
from smalti.__main__ import main
main()
"""
    packages = str(Path(next(iter(smalti.__path__))).parent)
    process = subprocess.Popen(
        [sys.executable, "-c", start],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": packages},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stderr is not None
    if name in STOPPED_WHILE_IT_RUNS:
        assert "--blocks N" in process.stderr.readline()
        # The note is printed, and the kernel runs again.
        time.sleep(0.1)
    else:
        assert process.stdout.readline() == "here\n"
    # A terminal sends it to all processes of the command.
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in said, said


# --- The simulator ----------------------------------------------------------------------------------------------------

LAUNCH = """
func.func @main(%a: memref<8xi32>) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c8, %sy = %c1, %sz = %c1) {
    %0 = arith.addi %tx, %ty : index
    %1 = arith.addi %0, %VALUE : index
    %2 = arith.index_cast %1 : index to i32
    memref.store %2, %a[%tx] : memref<8xi32>
    gpu.terminator
  }
  return
}
"""


@pytest.mark.parametrize("value", ["tz", "bx", "by", "bz", "gx", "gz", "sx", "sz"])
def test_positions_of_a_launch_are_numbers(value: str) -> None:
    got = np.zeros(8, np.int32)
    smalti.compile(LAUNCH.replace("%VALUE", f"%{value}"), "sim:sm_90a")(got)
    added = {"gx": 1, "gz": 1, "sx": 8, "sz": 1}.get(value, 0)
    np.testing.assert_array_equal(got, np.arange(8) + added)


@pytest.mark.parametrize("target", ["cpu", "emu:sm_80"])
def test_indices_of_all_64_bits(target: str) -> None:
    kernel = smalti.compile(
        """
triton_xla.entry_func @add(%x: memref<64xf32>, %n: index, %tile: index) tiles 1 {
  %c0 = arith.constant 0 : index
  %t = triton_xla.extract %x[%c0] [64] [1] : memref<64xf32> to tensor<64xf32>
  %m = arith.index_castui %n : index to i64
  %f = arith.uitofp %m : i64 to f32
  %s = tensor.splat %f : tensor<64xf32>
  %d = arith.addf %t, %s : tensor<64xf32>
  triton_xla.insert %d into %x[%c0] [64] [1] : tensor<64xf32> into memref<64xf32>
  triton_xla.return
}
""",
        target=target,
    )
    for number in (0, 2**63, 2**64 - 1, np.uint64(2**63)):
        x = np.zeros(64, np.float32)
        kernel(x, number)
        assert (x == np.float32(int(number))).all()
    with pytest.raises(smalti.LaunchError, match="is out of range"):
        kernel(np.zeros(64, np.float32), 2**64)


def test_an_architecture_that_is_no_number() -> None:
    text = 'module attributes {mosaic_gpu.arch_major = "9", mosaic_gpu.arch_minor = 0 : i64} {}'
    with pytest.raises(smalti.TargetError, match="both must be integers"):
        smalti.compile(text)
