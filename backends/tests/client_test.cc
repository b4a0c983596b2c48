// Tests what the client says of files and tables that are no backends, of backends that refuse or
// break the contract, and of handles that were moved from; and that it releases everything.
#include "backends/client.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <set>

#include "backends/backend.hpp"
#include "conformance/tests/expect.h"

namespace lockstep::client {
namespace {

// How much the backend below has handed out and not got back.
int opened = 0, plans = 0;
std::set<void*> blocks;

struct Add : backend::DevicePlan {
  Add() { ++plans; }
  ~Add() override { --plans; }
  void start(const int32_t* const* in, int32_t* const* out, void* scratch, void*) const override {
    if (scratch_bytes() > 0) static_cast<char*>(scratch)[scratch_bytes() - 1] = 1;
    for (int k = 0; k < 4; ++k) out[0][k] = in[0][k] + in[1][k];
  }
  const char* path() const override { return "loop"; }
  uint64_t scratch_bytes() const override { return 65; }
};

// Adds two vectors of four in memory of its own. The option `fail` names what it does wrong.
class Adder {
 public:
  static const char* manifest() { return R"({"name": "adder"})"; }
  explicit Adder(const backend::Options& options) {
    for (const auto& [key, value] : options)
      if (key != "fail") throw backend::LogicError("option.unknown", "no option '" + key + "'");
    if (const auto fail = options.find("fail"); fail != options.end()) fail_ = fail->second;
    may("open");
    ++opened;
  }
  ~Adder() { --opened; }
  void* alloc(uint64_t bytes, uint64_t) {
    may("alloc");
    return *blocks.insert(::operator new(bytes)).first;
  }
  void free(void* memory) {
    EXPECT_EQ(blocks.erase(memory), 1U) << "not a block of the backend's";
    ::operator delete(memory);
  }
  void upload(void* device, const void* host, uint64_t bytes) {
    may("upload");
    std::memcpy(device, host, bytes);
  }
  void download(void* host, const void* device, uint64_t bytes) {
    may("download");
    std::memcpy(host, device, bytes);
  }
  void* stream() {
    may("stream");
    return this;
  }
  void wait(void* stream) {
    EXPECT_EQ(stream, this);
    may("wait");
  }
  std::unique_ptr<backend::DevicePlan> prepare(const backend::Call& call) {
    if (call.op != "add") throw backend::Unsupported("only add");
    if (call.in.size() != 2) throw backend::LogicError("add.inputs", "it takes two");
    if (call.attrs.size() > 0 && call.integer("bits") != call.in[0].precision)
      throw backend::LogicError("add.bits", "not the precision");
    EXPECT_EQ(call.in[0].dl.device.device_type, kDLExtDev);
    EXPECT_EQ(call.in[1].flags == LS_CONSTANT, call.in[1].dl.data != nullptr);
    return std::make_unique<Add>();
  }
  std::vector<backend::TensorType> infer(const backend::Call& call) {
    if (call.op != "add") throw backend::Unsupported("only add");
    if (fail_ == "rank") return {{std::vector<int64_t>(7, 1), 8}};
    return {{{4}, call.in[0].precision + 1}};
  }

 private:
  void may(const std::string& what) const {
    if (fail_ == what) throw std::runtime_error("no " + what + " today");
  }
  std::string fail_;
};

// A copy of the table, to break.
ls_api api() { return *backend::table<Adder>(); }

Backend adder(const Options& options = {}) {
  const ls_api table = api();
  return Backend::open(Library(&table), options).value();
}

std::string load_error(const ls_api* table) {
  return judge::words_of<LoadError>([&] { const Library library(table); });
}

std::string load_error(const std::string& path) {
  return judge::words_of<LoadError>([&] { Library::load(path); });
}

class Client : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(opened, 0);
    EXPECT_EQ(plans, 0);
    EXPECT_TRUE(blocks.empty());
  }
};

TEST_F(Client, SaysWhyAFileIsNoBackend) {
  EXPECT_EQ(load_error("/no/such/file.so").rfind("no library: /no/such/file.so", 0), 0U);
  EXPECT_EQ(load_error("libm.so.6"), "it exports no symbol lockstep_backend_v1");
  EXPECT_EQ(load_error(LOCKSTEP_LOADABLE), "");
}

TEST_F(Client, SaysWhyATableIsNoBackends) {
  EXPECT_EQ(load_error(nullptr), "lockstep_backend_v1() returned no table");
  ls_api table = api();
  EXPECT_EQ(load_error(&table), "");
  table.abi = 2;
  EXPECT_EQ(load_error(&table), "it speaks ABI version 2, this program speaks version 1");
  table = api();
  table.size = offsetof(ls_api, path);
  EXPECT_EQ(load_error(&table), "a required function of its table is missing");
  table = api();
  table.wait = nullptr;
  EXPECT_EQ(load_error(&table), "its table has some of the six functions of a device, not all");
  table = api();
  table.manifest = [] { return ""; };
  EXPECT_THROW(Library(&table).manifest(), LoadError);
}

