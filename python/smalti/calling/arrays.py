# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Views of arrays of any library as pointer, shape and strides, without a copy.

numpy arrays and array interfaces are read directly. Other arrays are read through DLPack. This module reads the capsule
itself, because numpy does not support device memory or bfloat16 there.
"""

from __future__ import annotations

import ctypes
import functools
import operator
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from .. import dtypes
from ..diagnostics import counted

CPU, CUDA, HIP = "cpu", "cuda", "hip"

# The device of the memory by DLDeviceType. Pinned host memory is host memory.
_DEVICES = {1: CPU, 3: CPU, 11: CPU, 2: CUDA, 13: CUDA, 10: HIP}


@dataclass(slots=True)
class ArrayView:
    """The memory of an array. Valid while `owner` exists."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """In elements."""
    dtype: str
    device: str
    device_index: int | None = None
    """The index of the GPU, or None if the array does not state it."""
    readonly: bool = False
    owner: Any = field(default=None, repr=False)

    @property
    def signature(self) -> tuple[Any, ...]:
        """The properties that argument checks depend on, without the pointer."""
        return (self.shape, self.strides, self.dtype, self.device, self.readonly)

    @property
    def key(self) -> tuple[Any, ...]:
        """The properties that argument checks depend on."""
        return (
            self.pointer, self.shape, self.strides, self.dtype, self.device, self.device_index, self.readonly
        )  # fmt: skip


class NotAnArray(TypeError):
    """The object does not have an array protocol, or does not expose its memory. The message states the reason."""


class _DLDevice(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class _DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", _DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _DLTensor),
    ]


_READ_ONLY_FLAG = 1

_capsule_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_capsule_is_valid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_capsule_is_valid.restype = ctypes.c_int
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_capsule_pointer.restype = ctypes.c_void_p


@functools.lru_cache(maxsize=1024)
def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides, in elements, of a dense row-major array."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def view(array: Any, stream: int | None = None) -> ArrayView:
    """The memory of `array`. `stream` is the stream of the GPU kernel, for producers that synchronize.

    Raises NotAnArray if the object is not an array or does not expose its memory.
    """
    if isinstance(array, ArrayView):
        return array
    found = _view(array, stream)
    # Possible for a resized storage of size 0, or a foreign array interface.
    if not found.pointer and 0 not in found.shape:
        raise NotAnArray(
            f"the array of shape {found.shape} does not have memory (its address is 0); pass an allocated array"
        )
    if min(found.strides, default=0) < 0:
        # The stride of a dimension of size 1 is not used, but a kernel may require strides that are not negative.
        found.strides = tuple(
            0 if step < 0 and extent <= 1 else step for extent, step in zip(found.shape, found.strides, strict=True)
        )
    return found


def _view(array: Any, stream: int | None) -> ArrayView:
    if is_torch(array):
        return _torch_view(array)
    # numpy arrays do not have this attribute.
    if (interface := _attribute(array, "__cuda_array_interface__")) is not None:
        return _interface_view(array, interface, CUDA)
    import numpy as np

    if isinstance(array, np.ndarray):
        return _numpy_view(array)
    if hasattr(array, "__dlpack__"):
        return _dlpack_view(array, stream)
    if (interface := _attribute(array, "__array_interface__")) is not None:
        return _interface_view(array, interface, CPU)
    raise NotAnArray(
        f"{type(array).__name__} is not an array; pass a numpy array, a PyTorch tensor or an object with __dlpack__"
    )


def _attribute(array: Any, name: str) -> Any:
    """An attribute of a foreign object, or None; the code of a property may raise any exception."""
    try:
        return getattr(array, name, None)
    except Exception as error:
        raise NotAnArray(f"{type(array).__name__}.{name} raises {type(error).__name__}: {error}") from None


def _split_elements(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> str:
    """The error for strides in bytes that are not whole elements."""
    return (
        f"the array of shape {shape} has strides of {strides} B, which are not multiples of the element size, {size} B; pass "
        "a copy of the array"
    )


@functools.lru_cache(maxsize=1024)
def _element_strides(strides: tuple[int, ...], size: int) -> tuple[int, ...] | None:
    """Strides in elements; None if the strides in bytes are not whole elements."""
    return None if any(stride % size for stride in strides) else tuple(stride // size for stride in strides)


@functools.lru_cache(maxsize=1024)
def _numpy_dtype(dtype: Any) -> str:
    # Numpy computes the name at each access.
    return dtype.name if dtype.isnative else f"{dtype.name} in non-native byte order"


def _numpy_view(array: Any) -> ArrayView:
    strides = _element_strides(array.strides, array.itemsize)
    if strides is None:
        raise NotAnArray(_split_elements(array.shape, array.strides, array.itemsize))
    return ArrayView(
        pointer=array.__array_interface__["data"][0],
        shape=array.shape,
        strides=strides,
        dtype=_numpy_dtype(array.dtype),
        device=CPU,
        readonly=not array.flags.writeable,
        owner=array,
    )


@functools.cache
def _is_tensor_class(kind: type[Any]) -> bool:
    return any((base.__module__, base.__name__) == ("torch", "Tensor") for base in kind.__mro__)


def is_torch(value: Any) -> bool:
    """Whether a value is a tensor of PyTorch, without an import of PyTorch."""
    return _is_tensor_class(cast(type[Any], type(value)))


def _is_plain_tensor(kind: type[Any]) -> bool:
    return kind.__module__ in ("torch", "torch.nn.parameter") and kind.__name__ in ("Tensor", "Parameter")


def exchange_api(kind: type[Any]) -> tuple[Any, Any] | None:
    """For a type of PyTorch: DLPack's C exchange API (PyTorch 2.10 and later) and the method `is_neg`. None for other types."""
    if not _is_plain_tensor(kind):
        return None
    return getattr(kind, "__dlpack_c_exchange_api__", None), getattr(kind, "is_neg", None)


