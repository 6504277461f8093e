"""Hooks of MkDocs: the order of the pages, and pages that are generated from
the repository's files.

MkDocs loads this file outside of a package, so it can't use relative imports.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from book_tool import sources
from book_tool.details import enable_markdown
from book_tool.listings import FREE_STANDING
from book_tool.nav import nav
from book_tool.page import Page
from book_tool.pictures import TITLE, frame, pictures
from book_tool.steps import changes, linked_diff, pairs, scripts_diff
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page as SitePage

_MERMAID = "assets/mermaid.min.js"
_STYLE = "assets/book.css"
_PICTURES = "pictures"
_TOOL = Path(__file__).parent


def _root(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).parent


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    root = _root(config)
    diffs = [{_title(p): _diff_name(p)} for p in pairs(root)]
    config.nav = nav(Path(config.docs_dir), diffs)
    # Material would ask the host for the number of stars.
    config.extra["repository"] = config.repo_url
    config.repo_url = config.repo_name = config.edit_uri = None
    config.extra_css.append(_STYLE)
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    root = _root(config)
    pages = {
        file.src_uri: file.content_string
        for file in files.documentation_pages()
    }
    for pair in pairs(root):
        files.append(
            _generated(config, _diff_name(pair), _diff_text(root, pair))
        )
    for uri, text in sources.pages(root, _linked(root, pages)).items():
        files.append(_generated(config, uri, text))
    for text in pages.values():
        for picture in pictures(root, Page(text)):
            uri = f"{_PICTURES}/{picture.name}"
            if uri not in files.src_uris:
                files.append(_generated(config, uri, _exported(picture.name)))
    mermaid = Path(os.environ["MINISCHED_MERMAID"]).read_text(encoding="utf-8")
    # Material starts Mermaid with the colours of the palette.
    mermaid += "\nmermaid.initialize({startOnLoad: false});\n"
    files.append(_generated(config, _MERMAID, mermaid))
    style = (_TOOL / "book.css").read_text(encoding="utf-8")
    files.append(_generated(config, _STYLE, style))
    return files


def on_page_markdown(
    markdown: str, *, page: SitePage, config: MkDocsConfig, **_: Any
) -> str:
    uri = page.file.src_uri
    if page.file.generated_by:
        return markdown
    root = _root(config)
    repository = config.extra["repository"]
    text = Page(_with_frames(root, uri, markdown)).replace_links(
        lambda target: _site_target(root, uri, target, repository)
    )
    text = text.replace(f' title="{FREE_STANDING}"', "")
    text = enable_markdown(text)
    source = _site_target(root, uri, Path(uri).name, repository, own=True)
    return f"{text}\n[Source of this page]({source}){{ .book-source }}\n"


def _exported(name: str) -> str:
    """Returns an exported page, which scripts/book has made."""
    file = Path(os.environ["MINISCHED_PICTURES"]) / name
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise PluginError(
            f"no {file}: run 'scripts/book build', which plays new pictures"
        ) from None


def _with_frames(root: Path, uri: str, markdown: str) -> str:
    """Puts a frame above the command of each picture."""
    lines = markdown.splitlines()
    up = "../" * uri.count("/")
    for picture in reversed(pictures(root, Page(markdown))):
        index = picture.line - 1
        lines[index] = lines[index].replace(f' title="{TITLE}"', "")
        source = f"{up}{_PICTURES}/{picture.name}"
        lines[index:index] = [frame(picture, source), ""]
    return "\n".join(lines) + "\n"


def on_post_page(output: str, *, page: SitePage, **_: Any) -> str:
    """Adds Mermaid, which is large, only to pages with a diagram."""
    if 'class="mermaid"' not in output:
        return output
    up = "../" * page.file.dest_uri.count("/")
    script = f'<script src="{up}{_MERMAID}"></script>'
    return output.replace("</head>", f"{script}</head>", 1)


def _generated(config: MkDocsConfig, uri: str, text: str) -> File:
    return File.generated(config, uri, content=text)


def _title(pair: tuple[str, str]) -> str:
    return f"{pair[0][:2]} → {pair[1]}"


def _diff_name(pair: tuple[str, str]) -> str:
    return f"diffs/{pair[0][:2]}-{pair[1][:2]}.md"


def _diff_text(root: Path, pair: tuple[str, str]) -> str:
    """Returns a section for each file, in the order of scripts/diff."""
    before, after = pair
    text = sources.FRONT + f"# {_title(pair)}\n\n"
    text += f"All changes from {before} to {after}, as `scripts/diff --tests "
    text += f"{before[:2]}` shows them: changed files, new files, the rest.\n"
    whole = scripts_diff(root, "--tests", before, after)
    parts = re.split(r"^(?=diff --git |new file \d\d-)", whole, flags=re.M)
    for change, part in zip(
        changes(root, before, after), parts[1:], strict=True
    ):
        text += f"\n## {change.file}\n\n{change.lines}\n\n"
        if change.kind == "new":
            language = "cmake" if change.file.endswith("txt") else "cpp"
            body = part.partition("\n\n")[2].rstrip("\n")
        else:
            language = "diff"
            body = re.sub(r"\A(?:(?!@@|Binary).*\n)*", "", part).rstrip("\n")
        if body:
            text += sources.fenced(language, body)
    return text


def _linked(root: Path, pages: dict[str, str]) -> set[str]:
    """Returns the linked files and folders that are not pages."""
    found = {f"docs/{uri}" for uri in pages}
    for uri, text in pages.items():
        for link in Page(text).links:
            name = _outside(root, uri, link.text)
            anchor = urlsplit(link.text).fragment
            if name and not linked_diff(root, name, anchor):
                found.add(name)
    return found


def _outside(root: Path, uri: str, target: str) -> str | None:
    """Returns the target of a link, relative to the root, if it is not a page
    of the site."""
    url = urlsplit(target)
    if url.scheme or not url.path:
        return None
    name = os.path.normpath(Path("docs", uri).parent / unquote(url.path))
    path = root / name
    if not path.exists():
        return None
    if name.startswith("docs/") and path.is_file():
        return None
    return name


def _site_target(
    root: Path, uri: str, target: str, repository: str | None, own: bool = False
) -> str:
    name = f"docs/{uri}" if own else _outside(root, uri, target)
    if not name:
        return target
    anchor = urlsplit(target).fragment
    pair = linked_diff(root, name, anchor)
    if pair:
        return os.path.relpath(_diff_name(pair), Path(uri).parent)
    if repository:
        kind = "tree" if (root / name).is_dir() else "blob"
        link = f"{repository.rstrip('/')}/{kind}/HEAD/{name}"
    else:
        link = os.path.relpath(sources.uri(root, name), Path(uri).parent)
        anchor = re.sub(r"^L(\d+).*", r"__codelineno-0-\1", anchor)
    return f"{link}#{anchor}" if anchor else link