// Behind the end that the backend knows of, the table may contain anything.
TEST_F(Client, TakesWhatAShortTableLacksForAbsent) {
  ls_api table = api();
  ASSERT_NE(table.infer, nullptr);
  table.size = offsetof(ls_api, infer);
  const Library library(&table);
  EXPECT_FALSE(library.has_infer());
  EXPECT_FALSE(library.has_compile());
  const Backend backend = Backend::open(library).value();
  EXPECT_EQ(backend.threads(), 0U);
  EXPECT_EQ(backend.infer({"add", {}, {}, {}}).status().code, LS_UNSUPPORTED);
  EXPECT_EQ(backend.compile({}).status().code, LS_UNSUPPORTED);
}

constexpr std::array<int64_t, 1> kShape = {4}, kStride = {1};
constexpr TensorView kFour{kShape, kStride, 8, nullptr};

TEST_F(Client, TellsARefusalWithItsLabel) {
  const ls_api table = api();
  const auto refused = Backend::open(Library(&table), {{"colour", "red"}});
  EXPECT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code, LS_LOGIC);
  EXPECT_EQ(refused.status().label, "option.unknown");
  EXPECT_EQ(refused.status().text, "no option 'colour'");
  const Backend backend = adder();
  EXPECT_EQ(backend.prepare({"sub", {}, {kFour}, {kFour}}).status().code, LS_UNSUPPORTED);
  auto plan = backend.prepare({"add", {}, {kFour}, {kFour}});
  EXPECT_EQ(plan.status().label, "add.inputs");
  try {
    plan->path();
    ADD_FAILURE() << "a plan that was refused";
  } catch (const Error& e) {
    EXPECT_EQ(e.code, LS_LOGIC);
    EXPECT_EQ(e.label, "add.inputs");
    EXPECT_STREQ(e.what(), "prepare() failed: add.inputs: it takes two");
  }
}

TEST_F(Client, TellsWhichFunctionFailed) {
  const ls_api table = api();
  EXPECT_EQ(Backend::open(Library(&table), {{"fail", "open"}}).status().text, "no open today");
  for (const std::string what : {"alloc", "upload", "stream", "wait", "download"}) {
    const Backend backend = adder({{"fail", what}});
    const Plan plan = backend.prepare({"add", {}, {kFour, kFour}, {kFour}}).value();
    std::array<int32_t, 4> values{};
    try {
      auto x = backend.tensor({4}, 8).value(), y = backend.tensor({4}, 9).value();
      x.write(values).check();
      plan.run({x.data(), x.data()}, {y.data()}).check();
      y.read(values).check();
      ADD_FAILURE() << what << " did not fail";
    } catch (const Error& e) {
      EXPECT_EQ(e.what(), what + "() failed: no " + what + " today");
      EXPECT_EQ(e.code, LS_RUNTIME);
    }
  }
}

TEST_F(Client, TellsWhoBreaksTheContract) {
  ls_api table = api();
  table.open = [](const ls_text*, uint32_t, ls_backend**, ls_status*) -> int32_t { return LS_OK; };
  Status s = Backend::open(Library(&table)).status();
  EXPECT_EQ(s.code, kBroken);
  EXPECT_EQ(s.text, "open() succeeded without a backend");
  table = api();
  table.alloc = [](ls_backend*, uint64_t, uint64_t, ls_status*) -> void* { return nullptr; };
  table.prepare = [](ls_backend*, const char*, const ls_attr*, uint32_t, const ls_tensor*, uint32_t,
                      const ls_tensor*, uint32_t, ls_plan**, uint64_t*,
                      ls_status*) { return int32_t{LS_OK}; };
  table.infer = [](ls_backend*, const char*, const ls_attr*, uint32_t, const ls_tensor*, uint32_t,
                    ls_tensor* out, uint32_t* n, ls_status*) {
    out[0].dl.ndim = kRankMax + 1;
    *n = *n == 1 ? 1 : 9;
    return int32_t{LS_OK};
  };
  table.stream = [](ls_backend*, void**, ls_status*) { return 7; };
  const Backend backend = Backend::open(Library(&table)).value();
  EXPECT_EQ(backend.allocate(4).status().text, "alloc() returned nothing");
  EXPECT_EQ(
      backend.prepare({"add", {}, {}, {}}).status().text, "prepare() succeeded without a plan");
  EXPECT_EQ(backend.infer({"add", {}, {}, {}}).status().text,
      "infer() counts more outputs than there is room for");
  EXPECT_EQ(backend.infer({"add", {}, {}, {}}, 1).status().text,
      "infer() gives an output an impossible rank");
  s = backend.stream().status();
  EXPECT_EQ(s.code, kBroken);
  EXPECT_EQ(s.text, "answered the unknown status 7");
}

TEST_F(Client, HasNoRoomForARankOfSeven) {
  const Backend backend = adder({{"fail", "rank"}});
  const Status s = backend.infer({"add", {}, {}, {}}).status();
  EXPECT_EQ(s.code, LS_RUNTIME);
  EXPECT_EQ(s.text, "no room for an output's rank");
}

