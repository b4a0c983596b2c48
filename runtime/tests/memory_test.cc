// Loads and runs in which memory runs out: each of their allocations fails in turn.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "containers/array/dictionary.h"
#include "containers/tests/counted_memory.h"
#include "reference/graph/load.h"
#include "reference/graph/tests/draft.h"
#include "runtime/backends.h"
#include "runtime/capi/cvm.h"
#include "runtime/session.h"

namespace lockstep::runtime {
namespace {

using graph::array_of;
using Way = SessionOptions;

const std::vector<Way> kHostWays = {
    {"reference"}, {"cpu", {}, Form::whole}, {"cpu", {}, Form::calls}};

class LackOfMemory : public testing::Test {
 protected:
  LackOfMemory() {
    std::filesystem::create_directory(directory_);
    std::ofstream(directory_ + "/symbol.json") << graph::small_draft().text();
    const ndarray::NamedArray weight[] = {{"weight", graph::small_parameters().at("weight")}};
    ndarray::save_file(directory_ + "/params", weight);
  }
  ~LackOfMemory() override { std::filesystem::remove_all(directory_); }

  // Calls until no allocation fails any more; answers with the paths that the errors named.
  template <class Call> std::set<std::string> paths_named(const Call& call) {
    std::set<std::string> paths;
    for (std::size_t number = 0;; ++number) {
      fail_allocation(number);
      try {
        call();
        if (!allocation_failed()) return paths;
      } catch (const utils::OutOfMemory& error) {
        EXPECT_TRUE(allocation_failed());
        paths.insert(error.path());
      } catch (const std::exception& error) {
        allocation_failed();
        ADD_FAILURE() << "allocation " << number << ": " << error.what();
      }
    }
  }

  const std::string directory_ = testing::TempDir() + "lack_of_memory_" + std::to_string(getpid());
};

TEST_F(LackOfMemory, ALoadNamesTheFile) {
  const std::set<std::string> files = {
      directory_, directory_ + "/params", directory_ + "/symbol.json"};
  EXPECT_EQ(paths_named([&] { graph::load_model(directory_); }), files);
  std::vector<Way> ways = kHostWays;
  for (const Form form : {Form::whole, Form::calls})
    ways.push_back({backend_directory() + "/../../tests/cuda_emulated.so", {}, form});
  for (const Way& way : ways)
    EXPECT_EQ(paths_named([&] { Session::load(directory_, way); }), files) << way.backend;
}

TEST_F(LackOfMemory, ACallOfCAnswersWithTheNameOfThePart) {
  const std::string symbol = graph::small_draft().text();
  const ndarray::NamedArray weight[] = {{"weight", graph::small_parameters().at("weight")}};
  const std::vector<std::byte> file = ndarray::save(weight);
  const auto* params = reinterpret_cast<const char*>(file.data());
  std::set<std::string> paths;
  for (std::size_t number = 0;; ++number) {
    void* net = nullptr;
    fail_allocation(number);
    const int status =
        CVMSessionLoad(symbol.data(), symbol.size(), params, file.size(), "cpu", nullptr, 0, &net);
    const bool failed = allocation_failed();
    EXPECT_EQ(CVMAPIFreeModel(net), CVM_OK);
    if (!failed) break;
    if (status == CVM_OK) continue;
    EXPECT_EQ(status, CVM_RUNTIME) << CVMGetLastError();
    EXPECT_STREQ(CVMGetLastErrorLabel(), "");
    const std::string path = CVMGetLastErrorPath(), what = CVMGetLastError();
    EXPECT_TRUE(path.empty() || what.starts_with("reading '" + path + "': ")) << what;
    paths.insert(path);
  }
  EXPECT_EQ(paths, (std::set<std::string>{"", "params", "symbol.json"}));
}

// Not on the emulated device, whose blocks allocate more often than a test can wait for.
TEST_F(LackOfMemory, ASessionRunsAgainAfterIt) {
  for (const Way& way : kHostWays) {
    Session session = Session::load(directory_, way);
    const ndarray::NDArray input = array_of({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
    const auto first_head = [&] {
      const std::vector<ndarray::NDArray> heads = session.run(input);
      const std::span<const i32> values = graph::values_of(heads[0]);
      return std::vector<i32>(values.begin(), values.end());
    };
    const std::vector<i32> expected = first_head();
    EXPECT_EQ(paths_named([&] { session.run(input); }), std::set<std::string>{""});
    EXPECT_EQ(first_head(), expected);
    const std::vector<std::byte> bytes(8, std::byte{1});
    EXPECT_EQ(paths_named([&] { session.infer(bytes); }), std::set<std::string>{""});
    EXPECT_EQ(first_head(), expected);
  }
}

}  // namespace
}  // namespace lockstep::runtime
