"""`afterglow schedule`, and back through `afterglow fit --design`."""

import json
from pathlib import Path

import pytest

from afterglow.cli.app import call


def test_a_schedule_is_written_once_and_tested_after_its_totals_are_filled_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, made = tmp_path / "schedule.csv", ["schedule", "--variants", "49,59", "--window", "6", "--horizon", "200"]
    assert call([*made, "--seed", "7", "--starts", "2027-01-04T00:00", "--step", "1h", "--out", str(file)]) == 0
    assert "9 blocks, 18 turns of 11 steps, 198 steps in all" in capsys.readouterr().err
    assert call([*made, "--out", str(file)]) == 2
    assert "--out must be a new file" in capsys.readouterr().err
    head, *rows = file.read_text(encoding="utf-8").splitlines()
    filled = [f"{row}{10 + (number * 7 % 5) + 4 * (',59,' in row)}" for number, row in enumerate(rows)]
    file.write_text("\n".join([head, *filled, ""]), encoding="utf-8")
    fitted = ["fit", str(file), "--window", "6", "--reward-max", "30", "--turns", "11", "--design", "blocks"]
    assert call(fitted) == 0
    assert "59 is better than 49: p = 0.0039, by re-drawing the schedule" in capsys.readouterr().out
    assert call([*fitted, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["test"]["test"]["p"] == 2 / 2**9


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--starts", "2027-01-04"], "--starts and --step are given together"),
        (["--starts", "soon", "--step", "1h"], "--starts must be a time such as 2027-01-04T00:00, got 'soon'"),
        (["--starts", "2027-01-04", "--step", "1"], "--step must be a length such as 15m, 1h or 1d, got '1'"),
        (["--until", "900"], "--until must be at most the horizon, 200, got 900"),
        (["--hold", "60"], "switchback needs 2 blocks of 2 turns of 5 + 60 steps = 260, there are 200"),
    ],
)
def test_what_it_refuses(options: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["schedule", "--variants", "A,B", "--window", "6", "--horizon", "200", *options]) == 2
    assert says in capsys.readouterr().err
