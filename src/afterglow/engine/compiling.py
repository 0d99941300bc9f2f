"""Plain functions as machine code, kept on disk under a name made of their content.

`jitted` compiles a function and every plain function it calls by name; the originals are left alone.
`keep` stores the result where only the same content finds it: the file's name is a digest of bytecode,
constants and globals of everything reached, so an edited policy is never run from a stale cache, a
reverted edit is found again, and a function from a notebook is kept like any other.
"""

import hashlib
import logging
import os
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba import njit, types

log = logging.getLogger("afterglow")
FOREIGN = ("builtins", "math", "numba", "numpy", "_operator")
OTHERS_WRITE = 0o022
LONG_SECONDS = 1.0
KEPT_FILES = 600  # beyond this the longest unused go
compiling = threading.RLock()


def names(code: CodeType) -> set[str]:
    """Every global or attribute name that a code object mentions."""
    inner = [names(const) for const in code.co_consts if isinstance(const, CodeType)]
    return set(code.co_names).union(*inner)


def foreign(module: str) -> bool:
    return module.split(".", maxsplit=1)[0] in FOREIGN


def read(function: FunctionType) -> dict[str, Any]:
    """What a function reads by name; `module.name`, however deep, for what it may read through a module."""
    wanted = sorted(names(function.__code__))
    found: dict[str, Any] = {}

    def look(value: Any, path: str, through: tuple[Any, ...]) -> None:
        found[path] = value
        if isinstance(value, ModuleType) and not foreign(value.__name__) and value not in through:
            for part in wanted:
                if hasattr(value, part):
                    look(getattr(value, part), f"{path}.{part}", (*through, value))

    for name in wanted:
        if name in function.__globals__:
            look(function.__globals__[name], name, ())
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        look(cell.cell_contents, name, ())
    return found


def is_plain(value: Any) -> bool:
    """Whether it is a function to compile: Numba knows its own and NumPy's."""
    return isinstance(value, FunctionType) and not foreign(value.__module__ or "")


def tagged(code: CodeType, scope: dict[str, Any], name: str, tag: str, *rest: Any) -> FunctionType:
    """A function whose symbols carry `tag`: two pieces of machine code with one symbol would be taken for one."""
    twin = FunctionType(code, scope, name, *rest)
    twin.__qualname__ = f"{name}_{tag}"
    return twin


def jitted(
    function: Any, done: dict[Any, Any], checked: bool = True, tag: str | None = None, merge: bool = False
) -> Any:
    """The function compiled with every plain function it calls by name; `merge` copies those into their callers."""
    if function not in done:
        scope = dict(function.__globals__) | {"__name__": __name__}  # kept code imports it: a file may be renamed
        cells = tuple(CellType() for _ in function.__closure__ or ())
        twin = tagged(function.__code__, scope, function.__name__, tag or unique(), function.__defaults__, cells)
        done[function] = njit(
            boundscheck=checked, error_model="python" if checked else "numpy",
            inline="always" if merge and done else "never",
        )(twin)  # fmt: skip
        found = {
            name: jitted(value, done, checked, tag, merge) if is_plain(value) else value
            for name, value in read(function).items()
        }
        for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
            cell.cell_contents = found.pop(name)
        scope |= found
    return done[function]


def unique() -> str:
    """A tag for what has no content mark."""
    return uuid.uuid4().hex[:24]


class Unmarked(TypeError):
    """Something whose content a digest can't describe."""


def digest(*parts: Any) -> str | None:
    """Changes when code, a constant or a global read by any function reached changes; None if unknown."""
    try:
        return hashlib.sha256(describe((*parts, source_of(__name__)), set()).encode()).hexdigest()[:24]
    except Unmarked:
        return None


def describe(part: Any, seen: set[Any]) -> str:
    """A text that differs when the content differs."""
    part = getattr(part, "py_func", part)
    if isinstance(part, CodeType):
        plain = (part.co_name, part.co_code, part.co_exceptiontable, part.co_names, part.co_varnames, part.co_freevars)
        return repr((plain, [describe(const, seen) for const in part.co_consts]))
    if is_plain(part):
        if part in seen:
            return str(part.__name__)
        seen.add(part)
        globals_ = [(name, describe(value, seen)) for name, value in read(part).items()]
        return repr((describe(part.__code__, seen), describe(part.__defaults__, seen), globals_))
    if isinstance(part, list | tuple | frozenset):
        return repr([describe(item, seen) for item in part])
    if isinstance(part, slice):  # a constant in code since Python 3.14
        return f"slice {describe((part.start, part.stop, part.step), seen)}"
    if isinstance(part, dict):
        return repr([(name, describe(value, seen)) for name, value in part.items()])
    if isinstance(part, np.ndarray):
        return repr((part.dtype, part.shape, part.tobytes()))
    if part is None or isinstance(part, int | float | complex | str | bytes | range | np.generic | types.Type):
        return repr(part)
    if isinstance(part, ModuleType):
        return part.__name__
    home = getattr(part, "__module__", None) or type(part).__module__
    name = getattr(part, "__name__", None)  # of a function or class that Python, NumPy, Numba or the engine defines
    if name is not None and (foreign(home) or home.startswith("afterglow.engine.")):
        return f"{home}.{name}"
    raise Unmarked(repr(part))


