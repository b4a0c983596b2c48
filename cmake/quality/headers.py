"""Finds the files that sources include, a hundred times faster than a compiler would. It ignores
conditions and searches every directory that has a header, so that it misses no file."""

import hashlib
import os
import pathlib
import re
import subprocess

INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include(?:_next)?[ \t]*["<]([^">]+)[">]', re.M)


class Headers:
    """The includes of sources and headers read so far."""

    def __init__(self):
        self.texts, self.included, self.systems = {}, {}, {}

    def hash_of(self, path: pathlib.Path, directory: str, flags) -> bytes:
        """A hash of a source's text and of all that it can include."""
        places = (*include_directories(directory, flags), *self.system_of(flags[0]))
        seen, waiting = set(), [str(path)]
        while waiting:
            file = waiting.pop()
            if file not in seen:
                seen.add(file)
                waiting += self.includes_of(file, places)
        digests = b"".join(self.texts[file][0] for file in sorted(seen))
        return hashlib.sha256(digests).digest()

    def includes_of(self, file: str, places):
        """The files that a file can include, searched beside it and in the given places."""
        if file not in self.texts:
            text = pathlib.Path(file).read_bytes()
            names = [os.fsdecode(name) for name in INCLUDE.findall(text)]
            self.texts[file] = (hashlib.sha256(text).digest(), names)
        if (file, places) not in self.included:
            paths = {os.path.normpath(os.path.join(place, name))
                     for place in (os.path.dirname(file), *places)
                     for name in self.texts[file][1]}  # fmt: skip
            self.included[file, places] = [path for path in paths if os.path.isfile(path)]
        return self.included[file, places]

    def system_of(self, compiler: str):
        """The directories that a compiler searches by default."""
        if compiler not in self.systems:
            command = [compiler, "-E", "-v", "-x", "c++", os.devnull]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
            self.systems[compiler] = re.findall(r"^ (/\S+)$", said, re.M)
        return self.systems[compiler]


def include_directories(directory: str, flags):
    """The directories for headers in a command."""
    words = re.findall(r"(?<!\S)-(?:I|isystem|iquote) ?(\S+)", " ".join(flags))
    return [os.path.join(directory, word) for word in words]
