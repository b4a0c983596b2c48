// The verb `model` beside the graph it shows.
#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/tests/program.h"
#include "reference/graph/graph.h"

namespace lockstep::judge {
namespace {

constexpr char kDigits[] = "conformance/models/digits";

TEST(ModelVerb, ShowEndsWithStorageAndGas) {
  const graph::Graph g(text_of_file(std::string(kDigits) + "/symbol.json"));
  ASSERT_GT(g.gas(), 0);
  const Ended shown = lockstep_says({"model", "show", kDigits});
  EXPECT_EQ(shown.exit, 0) << shown.err;
  const std::string last = std::to_string(g.storage_bytes()) + " bytes of storage, " +
                           std::to_string(g.gas()) + " gas\n";
  EXPECT_TRUE(shown.out.ends_with("\n" + last)) << shown.out;
}

TEST(ModelVerb, ShowHasALineForEachNode) {
  const graph::Graph g(text_of_file(std::string(kDigits) + "/symbol.json"));
  const Ended shown = lockstep_says({"model", "show", kDigits});
  EXPECT_EQ(std::count(shown.out.begin(), shown.out.end(), '\n'), std::ssize(g.nodes()) + 1);
  for (const graph::Node& n : g.nodes())
    EXPECT_NE(shown.out.find(n.name + " "), std::string::npos) << n.name;
}

}  // namespace
}  // namespace lockstep::judge
