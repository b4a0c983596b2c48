"""Where the parts that the tests need are, beside the importer itself."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "reference"), str(ROOT / "python" / "src")]
