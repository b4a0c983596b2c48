// How fast the executable specification runs: time per multiply-add, per element and per tiny call.
#include <benchmark/benchmark.h>

#include <cstdio>

#include "reference/evaluate.h"
#include "spec/attributes.h"

namespace {

using namespace lockstep;
using reference::Tensor;
using Text = std::vector<std::pair<std::string, std::string>>;

// A call with ramps of small values, and how many units of work it is.
struct Workload {
  const char* name;
  const char* op;
  Text attrs;
  std::vector<Type> in;
  i64 units;  // multiply-adds, or elements of the output
};

const Workload kWorkloads[] = {
    {"conv2d_3x3_per_multiply_add",
     "conv2d",
     {{"channels", "16"}, {"kernel_size", "(3,3)"}, {"padding", "(1,1)"}, {"use_bias", "0"}},
     {{{1, 16, 28, 28}, 8}, {{16, 16, 3, 3}, 8}},
     i64{16} * 28 * 28 * 16 * 9},
    {"conv2d_1x1_per_multiply_add",
     "conv2d",
     {{"channels", "64"}, {"kernel_size", "(1,1)"}, {"use_bias", "0"}},
     {{{1, 64, 14, 14}, 8}, {{64, 64, 1, 1}, 8}},
     i64{64} * 14 * 14 * 64},
    {"dense_per_multiply_add",
     "dense",
     {{"units", "64"}, {"use_bias", "0"}},
     {{{16, 256}, 8}, {{64, 256}, 8}},
     i64{16} * 64 * 256},
    {"flatten_per_element", "flatten", {}, {{{16, 32, 32}, 8}}, i64{16} * 32 * 32},
    {"reshape_per_element",
     "reshape",
     {{"shape", "(32,-1)"}},
     {{{16, 32, 32}, 8}},
     i64{16} * 32 * 32},
    {"take_per_element", "take", {{"axis", "0"}}, {{{64, 64}, 8}, {{256}, 8}}, i64{256} * 64},
    {"take_none_per_element", "take", {}, {{{64, 64}, 8}, {{128, 128}, 8}}, i64{128} * 128},
    {"concatenate_per_element", "concatenate", {}, {{{64, 128}, 8}, {{64, 128}, 8}}, i64{64} * 256},
    {"strided_slice_per_element",
     "strided_slice",
     {{"begin", "(0,0)"}, {"end", "(128,256)"}, {"stride", "(1,2)"}},
     {{{128, 256}, 8}},
     i64{128} * 128},
    {"relu_tiny_call", "relu", {}, {{{2, 3}, 8}}, 1},
    {"conv2d_tiny_call",
     "conv2d",
     {{"channels", "1"}, {"kernel_size", "(2,2)"}, {"use_bias", "0"}},
     {{{1, 1, 3, 3}, 8}, {{1, 1, 2, 2}, 8}},
     1},
    {"strided_slice_tiny_call",
     "strided_slice",
     {{"begin", "(2)"}, {"end", "(-4)"}, {"stride", "(-1)"}},
     {{{3}, 8}},
     1}};

void run(benchmark::State& state, const Workload& w) {
  const OpInfo& op = *find_operator(w.op);
  const ReadAttributes attrs = read_attributes(op, w.attrs);
  std::vector<Tensor> in;
  for (const Type& t : w.in) {
    in.push_back({t, {}});
    for (i64 k = 0; k < volume(t.shape); ++k)
      in.back().data.push_back(static_cast<i32>(k % 251 - 125));
  }
  const Attributes values{attrs.values.data(), static_cast<int>(attrs.values.size())};
  if (reference::evaluate(op, values, in).status != reference::Status::ok)
    return state.SkipWithError("the call is refused");
  for (auto _ : state) benchmark::DoNotOptimize(reference::evaluate(op, values, in));
  state.counters["per_unit"] =
      benchmark::Counter(static_cast<double>(w.units) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

}  // namespace

int main(int argc, char** argv) {
  for (const Workload& w : kWorkloads)
    benchmark::RegisterBenchmark(w.name, [&w](benchmark::State& s) { run(s, w); });
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const bool any = benchmark::RunSpecifiedBenchmarks() > 0;
  benchmark::Shutdown();
  return any ? 0 : 1;
}
