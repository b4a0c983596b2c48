"""The program `lockstep` of a build tree, as the cross-checks ask it."""

import json
import subprocess


class Program:
    """The program's lists, and the answers of its reference."""

    def __init__(self, path: str):
        self.path = path

    def says(self, *words: str, stdin: str = "") -> str:
        run = subprocess.run([self.path, *words], input=stdin, check=True, text=True,
                             stdout=subprocess.PIPE)  # fmt: skip
        return run.stdout

    def operators(self) -> dict:
        """The labels of each operator's own, in the order of judgement."""
        found = {op["name"]: [] for op in json.loads(self.says("list", "--json"))}
        for label in json.loads(self.says("list", "--labels", "--json")):
            if "op" in label:
                found[label["op"]].append(label["label"])
        return found

    def answers(self, lines: list) -> list:
        """One answer for each line, however slow the machine is."""
        words = ("eval", "--backend", "reference", "--cases", "-", "--timeout", "600")
        found = self.says(*words, stdin="".join(line + "\n" for line in lines)).splitlines()
        if len(found) != len(lines):
            raise RuntimeError(f"{len(found)} answers to {len(lines)} lines")
        return list(map(json.loads, found))