@functools.cache
def _torch_dtype(dtype: Any) -> str:
    """The numpy name of a PyTorch type."""
    return str(dtype).removeprefix("torch.")


def _torch_view(tensor: Any) -> ArrayView:
    """A view from the attributes of a tensor, which are faster than its array protocols."""
    if tensor.is_neg() or tensor.is_conj():
        raise NotAnArray("the tensor is a lazily negated or conjugated view; pass tensor.clone()")
    try:
        pointer, shape, strides = tensor.data_ptr(), tuple(tensor.shape), tensor.stride()
    except RuntimeError as error:
        layout = f" with the layout {tensor.layout}" if hasattr(tensor, "layout") else ""
        raise NotAnArray(f"the tensor{layout} does not expose its memory: {error}; pass a plain tensor") from None
    if not pointer and 0 not in shape:
        raise NotAnArray(
            f"the {type(tensor).__name__} of shape {shape} does not have memory; pass an allocated tensor, or call the "
            "operator of the kernel (smalti.torch.custom_op), which torch.compile and torch.export can trace"
        )
    torch_device = tensor.device
    device = _torch_device(torch_device.type)
    return ArrayView(
        pointer=pointer,
        shape=shape,
        strides=strides,
        dtype=_torch_dtype(tensor.dtype),
        device=device,
        device_index=None if device == CPU else torch_device.index,
        owner=tensor,
    )


@functools.cache
def _torch_device(kind: str) -> str:
    if kind != "cuda":
        return kind
    # ROCm builds also use the name `cuda` for AMD GPUs.
    torch = sys.modules.get("torch")
    return HIP if getattr(getattr(torch, "version", None), "hip", None) else CUDA


@functools.cache
def _typestr(typestr: Any) -> tuple[str, int]:
    """The element type of an array interface and its size in bytes."""
    import numpy as np

    dtype = np.dtype(typestr) if isinstance(typestr, str) else None
    if dtype is None or not dtype.itemsize:
        raise TypeError(f"typestr is {typestr!r}, which is not an element type; use a numpy type string, such as '<f4'")
    return dtype.name, dtype.itemsize


