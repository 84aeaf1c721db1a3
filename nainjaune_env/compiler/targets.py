"""Compiled functions as object code with a C interface, for any target of LLVM: WebAssembly, or a library of this machine.

numba's own front end types and lowers a function and all that it calls; LLVM's passes for the target optimise the whole. The
process must not use instructions of its own processor: :func:`check_generic` says how it is started.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numba
from numba.core import types

from nainjaune_env.compiler.jit import OPTIONS
from nainjaune_env.compiler.linked import LinkedCompiler
from nainjaune_env.core.errors import MissingLibraryError, NainJauneError

llvm: Any = importlib.import_module("llvmlite.binding")  # without types for mypy
ir: Any = numba.core.cgutils.ir  # type: ignore[attr-defined]

WASM = "wasm32-unknown-unknown"


class Platform(NamedTuple):
    """A kind of machine that shared libraries are made for, on any machine."""

    triple: str
    """LLVM's name of it."""
    cpu: str
    """The oldest processor, or level of processors, that the code runs on."""
    linker_target: str
    """The name of it for ``zig cc``; with the oldest C library, where the system has several."""
    suffix: str
    """How names of its shared libraries end."""


PLATFORMS = {
    "linux-x86_64": Platform("x86_64-unknown-linux-gnu", "x86-64", "x86_64-linux-gnu.2.17", ".so"),
    "linux-x86_64-v3": Platform("x86_64-unknown-linux-gnu", "x86-64-v3", "x86_64-linux-gnu.2.17", ".so"),
    "linux-aarch64": Platform("aarch64-unknown-linux-gnu", "generic", "aarch64-linux-gnu.2.17", ".so"),
    "windows-x86_64": Platform("x86_64-pc-windows-gnu", "x86-64", "x86_64-windows-gnu", ".dll"),
    "windows-x86_64-v3": Platform("x86_64-pc-windows-gnu", "x86-64-v3", "x86_64-windows-gnu", ".dll"),
    "macos-arm64": Platform("arm64-apple-macosx11.0.0", "apple-m1", "aarch64-macos", ".dylib"),
    "macos-x86_64": Platform("x86_64-apple-macosx10.13.0", "x86-64", "x86_64-macos", ".dylib"),
    "macos-x86_64-v3": Platform("x86_64-apple-macosx10.13.0", "x86-64-v3", "x86_64-macos", ".dylib"),
}
"""The platforms of shared libraries by name; ``-v3`` is the level of x86-64 with AVX2 and BMI2, of 2013 and later."""
GENERIC = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
"""The environment variables of a process that lowers functions for another target."""


def check_generic() -> None:
    """Raises ``RuntimeError`` unless numba compiles for any processor in this process (:data:`GENERIC`).

    Otherwise sources may be lowered to instructions of this machine's processor, see ``intrinsics``.
    """
    if {name: getattr(numba.core.config, name.removeprefix("NUMBA_")) for name in GENERIC} != GENERIC:
        raise RuntimeError(f"a process that compiles for another target is started with {GENERIC}")


def lower(functions: Mapping[str, tuple[str, Callable[..., Any]]]) -> Any:
    """Returns one LLVM module with the C functions ``name: (numba signature, function)``; all else in it is internal.

    An error that compiled code raises stops the program. (numba's own ``cfunc`` reports errors through Python.)
    """
    check_generic()
    whole: Any = None
    options = {**OPTIONS, "no_cpython_wrapper": True, "pipeline_class": LinkedCompiler}
    for name, (signature, function) in functions.items():
        compiled = numba.jit(signature, **options)(function)
        made: Any = next(iter(compiled.overloads.values()))
        part = made.library._get_module_for_linking().clone()
        for value in [*part.functions, *part.global_variables]:
            if not value.is_declaration:  # numba's linkages, "common" among them, which WebAssembly lacks
                value.linkage = "external" if value.name == made.fndesc.llvm_func_name else "internal"
        part.link_in(llvm.parse_assembly(str(_c_function(name, made))))
        part.get_function(made.fndesc.llvm_func_name).linkage = "internal"
        if whole is None:
            whole = part
        else:
            whole.link_in(part)
    return whole


