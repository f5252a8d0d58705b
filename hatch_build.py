"""The README as PyPI shows it: links to files of the repository need the address of the repository there."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = r"(\[[^\]]*\])\((?!https?://|#)([^)]+)\)"


class ReadmeHook(MetadataHookInterface):
    """Makes the links of the README absolute, and pictures links to the files themselves."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the field ``readme``."""
        source = self.config["source"]
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = re.sub("!" + RELATIVE, rf"!\1({source}/raw/main/\2)", text)
        text = re.sub(RELATIVE, rf"\1({source}/blob/main/\2)", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
