"""What can't be tested on a machine is said at the end, where it is seen."""

import pytest


def test_tests_that_miss_a_program_are_named_at_the_end_by_what_is_missing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("page", range(3))
        def test_page(page):
            pytest.skip("there is no Chromium to look with")

        def test_program():
            pytest.skip("caddy is not installed")

        def test_sum():
            assert 1 + 1 == 2
        """
    )
    said = pytester.runpytest_inprocess("-p", "support.not_tested", "-p", "no:xdist")
    said.assert_outcomes(passed=1, skipped=4)
    said.stdout.fnmatch_lines(
        ["!*! NOT TESTED HERE: 4 tests !*!", "3 × there is no Chromium to look with", "1 × caddy is not installed"]
    )


def test_nothing_is_said_where_everything_was_tested(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_sum(): assert 1 + 1 == 2")
    said = pytester.runpytest_inprocess("-p", "support.not_tested", "-p", "no:xdist")
    said.stdout.no_fnmatch_line("*NOT TESTED*")
