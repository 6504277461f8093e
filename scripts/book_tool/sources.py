"""Pages of the site for files and folders of the repository, so that links to
them work as on a forge."""

from __future__ import annotations

import os
import re
from pathlib import Path

# Keeps these pages out of the search.
FRONT = "---\nsearch:\n  exclude: true\n---\n\n"

_LANGUAGES = {
    ".cc": "cpp",
    ".cmake": "cmake",
    ".css": "css",
    ".go": "go",
    ".h": "cpp",
    ".json": "json",
    ".md": "markdown",
    ".py": "python",
    ".sh": "bash",
    ".yaml": "yaml",
    ".yml": "yaml",
}


def uri(root: Path, name: str) -> str:
    """Returns the page's path for a file or a folder."""
    if (root / name).is_dir():
        return os.path.normpath(f"files/{name}/index.md")
    return f"files/{name}.md"


def pages(root: Path, names: set[str]) -> dict[str, str]:
    """Returns the pages of these files and folders by uri. A folder includes
    its content."""
    wanted = set(names)
    for name in names:
        if (root / name).is_dir():
            wanted.update(
                str(path.relative_to(root)) for path in (root / name).rglob("*")
            )
    return {
        uri(root, name): _page(root, name)
        for name in sorted(wanted)
        if (root / name).exists() and "__pycache__" not in name
    }


def fenced(language: str, text: str, attributes: str = "") -> str:
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    marks = "`" * (longest + 1)
    return f"{marks}{language}{attributes}\n{text}\n{marks}\n"


def _page(root: Path, name: str) -> str:
    path = root / name
    text = f"{FRONT}# {name}\n\n"
    if path.is_dir():
        return text + "\n".join(_entries(path))
    try:
        content = path.read_text(encoding="utf-8").rstrip("\n")
    except UnicodeDecodeError:
        return text + "This file is not text."
    return text + fenced(_language(path, content), content, ' linenums="1"')


def _entries(folder: Path) -> list[str]:
    paths = sorted(
        folder.iterdir(), key=lambda path: (path.is_file(), path.name)
    )
    return [
        f"- [{path.name}/]({path.name}/index.md)"
        if path.is_dir()
        else f"- [{path.name}]({path.name}.md)"
        for path in paths
        if path.name != "__pycache__"
    ]


def _language(path: Path, content: str) -> str:
    if path.name == "CMakeLists.txt":
        return "cmake"
    if content.startswith("#!") and "sh" in content.splitlines()[0]:
        return "bash"
    return _LANGUAGES.get(path.suffix, "text")
