"""The command line of a generated page: print it, or write it with `--write`."""

import argparse
from pathlib import Path


def main(text: str, path: Path, description: str | None) -> None:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--write", action="store_true", help="Write the page.")
    if parser.parse_args().write:
        path.write_text(text, encoding="utf-8")
    else:
        print(text)
