// Tests the library that nvcc made. On a machine with a device the judge tests it; without a device
// the library must say so.
#include <gtest/gtest.h>

#include <filesystem>

#include "conformance/tests/program.h"

namespace lockstep::judge {
namespace {

std::string library() { return (build_directory() / "lib" / "lockstep" / "cuda.so").string(); }

bool has_driver() { return std::filesystem::exists("/dev/nvidiactl"); }

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Library, NeedsNothingOfCudaToLoad) {
  const Ended e = run({"objdump", "-p", library()});
  ASSERT_EQ(e.exit, 0) << e.err;
  EXPECT_TRUE(contains(e.out, "NEEDED")) << e.out;
  EXPECT_FALSE(contains(e.out, "libcuda")) << e.out;
}

TEST(Library, KeepsItsRuntimeToItself) {
  const Ended e = run({"nm", "--dynamic", "--defined-only", "--format=just-symbols", library()});
  EXPECT_TRUE(contains("\n" + e.out, "\nlockstep_backend_v1\n")) << e.err;
  EXPECT_FALSE(contains("\n" + e.out, "\ncuda")) << e.out;
}

TEST(Library, IsJudgedWithADeviceAndSaysThatThereIsNone) {
  const Ended e = lockstep_says(
      {"check", "cuda", "--tier", "0", "--quiet", "--timeout", "20", "--start-timeout", "60"});
  if (has_driver()) {
    EXPECT_EQ(e.exit, 0) << e.out << e.err;
    return;
  }
  EXPECT_EQ(e.exit, 2) << e.out;
  EXPECT_EQ(e.out, "");
  EXPECT_TRUE(contains(e.err, "/cuda.so' cannot run here: open() failed: no ")) << e.err;
  EXPECT_TRUE(contains(e.err, "NVIDIA")) << e.err;
  EXPECT_TRUE(contains(e.err, "cudaGetDeviceCount")) << e.err;
}

// The library in which ./dev gpu expects memcheck to find an error is a valid backend with wrong
// results.
TEST(Library, IsWrongWhereItsOutputsAreMoved) {
  const std::string moved = (build_directory() / "tests" / "cuda_overrun.so").string();
  const Ended e = lockstep_says({"check", moved, "--tier", "0", "--op", "relu", "--budget", "3",
      "--timeout", "20", "--start-timeout", "60"});
  EXPECT_EQ(e.exit, has_driver() ? 1 : 2) << e.out << e.err;
  EXPECT_EQ(contains(e.err, "cannot run here: "), !has_driver()) << e.err;
}

TEST(Library, HasAManifestWithoutADeviceToo) {
  const Ended e = lockstep_says({"doctor"});
  EXPECT_EQ(e.exit, 0) << e.out << e.err;
  EXPECT_TRUE(contains(e.out, "ok       backend cuda ")) << e.out;
  EXPECT_EQ(contains(e.out, " (cannot run here: cuda)"), !has_driver()) << e.out;
}

TEST(Library, RefusesOptionsOnAnyMachine) {
  const Ended e = lockstep_says({"check", "cuda", "--tier", "0", "--set", "colour=red"});
  EXPECT_EQ(e.exit, 2) << e.out;
  EXPECT_TRUE(contains(e.err, "refuses its options: open() failed: no option 'colour'")) << e.err;
}

}  // namespace
}  // namespace lockstep::judge