def _c_function(name: str, made: Any) -> Any:
    """Returns the module of a function with C's calling convention that calls ``made``, a function of numba's."""
    context, kinds = made.target_context, made.fndesc.argtypes
    module = context.create_module(name)
    inner = ir.Function(module, context.call_conv.get_function_type(made.fndesc.restype, kinds), made.fndesc.llvm_func_name)
    nothing = made.fndesc.restype == types.none
    result = ir.VoidType() if nothing else context.get_value_type(made.fndesc.restype)
    outer = ir.Function(module, ir.FunctionType(result, [context.get_value_type(kind) for kind in kinds]), name)
    builder = ir.IRBuilder(outer.append_basic_block("entry"))
    status, value = context.call_conv.call_function(builder, inner, made.fndesc.restype, kinds, outer.args)
    with builder.if_then(status.is_error, likely=False):
        builder.call(module.declare_intrinsic("llvm.trap", (), ir.FunctionType(ir.VoidType(), ())), ())
    if nothing:
        builder.ret_void()
    else:
        builder.ret(value)
    return module


@functools.cache
def _initialize_targets() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


def emit(module: Any, triple: str, *, cpu: str = "generic", features: str = "") -> bytes:
    """Returns the optimised object code of ``module`` for the target ``triple``.

    Raises ``RuntimeError`` if it calls functions that it does not define: those of Python or of numba's runtime.
    """
    _initialize_targets()
    module = module.clone()
    reloc = "default" if triple == WASM else "pic"
    machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, features=features, opt=3, reloc=reloc)
    module.triple = triple
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    module.verify()
    missing = [f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")]
    if missing:
        raise RuntimeError(f"compiled functions call {', '.join(missing)}, which no module for another target has")
    code: bytes = machine.emit_object(module)
    return code


def link_wasm(code: bytes, exports: Mapping[str, object], *, stack: int = 1 << 16) -> bytes:
    """Returns a WebAssembly module without imports that exports the functions ``exports``, its memory and ``__heap_base``.

    Raises :class:`NainJauneError` where linking fails; see also :func:`check_linker`.
    """
    check_linker()
    names = [f"--export={name}" for name in ("__heap_base", *exports)]
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "module.o"), Path(folder, "module.wasm")
        source.write_bytes(code)
        command = [sys.executable, "-m", "ziglang", "wasm-ld", "--no-entry", "--strip-all", *names]
        command += ["-z", f"stack-size={stack}", "--stack-first", "-o", str(target), str(source)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            raise NainJauneError(f"wasm-ld could not link the module: {result.stderr.strip()}")
        return target.read_bytes()


def link_shared(code: bytes, platform: Platform, name: str = "library") -> bytes:
    """Returns the shared library of ``code``, which :func:`emit` made for ``platform``; it exports all external functions.

    Programs that are linked with it look for a file called ``name`` with the platform's suffix. Raises :class:`NainJauneError`
    where linking fails; see also :func:`check_linker`.
    """
    check_linker()
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "library.o"), Path(folder, f"{name}{platform.suffix}")
        source.write_bytes(code)
        command = [sys.executable, "-m", "ziglang", "cc", "-target", platform.linker_target, "-shared", "-s"]
        if platform.suffix == ".dylib":  # otherwise programs look for the temporary file
            command += ["-install_name", f"@rpath/{target.name}"]
        result = subprocess.run([*command, "-o", str(target), str(source)], capture_output=True, text=True, check=False)
        if result.returncode:
            raise NainJauneError(f"zig could not link the library: {result.stderr.strip()}")
        return target.read_bytes()


def with_section(module: bytes, name: str, payload: bytes) -> bytes:
    """Returns the WebAssembly ``module`` with a custom section more (WebAssembly core specification, 5.5.3)."""
    content = _leb128(len(name.encode())) + name.encode() + payload
    return module + b"\0" + _leb128(len(content)) + content


def _leb128(number: int) -> bytes:
    """Returns ``number``, at least 0, as WebAssembly writes integers: seven bits a byte, lowest first."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*out, number))


def check_linker() -> None:
    """Raises :class:`MissingLibraryError` without the package ``ziglang``, whose linkers link modules and libraries."""
    if importlib.util.find_spec("ziglang") is None:
        raise MissingLibraryError("Linking a compiled module", "ziglang", "wasm")
