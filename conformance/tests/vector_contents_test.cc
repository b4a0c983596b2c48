// What the frozen set contains, judged by its data, not by flags and comments.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "conformance/tests/vector_set.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

namespace fs = std::filesystem;

// The frozen calls with outputs, by operator.
const std::map<const OpInfo*, std::vector<Vector>>& frozen() {
  static const auto all = [] {
    std::map<const OpInfo*, std::vector<Vector>> m;
    for (Vector& v : load_vectors(kFrozenVectors))
      if (v.expectation == Vector::outputs) m[v.call.op].push_back(std::move(v));
    return m;
  }();
  return all;
}

TEST(FrozenSet, FitsIntoEightMebibytes) {
  std::uintmax_t bytes = 0;
  for (const auto& e : fs::directory_iterator(kFrozenVectors))
    if (e.path().extension() == ".json") bytes += fs::file_size(e.path());
  EXPECT_GT(bytes, 1u << 20);
  EXPECT_LE(bytes, 8u << 20);
}

TEST(FrozenSet, HasTheTypesThatTheFormulasState) {
  for (const auto& [op, vectors] : frozen())
    for (const Vector& v : vectors) {
      Inferred out;
      for (const Tensor& y : v.out) out.type[&y - v.out.data()] = y.type;
      for (int k = 0; k < std::ssize(v.out); ++k) {
        EXPECT_EQ(stated_shape(*op, k, v.call.attributes(), v.call.types()), out[k].shape) << v.id;
        EXPECT_EQ(
            stated_precision(*op, k, v.call.attributes(), v.call.types(), out), out[k].precision)
            << v.id;
      }
    }
}

// Whether an operator adds or multiplies: each of its calls infers more bits than its inputs have.
bool grows(const OpInfo& op) {
  for (u64 n = 0; n < 200; ++n) {
    Seeded draw(n);
    const Case c = draw_case(op, draw);
    int widest = 0;
    for (const Type& t : c.in) widest = std::max(widest, t.precision);
    if (op.infer(c.attributes(), c.types())[0].precision <= widest) return false;
  }
  return true;
}

// The largest magnitude that an operator was seen to reach.
i64 reach(const OpInfo& op) {
  i64 most = 0;
  for (u64 n = 0; n < 300; ++n) {
    Seeded draw(n);
    Case c = draw_case(op, draw);
    c.fill = n % 2 == 0 ? Fill::max : Fill::alternating;
    for (Type& t : c.in) {
      while (t.precision < kMaxPrecision && !refusal(c).refused()) ++t.precision;
      while (refusal(c).refused()) --t.precision;
    }
    for (const Tensor& y : reference::outputs(op, c.attributes(), inputs_of(c)))
      for (i32 e : y.data) most = max(most, std::abs(i64{e}));
  }
  return most;
}

// The largest partial sums: the outputs of a call whose input 0 is zero from some element on. Only
// odd ones count: no bit of an odd number beyond 2^t can be dropped.
void note_partial_sums(const Vector& v, std::set<i64>& odd) {
  constexpr std::size_t kStops = 16;
  std::vector<Tensor> in = inputs_of(v.call);
  const std::vector<i32> all = in[0].data;
  for (std::size_t stop = 1; stop <= kStops; ++stop) {
    in[0].data.assign(all.size(), 0);
    std::copy_n(all.begin(), all.size() * stop / kStops, in[0].data.begin());
    for (const Tensor& y : reference::outputs(*v.call.op, v.call.attributes(), in))
      for (i32 e : y.data)
        if (e % 2 != 0) odd.insert(e);
  }
}

TEST(FrozenSet, TakesSumsPastTheEndOfEveryNarrowAccumulator) {
  // Where bfloat16, float16, int16 and float32 stop being exact, and the last bit of int32.
  constexpr int kEnds[] = {8, 11, 15, 24, 30};
  std::vector<string_view> tested;
  for (const OpInfo* op : operators()) {
    if (!grows(*op)) continue;
    tested.push_back(op->name);
    std::set<i64> odd;
    for (const Vector& v : frozen().at(op)) note_partial_sums(v, odd);
    const i64 most = reach(*op);
    EXPECT_GT(most, i64{1} << 29) << op->name;
    for (int t : kEnds) {
      if (most <= i64{1} << t) continue;  // products of 32 bits stay below 2^30
      EXPECT_GT(*odd.rbegin(), i64{1} << t) << op->name << " +2^" << t;
      EXPECT_LT(*odd.begin(), -(i64{1} << t)) << op->name << " -2^" << t;
      // There must be values near the limit, too, not only far beyond.
      EXPECT_TRUE(std::any_of(odd.begin(), odd.end(),
          [&](i64 e) { return std::abs(e) > i64{1} << t && std::abs(e) < i64{4} << t; }))
          << op->name << " near 2^" << t;
    }
  }
  // The test covers every operator that adds.
  for (const char* op : {"sum", "dense", "conv2d", "elemwise_add", "broadcast_mul"})
    EXPECT_TRUE(std::count(tested.begin(), tested.end(), op)) << op;
}

}  // namespace
}  // namespace lockstep::judge
