// The networks of the literature match their record: the same files, and the same outputs from the
// specification and from the CPU backend, compiled and call by call. With LOCKSTEP_RECORD=1 the
// first test writes the record anew, for which the specification computes a minute.
#include "conformance/golden/networks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ostream>

#include "conformance/base/write_file.h"
#include "reference/graph/bytes.h"
#include "reference/graph/run.h"
#include "runtime/session.h"

namespace lockstep::graph::zoo {
// For the names of tests; without it they contain addresses.
inline void PrintTo(const Architecture& a, std::ostream* out) { *out << a.name; }
}  // namespace lockstep::graph::zoo

namespace lockstep::judge {
namespace {

namespace zoo = graph::zoo;

constexpr const char* kRecord = "conformance/models/networks.json";

std::string reference_output(const graph::Model& model) {
  graph::ReferenceEngine engine;
  graph::Runner runner(model, engine);
  return digest(runner.run(zoo::seeded_input(model.graph(), zoo::kSeed)));
}

/// The digests of the outputs of the CPU backend, compiled and call by call.
std::pair<std::string, std::string> cpu_outputs(const graph::Model& model) {
  const std::vector<std::byte> input = zoo::seeded_input(model.graph(), zoo::kSeed);
  const auto output = [&](runtime::Form form) {
    return digest(runtime::Session(model, {.form = form}).infer(input));
  };
  return {output(runtime::Form::whole), output(runtime::Form::calls)};
}

NetworkDigests recorded_anew() {
  NetworkDigests all;
  for (const bool small : {true, false})
    for (const zoo::Architecture& a : zoo::architectures()) {
      const i64 size = small ? zoo::kStride : a.size;
      const zoo::Network network = zoo::make(a, zoo::kSeed, size);
      all.networks.push_back(files_of(a, size, network));
      all.networks.back().output = reference_output(network.model());
    }
  return all;
}

TEST(NetworkDigests, AreRecordedForEverySize) {
  if (std::getenv("LOCKSTEP_RECORD")) write_file(kRecord, write_networks(recorded_anew()));
  const NetworkDigests record = recorded_networks();
  EXPECT_EQ(record.networks.size(), 2 * zoo::architectures().size());
  for (const zoo::Architecture& a : zoo::architectures())
    for (const i64 size : {zoo::kStride, a.size})
      EXPECT_NE(record.find(a.name, size), nullptr) << a.name << " " << size;
}

class Networks : public testing::TestWithParam<zoo::Architecture> {};

TEST_P(Networks, GiveWhatIsRecordedForSmallImages) {
  const NetworkDigests record = recorded_networks();
  const NetworkDigest* want = record.find(GetParam().name, zoo::kStride);
  ASSERT_NE(want, nullptr);
  const zoo::Network network = zoo::make(GetParam(), zoo::kSeed, zoo::kStride);
  NetworkDigest got = files_of(GetParam(), zoo::kStride, network);
  const graph::Model model = network.model();
  got.output = reference_output(model);
  EXPECT_EQ(got, *want) << write_networks({{got}});
  EXPECT_EQ(cpu_outputs(model), std::pair(want->output, want->output));
}

TEST_P(Networks, GiveWhatIsRecordedAtFullSize) {
  const NetworkDigests record = recorded_networks();
  const NetworkDigest* want = record.find(GetParam().name, GetParam().size);
  ASSERT_NE(want, nullptr);
  const zoo::Network network = zoo::make(GetParam(), zoo::kSeed, GetParam().size);
  NetworkDigest got = files_of(GetParam(), GetParam().size, network);
  got.output = want->output;
  EXPECT_EQ(got, *want) << write_networks({{got}});
  const graph::Model model = network.model();
  EXPECT_EQ(cpu_outputs(model), std::pair(want->output, want->output));
}

INSTANTIATE_TEST_SUITE_P(
    All, Networks, testing::ValuesIn(zoo::architectures()), [](const auto& info) {
      std::string name(info.param.name);
      std::erase(name, '-');
      return name;
    });

}  // namespace
}  // namespace lockstep::judge
