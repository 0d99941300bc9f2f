"""What a document may do with a shell: go on in the background, remember, and name ports, databases and tokens."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.docs.blocks import Mismatch, run_document
from support.docs.shell import PATIENCE, STAND_INS
from testbed.service import in_thread

CONSOLE = "```console\n{}\n```\n"
PYTHON = "```python\n{}\n```\n"
TOKEN = "ag_0123456789ab_secret"
WAITS = "import signal; print(1, flush=True); print(2, flush=True); signal.pause()"


def run(text: str, folder: Path) -> None:
    document = folder / "sample.md"
    document.write_text(text, encoding="utf-8")
    run_document(document, folder)


def test_a_command_in_the_background_has_printed_what_is_shown_and_ends_with_the_document(tmp_path: Path) -> None:
    waits = f'$ python -c "{WAITS}" &\n1\n2\n'
    run(CONSOLE.format(waits + waits + "$ kill -9 %2"), tmp_path)
    with pytest.raises(Mismatch, match="the document shows"):
        run(CONSOLE.format(f'$ python -c "{WAITS}" &\n1\n3'), tmp_path)


def test_a_command_in_the_background_that_ends_too_early_says_why(tmp_path: Path) -> None:
    with pytest.raises(Mismatch, match=r"ended after '1\\n': too bad"):
        run(CONSOLE.format("$ python -c \"import sys; print(1); sys.exit('too bad')\" &\n1\n2"), tmp_path)


def test_only_a_job_that_is_there_can_be_killed(tmp_path: Path) -> None:
    with pytest.raises(Mismatch, match="no job %1"):
        run(CONSOLE.format("$ kill -9 %1"), tmp_path)


def test_jobs_have_the_numbers_that_a_shell_gives_them(tmp_path: Path) -> None:
    waits = f'$ python -c "{WAITS}" &\n1\n2\n'
    run(CONSOLE.format(waits + "$ kill -9 %1\n" + waits + waits + "$ kill -9 %2\n$ kill -9 %1"), tmp_path)
    with pytest.raises(Mismatch, match="no job %2"):
        run(CONSOLE.format(waits + "$ kill -9 %1\n" + waits + "$ kill -9 %2"), tmp_path)


def test_what_is_stopped_is_waited_for(tmp_path: Path) -> None:
    waits = f'$ python -c "{WAITS}" &\n1\n2\n'
    with pytest.raises(Mismatch, match="doesn't wait"):
        run(CONSOLE.format(waits + "$ kill %1"), tmp_path)


def test_an_exported_variable_is_there_for_commands_and_for_python_and_not_afterwards(tmp_path: Path) -> None:
    exported = CONSOLE.format("$ export SECRET=$(python -c 'print(6 * 7)')\n$ python -c \"print('$SECRET')\"\n42")
    run(exported + PYTHON.format("import os\nassert os.environ['SECRET'] == '42'"), tmp_path)
    assert "SECRET" not in os.environ


def test_a_port_stands_for_a_free_one_everywhere_in_a_document(tmp_path: Path) -> None:
    shown = "$ python -c \"import os; print(os.environ['AFTERGLOW_PORT'], 8321, 8322)\"\n8321 8321 8322"
    run(
        CONSOLE.format(shown) + PYTHON.format("assert 8321 != 8320 + 1\nprint(8321)") + "```output\n8321\n```\n",
        tmp_path,
    )


def test_the_last_token_that_was_shown_can_be_named(tmp_path: Path) -> None:
    shown = f"$ python -c \"print('{TOKEN}')\"\nag_...\n$ export TOKEN=ag_...\n"
    run(CONSOLE.format(shown) + PYTHON.format(f"import os\nassert os.environ['TOKEN'] == '{TOKEN}'"), tmp_path)


def test_each_postgresql_address_is_a_new_database(tmp_path: Path) -> None:
    one, two = "postgresql://localhost/one", "postgresql://localhost/two"
    run(
        PYTHON.format(f"assert '{one}' == '{one}' != '{two}'\nprint('{one}'[:13])") + "```output\npostgresql://\n```\n",
        tmp_path,
    )


def test_a_service_is_started_stopped_and_started_again(tmp_path: Path) -> None:
    first = "$ afterglow serve &\nadmin token, shown this once: ag_...\nlistening on http://127.0.0.1:8321\n"
    asked = '$ export TOKEN=ag_...\n$ curl -s http://127.0.0.1:8321/v1/experiments -H "Authorization: Bearer $TOKEN"\n'
    again = '{"items":[],...}\n$ kill %1 && wait %1\n$ afterglow serve &\nlistening on http://127.0.0.1:8321\n'
    run(CONSOLE.format(first + asked + again), tmp_path)


def test_a_machine_without_curl_has_a_stand_in(tmp_path: Path) -> None:
    def curl(*words: str) -> str:
        call = [sys.executable, str(STAND_INS / "curl"), "-s", *words]
        return subprocess.run(call, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout

    with in_thread(tmp_path / "experiments.db") as client:
        address = str(client.base_url)
        asked = '{"name": "shop", "variants": ["A", "B"], "window": 2}'
        curl(
            f"{address}/v1/experiments",
            "-H",
            "Content-Type: application/json",
            "-d",
            asked,
            "-o",
            str(tmp_path / "made"),
        )
        assert (tmp_path / "made").read_text().startswith('{"name":"shop"')
        head, _, body = curl("-i", f"{address}/v1/experiments/shop/current").partition("\n\n")
        assert head.startswith("HTTP/1.1 200 OK\n")
        assert body == client.get("/v1/experiments/shop/current").text
        assert '"status":404' in curl("-X", "POST", f"{address}/v1/nothing")
