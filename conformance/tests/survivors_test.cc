// The committed list of survivors.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "conformance/mutator/campaign.h"
#include "conformance/tests/program.h"

namespace lockstep::judge {
namespace {

// An entry whose line was changed since explains nothing any more.
TEST(ShippedExplanations, AreOfMutantsOfToday) {
  std::map<std::string, std::set<std::pair<std::string, std::string>>> mutants;
  for (const Explanation& e : read_explanations("conformance/mutator/survivors.toml")) {
    auto& lines = mutants[e.file];
    if (lines.empty()) {
      const std::string text = text_of_file(e.file);
      for (const Edit& edit : edits_of(e.file, text))
        lines.emplace(line_of(text, edit), line_of(edited(text, edit), edit));
    }
    EXPECT_TRUE(lines.contains({e.before, e.after}))
        << e.file << "\n- " << e.before << "\n+ " << e.after;
  }
}

}  // namespace
}  // namespace lockstep::judge
