"""Compiled functions passed by address.

Numba looks a function argument up anew at each call, which takes a tenth of a millisecond for each. An address is a
number: `address_of` finds it once, and `at_address` makes it a function again inside compiled code. Whoever keeps an
address keeps the function too.
"""

from functools import cache
from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def address_of(function: Any, kind: Any) -> int:
    """Where the machine code of a kept function of signature `kind` begins."""
    made = function.get_compile_result(kind)
    return int(made.library.get_pointer_to_function(made.fndesc.llvm_func_name))


@cache
def at_address(kind: Any) -> Any:
    """A compiled-code function from an address to the function of signature `kind` that begins there."""
    function = types.FunctionType(kind)

    @intrinsic
    def found(typing: Any, address: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            held = cgutils.create_struct_proxy(function)(context, builder)
            held.jit_addr = held.c_addr = builder.inttoptr(args[0], context.get_value_type(types.voidptr))
            return held._getvalue()

        return function(types.uint64), build

    return found
