"""Rows of an experiment whose values are not those that were stored: one error for whatever reading them raises."""

from collections.abc import Iterator
from contextlib import contextmanager

from afterglow.errors import AfterglowError, BadDatabase


@contextmanager
def naming_damaged_rows(name: str) -> Iterator[None]:
    """Raise BadDatabase where rows can't be read: pages of a file may be sound and their values changed."""
    try:
        yield
    except AfterglowError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise BadDatabase(
            f"rows of {name!r} can't be read: {error!r}; `afterglow verify` names them; go back to a backup"
        ) from error
