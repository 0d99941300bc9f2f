"""A whole configuration of nginx around the server block of `deploy`."""

import re
from pathlib import Path

from support.deploy.programs import DEPLOY


def written(folder: Path, port: int = 0, replicas: list[str] | None = None) -> Path:
    """`http { include … }` as the sample asks for, in a folder of its own; other ports where given."""
    block = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    if replicas:
        assert block.count("server 127.0.0.1:8321 ") == block.count("listen 8080;") == 1
        lines = "\n".join(f"    server {place} max_fails=2 fail_timeout=5s;" for place in replicas)
        block = re.sub(r"    server 127\.0\.0\.1:8321 .*", lines, block).replace(
            "listen 8080;", f"listen 127.0.0.1:{port};"
        )
    (folder / "afterglow.conf").write_text(block, encoding="utf-8")
    spare = "".join(
        f"{kind}_temp_path {folder / kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    text = (
        f"daemon off;\nmaster_process off;\npid {folder / 'pid'};\nerror_log stderr;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{spare}include {folder / 'afterglow.conf'};\n}}\n"
    )
    made = folder / "nginx.conf"
    made.write_text(text, encoding="utf-8")
    return made
