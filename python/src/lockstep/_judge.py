"""Has the program judge functions of this process."""

import contextvars
import pathlib
import re
import shlex
import socketserver
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from . import _relay, _tree
from ._serve import Function, Server

_START_S = 60  # for an interpreter, on a machine that has other things to do
_REPEAT = re.compile(r"^  repeat  (.*)\n", re.MULTILINE)


class Verdict(NamedTuple):
    """What the judge said: exit status (0 is a pass), report, and the case of each finding, made
    as small as it could be."""

    status: int
    text: str
    cases: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return self.status == 0


class _Listener(socketserver.ThreadingUnixStreamServer):
    """Serves each connection in a thread, with the context of the thread that asks."""

    daemon_threads, block_on_close = True, False

    def __init__(self, path: str, server: Server):
        context = contextvars.copy_context()

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                context.copy().run(server.run, self.rfile, self.wfile)

        super().__init__(path, Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """The judge ends a command that does not answer in time, which breaks its connection."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def judge(operators: Mapping[str, Function], *, tier: int = 0, seed: int = 1,
          properties: Sequence[str] = (), cases: Sequence[str] = (),
          claims: Mapping[str, Mapping[str, Any]] | None = None, timeout: float = 20,
          arguments: Sequence[str] = ()) -> Verdict:  # fmt: skip
    """Judges functions as `lockstep.serve` takes them, in this process: closures, mocks and state
    work, and a crash is one of this process. They run in another thread, one call at a time.

    Without `properties` everything is judged that a command can be asked; `cases` are ids of single
    cases, `timeout` is the seconds that an answer may take, and `arguments` are further words for
    `lockstep check`."""
    server = Server(operators, "python", "0", claims)
    words = ["--jobs", "1", "--tier", str(tier), "--seed", str(seed), "--timeout", str(timeout),
             "--start-timeout", str(timeout + _START_S), *arguments]  # fmt: skip
    for option, values in (("--property", properties), ("--case", cases)):
        words += [word for value in values for word in (option, value)]
    with tempfile.TemporaryDirectory(prefix="lockstep-") as directory:
        path = str(pathlib.Path(directory) / "socket")
        with _Listener(path, server) as listener:
            threading.Thread(target=listener.serve_forever, args=[0.05], daemon=True).start()
            command = shlex.join([sys.executable, "-I", str(_relay.__file__), path])
            try:
                done = subprocess.run(
                    [_tree.program(), "check", f"exec:{command}", *words], check=False, text=True,
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                )  # fmt: skip
            finally:
                listener.shutdown()
    # The command ends with this function; repeating a case takes another call.
    found = dict.fromkeys(shlex.split(line)[-1] for line in _REPEAT.findall(done.stdout))
    text = _REPEAT.sub("", done.stdout).replace(f"exec:{command}", "python")
    return Verdict(done.returncode, text, tuple(found))
