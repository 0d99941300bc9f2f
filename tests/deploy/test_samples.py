"""The samples in `deploy` are accepted by the programs that they are written for."""

import os
from pathlib import Path

import pytest

from support.deploy import nginx
from support.deploy.programs import DEPLOY, program, run


def test_nginx_accepts_its_sample(tmp_path: Path) -> None:
    made = nginx.written(tmp_path)
    assert "syntax is ok" in run(program("nginx"), "-t", "-e", "stderr", "-c", made)


def test_caddy_accepts_its_sample_as_compose_starts_it(tmp_path: Path) -> None:
    caddy, told = program("caddy"), {"AFTERGLOW_SITE": "shop.example", "AFTERGLOW_REPLICAS": "one:8321 two:8321"}
    config = DEPLOY / "Caddyfile"
    said = run(caddy, "validate", "--adapter", "caddyfile", "--config", config, HOME=str(tmp_path), **told)
    assert "Valid configuration" in said
    assert '"dial":"two:8321"' in run(caddy, "adapt", "--config", config, HOME=str(tmp_path), **told)


def test_caddy_would_write_its_sample_in_the_same_way() -> None:
    run(program("caddy"), "fmt", DEPLOY / "Caddyfile")


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    """The command is looked for, so one stands where the package would be."""
    installed = tmp_path / "bin/afterglow"
    installed.parent.mkdir()
    installed.write_text("#!/bin/sh\n")
    installed.chmod(0o755)
    text = (DEPLOY / "afterglow.service").read_text(encoding="utf-8")
    assert "ExecStart=/srv/afterglow/bin/afterglow serve\n" in text
    unit = tmp_path / "afterglow.service"
    unit.write_text(text.replace("/srv/afterglow", str(tmp_path)), encoding="utf-8")
    said = run(program("systemd-analyze"), "verify", "--man=no", unit, **os.environ)
    assert "afterglow.service" not in said


@pytest.mark.parametrize("wrong", ["ExecStart=/nowhere/afterglow serve", "Restart=sometimes"])
def test_a_wrong_unit_would_be_noticed(tmp_path: Path, wrong: str) -> None:
    analyze = program("systemd-analyze")
    unit = tmp_path / "wrong.service"
    unit.write_text(f"[Service]\n{wrong}\n" + ("" if "Exec" in wrong else "ExecStart=/bin/true\n"), encoding="utf-8")
    try:
        said = run(analyze, "verify", "--man=no", unit, **os.environ)
    except AssertionError as refused:
        said = str(refused)
    assert "wrong.service" in said


def test_prometheus_accepts_the_rules() -> None:
    assert "8 rules found" in run(program("promtool"), "check", "rules", DEPLOY / "alerts.yaml")


def test_the_alerts_sound_when_they_should_and_only_then(tmp_path: Path) -> None:
    cases = (Path(__file__).parent / "alerts.test.yaml").read_text(encoding="utf-8")
    made = tmp_path / "alerts.test.yaml"
    made.write_text(cases.replace("ALERTS", str(DEPLOY / "alerts.yaml")), encoding="utf-8")
    assert "SUCCESS" in run(program("promtool"), "test", "rules", made)
