// What a library receives of a call's attributes, and the default limits.
#include <gtest/gtest.h>

#include "backends/call.h"
#include "conformance/subjects/subject.h"
#include "spec/attributes.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

// The value in a row of the ABI, as the specification would spell it.
std::string text_of(const ls_attr& row) {
  if (row.kind == LS_TEXT) return row.count == 0 ? row.text : "a word that counts";
  if (row.kind == LS_NONE) return row.count == 0 ? "None" : "nothing that counts";
  if (row.kind != LS_TUPLE && row.count != 1) return "not one value";
  if (row.kind == LS_BOOL) return row.ints[0] ? "true" : "false";
  std::string list;
  for (uint32_t k = 0; k < row.count; ++k) list += (k ? "," : "") + std::to_string(row.ints[k]);
  return row.kind == LS_TUPLE ? "(" + list + ")" : list;
}

TEST(AbiAttributes, AreThoseWithAnEffectInTheOrderOfTheSpecification) {
  for (const OpInfo* op : operators())
    for (int i = 0; i < op->example_count; ++i) {
      const Case c = example_case(*op, i);
      const client::Attributes all = client::attributes_of(*op, c.attributes());
      const std::span<const ls_attr> given = all.rows();
      std::size_t n = 0;
      for (int k = 0; k < op->attrs.size(); ++k) {
        if (op->attrs[k].ignored) continue;
        ASSERT_LT(n, given.size()) << op->name;
        EXPECT_EQ(given[n].key, op->attrs[k].name) << op->name;
        EXPECT_EQ(text_of(given[n++]), attribute_text(op->attrs[k], c.attributes()[k])) << op->name;
      }
      EXPECT_EQ(given.size(), n) << op->name;
    }
}

TEST(Limits, AndRunsHaveDefaults) {
  const Limits limits;
  EXPECT_EQ(limits.timeout_s, 2);
  EXPECT_EQ(limits.start_s, 5);
  EXPECT_EQ(limits.memory_gib, ndarray::kInstrumented ? 0 : 8);
  const judge::Run run;
  EXPECT_EQ(run.poison, 0);
  EXPECT_EQ(run.config, 0);
  EXPECT_FALSE(run.constants);
}

}  // namespace
}  // namespace lockstep::judge
