"""How kernels are compiled: each function once, as part of what Python calls.

numba compiles every function that a kernel calls as if Python called it, too: it is optimised, turned into machine code, gets a
wrapper that takes Python objects apart, and is then linked into its callers and optimised again, once more at each level. Most
of our functions are small and only ever called by other kernels, so most of that work is thrown away.

Here a function has two sides. Its *whole* is what Python calls: compiled with all it calls, optimised once, kept on disk. Its
*part* is what other kernels call: typed and translated, but left as it is until it has been linked into a whole. Optimising
takes place when everything is in one module, with the same passes at the same level, so the machine code is as fast as before.
Nothing here touches arithmetic: the passes that are left out only repeat others, or look for what no kernel has.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from numba.core import codegen
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager
from numba.core.environment import lookup_environment
from numba.core.registry import CPUDispatcher

NEEDLESS = {
    "WithLifting",
    "InlineClosureLikes",
    "RewriteSemanticConstants",
    "DeadBranchPrune",
    "RewriteDynamicRaises",
    "MakeFunctionToJitFunction",
    "InlineInlinables",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "LiteralPropagationSubPipelinePass",
    "NopythonRewrites",
}
"""Passes of numba's for what functions that make no arrays do not have: closures, context managers, whole-array arithmetic …"""

_numba: Any = codegen

_ENVIRONMENT = "_ZN08NumbaEnv"
"""What the names of the variables begin with that point at functions' environments."""


class _Whole(JITCodeLibrary):
    """Machine code of what Python calls, optimised when all its parts are there."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _finalize_final_module(self) -> None:
        super()._finalize_final_module()  # type: ignore[no-untyped-call]
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name) if variable.name.startswith(_ENVIRONMENT) else None  # type: ignore[no-untyped-call]
            if environment is not None:  # of a part, whose own library has no address to write it to
                self.codegen.set_env(variable.name, environment)

    def _get_module_for_linking(self) -> Any:
        """What is kept beside the machine code, to know what is in it: names, for nothing is ever linked with a whole."""
        if self._shared_module is None:
            self._ensure_finalized()  # type: ignore[no-untyped-call]
            named = [f'define void @"{one.name}"() {{ ret void }}' for one in self.get_defined_functions()]  # type: ignore[no-untyped-call]
            self._shared_module = _numba.ll.parse_assembly("\n".join(named))
        return self._shared_module


class _PlainWhole(_Whole):
    """The same without the first, cheap round that brings together what reference counting is to be left out of."""

    def _optimize_final_module(self) -> None:
        passes = self._codegen._module_pass_manager()  # type: ignore[no-untyped-call]
        if isinstance(passes, tuple):
            passes[0].run(self._final_module, passes[1])
        else:  # numba before 0.62
            passes.run(self._final_module)


class _Part(JITCodeLibrary):
    """What is to be linked into wholes: neither optimised nor made machine code, and so without addresses."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Later, in the whole."""

    def _finalize_final_module(self) -> None:
        self._finalized = True

    @property
    def codegen(self) -> Any:
        """Who is asked to write down the address of a function's environment: nobody, until there is one."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """The whole does it."""


class _Compiling(Compiler):
    """numba's compiler with a library of ours."""

    library: type[Any] = _Whole
    left_out: frozenset[str] | set[str] = frozenset()

    def __init__(self, typing: Any, target: Any, library: Any, *more: Any) -> None:
        super().__init__(typing, target, library, *more)  # type: ignore[no-untyped-call]
        if self.state.library is None:
            self.state.library = self.library(target.codegen(), self.library.__name__)
            self.state.library.enable_object_caching()

    def define_pipelines(self) -> list[Any]:
        """numba's passes, in numba's order, but for those left out."""
        usual: Any = DefaultPassBuilder.define_nopython_pipeline(self.state)  # type: ignore[no-untyped-call]
        manager: Any = PassManager(usual.pipeline_name)  # type: ignore[no-untyped-call]
        manager.passes = [one for one in usual.passes if one[0].__name__ not in self.left_out]
        manager.finalize()
        return [manager]


class _CompilingPlainWhole(_Compiling):
    library, left_out = _PlainWhole, NEEDLESS


class _CompilingPart(_Compiling):
    library = _Part


class _CompilingPlainPart(_Compiling):
    library, left_out = _Part, NEEDLESS


class Kernel(CPUDispatcher):
    """A function with two sides: this object is the whole, and hands kernels that call it the part."""

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        self._plain = not options.get("_nrt", True)
        super().__init__(
            function, targetoptions=options, pipeline_class=_CompilingPlainWhole if self._plain else _Compiling
        )

    @cached_property
    def part(self) -> Any:
        """What other kernels call."""
        options = self.targetoptions | {"no_cpython_wrapper": True}
        compiling = _CompilingPlainPart if self._plain else _CompilingPart
        return CPUDispatcher(self.py_func, targetoptions=options, pipeline_class=compiling)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """The types of a call from another kernel."""
        return self.part.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """The function behind a call from another kernel."""
        return self.part.get_overload(sig)
