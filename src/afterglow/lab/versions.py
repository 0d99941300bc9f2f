"""Versions of the packages that numbers and bytes depend on."""

from importlib.metadata import PackageNotFoundError, version
from platform import python_version_tuple

from afterglow.release import __version__

PACKAGES = ("numpy", "numba", "pyarrow")


def versions() -> dict[str, str]:
    """The version of Afterglow, of Python and of each package; "none" where one is not installed."""
    found = {"afterglow": __version__, "python": ".".join(python_version_tuple()[:2])}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "none"
    return found
