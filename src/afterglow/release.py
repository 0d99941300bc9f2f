"""The version, for those who need it without the package's names."""

__version__ = "0.1.0"