TEST_F(Client, ComputesWithWeightsThatStay) {
  std::optional<Backend> backend = adder();
  auto x = backend->tensor({4}, 8).value(), w = backend->tensor({4}, 8).value(),
       y = backend->tensor({4}, 9).value();
  w.write(std::array{10, 20, 30, 40}).check();
  Call call{"add", {}, {x.view(), w.constant()}, {y.view()}};
  call.attrs.integer("bits", 8);
  const auto types = backend->infer(call).value();
  ASSERT_EQ(types.size(), 1U);
  EXPECT_EQ(types[0].shape, (std::vector<int64_t>{4}));
  EXPECT_EQ(types[0].precision, 9);
  const Plan plan = backend->prepare(call).value();
  EXPECT_EQ(plan.path(), "loop");
  EXPECT_EQ(plan.scratch_bytes(), 65U);
  backend.reset();  // the objects that came from it keep it open
  EXPECT_EQ(opened, 1);
  std::array<int32_t, 4> values{};
  for (const int32_t first : {1, -1}) {
    x.write(std::array{first, 2, 3, 4}).check();
    plan.run({x.data(), w.data()}, {y.data()}).check();
    y.read(values).check();
    EXPECT_EQ(values, (std::array{10 + first, 22, 33, 44}));
  }
}

TEST_F(Client, RefusesWhatOnlyTheCallerCanHaveDoneWrong) {
  const Backend backend = adder();
  EXPECT_THROW(static_cast<void>(backend.tensor({4, 0})), std::logic_error);
  EXPECT_THROW(static_cast<void>(backend.tensor({INT64_MAX, 3})), std::logic_error);
  const TensorView crooked{kShape, {}};
  EXPECT_THROW(static_cast<void>(backend.prepare({"add", {}, {crooked}, {}})), std::logic_error);
  auto x = backend.tensor({4}).value();
  std::array<int32_t, 5> five{};
  for (const std::size_t n : {3, 5}) {
    EXPECT_THROW(static_cast<void>(x.write({five.data(), n})), std::logic_error);
    EXPECT_THROW(static_cast<void>(x.read({five.data(), n})), std::logic_error);
  }
  auto memory = backend.allocate(4).value();
  EXPECT_THROW(static_cast<void>(memory.write(five.data(), 5)), std::logic_error);
}

TEST_F(Client, NoticesHandlesThatWereMovedFrom) {
  Backend backend = adder();
  Plan plan = backend.prepare({"add", {}, {kFour, kFour}, {kFour}}).value();
  Memory memory = backend.allocate(8).value();
  Stream stream = backend.stream().value();
  const Backend other_backend = std::move(backend);
  const Plan other_plan = std::move(plan);
  const Memory other_memory = std::move(memory);
  const Stream other_stream = std::move(stream);
  EXPECT_EQ(other_memory.bytes(), 8U);
  int32_t value = 0;
  // The use after the move is what is tested.
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_THROW(backend.library(), std::logic_error);
  EXPECT_THROW(static_cast<void>(backend.allocate(4)), std::logic_error);
  EXPECT_THROW(static_cast<void>(plan.execute({}, {}, nullptr)), std::logic_error);
  EXPECT_THROW(static_cast<void>(plan.run({}, {})), std::logic_error);
  EXPECT_THROW(plan.path(), std::logic_error);
  EXPECT_THROW(static_cast<void>(memory.read(&value, 4)), std::logic_error);
  EXPECT_THROW(static_cast<void>(stream.wait()), std::logic_error);
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_EQ(plans, 1);
  plan = other_backend.prepare({"add", {}, {kFour, kFour}, {kFour}}).value();
  EXPECT_EQ(plans, 2);
  plan = other_backend.prepare({"add", {}, {kFour, kFour}, {kFour}}).value();
  EXPECT_EQ(plans, 2) << "the plan before was not released";
}

TEST(Attributes, KeepTheirTextsWhereTheyMove) {
  std::optional<Attributes> first(std::in_place);
  const std::vector<int64_t> pair = {3, 4};
  first->integer("a_name_that_no_string_holds_in_itself", 7).boolean("b", true).tuple("c", pair);
  first->tuple("d", {}).word("e", "word").none("f");
  const Attributes all = std::move(*first);
  first.reset();
  const std::span<const ls_attr> rows = all.rows();
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_STREQ(rows[0].key, "a_name_that_no_string_holds_in_itself");
  EXPECT_EQ(rows[0].ints[0], 7);
  EXPECT_EQ(rows[1].kind, LS_BOOL);
  EXPECT_EQ(rows[1].ints[0], 1);
  EXPECT_EQ(rows[2].count, 2U);
  EXPECT_EQ(rows[2].ints[1], 4);
  EXPECT_EQ(rows[3].count, 0U);
  EXPECT_NE(rows[3].ints, nullptr);
  EXPECT_STREQ(rows[4].text, "word");
  EXPECT_EQ(rows[5].kind, LS_NONE);
  EXPECT_EQ(rows[5].ints, nullptr);
}

}  // namespace
}  // namespace lockstep::client
