// Models in this process: on the specification, on the CPU, and on a device, that of the emulated
// CUDA backend, whose tensors lie in memory of its own.
#include "runtime/session.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "containers/array/copy.h"
#include "containers/array/dictionary.h"
#include "containers/array/dlpack.h"
#include "reference/graph/bytes.h"
#include "reference/graph/load.h"
#include "reference/graph/run.h"
#include "reference/graph/tests/draft.h"
#include "reference/graph/zoo/network.h"
#include "runtime/backends.h"

namespace lockstep::runtime {
namespace {

using graph::Draft, graph::array_of, graph::values_of;
using ndarray::NDArray, ndarray::refusal;
using Values = std::vector<i32>;

constexpr const char* kDigits = "conformance/models/digits";

std::string device_library() { return backend_directory() + "/../../tests/cuda_emulated.so"; }

struct Way {
  const char* name;
  std::string backend;
  Form form;
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

class Sessions : public testing::TestWithParam<Way> {
 protected:
  static SessionOptions options() {
    return {.backend = GetParam().backend, .form = GetParam().form};
  }
};

INSTANTIATE_TEST_SUITE_P(All, Sessions,
    testing::Values(Way{"reference", "reference", Form::best}, Way{"cpu", "cpu", Form::whole},
        Way{"cpu_calls", "cpu", Form::calls}, Way{"device", device_library(), Form::whole},
        Way{"device_calls", device_library(), Form::calls}),
    [](const auto& info) { return info.param.name; });

std::vector<Values> heads_of(Session& session, const NDArray& data) {
  std::vector<Values> all;
  for (const NDArray& head : session.run(data)) {
    const std::span<const i32> values = values_of(head);
    all.emplace_back(values.begin(), values.end());
  }
  return all;
}

// The specification's answer.
std::vector<Values> expected(const graph::Model& model, Values data) {
  graph::ReferenceEngine engine;
  const Type& type = model.graph().entry(model.graph().data()).type;
  std::vector<Values> all;
  for (const reference::Tensor& t : graph::Runner(model, engine).run({type, std::move(data)}))
    all.push_back(t.data);
  return all;
}

graph::Model model_of(const Draft& draft, const graph::Parameters& parameters = {}) {
  return graph::Model(graph::Graph(draft.text()), parameters);
}

TEST_P(Sessions, GiveTheBytesOfTheSpecification) {
  Session session = Session::load(kDigits, options());
  EXPECT_EQ(session.is_compiled(), GetParam().form == Form::whole);
  const graph::Model model = graph::load_model(kDigits);
  graph::ReferenceEngine engine;
  graph::Runner runner(model, engine);
  for (u64 seed = 0; seed < 5; ++seed) {
    const std::vector<std::byte> input = graph::zoo::seeded_input(model.graph(), seed);
    EXPECT_EQ(session.infer(input), runner.run(input)) << seed;
  }
}

// Several heads, one of them named twice, one the input and one a parameter; a head that later
// calls read.
TEST_P(Sessions, GiveEveryHead) {
  Draft d;
  const int x = d.variable("data", {2, 3}, 8), w = d.variable("w", {2, 2}, 8);
  const int y = d.call("relu", {{x, 0}}, {{2, 3}}), z = d.call("negative", {{y, 0}}, {{2, 3}});
  for (const int head : {y, x, w, y, z}) d.head(head);
  Session session(model_of(d, {{"w", array_of({2, 2}, {1, 2, 3, 4})}}), options());
  for (const Values& in : {Values{1, -2, 3, -4, 5, -6}, Values{-1, 2, -3, 4, -5, 6}})
    EXPECT_EQ(heads_of(session, array_of({2, 3}, in)), expected(session.model(), in));
}

TEST_P(Sessions, LeaveEarlierResultsAlone) {
  Draft d;
  d.head(d.call("relu", {{d.variable("data", {3}, 8), 0}}, {{3}}));
  Session session(model_of(d), options());
  const std::vector<NDArray> first = session.run(array_of({3}, {1, 2, 3}));
  EXPECT_EQ(heads_of(session, array_of({3}, {4, -5, 6})), (std::vector<Values>{{4, 0, 6}}));
  EXPECT_TRUE(std::ranges::equal(values_of(first[0]), Values{1, 2, 3}));
}

TEST_P(Sessions, TellHowFarARunIs) {
  Draft d;
  int x = d.variable("data", {2}, 8);
  for (int k = 0; k < 3; ++k) x = d.call("negative", {{x, 0}}, {{2}});
  d.head(x);
  Session session(model_of(d), options());
  using Told = std::vector<std::pair<std::size_t, std::size_t>>;
  Told told;
  const std::vector<NDArray> heads = session.run(array_of({2}, {1, -2}),
      [&](std::size_t done, std::size_t all) { told.emplace_back(done, all); });
  EXPECT_EQ(told, session.is_compiled() ? (Told{{1, 1}}) : (Told{{1, 3}, {2, 3}, {3, 3}}));
  EXPECT_TRUE(std::ranges::equal(values_of(heads[0]), Values{-1, 2}));
}

TEST_P(Sessions, AreUsedBySeveralThreads) {
  Session one = Session::load(kDigits, options()), other = Session::load(kDigits, options());
  const graph::Graph& graph = one.model().graph();
  std::vector<std::vector<std::byte>> wrong(4);
  const auto work = [&](u64 thread, Session& session) {
    graph::ReferenceEngine engine;
    graph::Runner runner(session.model(), engine);
    const std::vector<std::byte> input = graph::zoo::seeded_input(graph, thread);
    const std::vector<std::byte> right = runner.run(input);
    for (int run = 0; run < 10; ++run)
      if (const auto got = session.infer(input); got != right) wrong[thread] = got;
  };
  std::vector<std::thread> threads;
  for (u64 t = 0; t < 4; ++t) threads.emplace_back(work, t, std::ref(t < 3 ? one : other));
  for (std::thread& t : threads) t.join();
  for (const auto& bytes : wrong) EXPECT_TRUE(bytes.empty());
}

TEST_P(Sessions, RunAgainAfterARunThatProgressEnded) {
  Draft d;
  int x = d.variable("data", {2}, 8);
  for (int k = 0; k < 3; ++k) x = d.call("negative", {{x, 0}}, {{2}});
  d.head(x);
  Session session(model_of(d), options());
  struct Enough {};
  const auto stop = [](std::size_t, std::size_t) { throw Enough(); };
  EXPECT_THROW(session.run(array_of({2}, {7, 8}), stop), Enough);
  EXPECT_EQ(heads_of(session, array_of({2}, {1, -2})), (std::vector<Values>{{-1, 2}}));
}

TEST_P(Sessions, RunAgainAfterARefusedInput) {
  Draft d;
  d.head(d.call("abs", {{d.variable("data", {2}, 4), 0}}, {{2}}));
  Session session(model_of(d), options());
  EXPECT_EQ(graph::label_from([&] { session.run(array_of({2}, {7, 8})); }), "input.value");
  EXPECT_EQ(heads_of(session, array_of({2}, {7, -7})), (std::vector<Values>{{7, 7}}));
}

// A chain of calls needs memory for two tensors, not for all.
TEST(Session, PlansItsMemory) {
  Draft d;
  int x = d.variable("data", {1, 64, 64}, 8);
  for (int k = 0; k < 10; ++k) x = d.call("negative", {{x, 0}}, {{1, 64, 64}});
  d.head(x);
  const Session session(model_of(d), {.backend = "reference", .form = Form::calls});
  EXPECT_LE(session.memory_bytes(), 2U * 4 * 64 * 64);
  const Session digits = Session::load(kDigits, {.backend = "cpu"});
  const auto planned = static_cast<uint64_t>(digits.model().graph().storage_bytes());
  EXPECT_LE(10 * digits.memory_bytes(), 13 * planned);
}

// A parameter of at most 8 bits is a byte for a backend that reads it so, else it is widened.
TEST(Session, KeepsParametersAsBytes) {
  constexpr u64 kUnits = 200, kWeights = kUnits * kUnits;
  Draft d;
  d.variable("data", {1, kUnits}, 8);
  d.variable("weight", {kUnits, kUnits}, 8);
  d.head(d.call("dense", {{0, 0, 0}, {1, 0, 0}}, {{1, kUnits}},
      {{"units", std::to_string(kUnits)}, {"use_bias", "False"}}));
  const auto memory = [&](Form form) {
    const NDArray weight = array_of({kUnits, kUnits}, Values(kWeights, -3));
    Session session(graph::Model(graph::Graph(d.text()), {{"weight", weight}}),
        {.backend = "cpu", .form = form});
    EXPECT_EQ(heads_of(session, array_of({1, kUnits}, Values(kUnits, 2))),
        std::vector<Values>{Values(kUnits, -6 * static_cast<i32>(kUnits))});
    return session.memory_bytes();
  };
  EXPECT_LT(memory(Form::whole), 2 * kWeights);
  EXPECT_GE(memory(Form::calls), sizeof(i32) * kWeights);
}

// Compiling takes time and memory in proportion to the number of nodes, not to its square.
TEST(Session, CompilesAHundredThousandNodes) {
  Draft d;
  int x = d.variable("data", {1, 2, 3, 3}, 8);
  const graph::Json window = {{"pool_size", "(3,3)"}, {"strides", "(1,1)"}, {"padding", "(1,1)"}};
  for (int k = 0; k < 20'000; ++k) {
    for (int chain = 0; chain < 4; ++chain) x = d.call("negative", {{x, 0}}, {{1, 2, 3, 3}});
    x = d.call("max_pool2d", {{x, 0}}, {{1, 2, 3, 3}}, window);
  }
  d.head(x);
  Session session(model_of(d), {.backend = "cpu", .form = Form::whole});
  EXPECT_EQ(heads_of(session, array_of({1, 2, 3, 3}, Values(18, 5))),
      (std::vector<Values>{Values(18, 5)}));
}

// A chain is compiled in parts when it is long.
TEST(Session, CompilesALongChain) {
  Draft d;
  int x = d.variable("data", {5}, 8);
  for (int k = 0; k < 201; ++k) x = d.call("negative", {{x, 0}}, {{5}});
  d.head(x);
  Session session(model_of(d), {.backend = "cpu", .form = Form::whole});
  EXPECT_EQ(heads_of(session, array_of({5}, {1, -2, 3, -4, 5})),
      (std::vector<Values>{{-1, 2, -3, 4, -5}}));
}

NDArray of_type(DLDataType type, std::size_t bytes, const void* values) {
  NDArray array = NDArray::empty(std::vector<i64>{2, 3}, type);
  std::memcpy(array.mutable_data(), values, bytes);
  return array;
}

TEST(Session, TakesIntegersOfEveryTypeAndLayout) {
  Draft d;
  d.head(d.variable("data", {2, 3}, 8));
  Session session(model_of(d), {.backend = "reference"});
  const std::vector<Values> want = {{1, -2, 3, -4, 5, -6}};
  const std::int8_t bytes[] = {1, -2, 3, -4, 5, -6};
  const i64 longs[] = {1, -2, 3, -4, 5, -6};
  EXPECT_EQ(heads_of(session, of_type({kDLInt, 8, 1}, sizeof bytes, bytes)), want);
  EXPECT_EQ(heads_of(session, of_type({kDLInt, 64, 1}, sizeof longs, longs)), want);
  const NDArray columns = array_of({3, 2}, {1, -4, -2, 5, 3, -6});
  EXPECT_EQ(heads_of(session, columns.view(std::vector<i64>{2, 3}, std::vector<i64>{1, 2})), want);
  for (const uint8_t bits : {uint8_t{8}, uint8_t{32}}) {
    NDArray padded = NDArray::empty(ndarray::paddedBufferDescriptor(
        {kDLInt, bits}, ndarray::Order::kC, {2, 3}, {3, 5}, {1, 4}));
    const NDArray values = bits == 8 ? of_type({kDLInt, 8, 1}, sizeof bytes, bytes)
                                     : array_of({2, 3}, {1, -2, 3, -4, 5, -6});
    ndarray::copy(values.tensor(), padded.mutable_tensor());
    EXPECT_FALSE(padded.copy().is_compact());
    EXPECT_EQ(heads_of(session, padded), want) << "padded, " << +bits << " bits";
  }
}

// The input as another library may lend it by DLPack.
TEST(Session, TakesAnArrayThatBeginsAnywhere) {
  Draft d;
  d.head(d.variable("data", {3}, 8));
  Session session(model_of(d), {.backend = "reference"});
  alignas(i32) std::byte memory[16] = {};
  const i32 values[] = {1, -2, 3};
  std::memcpy(memory + 1, values, sizeof values);
  i64 shape[] = {3};
  const DLTensor lent{memory + 1, ndarray::kHost, 1, {kDLInt, 32, 1}, shape, nullptr, 0};
  const NDArray array = NDArray::adopt(lent, nullptr, nullptr, true);
  EXPECT_NE(graph::as_int32(array).data(), array.data());
  EXPECT_EQ(heads_of(session, array), (std::vector<Values>{{1, -2, 3}}));
}

// The output on its way to another library, which outlives the session and all arrays.
TEST(Session, LendsItsResultsByDlpack) {
  const graph::Model model = graph::load_model(kDigits);
  const Values input(64, 3);
  static int freed = 0;
  static void (*release)(ndarray::dlpack::ManagedTensorVersioned*) = nullptr;
  ndarray::dlpack::ManagedTensorVersioned* managed = nullptr;
  const std::byte* place = nullptr;
  {
    Session session(model, {.backend = "cpu"});
    std::vector<NDArray> heads = session.run(array_of({1, 1, 8, 8}, input));
    place = heads[0].data();
    managed = ndarray::dlpack::export_versioned(heads[0], ndarray::dlpack::Access::kWrite);
    release = std::exchange(managed->deleter, [](auto* self) {
      ++freed;
      release(self);
    });
    EXPECT_EQ(heads_of(session, array_of({1, 1, 8, 8}, Values(64, 0))).size(), 1U);
  }
  NDArray back = ndarray::dlpack::import_versioned(managed);
  EXPECT_EQ(back.data(), place) << "the result was copied";
  NDArray again = back;
  back.reset();
  EXPECT_TRUE(std::ranges::equal(values_of(again), expected(model, input)[0]));
  EXPECT_EQ(freed, 0);
  again.reset();
  EXPECT_EQ(freed, 1);
}

TEST(Session, NamesAHeadOutsideItsType) {
  Draft d;
  const int x = d.variable("data", {1, 2}, 16);
  d.head(x);
  d.head(d.call("cvm_clip", {{x, 0}}, {{1, 2}}, {{"precision", "8"}}));
  SessionOptions options = {
      .backend = "faulty", .options = {{"mutant", "none"}}, .form = Form::calls};
  const NDArray input = array_of({1, 2}, {-127, -1000});
  Session right(model_of(d), options);
  EXPECT_EQ(heads_of(right, input), (std::vector<Values>{{-127, -1000}, {-127, -127}}));
  options.options["mutant"] = "cvm_clip.one_sided";
  Session session(model_of(d), options);
  EXPECT_THROW(
      try { session.run(input); } catch (const utils::LogMessageFatal& e) {
        EXPECT_STREQ(
            e.what(), "the backend 'faulty': heads[1][0][1] is -1000, outside the precision 8");
        throw;
      },
      utils::LogMessageFatal);
}

TEST(Session, NamesWhatIsWrongWithAnInput) {
  Draft d;
  d.head(d.variable("data", {2, 3}, 8));
  Session session(model_of(d), {.backend = "reference"});
  const auto said = [&](const NDArray& data) { return refusal([&] { session.run(data); }); };
  EXPECT_EQ(said({}), "the input is no array [model.input]");
  EXPECT_EQ(said(array_of({3, 2}, Values(6))),
      "the input has the shape (3, 2), \"data\" has (2, 3) [model.input]");
  EXPECT_EQ(said(array_of({2, 3}, {0, 0, 0, 0, 128, 0})),
      "data[1][1]: 128 is outside the precision 8 [input.value]");
  const float floats[6] = {};
  EXPECT_NE(said(of_type({kDLFloat, 32, 1}, sizeof floats, floats)).find("[model.input]"),
      std::string::npos);
  const i64 large[6] = {0, i64{1} << 40};
  EXPECT_NE(
      said(of_type({kDLInt, 64, 1}, sizeof large, large)).find("[model.input]"), std::string::npos);
  EXPECT_EQ(graph::label_from([&] { session.infer({}); }), "model.input");
}

TEST(Session, NamesWhatIsWrongWithABackend) {
  Draft d;
  d.head(d.variable("data", {1}, 8));
  const graph::Model model = model_of(d);
  const auto said = [&](const SessionOptions& o) { return refusal([&] { Session(model, o); }); };
  EXPECT_NE(said({.backend = "nope"}).find("no backend 'nope' (in " + backend_directory() + ": "),
      std::string::npos);
  EXPECT_EQ(said({.backend = "./nope.so"}), "no file './nope.so'");
  EXPECT_NE(said({.backend = kDigits}).find("is no file"), std::string::npos);
  const std::string endless = "./" + std::string(5000, 'x');
  EXPECT_EQ(said({.backend = endless}), "'" + endless + "' cannot be opened: File name too long");
  const std::string json = std::string(kDigits) + "/symbol.json";
  EXPECT_NE(said({.backend = json}).find("is no backend: no library"), std::string::npos);
  EXPECT_NE(
      said({.backend = "cpu", .options = {{"treads", "2"}}}).find("treads"), std::string::npos);
  EXPECT_THROW(Session(model, {.backend = "null", .form = Form::whole}), utils::LogMessageFatal);
}

// A copy that did not reach its end: the loader would kill the process.
TEST(Session, RefusesALibraryThatIsCutShort) {
  const std::string cut = testing::TempDir() + "cut_" + std::to_string(getpid()) + ".so";
  const std::string whole = backend_directory() + "/reference.so";
  const auto said = [&](std::uintmax_t size) {
    std::filesystem::copy_file(whole, cut);
    std::filesystem::resize_file(cut, size);
    std::string answer = refusal([&] { Session(graph::load_model(kDigits), {.backend = cut}); });
    std::filesystem::remove(cut);  // another copy must not overwrite a library in use
    return answer;
  };
  for (const std::uintmax_t size : {100U, 1000U, 100'000U})
    EXPECT_EQ(said(size), "'" + cut + "' is no backend: it is cut short") << size;
  EXPECT_NE(said(0).find("is no backend: no library"), std::string::npos);
  EXPECT_EQ(said(std::filesystem::file_size(whole)), "accepted");
}

class Directory {
 public:
  Directory() { std::filesystem::create_directory(path); }
  ~Directory() { std::filesystem::remove_all(path); }
  void write(const char* name, const std::string& text) const {
    std::ofstream(path + "/" + name, std::ios::binary) << text;
  }
  std::string path = testing::TempDir() + "session_" + std::to_string(getpid());
};

TEST(Session, NamesWhatIsWrongWithFiles) {
  const Directory d;
  const auto said = [&] { return refusal([&] { Session::load(d.path); }); };
  EXPECT_EQ(said(), "'" + d.path + "/symbol.json' cannot be opened: No such file or directory");
  std::filesystem::create_directory(d.path + "/symbol.json");
  EXPECT_EQ(said(), "'" + d.path + "/symbol.json' is a directory");
  std::filesystem::remove(d.path + "/symbol.json");
  d.write("symbol.json", "");
  EXPECT_EQ(said(), d.path + "/symbol.json: the document is not JSON at byte 1 [model.json]");
  d.write("symbol.json", graph::small_draft().text());
  EXPECT_EQ(said(), "params: there is no file '" + d.path + "/params' [model.params]");
  d.write("params", "no parameters");
  EXPECT_TRUE(said().starts_with("params: " + d.path + "/params: offset 0: ")) << said();
  EXPECT_TRUE(said().ends_with(" [magic] [model.params]")) << said();
  ndarray::save_file(d.path + "/params", {});
  EXPECT_EQ(said(), "params.weight: no parameter is given for \"weight\" [model.params]");
  const ndarray::NamedArray weight[] = {{"weight", graph::small_parameters().at("weight")}};
  ndarray::save_file(d.path + "/params", weight);
  EXPECT_EQ(said(), "accepted");
}

// On the host a caller finds the outputs of a repetition in place; on a device they stay there.
TEST(Programs, RepeatARunWithoutCopies) {
  const graph::Model model = graph::load_model(kDigits);
  const Values x(
      static_cast<std::size_t>(volume(model.graph().entry(model.graph().data()).type.shape)), 1);
  for (const std::string& library : {backend_directory() + "/cpu.so", device_library()})
    for (const Form form : {Form::whole, Form::calls}) {
      const client::Backend backend =
          client::Backend::open(client::Library::load(library), {}).value();
      Program program(backend, model, form);
      Values y(10);
      program.run(x.data(), std::vector<i32*>{y.data()});
      const Values right = y;
      std::fill(y.begin(), y.end(), -1);
      program.repeat();
      EXPECT_EQ(y, backend.library().has_device() ? Values(10, -1) : right) << library;
    }
}

}  // namespace
}  // namespace lockstep::runtime
