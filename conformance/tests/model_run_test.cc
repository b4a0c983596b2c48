// The verb `model run`.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include "conformance/tests/model_files.h"
#include "containers/byte_order.h"
#include "containers/instrumented.h"

namespace lockstep::judge {
namespace {

using namespace std::string_literals;

class ModelRun : public ScratchTest {
 protected:
  Ended ran(const std::string& model, const Words& more, int exit = 0, const Words& parts = {}) {
    return expect_end(
        joined({"model", "run", model, "--backend", "reference", "--quiet"}, more), exit, parts);
  }
  std::string of_digits(std::size_t count) const {
    return scratch.write("digits.bin", text_of_file(kDigits + "/images.bin").substr(0, 64 * count));
  }
  static params::Tensor array(const std::string& file) {
    const std::string text = text_of_file(file);
    return params::npz::read_npy(std::as_bytes(std::span(text)));
  }
};

TEST_F(ModelRun, GivesTheOutputsOnRecord) {
  const auto record = nlohmann::json::parse(text_of_file(kDigits + "/expected.json"));
  for (const char* backend : {"reference", "cpu"}) {
    const Judged j = judged(
        {"model", "run", kDigits, "--input", of_digits(20), "--quiet", "--backend", backend});
    expect_end(j.end, 0,
        {"input 19\n  dense2  1x10@24  ", " of 20 inputs\n",
            "digest " + record["sha256_first_20"].get<std::string>()});
    EXPECT_EQ(j.report["digest"], record["sha256_first_20"]);
    EXPECT_EQ(j.report["runs"].size(), 20U);
    EXPECT_EQ(j.report["compiled"], backend == "cpu"s);
  }
}

TEST_F(ModelRun, WritesAnArray) {
  const std::string file = scratch.path("y.npy");
  const std::string model = write_model(scratch, relu_of({1, 3}, 8));
  ran(model, {"--input", scratch.write("x.bin", "\xff\x02\x03"), "--output", file}, 0,
      {"  relu 1  1x3@8  0 2 3\n"});
  EXPECT_EQ(array(file), params::from_int32({1, 3}, std::vector<i32>{0, 2, 3}));
  ran(model,
      {"--input", scratch.path("x.bin"), "--input",
          scratch.write("y.bin", "\x04\x05\x06\x07\x08\x09"), "--output", file},
      0, {"input 2\n  relu 1  1x3@8  7 8 9\n"});
  EXPECT_EQ(
      array(file), params::from_int32({3, 1, 3}, std::vector<i32>{0, 2, 3, 4, 5, 6, 7, 8, 9}));
  ran(model, {"--input", scratch.path("y.bin"), "--output", scratch.path("z")});
  EXPECT_EQ(text_of_file(scratch.path("z")), "\x04\x05\x06\x07\x08\x09");
}

// The file of one parameter, whose 64 GiB are a hole that takes no space on a disk.
std::string vast_file(const Scratch& scratch, const std::string& name) {
  constexpr std::uint64_t kSize = std::uint64_t{64} << 30;
  constexpr std::size_t kExtent = 73, kLength = 81, kData = 89;
  std::vector<std::byte> file =
      params::write(std::vector<params::NamedTensor>{{"w", {{0, 8}, {0}, {}}}});
  EXPECT_EQ(file.size(), kData);
  for (const std::size_t at : {kExtent, kLength})
    params::store_little_endian(file.data() + at, kSize);
  std::string path = scratch.write(name, text_of_bytes(file));
  std::filesystem::resize_file(path, kData + kSize);
  return path;
}

TEST_F(ModelRun, NamesTheFileThatTheMachineHasNoMemoryFor) {
  if (ndarray::kInstrumented) GTEST_SKIP() << "a sanitizer takes more addresses than the limit";
  const std::string model = write_model(scratch, relu_of({3}, 8));
  const std::string vast = vast_file(scratch, "model/params"), input = scratch.write("x", "abc");
  const auto limited = [](const std::string& words) {
    return run({"bash", "-c", "ulimit -v 16777216; exec " + program() + " " + words});
  };
  const std::string said = "reading '" + vast + "': no memory for 68719476736 bytes";
  for (const std::string& words :
      {"model run " + model + " --input " + input, "params list " + vast}) {
    const Ended e = limited(words);
    EXPECT_EQ(e.err, "lockstep: " + said + " (exit 2, usage)\n");
    EXPECT_EQ(e.exit, 2);
  }
  const Ended verified = limited("params verify " + vast);
  expect_contains(verified.out, vast + ": not read: " + said);
  EXPECT_EQ(verified.exit, 2);
}

TEST_F(ModelRun, ShowsTheFirstValues) {
  ran(write_model(scratch, relu_of({12}, 8)), {"--input", scratch.write("x", "abcdefghijkl")}, 0,
      {"  12@8  97 98 99 100 101 102 103 104 105 106 ...\n"});
}

TEST_F(ModelRun, RunsSoManyInputsAtMost) {
  const std::string model = write_model(scratch, relu_of({1}, 8));
  const std::string file = scratch.write("x", "abcd");
  ran(model, {"--input", file, "--input", file, "--batch", "6"}, 0,
      {"input 5\n  relu 1  1@8  98\ndigest ", " of 6 inputs\n"});
  ran(model, {"--input", file, "--batch", "6"}, 0, {" of 4 inputs\n"});
}

TEST_F(ModelRun, NamesTheLargestOfEachRow) {
  graph::Draft d = relu_of({2, 3}, 8);
  d.document["postprocess"] = "argmax";
  const Words words = {"--input", scratch.write("x", "\1\2\2\3\1\1\0\0\0\0\0\1"s)};
  const std::string model = write_model(scratch, d);
  const Ended e = ran(model, words, 0, {"\n  argmax  1 0\n"});
  expect_contains(e.out, "\n  argmax  0 2\n");
  const Judged j =
      judged(joined({"model", "run", model, "--backend", "reference", "--quiet"}, words));
  EXPECT_EQ(j.report["runs"][0]["argmax"], (std::vector<int>{1, 0}));
}

TEST_F(ModelRun, HasRoomForSeveralHeads) {
  graph::Draft d;
  d.variable("data", {1, 2, 6}, 8);
  d.call("get_valid_counts", {{0, 0}}, {{1}, {1, 2, 6}});
  d.call("squeeze", {{1, 1}}, {{2, 6}});
  d.head(2);
  d.head(2);
  const std::string model = write_model(scratch, d);
  const Words input = {"--input", scratch.write("x", "\1\2\3\4\5\6\7\0\1\1\1\1"s)};
  ran(model, joined(input, {"--output", scratch.path("y.npy")}), 2,
      {"has room for one head, the model has 2: .npz has room for all"});
  ran(model, joined(input, {"--output", scratch.path("y.npz")}));
  const params::Params all = params::npz::read_file(scratch.path("y.npz"));
  const params::Tensor rows =
      params::from_int32({2, 6}, std::vector<i32>{1, 2, 3, 4, 5, 6, -1, -1, -1, -1, -1, -1});
  ASSERT_EQ(all.tensors.size(), 2U);
  EXPECT_EQ(*all.find("head_0"), rows);
  EXPECT_EQ(*all.find("head_1"), rows);
}

TEST_F(ModelRun, OptionsReachTheBackend) {
  const Words words = {"model", "run", kDigits, "--input", of_digits(1), "--quiet", "--backend"};
  expect_end(joined(words, {"cpu", "--threads", "2"}), 0);
  expect_end(joined(words, {"cpu", "--threads", "1000000"}), 2, {"the backend 'cpu': "});
  expect_end(joined(words, {"cpu", "--threads", "2", "--set", "threads=2"}), 2, {"given twice"});
  expect_end(joined(words, {"null", "--threads", "2"}), 2, {"threads"});
  expect_end(joined(words, {"faulty", "--set", "mutant=none"}), 0);
  expect_end(joined(words, {"faulty", "--set", "mutant=nope"}), 2, {"no mutant 'nope'"});
}

TEST_F(ModelRun, ABackendThatFailsIsNotTheUsersFault) {
  const Ended e = lockstep_says({"model", "run", kDigits, "--input", of_digits(1), "--quiet",
      "--backend", hostile("no_open")});
  EXPECT_EQ(e.exit, 1) << e.out;
  expect_contains(e.err, "no toaster is plugged in (exit 1, fail)\n");
  // Preparing a model may take long, so the verb reads the input first.
  expect_end({"model", "run", kDigits, "--input", "nowhere", "--backend", hostile("no_open")}, 2,
      {"cannot read 'nowhere'"});
}

// A pseudo-terminal, because other readers see a line every five seconds only.
TEST_F(ModelRun, ATerminalShowsProgress) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_TRUE(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
  const std::string name = ptsname(terminal);
  const int kept = open(name.c_str(), O_RDWR | O_NOCTTY);  // so that what was written stays
  const std::pair<const char*, const char*> rows[] = {
      {"reference", ": 26 of 26 calls, 0 failed"}, {"cpu", ": 2 of 2 inputs, 0 failed"}};
  for (const auto& [backend, line] : rows) {
    const std::string command = program() + " model run " + kDigits + " --input " + of_digits(2) +
        " --backend " + backend + " 2>";
    EXPECT_EQ(run({"sh", "-c", command + name}).exit, 0);
    std::string shown;
    pollfd ready{terminal, POLLIN, 0};
    char c = 0;
    while (c != '\n' && poll(&ready, 1, 10'000) == 1 && read(terminal, &c, 1) == 1) shown += c;
    expect_contains(shown, "run " + kDigits + line);
  }
  close(kept);
  close(terminal);
}

TEST_F(ModelRun, BytesGoToStandardOutput) {
  const std::string model = write_model(scratch, relu_of({3}, 8));
  const Words words = {"--input", scratch.write("x.bin", "abcdef"), "--output", "-"};
  EXPECT_EQ(ran(model, words).out, "abcdef");
  ran(model, joined(words, {"--json", "-"}), 2, {"only one output can go to standard output"});
}

TEST_F(ModelRun, AFullDiskIsNotTheBackendsFault) {
  const std::string model = write_model(scratch, relu_of({3}, 8)), file = scratch.path("y.npy");
  std::filesystem::create_symlink("/dev/full", file);
  ran(model, {"--input", scratch.write("x.bin", "abc"), "--output", file}, 4, {"No space left"});
}

TEST_F(ModelRun, NamesMayBeInCapitals) {
  const std::string model = write_model(scratch, relu_of({1, 1, 1, 1}, 8));
  ran(model,
      {"--input", scratch.write("X.NPY", npy<i32>({1, 1, 1, 1}, {7})), "--input",
          scratch.write("X.Png", png({1, 1, 0, "\0\x81"s})), "--output", scratch.path("Y.NPY")});
  EXPECT_EQ(
      array(scratch.path("Y.NPY")), params::from_int32({2, 1, 1, 1, 1}, std::vector<i32>{7, 1}));
}

TEST_F(ModelRun, AResultMayGoIntoAPipe) {
  const std::string pipe = scratch.path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string model = write_model(scratch, relu_of({3}, 8));
  const std::string command = "timeout 60 " + program() + " model run " + model + " --input " +
      scratch.write("x.bin", "abc") + " --backend reference --quiet --json " + pipe +
      " >/dev/null & cat " + pipe + "; wait";
  expect_contains(run({"sh", "-c", command}).out, "\"heads\"");
}

TEST_F(ModelRun, RefusesWhatIsNotThere) {
  const std::string input = of_digits(1);
  ran(kDigits, {"--input", "nowhere"}, 2, {"cannot read 'nowhere': No such file or directory"});
  ran("nowhere", {"--input", input}, 2, {"nowhere"});
  ran(kDigits, {}, 2, {"--input is required"});
  ran(kDigits, {"--input", input, "--batch", "0"}, 2, {"--batch"});
  ran(kDigits, {"--input", input, "--threads", "0"}, 2, {"--threads"});
  expect_end({"model", "run", kDigits, "--input", input, "--backend", "exec:cat"}, 2,
      {"no backend 'exec:cat'"});
  const std::string model = write_model(scratch, relu_of({1, 3}, 8));
  scratch.write("model/params", "");
  const Ended e = lockstep_says({"model", "run", model, "--input", input});
  EXPECT_EQ(e.exit, 1);
  EXPECT_TRUE(e.err.starts_with("lockstep: params: " + model + "/params: offset 0: ")) << e.err;
  expect_contains(e.err, "[too_short] [model.params] (exit 1, fail)\n");
}

}  // namespace
}  // namespace lockstep::judge
