"""Digest of a user's code: functions, classes and all values that they read.

The engine's own digest covers what is compiled. This one covers plain Python too: `start`, `configure` and `recommend`
can read anything, so classes count with their methods and defaults, and objects with their pickled form.
"""

import hashlib
import re
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from sys import modules, stdlib_module_names
from sysconfig import get_paths
from types import CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

from afterglow.engine.compiling import read

PLAIN = (int, float, complex, str, bytes, range, type(None), type(Ellipsis), np.generic)
MADE = {
    "__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__annotate__", "__annotate_func__",
    "__annotations_cache__", "__firstlineno__", "__static_attributes__", "__dataclass_fields__",
    "__dataclass_params__", "__match_args__", "__classdictcell__", "_abc_impl",
}  # fmt: skip
MADE_BY_DATACLASS = {"__init__", "__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__", "__replace__"}
LIBRARIES = (*(get_paths()[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")), "<frozen")


class Unknown(TypeError):
    """Something without known content, such as a lock or an open file; `placed` says that the function is named."""

    def __init__(self, what: str, placed: bool = False) -> None:
        super().__init__(what)
        self.placed = placed


def content(*parts: Any) -> str:
    """Changes when code, a default or a value that any function reaches changes."""
    try:
        return hashlib.sha256(Content().of(parts).encode()).hexdigest()[:24]
    except RecursionError:
        raise Unknown("values nested too deeply") from None


class Content:
    """A text that differs when the content differs; functions and classes met before are named by their number."""

    def __init__(self) -> None:
        self.met: dict[Any, int] = {}
        self.inside: set[int] = set()  # what is being described, so that a list in itself has an end

    def of(self, part: Any) -> str:
        compiled = getattr(part, "py_func", None)  # by Numba
        part = compiled if isinstance(compiled, FunctionType) else part
        if isinstance(part, PLAIN):
            return f"{type(part).__name__} {part!r}"
        if isinstance(part, re.Pattern):
            return f"pattern {part.pattern!r} {part.flags}"
        if isinstance(part, ModuleType):
            return f"module {part.__name__}"
        if isinstance(part, FunctionType | type):
            if part in self.met:
                return f"met {self.met[part]}"
            self.met[part] = len(self.met)
            return self.of_function(part) if isinstance(part, FunctionType) else self.of_class(part)
        if id(part) in self.inside:
            return "itself"
        self.inside.add(id(part))
        found = self.of_values(part)
        self.inside.remove(id(part))
        return found

    def of_values(self, part: Any) -> str:
        if isinstance(part, CodeType):
            plain = (part.co_name, part.co_code, part.co_exceptiontable, part.co_names)
            return repr((*plain, part.co_varnames, part.co_freevars, [self.of(const) for const in part.co_consts]))
        if type(part) in (list, tuple):
            return f"{type(part).__name__} {[self.of(item) for item in part]}"
        if type(part) in (set, frozenset):
            return f"set {sorted(Content().of(item) for item in part)}"
        if type(part) is dict:
            return f"dict {[(self.of(key), self.of(value)) for key, value in part.items()]}"
        if isinstance(part, np.ndarray) and part.dtype != object:
            return repr((part.dtype, part.shape, part.tobytes()))
        return self.of_object(part)

    def of_function(self, function: FunctionType) -> str:
        defaults = [self.of(function.__defaults__), self.of(function.__kwdefaults__)]
        if function.__code__.co_filename.startswith(LIBRARIES):
            cells = [self.of(cell.cell_contents) for cell in function.__closure__ or ()]
            return repr((function.__module__, function.__qualname__, edition(function.__module__), defaults, cells))
        found = []
        for name, value in read(function).items():
            try:
                found.append((name, self.of(value)))
            except Unknown as problem:
                if problem.placed:
                    raise
                raise Unknown(f"{function.__name__} reads {name}, {problem}", placed=True) from None
        return repr((self.of(function.__code__), defaults, found))

    def of_class(self, kind: type) -> str:
        if from_library(kind):
            return f"{kind.__module__}.{kind.__qualname__} {edition(kind.__module__)}"
        made = MADE | (MADE_BY_DATACLASS if is_dataclass(kind) else set())
        own = [(name, self.of(value)) for name, value in vars(kind).items() if name not in made]
        rows = [
            (one.name, str(one.type), self.of(one.default), self.of(one.default_factory))
            for one in (fields(kind) if is_dataclass(kind) else ())
        ]
        return repr((kind.__qualname__, [self.of(base) for base in kind.__bases__], rows, own))

    def of_object(self, part: Any) -> str:
        """As it would be pickled, which a function of C and what only works in its process are not."""
        kind = type(part)
        if kind is MemberDescriptorType:
            return "slot"
        if isinstance(part, staticmethod | classmethod | MethodType):
            return repr((kind.__name__, self.of(part.__func__), self.of(getattr(part, "__self__", None))))
        if isinstance(part, property):
            return repr([self.of(one) for one in (part.fget, part.fset, part.fdel)])
        if isinstance(getattr(part, "__wrapped__", None), FunctionType):
            return f"{kind.__qualname__} of {self.of(part.__wrapped__)}"
        try:
            reduced = part.__reduce_ex__(4)
        except Exception:
            raise Unknown(f"a {kind.__module__}.{kind.__qualname__}") from None
        if isinstance(reduced, str):  # a name in its module
            return f"{getattr(part, '__module__', '')}.{reduced} {self.of(kind)}"
        items = [list(more) for more in reduced[3:5] if more is not None]
        return f"object {[self.of(one) for one in (*reduced[:3], *items)]}"


def from_library(kind: type) -> bool:
    """Whether a class is Python's own or an installed package's, and not of a user's file of the same name."""
    home: Any = modules.get(kind.__module__)
    path = getattr(home, "__file__", None) or "<frozen"  # built in
    if home is None or kind.__module__ == "__main__" or not path.startswith(LIBRARIES):
        return False
    outer = kind.__qualname__.split(".", maxsplit=1)[0]
    return getattr(home, outer, None) is kind or outer not in vars(home) or "." in kind.__qualname__


@cache
def edition(module: str) -> str:
    """A digest of an installed package's file; Python's own are known by its version."""
    path = getattr(modules.get(module), "__file__", None)
    if path is None or module.split(".", maxsplit=1)[0] in stdlib_module_names:
        return ""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:24]
