"""Products of rows of numbers, in plain Python and compiled alike.

They are written with `zip` over slices, which plain Python runs at half the time of indices. Those of long rows take
eight numbers at a time, and those of a row with many take four of them together, which halves it again. Every sum is
added up in the same order.
"""

from collections.abc import Sequence


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    """The inner product of two rows."""
    total = 0.0
    for x, y in zip(one, other):  # noqa: B905  compiled code has no strict
        total += x * y
    return total


Eight = tuple[float, float, float, float, float, float, float, float]


def eights(row: list[float]) -> list[Eight]:
    """A row in parts of eight numbers, the last filled up with zeros."""
    full = row + [0.0] * (-len(row) % 8)
    parts = zip(full[0::8], full[1::8], full[2::8], full[3::8], full[4::8], full[5::8], full[6::8], full[7::8])  # noqa: B905
    return [part for part in parts]  # noqa: C416  in plain and compiled code


def flat(parts: Sequence[Eight]) -> list[float]:
    """The numbers of such a row, one by one."""
    return [x for part in parts for x in part]


def dot_eights(one: Sequence[Eight], other: Sequence[Eight]) -> float:
    """The inner product of two rows in parts of eight, as `dot` would add it up."""
    total = 0.0
    for x, y in zip(one, other):  # noqa: B905
        a, b, c, d, e, f, g, h = x
        i, j, k, m, n, p, q, r = y
        total = total + a * i + b * j + c * k + d * m + e * n + f * p + g * q + h * r
    return total


def dot_four(
    one: Sequence[Eight], first: Sequence[Eight], second: Sequence[Eight], third: Sequence[Eight],
    fourth: Sequence[Eight],
) -> tuple[float, float, float, float]:  # fmt: skip
    """The inner products of a row with four others."""
    w = x = y = z = 0.0
    for row, row_w, row_x, row_y, row_z in zip(one, first, second, third, fourth):  # noqa: B905
        a, b, c, d, e, f, g, h = row
        i, j, k, m, n, p, q, r = row_w
        w = w + a * i + b * j + c * k + d * m + e * n + f * p + g * q + h * r
        i, j, k, m, n, p, q, r = row_x
        x = x + a * i + b * j + c * k + d * m + e * n + f * p + g * q + h * r
        i, j, k, m, n, p, q, r = row_y
        y = y + a * i + b * j + c * k + d * m + e * n + f * p + g * q + h * r
        i, j, k, m, n, p, q, r = row_z
        z = z + a * i + b * j + c * k + d * m + e * n + f * p + g * q + h * r
    return w, x, y, z


def products(one: list[Eight], table: list[Eight], count: int) -> list[float]:
    """The inner products of a row with the first rows of a table."""
    found = [0.0] * count
    parts = len(one)
    fours = count - count % 4
    for place in range(0, fours, 4):
        at = place * parts
        found[place], found[place + 1], found[place + 2], found[place + 3] = dot_four(
            one, table[at : at + parts], table[at + parts : at + 2 * parts], table[at + 2 * parts : at + 3 * parts],
            table[at + 3 * parts : at + 4 * parts],
        )  # fmt: skip
    for place in range(fours, count):
        found[place] = dot_eights(one, table[place * parts : (place + 1) * parts])
    return found
