# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in Python in the cache on disk: what is taken from it, and which changes compile a kernel again."""

from __future__ import annotations

import collections
import dataclasses
import functools
import importlib.util
import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
import smalti
import stub_driver
from smalti import toolchain
from smalti.cache import disk_cache
from smalti.language import fingerprints
from smalti.language.translation import TileTranslation
from smalti.launch import kernel_cache

SOURCE = """\
import math
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import smalti
import smalti.language as sl
import settings

FACTOR = 2
TABLE = {"offset": [1, 2]}


class Mode(Enum):
    PLAIN = 1


class Pair(NamedTuple):
    a: Any
    b: Any = 0


@dataclass
class Scaled:
    value: Any
    by: float = 1.0

    def result(self):
        return self.value * self.by

    def __neg__(self):
        return Scaled(self.value, -self.by)


class Plain:
    scale = 1

    def __init__(self):
        self.more = 3


plain = Plain()


def inner(t, more=0):
    return t + more


def outer(t):
    return inner(t) * FACTOR


def made(power):
    @smalti.kernel(target="cpu")
    def kernel(x: sl.Array, y: sl.Array, n: sl.int32, block: smalti.constexpr = 64):
        t = x[0:block] * power
        if Mode.PLAIN.value == 1:
            t = outer(t)
        pair = Pair(t)
        t = (-(-Scaled(pair.a))).result() + pair.b + settings.SHIFT + TABLE["offset"][0]
        t = t * plain.more * plain.scale * np.float32(1) * np.sign(math.sqrt(4.0)).item()
        y[0:block] = t + n

    return kernel


kernel = made(1)
"""
EXPECTED = 2 * np.arange(64) * 3 + 3
"""The result of `kernel` for 0, 1, 2 ... and n = 0: (2 x + 1) * 3."""


class Counted:
    """Numbers of translations and compilations."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.translations = self.compilations = 0
        translate, compile = TileTranslation.translate, smalti.front_end.compile

        def translated(kernel: TileTranslation, *arguments: Any) -> Any:
            self.translations += 1
            return translate(kernel, *arguments)

        def compiled(*arguments: Any, **options: Any) -> Any:
            self.compilations += 1
            return compile(*arguments, **options)

        monkeypatch.setattr(TileTranslation, "translate", translated)
        monkeypatch.setattr("smalti.front_end.compile", compiled)

    def take(self) -> tuple[int, int]:
        found = (self.translations, self.compilations)
        self.translations = self.compilations = 0
        return found


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Counted:
    """The work that is done, with a cache that starts empty."""
    import smalti.front_end  # noqa: F401

    monkeypatch.setenv("SMALTI_CACHE_DIR", str(tmp_path / "cache"))
    return Counted(monkeypatch)


Load = Callable[..., ModuleType]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Imports a file with new objects, as another process does."""
    numbers = itertools.count()
    (tmp_path / "settings.py").write_text("SHIFT = 0\n")
    monkeypatch.setattr("sys.path", [str(tmp_path), *sys.path])
    monkeypatch.setattr("sys.dont_write_bytecode", True)

    def load(source: str = SOURCE, name: str = "cached.py") -> ModuleType:
        path = tmp_path / name
        path.write_text(source)
        # The line cache compares the time and the size of the file.
        number = next(numbers)
        os.utime(path, (number, number))
        sys.modules.pop("settings", None)
        spec = importlib.util.spec_from_file_location("cached", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "cached", module)
        spec.loader.exec_module(module)
        return module

    return load


def run(kernel: Any, *rest: Any, **named: Any) -> np.ndarray:
    x, y = np.arange(64, dtype=np.float32), np.full(64, np.nan, np.float32)
    kernel(x, y, *(rest or (0,)), **named)
    return y


