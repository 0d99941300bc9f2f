"""Settings: flags before environment before file; wrong ones are refused with what is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from afterglow.errors import BadFormat, BadValue, UnknownName
from afterglow.service.settings import MEANINGS, TYPES, ServiceSettings, settings_from
from testbed.quick_disk import quick_folder
from testbed.service import Serving, command


def test_flags_come_before_the_environment_before_the_file(tmp_path: Path) -> None:
    file = tmp_path / "afterglow.toml"
    file.write_text("port = 1\nqueue = 1001\ntime_limit = 3\nauth = false\n", encoding="utf-8")
    environment = {"AFTERGLOW_PORT": "2", "AFTERGLOW_QUEUE": "1002", "HOME": "/"}
    found = settings_from({"port": 3, "queue": None}, environment, file)
    assert (found.port, found.queue, found.time_limit, found.auth, found.workers) == (3, 1002, 3, False, 8)
    assert settings_from({}, {"AFTERGLOW_CONFIG": str(file)}, None).port == 1
    assert settings_from({}, {}, None) == ServiceSettings()


WRONG: list[tuple[dict[str, str], str, str]] = [
    ({"AFTERGLOW_PORT": "tcp://10.0.0.1:80"}, "", "AFTERGLOW_PORT must be a whole number, got 'tcp://10.0.0.1:80'"),
    ({"AFTERGLOW_AUTH": "perhaps"}, "", "AFTERGLOW_AUTH must be true or false, got 'perhaps'"),
    ({"AFTERGLOW_PORT": "70000"}, "", "port must be at most 65,535, got 70,000"),
    ({}, "port = '80'", "must be a whole number, got '80'"),
    ({}, "port = true", "must be a whole number, got True"),
    ({}, "prot = 80", "no setting named 'prot'; did you mean 'port'?"),
    ({}, "port = ", "is not TOML"),
    ({}, "queue = 10", "queue must be a whole number of at least 1,000, got 10"),
    ({}, "log_level = 'loud'", "no log_level named 'loud'; it is one of debug, info, warning, error"),
    ({}, "host = '0.0.0.0'\nauth = false", "without tokens the service listens on loopback addresses only"),
    ({}, "host = 'example.com'\nauth = false", "without tokens the service listens on loopback addresses only"),
    ({}, "trusted_proxies = 'proxy'", "trusted_proxies must be addresses or networks with commas between them"),
    ({}, "db = ''", "db must be a file or postgresql://…"),
]


@pytest.mark.parametrize(("environment", "text", "said"), WRONG)
def test_a_wrong_setting_is_named(tmp_path: Path, environment: dict[str, str], text: str, said: str) -> None:
    file = tmp_path / "afterglow.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises((BadValue, BadFormat, UnknownName)) as raised:
        settings_from({}, environment, file)
    assert said in str(raised.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_tokens_may_be_off_on_this_machine(host: str) -> None:
    assert ServiceSettings(host=host, auth=False).auth is False


def test_every_setting_says_what_it_is() -> None:
    assert list(MEANINGS) == list(TYPES)


def test_an_empty_machine_needs_no_settings() -> None:
    with quick_folder() as folder:
        serving = Serving("experiments.db", cwd=folder)
        with serving:
            assert serving.token.startswith("ag_")
            with serving.client() as client:
                assert client.get("/v1/experiments").json() == {"items": [], "unusable": [], "next": None}
            taken = command("serve", "--db", f"{folder}/other.db", "--port", str(serving.port), check=False)
            assert (taken.returncode, taken.stdout) == (1, "")
            assert taken.stderr == f"127.0.0.1:{serving.port}: address already in use\n"
            second = command("serve", "--db", f"{folder}/experiments.db", "--port", "0", check=False)
            assert second.returncode == 1
            assert "is being written by process" in second.stderr
        assert (Path(folder) / "experiments.db").exists()


def test_a_wrong_call_exits_2_with_one_sentence() -> None:
    done = command("serve", "--host", "0.0.0.0", "--no-auth", check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "without tokens the service listens on loopback addresses only, got host '0.0.0.0'" in done.stderr


def test_without_tokens_a_page_from_elsewhere_can_not_call() -> None:
    with quick_folder() as folder, Serving(Path(folder) / "e.db", "--no-auth") as serving:
        assert serving.token == ""
        with serving.client("none") as client:
            assert client.get("/v1/experiments").status_code == 200
            bent = client.get("/v1/experiments", headers={"Host": "evil.example"})
            assert bent.status_code == 403
            assert client.get("/v1/experiments", headers={"Host": "localhost:80"}).status_code == 200
            assert client.get("/v1/experiments", headers={"Host": "[::1]"}).status_code == 200


def listed(db: Path, *more: str) -> Any:
    return json.loads(command("token", "list", "--json", "--db", str(db), *more).stdout)


def test_tokens_are_made_listed_and_revoked_without_a_service(tmp_path: Path) -> None:
    db = tmp_path / "experiments.db"
    made = command(
        "token", "create", "--db", str(db), "--scope", "report", "--scope", "decide", "--experiment", "shipping",
        "--expires", "30d", "--label", "shop",
    )  # fmt: skip
    token = made.stdout.strip()
    id_ = token.split("_")[1]
    assert made.stderr == f"token {id_} with decide, report; it is not shown again\n"
    (row,) = listed(db)
    assert row == row | {
        "id": id_, "label": "shop", "scopes": ["decide", "report"], "experiments": ["shipping"], "state": "valid",
        "revoked": None,
    }  # fmt: skip
    head, _, shown = command("token", "list", "--db", str(db)).stdout.partition("\n")
    assert head.split() == ["id", "state", "scopes;", "experiments;", "lifetime", "label"]
    assert shown.startswith(f"{id_}  valid    decide, report; shipping, until ")
    assert shown.endswith("shop\n")
    secret = token.split("_", 2)[2].encode()
    assert all(secret not in file.read_bytes() for file in tmp_path.iterdir())
    command("token", "revoke", "--db", str(db), id_)
    assert listed(db)[0]["state"] == "revoked"
    again = command("token", "revoke", "--db", str(db), id_, check=False)
    assert (again.returncode, again.stderr) == (
        2, f"no valid token named '{id_}'; `afterglow token list` shows them\n",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--scope", "reed"], "no scope named 'reed'; did you mean 'read'?"),
        (["--scope", "read", "--expires", "soon"], "a lifetime is a number and s, m, h, d or w, such as 30d"),
        (["--scope", "read", "--expires", "0d"], "a lifetime is a number and s, m, h, d or w, such as 30d"),
        (["--scope", "read", "--expires", f"{'9' * 5000}d"], "at most 100 years; got '99999999999999999999…'"),
        ([], "afterglow token create needs --scope"),
    ],
)
def test_a_wrong_token_is_refused(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = command("token", "create", "--db", str(tmp_path / "e.db"), *arguments, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
