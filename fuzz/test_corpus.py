#!/usr/bin/env python3
"""Proves that corpus.py loses no input, and that archives are made the same every time.

usage: test_corpus.py CORPUS        the corpora that are kept, each of which is looked at
"""

import os
import pathlib
import sys
import tempfile
import unittest
import zipfile

from corpus import DATE, Corpus

KEPT = None


def files_of(directory: pathlib.Path):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


class Corpora(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        self.corpus, self.inputs = self.root / "corpus", self.root / "inputs"
        (self.corpus / "t").mkdir(parents=True)

    def make(self, *names):
        self.inputs.mkdir(exist_ok=True)
        for name in names:
            (self.inputs / name).write_bytes(name.encode() * 99)

    def test_what_is_packed_is_unpacked(self):
        (self.corpus / "t" / "cut-short").write_bytes(b"named")
        self.make("b", "a")
        (self.inputs / "hash-of-it").write_bytes(b"named")
        self.assertEqual(Corpus(self.corpus, "t").pack(self.inputs), 2, "the named one is a file")
        stale = self.root / "out"
        stale.mkdir()
        (stale / "old").write_bytes(b"")
        self.assertEqual(Corpus(self.corpus, "t").unpack(stale), 3)
        self.assertEqual(files_of(stale), {"a": b"a" * 99, "b": b"b" * 99, "cut-short": b"named"})

    def test_the_same_inputs_make_the_same_archive(self):
        corpus = Corpus(self.corpus, "t")
        self.make("a", "b", "c")
        corpus.pack(self.inputs)
        first = corpus.archive.read_bytes()
        for name in "cab":
            (self.inputs / name).unlink()
            self.make(name)
            os.utime(self.inputs / name, (10**9, 10**9))
            (self.inputs / name).chmod(0o600)
        corpus.pack(self.inputs)
        self.assertEqual(corpus.archive.read_bytes(), first)

    def test_what_cannot_be_a_corpus_is_refused(self):
        corpus = Corpus(self.corpus, "t")
        self.inputs.mkdir()
        self.assertRaisesRegex(ValueError, "no input", corpus.pack, self.inputs)
        (self.corpus / "t" / "a").write_bytes(b"")
        corpus = Corpus(self.corpus, "t")
        for name in ("a", "../b"):
            with zipfile.ZipFile(corpus.archive, "w") as archive:
                archive.writestr(name, b"")
            self.assertRaisesRegex(ValueError, "a twin", corpus.unpack, self.root / "out")

    def test_each_kept_archive_is_one_of_ours(self):
        archives = sorted(KEPT.glob("*_seed_corpus.zip"))
        self.assertTrue(archives)
        for path in archives:
            with zipfile.ZipFile(path) as archive:
                entries = archive.infolist()
            names = [entry.filename for entry in entries]
            self.assertEqual(names, sorted(set(names)), path)
            self.assertEqual({entry.date_time for entry in entries}, {DATE}, path)


if __name__ == "__main__":
    KEPT = pathlib.Path(sys.argv.pop(1))
    unittest.main()