@pytest.mark.parametrize("target", ["cpu", "emu:sm_80", "emu:gfx942"])
def test_a_kernel_is_compiled_once(counted: Counted, load: Load, target: str) -> None:
    np.testing.assert_array_equal(run(load().kernel.on(target)), EXPECTED)
    assert counted.take() == (1, 1)
    for _ in range(2):
        np.testing.assert_array_equal(run(load().kernel.on(target)), EXPECTED)
    assert counted.take() == (0, 0)
    items = disk_cache.opened("kernels").items()  # pyright: ignore
    assert [(item.name, item.target) for item in items if item.target != "any"] == [("@kernel", target)]


def changed(old: str, new: str) -> Callable[[], str]:
    assert SOURCE.count(old) == 1, old
    return lambda: SOURCE.replace(old, new)


CHANGES = {
    "the kernel": (changed("= t + n", "= t + n + 1"), EXPECTED + 1),
    "a helper": (changed("inner(t) * FACTOR", "inner(t) * FACTOR + 1"), EXPECTED + 3),
    "a helper of a helper": (changed("return t + more", "return t - more + 1"), EXPECTED + 6),
    "a default of a helper": (changed("more=0", "more=1"), EXPECTED + 6),
    "a global": (changed("FACTOR = 2", "FACTOR = 4"), 2 * EXPECTED - 3),
    "the type of a global": (changed("FACTOR = 2", "FACTOR = 2.0"), EXPECTED),
    "an item of a global": (changed("[1, 2]", "[2, 1]"), EXPECTED + 3),
    "a name of the enclosing function": (changed("made(1)", "made(2)"), 2 * EXPECTED - 3),
    "a member of an enum": (changed("PLAIN = 1", "PLAIN = 2"), np.arange(64) * 3 + 3),
    "a default of a named tuple": (changed("b: Any = 0", "b: Any = 1"), EXPECTED + 3),
    "a default of a dataclass": (changed("by: float = 1.0", "by: float = 2.0"), 2 * EXPECTED - 3),
    "a method": (changed("return self.value * self.by", "return self.value * self.by + 1"), EXPECTED + 3),
    "an operator of a class": (
        changed("Scaled(self.value, -self.by)", "Scaled(self.value + 1, -self.by)"),
        EXPECTED + 6,
    ),
    "an attribute of a class": (changed("scale = 1\n", "scale = 2\n"), 2 * EXPECTED),
    "an attribute of an object": (changed("self.more = 3", "self.more = 6"), 2 * EXPECTED),
    "the line": (lambda: "\n" + SOURCE, EXPECTED),
    "the target": (changed('target="cpu"', 'target="emu:sm_90a"'), EXPECTED),
    "an option": (changed('target="cpu"', 'target="emu:sm_80", num_warps=2'), EXPECTED),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_compiles_the_kernel_again(counted: Counted, load: Load, change: str) -> None:
    source, expected = CHANGES[change]
    old = load()
    run(old.kernel)
    run(old.kernel.on("emu:sm_80"))
    counted.take()
    np.testing.assert_array_equal(run(load(source()).kernel), expected)
    assert counted.take()[1] == 1
    np.testing.assert_array_equal(run(load().kernel), EXPECTED)
    assert counted.take() == (0, 0)


def test_a_change_of_another_module_compiles_the_kernel_again(counted: Counted, load: Load, tmp_path: Path) -> None:
    run(load().kernel)
    (tmp_path / "settings.py").write_text("SHIFT = 10\n")
    np.testing.assert_array_equal(run(load().kernel), EXPECTED + 30)
    assert counted.take() == (2, 2)


def test_a_change_that_the_code_does_not_name_is_a_hit(counted: Counted, load: Load) -> None:
    run(load().kernel)
    run(load(SOURCE + "\n\ndef other():\n    return 1\n").kernel)
    # Comments of the kernel are not a part of it.
    run(load(SOURCE.replace("t = outer(t)", "t = outer(t)  # more")).kernel)
    assert counted.take() == (1, 1)


def test_arguments_select_the_entry(counted: Counted, load: Load) -> None:
    kernel = load().kernel
    run(kernel)
    run(kernel, block=32)
    kernel(np.arange(64, dtype=np.float16), np.zeros(64, np.float32), 0)
    assert counted.take() == (3, 3)
    again = load().kernel
    assert np.isnan(run(again, block=32)[32:]).all() and not np.isnan(run(again)).any()
    assert counted.take() == (0, 0)


def test_environment_variables_and_tools_are_in_the_key(
    counted: Counted, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(load().kernel)
    monkeypatch.setenv("SMALTI_PTXAS_OPTIONS", "-O0")
    run(load().kernel)
    assert counted.take() == (2, 2)
    monkeypatch.setattr(kernel_cache, "_package", lambda: "another version")
    run(load().kernel)
    assert counted.take() == (1, 1)


def test_dumps_compile_the_kernel(
    counted: Counted, load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run(load().kernel)
    monkeypatch.setenv("SMALTI_DUMP", str(tmp_path / "dump"))
    run(load().kernel)
    assert counted.take()[1] == 2 and any((tmp_path / "dump").iterdir())


def test_a_disabled_cache(counted: Counted, load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SMALTI_CACHE", "0")
    for _ in range(2):
        np.testing.assert_array_equal(run(load().kernel), EXPECTED)
    assert counted.take() == (2, 2) and not (tmp_path / "cache").exists()


def test_damaged_entries_are_compiled_again(counted: Counted, load: Load, tmp_path: Path) -> None:
    run(load().kernel)
    for path in (tmp_path / "cache" / "kernels").iterdir():
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(data)
    np.testing.assert_array_equal(run(load().kernel), EXPECTED)
    assert counted.take() == (2, 2)
    run(load().kernel)
    assert counted.take() == (0, 0)


# --- Values without a fingerprint -------------------------------------------------------------------------------------

UNKNOWN = {
    "an environment variable": ("import os", 'len(os.environ.get("NUMBER", ""))'),
    "a function of the system": ("import os", 'len(os.getenv("NUMBER", ""))'),
    "a file": ("", 'len(open("/dev/null").read())'),
    "a random number": ("import random", "0 * random.random()"),
    "a random number of numpy": ("", "0 * np.random.rand()"),
    "the time": ("import time", "0 * time.time()"),
    "an object of a library": ("import re\nPATTERN = re.compile('a')", "0 * len(PATTERN.pattern)"),
    "a module as a value": ("import sys as system\nSYSTEM = [system]", "0 * SYSTEM[0].maxsize"),
    "an import": ("class Importing:\n    def __len__(self):\n        import os\n        return 0", "len(Importing())"),
    "an identity": ("", "0 * id(plain)"),
    "a decorator": (
        "import functools\n@functools.lru_cache\ndef cached():\n    return 0",
        "cached()",
    ),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_a_value_that_is_not_known_is_not_cached(counted: Counted, load: Load, what: str) -> None:
    before, expression = UNKNOWN[what]
    source = SOURCE.replace("FACTOR = 2", f"{before}\nFACTOR = 2").replace("= t + n", f"= t + n + {expression}")
    for _ in range(2):
        np.testing.assert_array_equal(run(load(source).kernel), EXPECTED)
    assert counted.take() == (2, 2)


def test_a_name_that_python_does_not_look_up_outside_is_not_cached(counted: Counted, load: Load) -> None:
    # For Python, the name is local in the kernel. The kernel reads the global name.
    source = SOURCE.replace("y[0:block] = t + n", "if False:\n            FACTOR = 1\n        y[0:block] = t + FACTOR")
    for factor in (2, 4):
        result = run(load(source.replace("FACTOR = 2", f"FACTOR = {factor}")).kernel)
        np.testing.assert_array_equal(result, np.arange(64) * factor * 3 + 3 + factor)
    assert counted.take() == (2, 2)


def test_a_change_in_the_process_after_a_hit(counted: Counted, load: Load) -> None:
    run(load().kernel)
    module = load()
    kernel = module.kernel
    compiled = kernel.compile(np.zeros(64, np.float32), np.zeros(64, np.float32), 0)
    assert counted.take() == (1, 1)
    vars(module)["FACTOR"] = 4
    np.testing.assert_array_equal(run(kernel), 2 * EXPECTED - 3)
    assert counted.take() == (1, 1)
    with pytest.raises(smalti.LaunchError, match="a value that it uses has changed"):
        compiled.asm["llvm"]
    vars(module)["FACTOR"] = 2
    np.testing.assert_array_equal(run(kernel), EXPECTED)


# --- Loaded kernels ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["cpu", "emu:sm_80", "sm_90a", "gfx942"])
def test_a_loaded_kernel_has_all_attributes(counted: Counted, load: Load, target: str, tmp_path: Path) -> None:
    arrays = np.zeros(64, np.float32), np.zeros(64, np.float32)
    first = load().kernel.on(target).compile(*arrays, 0)
    counted.take()
    second = load().kernel.on(target).compile(*arrays, 0)
    assert counted.take() == (0, 0)
    for name in (
        "target",
        "binary",
        "binary_format",
        "resources",
        "remarks",
        "notes",
        "pipeline",
        "symbol",
        "tensor_maps",
    ):
        assert getattr(second, name) == getattr(first, name), name
    assert second.device_ir == first.device_ir and list(second.asm) == list(first.asm)
    assert [str(argument) for argument in second.arguments] == [str(argument) for argument in first.arguments]
    for form in ("source", "llvm" if target == "cpu" else "thread"):
        assert second.asm[form] == first.asm[form]
    assert counted.take() == (1, 1)
    if target in ("sm_90a", "gfx942"):
        paths = [kernel.save(tmp_path / f"{number}.h") for number, kernel in enumerate((first, second))]
        assert paths[0].read_text().replace("0_", "1_") == paths[1].read_text().replace("0_", "1_")


def test_run_time_errors_of_a_loaded_kernel(counted: Counted, load: Load) -> None:
    source = SOURCE.replace("y[0:block] = t + n", 'assert n == 0, "n is not 0"\n        y[0:block] = t')
    messages: list[str] = []
    for _ in range(2):
        with pytest.raises(smalti.LaunchError, match="n is not 0") as caught:
            run(load(source).kernel, 5)
        messages.append(str(caught.value))
    assert messages[0] == messages[1] and "cached.py" in messages[0]
    assert counted.take() == (1, 1)


def test_sanitizers_of_a_loaded_kernel(counted: Counted, load: Load) -> None:
    if toolchain.find_emulator("address") is None:
        pytest.skip("the emulator was built without sanitizers")
    for _ in range(2):
        kernel = load().kernel.on("emu:sm_80", sanitize="address")
        found = kernel.compile(np.zeros(64, np.float32), np.zeros(64, np.float32), 0)
        assert found.emulation.sanitize == "address"
    assert counted.take() == (1, 1)


def test_processes_share_the_cache(load: Load, tmp_path: Path) -> None:
    load()
    script = (
        "import numpy as np, cached\n"
        "x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)\n"
        "cached.kernel(x, y, 0)\n"
        "cached.kernel.on('emu:sm_80')(x, y, 0)\n"
        "print(y.sum())\n"
    )
    environment = {
        **os.environ,
        "SMALTI_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)]),
    }
    started = [
        subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment, text=True)
        for _ in range(3)
    ]
    assert [process.communicate(timeout=300)[0].strip() for process in started] == [str(float(EXPECTED.sum()))] * 3
    folder = tmp_path / "cache" / "kernels"
    assert len(list(folder.glob("*.entry"))) == 3 and not list(folder.glob("*.part"))


ONLY_LAUNCHES = """
import ctypes, sys
import numpy as np

class Array:
    def __init__(self, pointer):
        self.__cuda_array_interface__ = {"shape": (64,), "typestr": "<f4", "data": (pointer, False), "version": 3}

target, = sys.argv[1:]
if target == "sm_90a":
    driver = ctypes.CDLL("libcuda.so.1")
    driver.stub_reset()
    driver.stub_log.restype = ctypes.c_char_p
    driver.stub_params((ctypes.c_int * 4)(8, 8, 4, 8), 4)
    x, y = Array(0x10000), Array(0x20000)
else:
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
import cached
cached.kernel.on(target)(x, y, 2)
print(driver.stub_log().decode() if target == "sm_90a" else y.sum())
print(sorted(name for name in sys.modules if "_mlir" in name or name.startswith(("smalti.ir", "smalti.dialects"))))
maps = open("/proc/self/maps").read()
print([name for name in ("libMLIR", "libSmaltiCAPI") if name in maps])
"""


@pytest.mark.parametrize("target", ["cpu", "emu:sm_80", "sm_90a"])
def test_a_process_that_only_launches_does_not_load_mlir(load: Load, target: str, tmp_path: Path) -> None:
    load()
    environment = {
        **os.environ,
        "SMALTI_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)]),
    }
    if target == "sm_90a":
        if stub_driver.compiler() is None:
            pytest.skip("needs a C compiler")
        environment["LD_LIBRARY_PATH"] = str(stub_driver.build(tmp_path).parent)

    def launched() -> list[str]:
        command = [sys.executable, "-c", ONLY_LAUNCHES, target]
        done = subprocess.run(command, capture_output=True, env=environment, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    *results, modules, libraries = launched()
    assert "smalti._mlir_libs._smalti" in modules and "libMLIR" in libraries
    assert launched() == [*results, "[]", "[]"]


def test_fingerprints_of_objects() -> None:
    def same(a: Any, b: Any) -> bool:
        def kernel() -> None: ...

        first, second = fingerprints.of(kernel, a), fingerprints.of(kernel, b)
        return first is not None and second is not None and first.digest == second.digest

    assert same({"a": [1, (2.0, None)]}, {"a": [1, (2.0, None)]}) and same(np.arange(3), np.arange(3))
    assert same({3, 1, 2}, {1, 2, 3}) and same(np.dtype("f2"), np.dtype(np.float16)) and same(range(3), range(3))
    pairs: list[tuple[Any, Any]] = [
        *((1, 1.0), (1, True), (0.0, -0.0), ("1", 1), (b"a", "a"), ([1], (1,)), ([[1], 2], [1, [2]]), ({}, [])),
        *((np.arange(3), np.arange(3.0)), (np.zeros((2, 3)), np.zeros((3, 2))), (np.float32(1), np.float64(1))),
        *((int, float), (range(3), range(4)), ({1, 2}, {1, 3}), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), (min, max)),
    ]
    for a, b in pairs:
        assert same(a, a) and same(b, b) and not same(a, b), (a, b)
    for value in (
        object(),
        sys,
        open,
        np.zeros(1 << 20),
        np.array([object()]),
        iter([]),
        os.getenv,
        lambda: os.getpid(),
    ):
        assert not same(value, value), value


def test_fingerprints_of_subclasses() -> None:
    def digest(value: Any) -> str | None:
        found = fingerprints.of(digests, value)
        return found and found.digest

    def digests() -> None: ...

    pairs: list[tuple[type, Any, Any]] = [
        *((list, [1, 2], [1, 3]), (tuple, (1, 2), (1, 3)), (dict, {"a": 1}, {"a": 2}), (set, {1}, {2})),
        *((frozenset, {1}, {2}), (int, 1, 2), (float, 1.0, 2.0), (str, "a", "b"), (bytes, b"a", b"b")),
    ]
    for base, a, b in pairs:
        kind = type("Sub", (base,), {})
        assert digest(kind(a)) == digest(kind(a)) != digest(kind(b)) != None, base  # noqa: E711
        record = dataclasses.dataclass(type("Record", (base,), {}), eq=False, init=False)
        assert digest(record(a)) != digest(record(b)), base
    named = type("Named", (NamedTuple("Named", [("a", int)]),), {})
    one, other = named(1), named(1)
    vars(other)["more"] = 2
    assert digest(one) not in (digest(other), None)
    for base in (collections.OrderedDict, collections.deque, bytearray, np.ndarray, functools.partial):
        kind = type("Sub", (base,), {})
        argument: Any = [] if base is collections.OrderedDict else (3,)
        assert digest(kind(len) if base is functools.partial else kind(argument)) is None, base
