"""What the figures were taken on."""

import os
import platform
import re
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import afterglow
from afterglow.engine.work import processors

CC = os.environ.get("CC", "cc")


def machine() -> dict[str, str]:
    """Processor, system and versions: what must be the same for figures to stand side by side."""
    return {
        "processor": f"{processor()}, {processors()} in use",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "NumPy": version("numpy"),
        "Numba": f"{version('numba')} (llvmlite {version('llvmlite')})",
        "C compiler": compiler(),
        "afterglow": afterglow.__version__,
    }


def processor() -> str:
    """The processor's name."""
    info = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*:\s*(.+)", info.read_text()) if info.exists() else []
    return names[0] if names else platform.processor() or "unknown processor"


def compiler() -> str:
    """The first line of what the compiler says of itself."""
    try:
        said = subprocess.run([CC, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return "none"
    return said.splitlines()[0]


def version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
