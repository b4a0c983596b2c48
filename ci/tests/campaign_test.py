#!/usr/bin/env python3
"""Runs ci/slurm/campaign.sh on a real Slurm that loses tasks and puts them back.

usage: campaign_test.py BUILD
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import cluster

if missing := cluster.missing():
    print(f"SKIPPED: no {missing}")
    sys.exit(0)

BUILD = pathlib.Path(sys.argv.pop()).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
CAMPAIGN, TASK = ROOT / "ci" / "slurm" / "campaign.sh", ROOT / "ci" / "slurm" / "task.sh"
LOCKSTEP = BUILD / "bin" / "lockstep"
BACKEND = f"exec:{sys.executable} {ROOT / 'conformance' / 'tests' / 'held_backend.py'}"
CHECK = [BACKEND, "--op", "relu", "--tier", "0", "--property", "matches_reference",
         "--vectors", "", "--timeout", "60"]  # fmt: skip
PARTS = 4


class CampaignTest(unittest.TestCase):
    """Campaigns of four parts on four nodes."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = cluster.Cluster(PARTS)
        cls.addClassCleanup(cls.cluster.close)

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        self.results = self.place / "results"
        self.environment = self.cluster.environment | {
            "PATH": f"{BUILD / 'bin'}:{self.cluster.environment['PATH']}",
            "LOCKSTEP_INTERVAL": "0.3",
            "HELD": str(self.place),
            "HELD_TASKS": "",
        }

    def begin(self, check, **environment: str) -> subprocess.Popen:
        """Starts a campaign."""
        return subprocess.Popen(
            [CAMPAIGN, str(PARTS), self.results, "--", *check], env=self.environment | environment,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def ended(self, campaign: subprocess.Popen):
        """The exit status of a campaign and its two outputs."""
        try:
            out, err = campaign.communicate(timeout=cluster.PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.fail(self.cluster.says("squeue"))
        return campaign.returncode, out, err

    def held(self, *tasks: int) -> str:
        """Waits until the first runs of these tasks are held, and returns the job that they belong
        to."""
        job = self.results / "job"
        self.cluster.wait(lambda: job.exists() and job.read_text().endswith("\n") and
                          all((self.place / f"held-{n}").exists() for n in tasks), "held tasks")
        return job.read_text().strip()

    def judged(self, name: str, *more: str) -> pathlib.Path:
        """The report of a run that nobody disturbs."""
        report = self.place / name
        done = subprocess.run([LOCKSTEP, "check", *CHECK, "--json", report, *more], check=False,
                              env=self.environment, capture_output=True, text=True)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return report

    def test_survives_lost_and_requeued_tasks(self):
        campaign = self.begin(CHECK, HELD_TASKS="1 2 3")
        job = self.held(1, 2, 3)
        node = self.cluster.says("squeue", "-h", "-j", f"{job}_3", "-o%N").strip()
        self.cluster.says("scontrol", "requeue", f"{job}_1")
        self.cluster.says("scancel", "--signal=KILL", "--full", f"{job}_2")
        self.cluster.lose(node)
        status, out, err = self.ended(campaign)
        self.assertEqual(status, 0, out + err)

        # Three things have happened: a task was requeued by hand, one was lost, Slurm requeued one.
        told = [line for line in err.splitlines() if " judges parts " in line]
        self.assertEqual([line.rpartition(" judges parts ")[2] for line in told],
                         ["1 2 3 4 of 4", "2 of 4"])  # fmt: skip
        self.assertIn("DUE TO JOB REQUEUE", (self.results / "part-1.log").read_text())
        lost = self.cluster.says("scontrol", "show", "job", f"{job}_3")
        self.assertIn("Restarts=1", lost)
        self.assertNotIn(f"NodeList={node}\n", lost)

        parts = [self.judged(f"part-{n}.json", "--shard", f"{n}/{PARTS}")
                 for n in range(1, PARTS + 1)]  # fmt: skip
        for part in parts:
            self.assertEqual((self.results / part.name).read_text(), part.read_text())
        merged = self.place / "merged.json"
        subprocess.run([LOCKSTEP, "report", "merge", *parts, "--output", merged], check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        report = (self.results / "report.json").read_text()
        self.assertEqual(report, merged.read_text())
        whole, report = json.loads(self.judged("whole.json").read_text()), json.loads(report)
        of_parts, of_whole = report.pop("canaries"), whole.pop("canaries")
        self.assertEqual(of_parts.keys(), of_whole.keys())
        for name, one in of_whole.items():
            self.assertGreaterEqual(of_parts[name]["noticed"], one["noticed"])
        self.assertEqual(report, whole)

        # Only the cases that were held were judged twice.
        for n, part in enumerate(parts, start=1):
            calls = json.loads(part.read_text())["counts"]["calls"]
            asked = (self.place / f"asked-{n}").stat().st_size
            self.assertEqual(asked, calls + (n in (1, 2, 3)), f"part {n}")

    def test_goes_on_where_it_was_interrupted(self):
        campaign = self.begin(CHECK, HELD_TASKS="2")
        self.held(2)
        self.assertEqual(self.ended(self.begin(CHECK))[0], 2, "the first one is at work")
        campaign.terminate()
        status, _, err = self.ended(campaign)
        self.assertEqual(status, 3, err)
        self.cluster.wait(lambda: not self.cluster.says("squeue", "-h"), "empty queue")
        self.assertFalse((self.results / "part-2.json").exists())
        again = self.ended(self.begin(CHECK))
        self.assertEqual(again[0], 0, again)
        self.assertEqual((self.place / "asked-2").stat().st_size, 16)

        # A judged case is not asked again, and its result serves no other run.
        self.assertEqual(self.ended(self.begin(CHECK))[0], 0)
        self.assertEqual((self.place / "asked-1").stat().st_size, 15)
        status, _, err = self.ended(self.begin([*CHECK, "--seed", "2"]))
        self.assertEqual(status, 3, err)
        self.assertIn("parts 1 2 3 4 of 4 do not go on", err)
        self.assertIn("it belongs to another run: its set_hash is", err)
        self.assertFalse((self.results / "report.json").exists())

    def test_a_task_keeps_no_report_of_an_interrupted_run(self):
        self.results.mkdir()
        place = {"SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_COUNT": "2",
                 "SLURM_ARRAY_TASK_MIN": "1"}  # fmt: skip
        with subprocess.Popen(
            [TASK, LOCKSTEP, self.results, *CHECK], stdout=subprocess.DEVNULL,
            env=self.environment | place | {"HELD_TASKS": "2"}) as task:  # fmt: skip
            self.cluster.wait(lambda: (self.place / "held-2").exists(), "held task")
            for pid in cluster.descendants({task.pid}):
                if cluster.command_of(pid).startswith(str(LOCKSTEP)):
                    os.kill(pid, signal.SIGTERM)
        self.assertEqual(task.returncode, 3)
        missing = json.loads((self.results / "part-2.new").read_text())["counts"]["missing"]
        self.assertGreater(missing, 0)
        self.assertFalse((self.results / "part-2.json").exists())

    def test_ends_with_the_verdict(self):
        wrong = ["faulty", "--set", "mutant=relu.int8", *CHECK[1:]]
        status, out, err = self.ended(self.begin(wrong))
        self.assertEqual(status, 1, err)
        self.assertIn("FAIL  faulty", out)

    def test_says_how_it_is_used(self):
        for words in ([], ["4", self.results, "--"], ["x", self.results, "--", "cpu"]):
            done = subprocess.run([CAMPAIGN, *words], check=False, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn("usage: campaign.sh TASKS", done.stderr)


if __name__ == "__main__":
    unittest.main()
