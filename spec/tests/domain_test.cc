// Every call that `domain` builds is legal and small, and together the calls reach all interesting
// cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "spec/check.h"
#include "spec/operators.h"
#include "spec/ops.h"
#include "spec/random.h"

namespace lockstep {
namespace {

constexpr int kDraws = 20'000;
constexpr i64 kMostElements = 5'200;  // of a drawn tensor
constexpr i64 kMostSteps = 200'000;   // of a drawn call: output elements times terms of each

class Domain : public testing::TestWithParam<const OpInfo*> {};

INSTANTIATE_TEST_SUITE_P(Operators, Domain, testing::ValuesIn(operators()),
    [](const auto& p) { return std::string(p.param->name); });

// Draw `seed` of an operator.
Drawn drawn(const OpInfo& op, int seed) {
  Seeded draw(static_cast<std::uint64_t>(seed) << 32);
  Drawn call;
  op.domain(draw, call);
  return call;
}

TEST_P(Domain, BuildsLegalCalls) {
  const OpInfo& op = *GetParam();
  for (int seed = 0; seed < kDraws; ++seed) {
    const Drawn call = drawn(op, seed);
    const Refusal r = check(op, call.attributes(), call.types());
    ASSERT_FALSE(r.refused()) << r.label() << " at seed " << seed;
  }
}

TEST_P(Domain, HasTheTypesThatTheFormulasState) {
  const OpInfo& op = *GetParam();
  for (int seed = 0; seed < kDraws; ++seed) {
    const Drawn call = drawn(op, seed);
    const Inferred y = op.infer(call.attributes(), call.types());
    for (int k = 0; k < y.count; ++k) {
      ASSERT_EQ(stated_shape(op, k, call.attributes(), call.types()), y[k].shape)
          << op.shape[k] << " at seed " << seed;
      ASSERT_EQ(stated_precision(op, k, call.attributes(), call.types(), y), y[k].precision)
          << op.precision[k] << " at seed " << seed;
    }
  }
}

// The largest magnitude of an output if every element of the inputs is the largest.
i64 reach(const OpInfo& op, const Drawn& call, const Inferred& y) {
  std::vector<std::vector<i32>> data;
  std::vector<CheckedView> in;
  for (const Type& t : call.types()) {
    data.emplace_back(volume(t.shape), static_cast<i32>(max_of(t.precision)));
    in.emplace_back(t, data.back().data());
  }
  std::vector<i32> results(static_cast<std::size_t>(volume(y[0].shape)));
  const CheckedOut out(y[0], results.data());
  op.evaluate(call.attributes(), {in.data(), call.in_count}, {&out, 1});
  return *std::max_element(results.begin(), results.end());
}

// No sum goes further than that of the largest elements, and none of its parts does.
TEST_P(Domain, NeedsTheAccumulatorThatTheFormulaStates) {
  const OpInfo& op = *GetParam();
  if (op.accumulator.empty()) return;
  int exact = 0;
  for (int seed = 0; seed < 300; ++seed) {
    const Drawn call = drawn(op, seed);
    const Inferred y = op.infer(call.attributes(), call.types());
    const i64 bits = stated_accumulator(op, call.attributes(), call.types(), y);
    const int needed = bit_length(reach(op, call, y)) + 1;
    ASSERT_LE(needed, bits) << op.accumulator << " at seed " << seed;
    ASSERT_LE(bits, y[0].precision) << op.accumulator << " at seed " << seed;
    exact += needed == bits;
    // Fewer bits are enough only if zeros of a padding take part in every sum.
    const bool is_padded = op.name == "conv2d" && call.attrs[3].ints != Tuple{0, 0};
    ASSERT_TRUE(is_padded || needed == bits) << op.accumulator << " at seed " << seed;
  }
  EXPECT_GT(exact, 150);
}

TEST(Formula, StatesAnAccumulatorForEveryOperatorThatAddsUp) {
  std::vector<string_view> adding;
  for (const OpInfo* op : operators())
    if (!op->accumulator.empty()) adding.push_back(op->name);
  EXPECT_EQ(adding, (std::vector<string_view>{"sum", "conv2d", "dense"}));
}

TEST_P(Domain, StaysSmall) {
  const OpInfo& op = *GetParam();
  i64 all = 0;
  for (int seed = 0; seed < kDraws; ++seed) {
    const Drawn call = drawn(op, seed);
    for (const Type& t : call.types()) ASSERT_LE(volume(t.shape), kMostElements) << seed;
    const Inferred y = op.infer(call.attributes(), call.types());
    i64 terms = 1;
    if (op.name == "conv2d") terms = volume(call.in[1].shape) / call.in[1].dim(0);
    if (op.name == "dense") terms = call.in[1].dim(1);
    const i64 steps = volume(y[0].shape) * terms;
    ASSERT_LE(steps, kMostSteps) << seed;
    if (terms == 1) {
      ASSERT_LE(steps, kMostElements) << seed;
    }
    all += steps;
  }
  EXPECT_LE(all / kDraws, 5'000) << "a call on average";
}

/// An attribute that is not fixed takes several values, and an optional input comes and goes.
TEST_P(Domain, MovesEveryAttribute) {
  const OpInfo& op = *GetParam();
  std::map<std::string, std::set<std::string>> seen;
  std::set<int> counts;
  for (int seed = 0; seed < kDraws; ++seed) {
    const Drawn call = drawn(op, seed);
    counts.insert(call.in_count);
    for (int i = 0; i < op.attrs.size(); ++i) {
      std::string text = call.attrs[i].none ? "None" : "";
      for (i64 e : call.attrs[i].ints) text += std::to_string(e) + ",";
      seen[std::string(op.attrs[i].name)].insert(text);
    }
  }
  for (const AttrInfo& a : op.attrs)
    if (!a.ignored && a.range.min < a.range.max) {
      EXPECT_GE(seen[std::string(a.name)].size(), 2u) << a.name;
    }
  const Arity last = op.inputs[op.inputs.size() - 1].arity;
  EXPECT_EQ(counts.size(), last == Arity::variadic ? kMaxDrawn : last == Arity::optional ? 2u : 1u);
}

// An output has exactly the ranks that its operator states.
TEST_P(Domain, ReachesTheRanksOfItsOutputs) {
  const OpInfo& op = *GetParam();
  std::map<int, std::set<int>> ranks;
  for (int seed = 0; seed < kDraws; ++seed) {
    const Drawn call = drawn(op, seed);
    const Inferred y = op.infer(call.attributes(), call.types());
    ASSERT_EQ(y.count, op.outputs.size());
    for (int k = 0; k < y.count; ++k) ranks[k].insert(y[k].rank());
  }
  for (int k = 0; k < op.outputs.size(); ++k) {
    EXPECT_EQ(*ranks[k].begin(), op.outputs[k].rank.min) << k;
    EXPECT_EQ(*ranks[k].rbegin(), op.outputs[k].rank.max) << k;
  }
}

/// FNV-1a over what is drawn.
struct Digest {
  std::uint64_t value = 0xcbf29ce484222325u;
  void add(i64 v) { value = (value ^ static_cast<std::uint64_t>(v)) * 0x100000001b3u; }
};

std::uint64_t digest_of(const OpInfo& op) {
  Digest all;
  for (int seed = 0; seed < 2000; ++seed) {
    const Drawn call = drawn(op, seed);
    for (const Attr& a : call.attributes()) {
      all.add(a.none);
      for (i64 e : a.ints) all.add(e);
    }
    for (const Type& t : call.types()) {
      all.add(t.precision);
      for (i64 e : t.shape) all.add(e);
    }
  }
  return all.value;
}

// The draws of a domain determine every published case set and its hash, so they change on purpose
// only. A new operator has no row until a set with it is published.
constexpr struct {
  string_view op;
  std::uint64_t digest;
} kPublished[] = {
    {"abs", 0x762f7e3dac73ed4cu},
    {"broadcast_add", 0xa3c7f619671e2e48u},
    {"broadcast_div", 0x19becc4442a98848u},
    {"broadcast_greater", 0x19becc4442a98848u},
    {"broadcast_max", 0x19becc4442a98848u},
    {"broadcast_mul", 0x7b7c3a13e34378b9u},
    {"broadcast_sub", 0xa3c7f619671e2e48u},
    {"clip", 0xec43e34b566ec54cu},
    {"concatenate", 0x92d57a6dfa0b2222u},
    {"conv2d", 0x031ffbee7647089fu},
    {"cvm_clip", 0x2e5fd0edb4dcb7d0u},
    {"cvm_left_shift", 0xf7b255fa068d3a07u},
    {"cvm_lut", 0x6b7db11aadd1c32bu},
    {"cvm_precision", 0x762f7e3dac73ed4cu},
    {"cvm_right_shift", 0x60442af04568aa08u},
    {"dense", 0xd1276c1c61a4014du},
    {"elemwise_add", 0x197c61e9e2fb6388u},
    {"elemwise_sub", 0x197c61e9e2fb6388u},
    {"expand_dims", 0xe0ee8bdab3c4dea7u},
    {"flatten", 0x762f7e3dac73ed4cu},
    {"get_valid_counts", 0x0c3cf6f12fd6438du},
    {"max", 0x2e2a985bed756304u},
    {"max_pool2d", 0x9cccda05aa1966f3u},
    {"negative", 0x762f7e3dac73ed4cu},
    {"non_max_suppression", 0x85f2268e360175c6u},
    {"relu", 0x762f7e3dac73ed4cu},
    {"repeat", 0xf23185ac7f8fd2b6u},
    {"reshape", 0x11fd9fe3fcb3b688u},
    {"slice_like", 0x7793bcd23c9429c6u},
    {"squeeze", 0x212a983f001de969u},
    {"strided_slice", 0x66d444e72833646eu},
    {"sum", 0x50414a21c8e2fd4cu},
    {"take", 0xc8bb8ca85a114405u},
    {"tile", 0x9165f40236b9215bu},
    {"transpose", 0xc232cf75023a7093u},
    {"upsampling", 0x48b9ba87c50a879au},
    {"where", 0x56eeb7e0b161ac89u},
};

TEST(PublishedDomains, DrawTheSameCallsAsEver) {
  for (const auto& row : kPublished) {
    const OpInfo* op = find_operator(row.op);
    ASSERT_NE(op, nullptr) << row.op;
    EXPECT_EQ(digest_of(*op), row.digest)
        << row.op << " now draws other calls: 0x" << std::hex << digest_of(*op);
  }
}

/// Expects that at least `often` of the drawn calls have a property, one in a hundred unless given.
template <class Op, class Holds> void expect_often(Holds holds, int often = kDraws / 100) {
  int n = 0;
  for (int seed = 0; seed < kDraws; ++seed) {
    Seeded draw(static_cast<std::uint64_t>(seed) << 32);
    const Case<typename Op::Attrs> c = Op::domain(draw);
    n += holds(c.attrs, Types{c.in, c.count});
  }
  EXPECT_GE(n, often);
}

TEST(DomainReaches, DepthwiseGroupedAndDeepConvolutions) {
  using A = Conv2d::Attrs;
  expect_often<Conv2d>(
      [](const A& a, Types in) { return a.groups > 1 && a.groups == in[0].dim(1); });
  expect_often<Conv2d>(
      [](const A& a, Types in) { return a.groups > 1 && a.groups < in[0].dim(1); });
  expect_often<Conv2d>([](const A&, Types in) { return in[1].dim(1) >= 1041; });
  expect_often<Conv2d>([](const A& a, Types in) { return a.use_bias && in[2].precision > 25; });
  expect_often<Conv2d>([](const A& a, Types) {
    return a.dilation[0] > 1 && a.kernel_size[0] > 1 && a.padding[0] > 0 && a.strides[0] > 1;
  });
}

TEST(DomainReaches, DeepDotProductsAndPartialLastWindows) {
  expect_often<Dense>([](const auto&, Types in) { return in[0].dim(1) >= 1041; });
  expect_often<MaxPool2d>([](const MaxPool2d::Attrs& a, Types in) {
    return a.ceil_mode && MaxPool2d::room(a, in, 0) % a.strides[0] != 0;
  });
}

TEST(DomainReaches, EveryCodeOfReshape) {
  using A = Reshape::Attrs;
  for (const i64 code : {1, 0, -1, -2, -3, -4}) {
    SCOPED_TRACE(code);
    expect_often<Reshape>([code](const A& a, Types) {
      return std::find(a.shape.begin(), a.shape.end(), code) != a.shape.end();
    });
  }
  for (const int missing : {1, 2}) {
    SCOPED_TRACE(missing);
    expect_often<Reshape>([missing](const A& a, Types) {
      for (int k = 0; k + 2 < a.shape.size; ++k)
        if (a.shape[k] == -4 && a.shape[k + missing] == -1) return true;
      return false;
    });
  }
}

TEST(DomainReaches, BackwardSlicesAndOmittedEntries) {
  using A = StridedSlice::Attrs;
  expect_often<StridedSlice>([](const A& a, Types in) {
    for (int d = 0; d < a.stride.size; ++d)
      if (a.stride[d] < 0 && StridedSlice::cut(a, d, in[0].dim(d)).extent() > 2) return true;
    return false;
  });
  expect_often<StridedSlice>(
      [](const A& a, Types) { return a.begin.size < a.stride.size && a.stride[a.begin.size] < 0; });
  expect_often<StridedSlice>([](const A& a, Types in) { return a.end.size < in[0].rank(); });
}

TEST(DomainReaches, TakeWithNoneAndNegativeAxes) {
  expect_often<Take>([](const Take::Attrs& a, Types) { return !a.axis.has_value(); });
  expect_often<Take>([](const Take::Attrs& a, Types) { return a.axis && *a.axis < 0; });
}

TEST(DomainReaches, SumsOfTheWidestPrecision) {
  expect_often<Sum>(
      [](const Sum::Attrs& a, Types in) { return Sum::infer(a, in)[0].precision >= 31; }, 1);
  expect_often<BroadcastAdd>(
      [](const NoAttrs& a, Types in) { return BroadcastAdd::infer(a, in)[0].precision == 32; });
}

}  // namespace
}  // namespace lockstep