def folder() -> Path:
    """Where machine code is kept: `AFTERGLOW_CACHE`, or the user's cache folder."""
    if chosen := os.environ.get("AFTERGLOW_CACHE"):
        return Path(chosen)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "afterglow" / "kernels"
    except RuntimeError:  # a user without a home, as in containers
        return Path(os.devnull) / "kernels"  # where nothing can be written


def keep(function: Callable[..., Any], signature: Any, scope: Callable[[], dict[str, Any]], mark: str | None) -> Any:
    """Compile `function` with what `scope` gives over its globals, kept by Numba under a file named by content.

    Numba's cache trusts the file a function comes from. Here that file is one named by `mark`, so what is
    loaded can only be what `mark` describes. Without a mark, or where nothing can be written, nothing is kept.
    """
    plain: Any = function
    path = folder() / f"{plain.__name__}_{mark}.py"
    with compiling:
        if path.name in loaded:
            return loaded[path.name]
        code = plain.__code__.replace(co_filename=str(path))
        whole = tagged(code, plain.__globals__ | scope(), plain.__name__, mark or unique())
        fresh, stored = prepare(path, whole) if mark is not None else (True, False)
        if fresh:
            announce(stored or mark is None)
        with told_when_long(fresh):
            made = njit(signature, nogil=True, cache=stored)(whole)
        if mark is not None:
            loaded[path.name] = made
        return made


loaded: dict[str, Any] = {}  # machine code of this process, by the name of its content


def prepare(path: Path, whole: FunctionType) -> tuple[bool, bool]:
    """Whether there is something to compile, and whether it can be kept."""
    try:
        refuse_shared(path.parent)
        if fresh := not path.exists():
            write_marker(path, f"# {path.stem}\n")
        njit(cache=True)(whole)  # compiles nothing yet, but finds out
    except (OSError, RuntimeError):
        return True, False
    return fresh, True


def refuse_shared(place: Path) -> None:
    """Make the folders of the cache, for this user alone; refuse those that others own or may write to.

    Numba's index files are pickles: whoever may write one runs code as whoever reads it.
    """
    inner = place / "__pycache__"  # where Numba writes
    place.parent.mkdir(parents=True, exist_ok=True)
    for one in (place, inner):
        one.mkdir(mode=0o700, exist_ok=True)
        found = one.stat()
        if sys.platform != "win32" and (found.st_uid != os.geteuid() or found.st_mode & OTHERS_WRITE):
            warn_shared(one)
            raise PermissionError(f"{one} belongs to another user, or others may write to it")
    if sys.platform != "win32":
        inner.chmod(0o700)  # its files may be writable to a group


@cache
def warn_shared(place: Path) -> None:
    log.warning(
        "machine code is not kept: %s belongs to another user, or others may write to it; name a folder of your own in "
        "AFTERGLOW_CACHE, with permissions 700",
        place,
    )


@cache
def announce(kept: bool) -> None:
    """Say once that compiling takes a while."""
    if kept:
        log.info("compiling kernels: once for this version of the code, kept in %s", folder())
    else:
        log.info("compiling kernels, in every process anew: %s can't be written; set AFTERGLOW_CACHE", folder())


@contextmanager
def told_when_long(fresh: bool) -> Iterator[None]:
    """Say on stderr that something is compiled, once and only if it takes long and no log shows it."""
    timer = threading.Timer(LONG_SECONDS, tell)
    timer.daemon = True
    if fresh and not log.isEnabledFor(logging.INFO):
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


@cache
def tell() -> None:
    sys.stderr.write("afterglow: compiling, once for this version of the code and each policy\n")
    sys.stderr.flush()


def write_marker(path: Path, text: str) -> None:
    """Write atomically, and first make room if the folder has grown large."""
    path.parent.mkdir(parents=True, exist_ok=True)
    prune(path.parent)
    part = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def prune(place: Path) -> None:
    """Remove the markers longest unused, and their machine code, while there are too many."""
    markers = sorted(place.glob("*.py"), key=lambda file: file.stat().st_mtime)
    for marker in markers[: max(0, len(markers) - KEPT_FILES)]:
        if time.time() - marker.stat().st_mtime > 86_400:
            for file in (place / "__pycache__").glob(f"{marker.stem}.*"):
                file.unlink(missing_ok=True)
            marker.unlink(missing_ok=True)


@cache
def source_of(*modules: str) -> str:
    """The source of modules, for a digest: what they generate is not seen in any function's content."""
    return "".join(Path(str(sys.modules[name].__file__)).read_text("utf-8") for name in modules)
