#!/usr/bin/env python3
"""Keeps the inputs of a fuzz target: an archive of seeds, as OSS-Fuzz wants it, and named files.

usage: corpus.py unpack CORPUS TARGET DIRECTORY
       corpus.py pack   CORPUS TARGET DIRECTORY

CORPUS/TARGET_seed_corpus.zip holds the inputs that a fuzzer found and named by their hash; the
folder CORPUS/TARGET, where there is one, holds those that a person named. `unpack` leaves both in
DIRECTORY and nothing else. `pack` writes the archive from DIRECTORY without the named inputs, under
whatever name they are there: the same inputs make the same archive, whenever and in whatever order
they were written.
"""

import pathlib
import shutil
import sys
import zipfile

DATE = (1980, 1, 1, 0, 0, 0)  # the first that the format knows
MODE = 0o100644


class Corpus:
    """The kept inputs of one target."""

    def __init__(self, corpus: pathlib.Path, target: str):
        self.archive = corpus / f"{target}_seed_corpus.zip"
        named = corpus / target
        self.named = sorted(named.iterdir()) if named.is_dir() else []

    def unpack(self, directory: pathlib.Path) -> int:
        """Makes a directory of all inputs and returns how many there are."""
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        inputs = {path.name: path.read_bytes() for path in self.named}
        with zipfile.ZipFile(self.archive) as archive:
            for entry in archive.infolist():
                if "/" in entry.filename or entry.filename in inputs:
                    raise ValueError(f"{self.archive}: {entry.filename} is a path or a twin")
                inputs[entry.filename] = archive.read(entry)
        for name, content in inputs.items():
            (directory / name).write_bytes(content)
        return len(inputs)

    def pack(self, directory: pathlib.Path) -> int:
        """Writes the archive from a directory of inputs and returns how many it holds."""
        named = {path.read_bytes() for path in self.named}
        seeds = sorted(path for path in directory.iterdir() if path.read_bytes() not in named)
        if not seeds:
            raise ValueError(f"{directory} has no input for {self.archive}")
        with zipfile.ZipFile(self.archive, "w") as archive:
            for path in seeds:
                entry = zipfile.ZipInfo(path.name, DATE)
                entry.create_system, entry.external_attr = 3, MODE << 16  # Unix, everywhere
                archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED, 9)
        return len(seeds)


def main() -> int:
    if len(sys.argv) != 5 or sys.argv[1] not in ("unpack", "pack"):
        print(__doc__, file=sys.stderr)
        return 2
    corpus, directory = Corpus(pathlib.Path(sys.argv[2]), sys.argv[3]), pathlib.Path(sys.argv[4])
    try:
        count = corpus.unpack(directory) if sys.argv[1] == "unpack" else corpus.pack(directory)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        print(f"corpus.py: {error}", file=sys.stderr)
        return 1
    print(f"{count} inputs of {sys.argv[3]} {sys.argv[1]}ed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
