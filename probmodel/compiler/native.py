"""LLVM, which makes machine code for this processor."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import llvmlite.binding as llvm


@cache
def _target() -> Any:
    """Return what makes code for this processor."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple()


@cache
def has(feature: str) -> bool:
    """Whether this processor has instructions of a kind, by LLVM's name for it."""
    return bool(llvm.get_host_cpu_features().get(feature, False))


@lru_cache(maxsize=8)
def compiled(source: str) -> Any:
    """Make machine code of a module; functions have addresses as long as it is kept.

    Modules that are written alike share it, as long as there are few others between. Functions are
    written out where a call asks for it, and nowhere else.
    """
    # Of either part, level 2 takes longer by a tenth to a fifth, for code that is as fast. So do,
    # by half, LLVM's passes over whole modules. Its new GVN ends the process for some programs.
    target = _target().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=1
    )
    module = llvm.parse_assembly(source)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    options.slp_vectorization = options.loop_vectorization = False
    passes = llvm.create_pass_builder(target, options)
    written_out = llvm.create_new_module_pass_manager()
    written_out.add_always_inliner_pass()
    written_out.add_global_dead_code_eliminate_pass()
    written_out.run(module, passes)
    simplified = passes.getFunctionPassManager()
    for function in module.functions:
        if not function.is_declaration:
            simplified.run(function, passes)
    engine = llvm.create_mcjit_compiler(module, target)
    engine.finalize_object()
    return engine
