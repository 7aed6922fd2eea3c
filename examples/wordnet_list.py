"""Write the package's list of WordNet's hypernyms above the classes of ImageNet.

`python -m examples.wordnet_list /usr/share/wordnet/data.noun` writes it again. The file `data.noun`
is part of WordNet 3.0, whose offsets are the ids of ImageNet's classes (Debian: `wordnet-base`).
"""

import sys
from pathlib import Path

from unshortcut.data.class_lists import WORDNET, imagenet_1k

HEADER = (
    "# WordNet 3.0 (Princeton University 2006): ImageNet's 1000 classes and all their hypernyms.\n"
    "# Columns: id, first name, ids of its hypernyms (including hypernyms of instances).\n"
    "# Made by `python -m examples.wordnet_list data.noun`; WORDNET-LICENSE.txt applies.\n"
)


def main(data_noun: str, out: Path = WORDNET) -> None:
    """Read WordNet's nouns and write the part above ImageNet."""
    nouns = {}
    for line in Path(data_noun).read_text(encoding="utf-8").splitlines():
        if line[:1].isdigit():
            name, parents = _parse(line)
            nouns[f"n{line[:8]}"] = (name, parents)
    needed, todo = set(), list(imagenet_1k())
    while todo:
        synset = todo.pop()
        if synset not in needed:
            needed.add(synset)
            todo += nouns[synset][1]
    rows = [(synset, nouns[synset][0], " ".join(nouns[synset][1])) for synset in sorted(needed)]
    out.write_text(HEADER + "".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


def _parse(line: str) -> tuple[str, list[str]]:
    """The first name of a synset and the ids of its hypernyms (see WordNet's `wndb(5)`)."""
    fields = line.split(" | ")[0].split()
    words = int(fields[3], 16)
    pointers = fields[4 + 2 * words + 1 :]
    parents = [
        f"n{offset}"
        for symbol, offset in zip(pointers[0::4], pointers[1::4], strict=True)
        if symbol in ("@", "@i")
    ]
    return fields[4].replace("_", " "), parents


if __name__ == "__main__":
    main(*sys.argv[1:2])
