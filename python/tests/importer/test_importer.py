#!/usr/bin/env python3
"""Compares imported models with ONNX Runtime: in doubles before the import, in integers after
it."""

import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import zipfile

import numpy
import onnx
import onnxruntime

import models
import operators
from places import ROOT

from crosscheck.graphs import run
from lockstep.importer import Inexpressible, __main__, float_outputs, floats, import_onnx

CALIBRATION = 60


def runtime(model, x):
    """What ONNX Runtime makes of one sample after the other, node by node.

    Where it joins nodes it refuses weights that have a scale for each input.
    """
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return numpy.concatenate([session.run(None, {"x": sample[None]})[0] for sample in x])


def integers(imported, x):
    """(what the integer model gives, what a 1 of it is worth), sample by sample."""
    (out,) = imported.outputs.values()
    rows = [run(imported.graph.nodes, sample[None].astype(numpy.int64))
            for sample in imported.integers(x)]  # fmt: skip
    return numpy.concatenate([row[out.tensor.node][out.tensor.output] for row in rows]), out.scale


class Operators(unittest.TestCase):
    """Every operator by itself, on the data it is calibrated with."""

    def check(self, model, **options):
        """Doubles agree with the runtime within its precision, integers within a few units."""
        x = operators.real(6, *operators.IMAGE[1:])
        wanted = runtime(model, x)
        (found,) = float_outputs(model, x)
        self.assertEqual(found.shape, wanted.shape)
        most = numpy.abs(wanted).max()
        self.assertLess(numpy.abs(found - wanted).max(), 1e-5 * most)
        values, scale = integers(import_onnx(model, x, **options), x)
        self.assertEqual(values.shape, wanted.shape)
        self.assertLess(numpy.abs(values * scale - wanted).max(), 0.03 * most)

    def check_all(self, cases):
        """Every case, with a scale for each channel and without."""
        for name, model in cases:
            for options in ({}, {"per_channel": False}):
                with self.subTest(name, **options):
                    self.check(model, **options)

    def test_products(self):
        self.check_all(operators.products())

    def test_pointwise(self):
        self.check_all(operators.pointwise())

    def test_windows(self):
        self.check_all(operators.windows())

    def test_moves(self):
        self.check_all(operators.moves())

    def test_quantized(self):
        x = operators.real(6, *operators.IMAGE[1:])
        for name, model in operators.quantized():
            with self.subTest(name):
                wanted = runtime(model, x)
                self.assertLess(numpy.abs(float_outputs(model, x)[0] - wanted).max(), 0.041)
                values, scale = integers(import_onnx(model), x)
                self.assertLess(numpy.abs(values * scale - wanted).max(), 0.05 * wanted.max())

    def test_a_percentile_leaves_out_the_largest(self):
        x = numpy.zeros((2, *operators.IMAGE[1:]))
        x.reshape(-1)[:] = numpy.arange(x.size)
        model = operators.single("Relu")
        for percentile, most in ((100, x.size - 1), (99, x.size * 99 // 100), (50, x.size // 2)):
            (scale,) = import_onnx(model, x, percentile=percentile).input.scale
            self.assertAlmostEqual(scale * 127, most, delta=1)

    def test_outputs_with_different_rows_are_refused_when_written(self):
        model = models.model(
            [operators.helper.make_node("Relu", ["x"], ["a"]),
             operators.helper.make_node("Transpose", ["x"], ["b"], perm=[0, 2, 3, 1])],
            {}, ["a", "b"], shape=operators.IMAGE, rank=4)  # fmt: skip
        imported = import_onnx(model, operators.real(2, *operators.IMAGE[1:]))
        with self.assertRaisesRegex(Inexpressible, "'a' .*'b' "):
            imported.files()

    def test_what_is_inexpressible_is_named(self):
        x = operators.real(2, *operators.IMAGE[1:])
        for name, model, words in operators.inexpressible():
            with self.subTest(name), self.assertRaises(Inexpressible) as caught:
                import_onnx(model, x)
            for word in words:
                self.assertIn(word, str(caught.exception))

    def test_a_softmax_can_be_left_out(self):
        model = operators.chain(
            ("Flatten", [], {}), ("Gemm", ["w"], {"transB": 1}), ("Softmax", [], {}),
            constants={"w": operators.real(7, 192)}, rank=2)  # fmt: skip
        x = operators.real(9, *operators.IMAGE[1:])
        values, _ = integers(import_onnx(model, x, without_softmax=True), x)
        self.assertEqual(values.argmax(axis=1).tolist(), runtime(model, x).argmax(axis=1).tolist())


class Digits(unittest.TestCase):
    """The digits network, calibrated on some images and judged on the others."""

    @classmethod
    def setUpClass(cls):
        cls.images, cls.labels = models.digits_images()
        cls.rest, cls.right = cls.images[CALIBRATION:], cls.labels[CALIBRATION:]

    def correct(self, logits):
        """How many images of the rest are right."""
        return int((logits.argmax(axis=1) == self.right).sum())

    def test_integers_are_as_accurate_as_floats(self):
        model = models.Digits().built()
        before = runtime(model, self.rest)
        self.assertEqual(self.correct(before), 290)
        for per_channel, same in ((True, 299), (False, 300)):
            imported = import_onnx(model, self.images[:CALIBRATION], per_channel=per_channel)
            after, _ = integers(imported, self.rest)
            agreeing = int((after.argmax(axis=1) == before.argmax(axis=1)).sum())
            with self.subTest(per_channel=per_channel):
                self.assertEqual((self.correct(after), agreeing), (290, same))

    def test_a_quantized_model_needs_no_data(self):
        model = models.QuantizedDigits().built()
        imported = import_onnx(model)
        before, (after, _) = runtime(model, self.rest), integers(imported, self.rest)
        self.assertEqual(after.argmax(axis=1).tolist(), before.argmax(axis=1).tolist())
        weights = {node.name: node.value for node in imported.graph.nodes}
        for name in ("conv1", "conv2", "dense1"):
            wanted = models.parameters(models.DIGITS / "params")[f"{name}_weight"]
            self.assertTrue((weights[f"{name}_weight"] == wanted).all(), name)

    def test_without_data_a_float_model_is_refused(self):
        with self.assertRaisesRegex(Inexpressible, "give calibration data"):
            import_onnx(models.Digits().built())


class Sums(unittest.TestCase):
    """What does not depend on the order of additions."""

    def test_terms_in_any_order_give_the_same_bits(self):
        x, w = operators.real(9, 3000).astype(float) / 3, operators.real(3000, 7).astype(float) / 7
        order = operators.RNG.permutation(3000)
        self.assertTrue((floats.product(x, w) == floats.product(x[:, order], w[order])).all())
        self.assertTrue((floats.sums(x, (1,)) == floats.sums(x[:, order], (1,))).all())
        self.assertLess(numpy.abs(floats.product(x, w) - x @ w).max(), 1e-4)


class Files(unittest.TestCase):
    """The command and what it writes."""

    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room = pathlib.Path(room.name)
        onnx.save(models.Digits().built(), self.room / "digits.onnx")
        numpy.savez(self.room / "x.npz", x=models.digits_images()[0][:CALIBRATION])

    def importer(self, *words, environment=None):
        """Runs the command."""
        return subprocess.run(
            [sys.executable, "-B", "-m", "lockstep.importer", *map(str, words)], check=False,
            capture_output=True, text=True, cwd=self.room,
            env={"PYTHONPATH": str(ROOT / "python" / "src"), **(environment or {})})  # fmt: skip

    def test_the_files_do_not_depend_on_threads_or_kernels(self):
        contents = set()
        for k, environment in enumerate((
            {"OPENBLAS_NUM_THREADS": "1"}, {"OPENBLAS_NUM_THREADS": "2", "OPENBLAS_CORETYPE":
             "Prescott"}, {"NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3"},
        )):  # fmt: skip
            done = self.importer(
                "digits.onnx", k, "--calibration", "x.npz", environment=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            files = sorted((self.room / str(k)).iterdir())
            self.assertEqual([f.name for f in files], ["params", "scales.json", "symbol.json"])
            contents.add(tuple(f.read_bytes() for f in files))
        self.assertEqual(len(contents), 1)

    def test_the_program_reads_the_files(self):
        done = self.importer("digits.onnx", "out", "--calibration", "x.npz", "--shift-only")
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = subprocess.run([sys.argv[-1], "model", "show", str(self.room / "out")],
                               capture_output=True, text=True, check=False)  # fmt: skip
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("conv2d", shown.stdout)

    def test_the_parameters_are_those_of_the_graph(self):
        imported = import_onnx(models.Digits().built(), models.digits_images()[0][:CALIBRATION])
        imported.write(self.room)
        stored = models.parameters(self.room / "params")
        wanted = {n.name: n.value for n in imported.graph.nodes if n.value is not None}
        self.assertEqual(stored.keys(), wanted.keys())
        for name, value in wanted.items():
            self.assertEqual(stored[name].tolist(), value.tolist())

    def test_bad_files_are_refused(self):
        (self.room / "no.onnx").write_bytes(b"no model")
        (self.room / "empty.onnx").touch()
        numpy.savez(self.room / "two.npz", x=numpy.zeros(1), y=numpy.zeros(1))
        numpy.save(self.room / "nan.npy", numpy.full((1, 1, 8, 8), numpy.nan))
        for words, text in (
            (["absent.onnx", "out"], "absent.onnx"),
            (["no.onnx", "out"], "error: no.onnx: it is no ONNX model: "),
            (["empty.onnx", "out"], "error: empty.onnx: it is no ONNX model: "),
            (["digits.onnx", "out"], "give calibration data"),
            (["digits.onnx", "out", "--calibration", "two.npz"], "holds 2 arrays"),
            (["digits.onnx", "out", "--calibration", "nan.npy"], "not finite"),
            (["digits.onnx", "out", "--calibration", "x.npz", "--percentile", "0"], "percentile"),
        ):
            done = self.importer(*words)
            with self.subTest(words):
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(text, done.stderr)
                self.assertNotIn("Traceback", done.stderr)
                self.assertFalse((self.room / "out").exists())

    def refusal(self, *words, model="digits.onnx"):
        """The one line with which the command ends, run in this process."""
        said, argv = io.StringIO(), ["importer", model, "out", *map(str, words)]
        with (unittest.mock.patch.object(sys, "argv", argv), contextlib.chdir(self.room),
              contextlib.redirect_stdout(said), contextlib.redirect_stderr(said)):  # fmt: skip
            self.assertEqual(__main__.main(), 1, said.getvalue())
        self.assertFalse((self.room / "out").exists())
        (line,) = said.getvalue().splitlines()
        return line

    def test_options_out_of_their_range_are_refused(self):
        x = models.digits_images()[0][:2]
        for option, values, allowed in (
            ("input_scale", (-1.0, 0.0, numpy.nan, numpy.inf), "a finite number above 0"),
            ("input_precision", (-3, 0, 1, 33), "2 to 32"),
        ):
            for value in values:
                with self.subTest(option, value=value):
                    name = f"--{option.replace('_', '-')}"
                    line = self.refusal("--calibration", "x.npz", f"{name}={value}")
                    with self.assertRaises(ValueError) as caught:
                        import_onnx("digits.onnx", x, **{option: value})
                    self.assertEqual(line, f"error: {caught.exception}")
                    for text in (option, f" {value}", allowed):
                        self.assertIn(text, line)

    def test_every_input_precision_in_range_is_stated(self):
        model, x = operators.single("Relu"), operators.real(2, *operators.IMAGE[1:])
        for precision in (*range(2, 33), 8.0, numpy.int8(8)):
            imported = import_onnx(model, x, input_precision=precision)
            stated = imported.description()["input"]["precision"]
            self.assertEqual((stated, type(stated)), (precision, int))

    def test_illegal_shapes_are_refused(self):
        for words, text in (
            ("1,1,0,8", "(1, 1, 0, 8)"), ("1,1,-8,8", "(1, 1, -8, 8)"),
            ("1,3,1000000,1000000", "(1, 3, 1000000, 1000000)"),
            ("1,1,1,1,1,8,8", "1 to 6 extents"), ("1,x,8,8", "'1,x,8,8'"), ("", "''"),
        ):  # fmt: skip
            with self.subTest(words):
                line = self.refusal("--calibration", "x.npz", f"--shape={words}")
                self.assertIn("shape", line)
                self.assertIn(text, line)

    def test_what_does_not_fit_the_memory_is_refused(self):
        failing = unittest.mock.patch.object(
            __main__, "import_onnx", side_effect=MemoryError("161 GiB"))
        with failing:
            self.assertIn("memory: 161 GiB", self.refusal("--shape=1,1,8,8"))

    def test_files_without_calibration_data_are_refused_by_name(self):
        x = models.digits_images()[0][:2]
        arrays = {"empty": x[:0], "scalar": numpy.float32(1), "nan": x * numpy.nan,
                  "words": x.astype(str), "complex": x + 1j}  # fmt: skip
        for name, value in arrays.items():
            numpy.save(self.room / f"{name}.npy", value)
        numpy.save(self.room / "objects.npy", numpy.array([{}, 1], dtype=object))
        whole = (self.room / "x.npz").read_bytes()
        (self.room / "part.npz").write_bytes(whole[:300])
        (self.room / "text.npy").write_text("1 2 3\n", encoding="ascii")
        (self.room / "head.npy").write_bytes((self.room / "nan.npy").read_bytes()[:60])
        with zipfile.ZipFile(self.room / "zip.npz", "w") as archive:
            archive.writestr("readme", "no array")
        for path in (*(f"{name}.npy" for name in arrays), "objects.npy", "part.npz", "text.npy",
                     "head.npy", "zip.npz", "absent.npy", "/dev/null", self.room):  # fmt: skip
            with self.subTest(path):
                line = self.refusal("--calibration", path)
                self.assertTrue(line.startswith(f"error: {path}: "), line)

    def test_samples_of_another_shape_than_the_model_declares_are_refused(self):
        convolution = ("Conv", ["w"], {"pads": [1, 1, 1, 1]})

        def model(*shape):
            return operators.chain(
                convolution, constants={"w": operators.real(4, 3, 3, 3)}, shape=shape)

        fixed, free = model(1, 3, 16, 16), model(1, 3, "H", "W")
        for shape in ((64, 3, 3, 16), (3, 16, 16), (2, 3, 16, 16, 1), (2, 3, 16, 8)):
            with self.subTest(shape), self.assertRaises(ValueError) as caught:
                import_onnx(fixed, operators.real(*shape))
            self.assertIn(str(shape), str(caught.exception))
            self.assertIn("(1, 3, 16, 16)", str(caught.exception))
        with self.assertRaises(ValueError):
            import_onnx(free, operators.real(2, 1, 16, 16))
        for made, shape in ((fixed, (2, 3, 16, 16)), (free, (2, 3, 5, 7))):
            self.assertEqual(import_onnx(made, operators.real(*shape)).input.shape, (1, *shape[1:]))
        chosen = import_onnx(fixed, operators.real(2, 3, 8, 8), shape=(1, 3, 8, 8))
        self.assertEqual(chosen.input.shape, (1, 3, 8, 8))
        ragged = [operators.real(3, 8, 8), operators.real(3, 5, 7)]
        self.assertEqual(
            import_onnx(free, ragged, shape=(1, 3, 8, 8)).input.shape, (1, 3, 8, 8))
        for bad in ([], [*ragged, numpy.full((3, 8, 8), numpy.nan)]):
            with self.assertRaises(ValueError):
                import_onnx(free, bad, shape=(1, 3, 8, 8))

    def test_without_onnx_one_line_says_what_to_install(self):
        (self.room / "sitecustomize.py").write_text(
            "import sys\nsys.modules['onnx'] = None\n", encoding="ascii")
        source = ROOT / "python" / "src"
        done = self.importer(
            "digits.onnx", "out", environment={"PYTHONPATH": f"{self.room}:{source}"})
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        (line,) = done.stderr.splitlines()
        self.assertIn("needs the package onnx", line)
        self.assertIn("pip install onnx", line)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[1:-1])
