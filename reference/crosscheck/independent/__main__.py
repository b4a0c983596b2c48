"""A backend in Python: reads calls as JSON Lines and answers each of them.

usage: python3 reference/crosscheck/independent < CALLS

`lockstep check "exec:python3 reference/crosscheck/independent"` judges it as any other.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from crosscheck import independent  # noqa: E402  # found through the line above


def main() -> int:
    if len(sys.argv) > 1:
        print(__doc__, file=sys.stderr)
        return 2
    for line in sys.stdin.buffer:
        print(independent.answer(line), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
