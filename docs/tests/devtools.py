"""A headless Chromium spoken to in its DevTools protocol, through a pipe: no port, no driver."""

import fcntl
import json
import os
import select
import signal
import subprocess
import tempfile
import time

TIMEOUT_S = 240  # a busy machine is slow, a browser that hangs is silent for ever
FLAGS = [
    "--headless",
    "--no-sandbox",  # the pages are ours, and root has no sandbox
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-ipc-flooding-protection",  # a test follows links faster than a reader
    "--remote-debugging-pipe",
]


class BrowserError(Exception):
    """The browser did not start, died, or does not answer."""


class Browser:
    """One browser with one page."""

    def __init__(self, program: str):
        self.profile = tempfile.TemporaryDirectory(
            prefix="lockstep-browser-", ignore_cleanup_errors=True
        )
        ours_read, theirs_write = os.pipe()
        theirs_read, ours_write = os.pipe()
        self.process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={self.profile.name}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, close_fds=False,
            preexec_fn=lambda: _become(theirs_read, theirs_write))  # fmt: skip
        os.close(theirs_read)
        os.close(theirs_write)
        self.input, self.output, self.waiting = ours_write, ours_read, b""
        self.number, self.session, self.events = 0, None, []
        self._attach()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.input)
        os.close(self.output)
        self.profile.cleanup()

    def _attach(self):
        page = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters):
        """Calls a method of the protocol; events that come in between are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.input, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self.number:
                break
            self.events.append(answer)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _read(self) -> dict:
        """The next message of the browser."""
        while b"\0" not in self.waiting:
            ready, _, _ = select.select([self.output], [], [], TIMEOUT_S)
            piece = os.read(self.output, 1 << 20) if ready else b""
            if not piece:
                raise BrowserError("the browser died" if ready else "the browser does not answer")
            self.waiting += piece
        message, _, self.waiting = self.waiting.partition(b"\0")
        return json.loads(message)

    def open(self, url: str) -> list:
        """Opens an address, waits until it is loaded, and returns what happened on the way."""
        self.call("Page.navigate", url="about:blank")
        self.evaluate("0")
        self.events = []
        self.call("Page.navigate", url=url)
        self.wait_for_load()
        return self.events

    def wait_for_load(self):
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self._read())

    def evaluate(self, script: str):
        """The value of a JavaScript expression, awaited where it is a promise."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise BrowserError(f"{script}: {answer['exceptionDetails']['text']}")
        return answer["result"].get("value")

    def wait_until(self, script: str) -> bool:
        """Whether a JavaScript expression becomes true in time."""
        end = time.monotonic() + TIMEOUT_S
        while not self.evaluate(script):
            if time.monotonic() > end:
                return False
            time.sleep(0.1)
        return True

    def resize(self, width: int, height: int):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)  # fmt: skip

    def prefer(self, scheme: str):
        """Light or dark."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])


def _become(read: int, write: int):
    """In the child: the browser reads descriptor 3 and writes descriptor 4."""
    read, write = (fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (read, write))
    os.dup2(read, 3)
    os.dup2(write, 4)
