"""Load a user's policy from a Python file."""

import sys
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from afterglow.errors import AfterglowError, BadFormat, BadValue
from afterglow.policies.policy import Policy
from afterglow.policies.registry import AnyPolicy, any_named, is_ours
from afterglow.policies.rounds import RoundPolicy


def policy_from(text: str) -> AnyPolicy:
    """A policy by name, or from a file if the text ends in `.py`."""
    return policy_in(Path(text)) if text.endswith(".py") else any_named(text)


def policy_in(path: Path) -> AnyPolicy:
    """The policy that a file calls `policy`."""
    found = getattr(load(path), "policy", None)
    if not isinstance(found, Policy | RoundPolicy):
        said = "nothing is called that" if found is None else f"it is {found!r}"
        raise BadValue(f"{path} must name an afterglow.Policy `policy`, {said}", kind="bad-file", field="policy")
    return found


def file_of(policy: AnyPolicy) -> str:
    """The file name of a user's policy, made up if it has no file; empty for built-in policies."""
    if is_ours(policy):
        return ""
    decides: Any = policy.next_hold if isinstance(policy, Policy) else policy.next_round
    code = getattr(getattr(decides, "py_func", decides), "__code__", None)
    path = Path(code.co_filename if code is not None else "")
    return path.name if path.suffix == ".py" and path.is_file() else f"{policy.name}.py"


class FromSource(SourceFileLoader):
    """Reads the file every time: Python's cache takes an edit of the same second and size for no edit."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def load(path: Path) -> ModuleType:
    """A file as a module; it can import other files of its folder."""
    if not path.is_file():
        sentence = f"no file {str(path)!r}; give the path of a Python file with a `policy`"
        raise BadValue(sentence, kind="unreadable-file", field="policy")
    if path.suffix != ".py":
        raise BadValue(f"{path} can't be loaded as Python: its name must end with .py", kind="bad-file", field="policy")
    loader = FromSource(path.stem, str(path))
    module = module_from_spec(ModuleSpec(path.stem, loader, origin=str(path)))
    module.__file__ = str(path)
    taken = sys.modules.get(path.stem)
    sys.modules[path.stem] = module  # dataclasses look their module up
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        loader.exec_module(module)
    except (AfterglowError, KeyboardInterrupt):
        raise
    except BaseException as problem:  # SystemExit too: a file that ends the program is a mistake in the file
        raise BadFormat(f"{path} stops with {type(problem).__name__}: {problem}{line_in(path, problem)}") from problem
    finally:
        sys.path.remove(str(path.parent.resolve()))
        if taken is not None:
            sys.modules[path.stem] = taken
    return module


def line_in(path: Path, problem: BaseException) -> str:
    """Where in the file it happened, the innermost line of it."""
    line, trace = 0, problem.__traceback__
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename) == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f" (line {line})" if line else ""
