"""The description of the package on an index: README.md, whose links and pictures are addressed in the repository."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURES = "https://raw.githubusercontent.com/afterglow-bandits/afterglow"


def described(text: str, source: str, version: str) -> str:
    """A document whose relative links lead to the files of a release."""
    text = re.sub(r"\]\((?![a-z]+:|#)", f"]({source}/blob/v{version}/", text)
    return re.sub(r'\b(src|srcset)="(?![a-z]+:)', rf'\1="{PICTURES}/v{version}/', text)


class Description(MetadataHookInterface):
    """What `dynamic = ["readme"]` in pyproject.toml stands for."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        version = re.search(r'"([\d.]+\w*)"', Path(self.root, "src/afterglow/release.py").read_text(encoding="utf-8"))
        assert version is not None
        whole = described(text, metadata["urls"]["Source"], version[1])
        metadata["readme"] = {"content-type": "text/markdown", "text": whole}
