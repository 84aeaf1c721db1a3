"""Compiled functions as object code with a C interface, for any target of LLVM: WebAssembly, or a library of this machine.

numba's own front end types and lowers a function and all that it calls; LLVM's passes for the target optimise the whole. The
process must not use instructions of its own processor: :func:`check_processor` says how it is started.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import itertools
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numba
from numba.core import types as numba_types
from numba.np import arrayobj

from nainjaune_env.compiler.dispatcher import OPTIONS
from nainjaune_env.compiler.linked import LinkedCompiler
from nainjaune_env.compiler.platforms import Platform
from nainjaune_env.core.errors import MissingLibraryError, NainJauneError

# without types for mypy
llvm: Any = importlib.import_module("llvmlite.binding")
ir: Any = numba.core.cgutils.ir  # type: ignore[attr-defined]
types: Any = numba_types
populate_array: Any = arrayobj.populate_array

WASM = "wasm32-unknown-unknown"

C_MATH = {"sqrt"}
"""Functions of C's library that a shared library may call."""
GENERIC = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
"""The environment variables of a process that lowers functions for any processor."""
X86_64_V3 = {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": "+sse2,+bmi2"}
"""Those of one that lowers functions for the third level of x86-64; the features are those that ``intrinsics`` ask for."""


def check_processor(*allowed: Mapping[str, str]) -> None:
    """Raises ``RuntimeError`` unless numba compiles for one of the ``allowed`` kinds of processors, :data:`GENERIC` or others.

    Otherwise sources may be lowered to instructions of this machine's processor, see ``intrinsics``.
    """
    if {name: getattr(numba.core.config, name.removeprefix("NUMBA_")) for name in GENERIC} not in allowed:
        raise RuntimeError(f"a process that compiles for another target is started with {' or '.join(map(str, allowed))}")


def lower(functions: Mapping[str, tuple[Any, Callable[..., Any]]], convention: Callable[[str, Any], Any] | None = None) -> Any:
    """Returns one LLVM module with the C functions ``name: (numba signature, function)``; all else in it is internal.

    ``convention`` makes the module of a C function of its name and of what numba has compiled: :func:`c_function`, the default,
    or :func:`block_function`. An error that compiled code raises stops the program. (numba's own ``cfunc`` reports errors
    through Python.)
    """
    check_processor(GENERIC, X86_64_V3)
    whole: Any = None
    options = {**OPTIONS, "no_cpython_wrapper": True, "pipeline_class": LinkedCompiler}
    for name, (signature, function) in functions.items():
        compiled = numba.jit(signature, **options)(function)
        made: Any = next(iter(compiled.overloads.values()))
        part = made.library._get_module_for_linking().clone()
        for value in [*part.functions, *part.global_variables]:
            if not value.is_declaration:  # numba's linkages, "common" among them, which WebAssembly lacks
                value.linkage = "external" if value.name == made.fndesc.llvm_func_name else "internal"
        part.link_in(llvm.parse_assembly(str((convention or c_function)(name, made))))
        part.get_function(made.fndesc.llvm_func_name).linkage = "internal"
        if whole is None:
            whole = part
        else:
            whole.link_in(part)
    return whole


def c_function(name: str, made: Any) -> Any:
    """Returns the module of a function with C's calling convention that calls ``made``, a function of numba's."""
    context, kinds = made.target_context, made.fndesc.argtypes
    nothing = made.fndesc.restype == types.none
    result = ir.VoidType() if nothing else context.get_value_type(made.fndesc.restype)
    builder = _new_function(context, name, ir.FunctionType(result, [context.get_value_type(kind) for kind in kinds]))
    value = _call(builder, made, builder.function.args)
    if nothing:
        builder.ret_void()
    else:
        builder.ret(value)
    return builder.module


def block_function(name: str, made: Any) -> Any:
    """Returns the module of ``void name(int64_t *words)``, which calls ``made``, a function of numba's: see ``ahead``."""
    context, kinds = made.target_context, made.fndesc.argtypes
    word = ir.IntType(64)
    builder = _new_function(context, name, ir.FunctionType(ir.VoidType(), [word.as_pointer()]))
    places = (builder.gep(builder.function.args[0], [word(place)]) for place in itertools.count())
    words = (builder.load(place) for place in places)
    value = _call(builder, made, [_from_words(context, builder, kind, words) for kind in kinds])
    for number, kind in enumerate(result_types(made)):
        part = value if made.fndesc.restype == kind else builder.extract_value(value, number)
        builder.store(_as_word(builder, kind, part), next(places))
    builder.ret_void()
    return builder.module


def result_types(made: Any) -> tuple[Any, ...]:
    """Returns numba's types of the results of ``made``: those in a tuple, or the only one, or none."""
    restype = made.fndesc.restype
    if restype == types.none:
        return ()
    return tuple(restype) if isinstance(restype, types.BaseTuple) else (restype,)


def _new_function(context: Any, name: str, kind: Any) -> Any:
    """Returns a builder at the beginning of a new function in a new module."""
    return ir.IRBuilder(ir.Function(context.create_module(name), kind, name).append_basic_block("entry"))


def _call(builder: Any, made: Any, arguments: Any) -> Any:
    """Returns the result of a call of ``made``; an error that it raises stops the program."""
    context, kinds, restype = made.target_context, made.fndesc.argtypes, made.fndesc.restype
    inner = ir.Function(builder.module, context.call_conv.get_function_type(restype, kinds), made.fndesc.llvm_func_name)
    status, value = context.call_conv.call_function(builder, inner, restype, kinds, arguments)
    with builder.if_then(status.is_error, likely=False):
        builder.call(builder.module.declare_intrinsic("llvm.trap", (), ir.FunctionType(ir.VoidType(), ())), ())
    return value


def _from_words(context: Any, builder: Any, kind: Any, words: Iterator[Any]) -> Any:
    """Returns the value of numba's type ``kind`` that the next ``words`` mean (``signatures.words_of``)."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder)
        data = builder.inttoptr(next(words), array.data.type)
        shape, strides = ([next(words) for _ in range(kind.ndim)] for _ in range(2))
        itemsize = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
        populate_array(array, data=data, shape=shape, strides=strides, itemsize=itemsize, meminfo=None)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        return context.make_tuple(builder, kind, [_from_words(context, builder, part, words) for part in kind])
    if isinstance(kind, types.NoneType):
        return context.get_dummy_value()
    value_type = context.get_value_type(kind)
    if isinstance(kind, types.Record):
        return builder.inttoptr(next(words), value_type)
    if isinstance(kind, types.Float):
        double = builder.bitcast(next(words), ir.DoubleType())
        return double if value_type == double.type else builder.fptrunc(double, value_type)
    if isinstance(kind, types.Integer | types.Boolean):
        number = next(words)
        return number if value_type == number.type else builder.trunc(number, value_type)
    raise TypeError(f"functions that are called with {kind} are not compiled ahead")


def _as_word(builder: Any, kind: Any, value: Any) -> Any:
    """Returns ``value`` as a word of 64 bits."""
    word = ir.IntType(64)
    if kind == types.float64:
        return builder.bitcast(value, word)
    if value.type == word:
        return value
    return builder.sext(value, word) if isinstance(kind, types.Integer) and kind.signed else builder.zext(value, word)


@functools.cache
def _initialize_targets() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


def emit(module: Any, triple: str, *, cpu: str = "generic", features: str = "") -> bytes:
    """Returns the optimised object code of ``module`` for the target ``triple``.

    Raises ``RuntimeError`` if it calls functions that it does not define, those of Python or of numba's runtime; but for
    :data:`C_MATH`, except in WebAssembly.
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
    if triple != WASM:
        missing = [name for name in missing if name not in C_MATH]
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
        result = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
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
        command = [sys.executable, "-m", "ziglang", "cc", "-target", platform.linker_target, "-shared", "-s", "-lm"]
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
