"""What MkDocs calls while it builds the site (`make docs`, mkdocs.yml)."""

from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from tests.docs.markdown import ROOT
from tests.docs.site.pages import linked_files, pages, rewritten


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Pages that `nav` does not name come last, so that none is left out."""
    assert config.nav is not None
    named = str(config.nav)
    rest = sorted(path.name for path in (ROOT / "docs").glob("*.md") if path.name not in named)
    if rest:
        config.nav.append({"More": rest})
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add pages that are no file of docs/, and files outside of it that pages link to."""
    for name, text in pages().items():
        files.append(File.generated(config, name, content=text))
    for name, content in linked_files().items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Lead links out of docs/ to the pages of the site."""
    return rewritten(markdown)
