"""Numbers for readers."""

import pytest

from afterglow.lab.rendering.rounding import amount, to_error


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (48.2, ("1,167", "48")), (1.4, ("1,166.7", "1.4")), (9.97, ("1,167", "10")), (0.02, ("1,166.700", "0.020")),
        (4e-14, ("1,167", "0")), (0, ("1,167", "0")),
    ],
)  # fmt: skip
def test_a_mean_is_shown_to_the_second_digit_of_its_error(error: float, shown: tuple[str, str]) -> None:
    assert to_error(1_166.7, error) == shown


def test_amounts_have_three_digits_or_are_whole() -> None:
    assert [amount(value) for value in (0.043219, 5.1724, 99.96, 12_345.6)] == ["0.0432", "5.17", "100", "12,346"]
