"""Runs the commands of a page as a reader would, and writes what they print into the page.

Fences in a page:

    ```file NAME [from PATH]     a file that the reader writes; its text follows, or is that of a
                                 file of the project
    ```include PATH              the text of a file of the project
    ```run                       "$ command", with "> " before lines that continue it, then what is
                                 promised: "= STATUS" (0 unless said) and "~ words it prints"

All commands of a page run in one shell, which begins in a directory that looks like the project
after ./dev build, as if the wheel were installed. The home directory is empty. A broken promise is
an error, and so is a number in the prose that no run beside it shows (numbers_of_runs.py).
"""

import dataclasses
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import numbers_of_runs
from refusal import Refused

FENCE = re.compile(r"^```(file|include|run)\b([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LANGUAGES = {".c": "c", ".cc": "cpp", ".py": "python", ".json": "json", ".jsonl": "json"}
TIMEOUT_S = 300
MARK = "-- end of command"


@dataclasses.dataclass
class Command:
    """A command, what the page promises of it, and what it printed."""

    lines: list
    status: int = 0
    words: list = dataclasses.field(default_factory=list)
    output: str = ""


def parse_commands(body: str) -> list:
    """The commands of a `run` fence."""
    commands = []
    for line in body.splitlines():
        sign, _, rest = line.partition(" ")
        if sign == "$":
            commands.append(Command([rest]))
        elif not commands or sign not in (">", "=", "~"):
            raise Refused(f"a line of a run fence begins with $ > = or ~, not: {line}")
        elif sign == ">":
            commands[-1].lines.append(rest)
        elif sign == "=":
            commands[-1].status = int(rest)
        else:
            commands[-1].words.append(rest)
    return commands


def file_text(words: str, body: str, sources: pathlib.Path):
    """The name and the text of a `file` fence."""
    name, _, origin = words.strip().partition(" from ")
    return name, (sources / origin).read_text(encoding="ascii") if origin else body


class Page:
    """A page as text between fences: strings, (name, text) of files, and lists of commands."""

    def __init__(self, path: pathlib.Path, sources: pathlib.Path):
        self.path, self.parts = path, []
        text, end = path.read_text(encoding="ascii"), 0
        for match in FENCE.finditer(text):
            self.parts.append(text[end : match.start()])
            kind, words, body = match.groups()
            if kind == "include":
                self.parts.append((sources / words.strip()).read_text(encoding="ascii"))
            else:
                is_file = kind == "file"
                self.parts.append(
                    file_text(words, body, sources) if is_file else parse_commands(body))
            end = match.end()
        self.parts.append(text[end:])

    def commands(self) -> list:
        """All commands in order."""
        return [c for part in self.parts if isinstance(part, list) for c in part]

    def script(self) -> str:
        """A shell script that runs the commands of the page and marks the end of each."""
        lines = []
        for part in self.parts:
            if isinstance(part, tuple):
                name, text = (shlex.quote(word) for word in part)
                lines.append(f"printf %s {text} > {name} || exit 99")
            elif isinstance(part, list):
                for command in part:
                    lines += ["\n".join(command.lines), f'printf "\\n{MARK} %d\\n" $?']
        return "\n".join(lines) + "\n"

    def run(self, sources: pathlib.Path, build: pathlib.Path):
        """Runs every command, keeps its standard output, and checks the promises of the page."""
        if self.commands():
            self._run_commands(sources, build)
        self.hold_numbers()

    def _run_commands(self, sources: pathlib.Path, build: pathlib.Path):
        with tempfile.TemporaryDirectory(prefix="lockstep-page-") as home:
            place = stand_in(pathlib.Path(home), sources, build)
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-c", self.script()],
                cwd=place, env=environment(home), timeout=TIMEOUT_S, check=False,
                stdin=subprocess.DEVNULL, capture_output=True, text=True)  # fmt: skip
        outputs = re.split(rf"\n{MARK} (\d+)\n", done.stdout)
        for command, output, status in zip(self.commands(), outputs[::2], outputs[1::2]):
            command.output = output.rstrip("\n").replace(home, "~")
            self._hold(command, int(status), done.stderr)
        if len(outputs) // 2 != len(self.commands()):
            raise Refused(f"{self.path.name}: the shell ended early\n{done.stderr}")

    def hold_numbers(self):
        """Checks that the runs of each section show the numbers of its prose."""
        faults = []
        for section in numbers_of_runs.sections(self.parts, screens):
            faults += section.faults()
        if faults:
            raise Refused(f"{self.path.name}: no run beside it shows: {', '.join(faults)}")

    def _hold(self, command: Command, status: int, errors: str):
        said = command.output + errors
        wrong = [f"promised to print: {w}" for w in command.words if w not in said]
        if status != command.status:
            wrong.append(f"promised status {command.status}, ended with {status}")
        if wrong:
            what = "\n".join([f"{self.path.name}: $ " + "\n> ".join(command.lines), *wrong])
            raise Refused(f"{what}\nit printed:\n{said}")

    def rendered(self) -> str:
        """The page with files as code blocks and commands as consoles with their output."""
        texts = []
        for part in self.parts:
            if isinstance(part, tuple):
                name, text = part
                language = LANGUAGES[pathlib.Path(name).suffix]
                opening = f"{{code-block}} {language}\n:caption: {name}\n\n"
                texts.append(fenced(opening, text.rstrip()))
            elif isinstance(part, list):
                shown = "\n".join(filter(None, (screen(command) for command in part)))
                texts.append(fenced("console\n", shown))
            else:
                texts.append(numbers_of_runs.unmarked(part))
        return "".join(texts)


def fenced(opening: str, text: str) -> str:
    """The text as a fence, which is longer than any fence inside the text."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{opening}{text}\n{fence}"


def screens(commands: list) -> list:
    """The commands of a run and their output."""
    return [("\n".join(command.lines), command.output) for command in commands]


def screen(command: Command) -> str:
    """A command and its output as a terminal shows them."""
    lines = [("> " if i else "$ ") + line for i, line in enumerate(command.lines)]
    return "\n".join(lines + ([command.output] if command.output else []))


def stand_in(directory: pathlib.Path, sources: pathlib.Path, build: pathlib.Path) -> pathlib.Path:
    """A directory that looks like the project after ./dev build."""
    place = directory / "lockstep"
    (place / "build").mkdir(parents=True)
    (place / "build" / "release").symlink_to(build)
    for path in sources.iterdir():
        if path.name != "build":
            (place / path.name).symlink_to(path)
    # The packages of a distribution belong to its own interpreter.
    python = pathlib.Path("/usr/bin/python3")
    programs = directory / ".local" / "bin"
    programs.mkdir(parents=True)
    (programs / "python3").symlink_to(python if python.exists() else sys.executable)
    return place


def environment(home: str) -> dict:
    """The environment of the commands of a page."""
    kept = os.environ.keys() & {"PATH", "TMPDIR", "LD_LIBRARY_PATH"}
    inherited = {key: os.environ[key] for key in kept}
    inherited["PATH"] = f"{home}/.local/bin:{inherited['PATH']}"
    wheel = {"LOCKSTEP_TREE": f"{home}/lockstep/build/release",
             "PYTEST_PLUGINS": "lockstep.pytest_plugin",
             "PYTHONPATH": f"{home}/lockstep/python/src"}  # fmt: skip
    return {**inherited, **wheel, "HOME": home, "LC_ALL": "C", "PYTHONDONTWRITEBYTECODE": "1"}