def _interface_view(array: Any, interface: Any, device: str) -> ArrayView:
    attribute = f"{type(array).__name__}.{'__cuda_array_interface__' if device == CUDA else '__array_interface__'}"

    def entry(name: str) -> Any:
        if not isinstance(interface, Mapping):
            raise NotAnArray(f"{attribute} is {interface!r}; a dictionary is required")
        return cast(Mapping[str, Any], interface).get(name)

    def sizes(name: str, values: Any) -> tuple[int, ...]:
        try:
            found = tuple(operator.index(value) for value in values)
        except TypeError:
            raise NotAnArray(f"'{name}' of {attribute} is {values!r}; a tuple of integers is required") from None
        if any(not -(2**63) <= value < 2**63 for value in found):
            raise NotAnArray(f"'{name}' of {attribute} is {values!r}; each number must fit in 64 bits")
        return found

    try:
        dtype, size = _typestr(entry("typestr"))
    except (TypeError, ValueError):
        raise NotAnArray(
            f"'typestr' of {attribute} is {entry('typestr')!r}; an element type such as '<f4' is required"
        ) from None
    shape = sizes("shape", entry("shape"))
    if any(extent < 0 for extent in shape):
        raise NotAnArray(f"'shape' of {attribute} is {shape}; sizes must not be negative")
    if entry("strides") is None:
        strides = row_major(shape)
    else:
        byte_strides = sizes("strides", entry("strides"))
        if len(byte_strides) != len(shape):
            raise NotAnArray(
                f"{attribute} has {counted(len(byte_strides), 'stride')} and {counted(len(shape), 'dimension')}; the numbers must be "
                "equal"
            )
        if any(stride % size for stride in byte_strides):
            raise NotAnArray(_split_elements(shape, byte_strides, size))
        strides = tuple(stride // size for stride in byte_strides)
    data = entry("data")
    if data is None:
        raise NotAnArray(f"{attribute} does not have the entry 'data'; an address and a read-only flag are required")
    try:
        pointer, readonly = data
        address = operator.index(pointer or 0)
    except (TypeError, ValueError):
        raise NotAnArray(
            f"'data' of {attribute} is {data!r}; a tuple of an address and a read-only flag is required"
        ) from None
    if not 0 <= address < 2**64:
        raise NotAnArray(f"'data' of {attribute} has the address {address}, which is outside of the 64-bit range")
    reach = [(extent - 1) * stride * size for extent, stride in zip(shape, strides, strict=True) if 0 not in shape]
    first = address + sum(min(0, bytes) for bytes in reach)
    last = address + sum(max(0, bytes) for bytes in reach) + size
    if address and not 0 <= first < last <= 2**63:
        raise NotAnArray(
            f"{attribute} describes elements at addresses from {first} to {last}; addresses must be between 0 and 2^63"
        )
    return ArrayView(address, shape, strides, dtype, device, readonly=bool(readonly), owner=array)


def is_jax(array: Any) -> bool:
    """Whether a value is an array of JAX, or one that JAX traces."""
    return type(array).__module__.partition(".")[0] in ("jax", "jaxlib")


def _dlpack_capsule(array: Any, device: str, stream: int | None) -> Any:
    # The unversioned protocol does not have a read-only flag, so the versioned one is requested first.
    keywords: dict[str, Any] = {"max_version": (1, 0)}
    if stream is not None and device == CUDA:
        # DLPack uses 1 for the default stream, and does not allow 0.
        keywords["stream"] = stream or 1
    try:
        try:
            return array.__dlpack__(**keywords)
        except TypeError:
            keywords.pop("max_version")
            return array.__dlpack__(**keywords)
    except Exception as error:
        if is_jax(array) and type(array).__name__.endswith("Tracer"):
            raise NotAnArray(
                "JAX traces the array, which does not have memory; inside jax.jit, call the kernel through smalti.jax.ffi_call"
            ) from None
        raise NotAnArray(
            f"{type(array).__name__} does not provide its memory through DLPack: {error}; pass a numpy array or a PyTorch tensor"
        ) from None


def _dlpack_view(array: Any, stream: int | None) -> ArrayView:
    try:
        device_type = int(array.__dlpack_device__()[0]) if hasattr(array, "__dlpack_device__") else 1
    except Exception as error:
        raise NotAnArray(f"{type(array).__name__}.__dlpack_device__() raises {type(error).__name__}: {error}") from None
    device = _DEVICES.get(device_type, f"dlpack device type {device_type}")
    capsule = _dlpack_capsule(array, device, stream)
    readonly = False
    if _capsule_is_valid(capsule, b"dltensor_versioned"):
        address = _capsule_pointer(capsule, b"dltensor_versioned")
        managed = ctypes.cast(address, ctypes.POINTER(_DLManagedTensorVersioned)).contents
        if managed.major != 1:
            raise NotAnArray(
                f"{type(array).__name__} uses DLPack version {managed.major}, but only version 1 is supported; pass an array of numpy or PyTorch"
            )
        readonly = bool(managed.flags & _READ_ONLY_FLAG)
        tensor = managed.tensor
    elif _capsule_is_valid(capsule, b"dltensor"):
        tensor = ctypes.cast(_capsule_pointer(capsule, b"dltensor"), ctypes.POINTER(_DLTensor)).contents
    else:
        raise NotAnArray(f"{type(array).__name__}.__dlpack__() did not return a DLPack capsule")
    shape = tuple(tensor.shape[: tensor.ndim]) if tensor.ndim else ()
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.ndim and tensor.strides else row_major(shape)
    return ArrayView(
        pointer=(tensor.data or 0) + tensor.byte_offset,
        shape=shape,
        strides=strides,
        dtype=dtypes.name_from_dlpack(tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes),
        device=device,
        device_index=None if device == CPU else int(tensor.device.device_id),
        # JAX arrays are immutable, and capsules of older versions do not have the flag.
        readonly=readonly or is_jax(array),
        # A capsule that is not consumed frees its tensor when it is destroyed, so the view owns it.
        owner=(array, capsule),
    )
