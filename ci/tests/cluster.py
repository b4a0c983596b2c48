"""A Slurm cluster of its own on this machine: all daemons in one directory, none left behind."""

import ctypes
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
DAEMONS = {"munged": "munge", "slurmctld": "slurm-wlm", "slurmd": "slurm-wlm"}
SYSTEM_PATH = os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"])
LIBC = ctypes.CDLL(None)
PATIENCE_S = 240  # a busy machine needs this long for what takes seconds on an idle one

# A requeued task waits until its old credential has expired, two minutes unless told otherwise.
CONFIGURATION = """\
ClusterName=campaign
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthInfo=socket={directory}/munge.socket,cred_expire=5
StateSaveLocation={directory}/state
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/%n.pid
SlurmdSpoolDir={directory}/%n
SlurmdParameters=config_overrides
KillWait=5
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1
SelectType=select/cons_tres
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
NodeName=n[1-{nodes}] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{ports}] CPUs=1
PartitionName=all Nodes=ALL Default=YES
"""


def missing() -> str:
    """What this machine lacks for a cluster; empty where nothing is missing."""
    for program, package in DAEMONS.items():
        if not shutil.which(program, path=SYSTEM_PATH):
            return f"{program} (Debian: {package})"
    return ""


def command_of(pid: int) -> str:
    """The command line of a process; empty where it has ended meanwhile."""
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def descendants(roots: set) -> set:
    """The processes that these have started, directly or not, and these."""
    parents = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(entry.parent.name)] = int(entry.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has just ended
            pass
    found, fresh = set(), set(roots)
    while fresh:
        found |= fresh
        fresh = {pid for pid, parent in parents.items() if parent in found} - found
    return found


def end(pids: set):
    """Ends all processes at the same moment, so that none can notice the end of another."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass


def free_ports(count: int) -> list:
    """Ports on which no process listens now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Cluster:
    """Nodes n1, n2, ... of one processor each, which run as the current user."""

    def __init__(self, nodes: int):
        # Processes that daemons leave behind become children of this process, which ends its
        # children.
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-slurm-"))
        self.nodes = [f"n{k}" for k in range(1, nodes + 1)]
        self.environment = {
            key: value for key, value in os.environ.items()
            if not key.startswith(("SLURM", "SBATCH", "SQUEUE", "SCANCEL"))
        } | {"PATH": SYSTEM_PATH, "SLURM_CONF": str(self.directory / "slurm.conf")}  # fmt: skip
        self.daemons = {}
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self):
        place = self.directory
        place.chmod(0o755)  # munged wants its socket to be reachable
        for name in ["state", *self.nodes]:
            (place / name).mkdir()
        key = place / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(64))
        port, *ports = free_ports(1 + len(self.nodes))
        (place / "slurm.conf").write_text(
            CONFIGURATION.format(
                directory=place, nodes=len(self.nodes), port=port, user=os.getuid(),
                ports=",".join(map(str, ports)), host=socket.gethostname().partition(".")[0]))
        # The only plugin that does not look for a mounted hierarchy; nothing here uses it.
        (place / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        self._start("munged", "--foreground", f"--key-file={key}",
                    *(f"--{what}={place}/munge.{what.split('-')[0]}"
                      for what in ("socket", "pid-file", "log-file", "seed-file")))
        self.wait(lambda: (place / "munge.socket").exists(), "munged")
        self._start("slurmctld", "-D")
        self.wait(lambda: "is UP" in self.says("scontrol", "ping"), "slurmctld")
        for node in self.nodes:
            self._start("slurmd", "-D", "-N", node, name=node)
        self.wait(lambda: self.says("sinfo", "-hN", "-o%T").split() == ["idle"] * len(self.nodes),
                  "the nodes")

    def _start(self, *command: str, name: str = ""):
        name = name or command[0]
        with (self.directory / f"{name}.log").open("wb") as log:
            self.daemons[name] = subprocess.Popen(
                command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=lambda: LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL))

    def says(self, *command: str) -> str:
        """The output of a command, which may fail."""
        done = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.stdout

    def wait(self, condition, what: str, seconds: float = PATIENCE_S):
        """Waits until the condition holds. @raise TimeoutError with the ends of all logs."""
        limit = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > limit:
                logs = [f"{log.name}: {log.read_text(errors='replace')[-2000:]}"
                        for log in sorted(self.directory.glob("*.log"))]
                raise TimeoutError("\n".join([f"no {what} within {seconds} s", *logs]))
            time.sleep(0.1)

    def lose(self, node: str):
        """Ends a node with all that runs on it, as a power cut does, and tells the controller."""
        steps = tuple(f"slurmstepd: [{job}."
                      for job in self.says("squeue", "-h", "-w", node, "-o%A").split())
        own = {pid for pid in descendants({os.getpid()}) if command_of(pid).startswith(steps)}
        end(descendants({self.daemons[node].pid} | own))
        self.says("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=lost")

    def close(self):
        """Ends everything that was started here, and forgets it."""
        while others := descendants({os.getpid()}) - {os.getpid()}:
            end(others)
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                break
        shutil.rmtree(self.directory, ignore_errors=True)
