// Tests the helpers for backends in C and C++: texts of attributes, and tables that any caller may
// use, whatever ranks it hands over.
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "backends/backend.hpp"
#include "backends/call.h"
#include "spec/operators.h"

namespace lockstep::backend {
namespace {

std::string text_of(const ls_attr& a) {
  std::string text(ls_attr_text(&a, nullptr, 0), '?');
  EXPECT_EQ(ls_attr_text(&a, text.data(), text.size() + 1), text.size());
  return text;
}

TEST(AttrText, IsTheSpecificationsForEveryAttribute) {
  std::set<AttrKind> kinds;
  for (const OpInfo* op : operators())
    for (int e = 0; e < op->example_count; ++e) {
      const Drawn call = op->example(e).call;
      const client::Attributes attrs = client::attributes_of(*op, call.attributes());
      std::size_t k = 0;
      for (int i = 0; i < op->attrs.size(); ++i) {
        const AttrInfo& f = op->attrs[i];
        if (f.ignored) continue;
        const ls_attr& a = attrs.rows()[k++];
        EXPECT_EQ(a.key, f.name);
        EXPECT_EQ(text_of(a), attribute_text(f, call.attrs[i])) << op->name << " " << f.name;
        kinds.insert(f.kind);
      }
    }
  EXPECT_EQ(kinds.size(), 5U);
}

TEST(AttrText, EndsWhereTheRoomEnds) {
  const int64_t ints[] = {-12, INT64_MIN, 7};
  const ls_attr a{"key", LS_TUPLE, 3, ints, nullptr};
  const std::string whole = "(-12,-9223372036854775808,7)";
  for (std::size_t room = 0; room <= whole.size() + 2; ++room) {
    // A block of exactly this size: a sanitizer sees one byte more.
    const auto text = std::make_unique<char[]>(room);
    EXPECT_EQ(ls_attr_text(&a, text.get(), room), whole.size());
    if (room > 0) {
      EXPECT_EQ(text.get(), whole.substr(0, room - 1));
    }
  }
  const ls_attr none{"key", LS_TUPLE, 0, nullptr, nullptr};
  EXPECT_EQ(text_of(none), "()");
}

// Infers outputs of the ranks given in its options, and counts the elements of its inputs.
struct Ranks {
  explicit Ranks(const Options& options) : ranks(options) {}
  static const char* manifest() { return "{}"; }
  std::unique_ptr<Plan> prepare(const Call& call) {
    for (const ls_tensor& t : call.in)
      throw LogicError(compact(t) ? "compact" : "strided", std::to_string(volume(t)));
    throw std::runtime_error("no inputs");
  }
  std::vector<TensorType> infer(const Call&) {
    std::vector<TensorType> all;
    for (const auto& [name, rank] : ranks)
      all.push_back({std::vector<int64_t>(std::stoul(rank), 3), 8});
    return all;
  }
  Options ranks;
};

using Texts = std::vector<ls_text>;

struct Opened {
  explicit Opened(const Texts& options) {
    EXPECT_EQ(api.open(options.data(), static_cast<uint32_t>(options.size()), &self, &status), 0);
  }
  ~Opened() { api.close(self); }
  const ls_api& api = *table<Ranks>();
  ls_backend* self = nullptr;
  ls_status status{sizeof(ls_status), 0, {}, {}};
};

// Outputs with room for exactly six extents each.
struct Room {
  explicit Room(std::size_t n) : extents(n), out(n) {
    for (std::size_t k = 0; k < n; ++k) {
      extents[k] = std::make_unique<int64_t[]>(6);
      out[k].dl.shape = extents[k].get();
      out[k].dl.ndim = -1;
    }
  }
  std::vector<std::unique_ptr<int64_t[]>> extents;
  std::vector<ls_tensor> out;
};

int32_t infer(const Opened& o, Room& room, uint32_t& n, ls_status& status) {
  return o.api.infer(o.self, "op", nullptr, 0, nullptr, 0, room.out.data(), &n, &status);
}

TEST(Helper, InfersRanksForWhichThereIsRoom) {
  for (const char* rank : {"0", "1", "6"}) {
    Opened o(Texts{{"Y", rank}});
    Room room(1);
    uint32_t n = 1;
    EXPECT_EQ(infer(o, room, n, o.status), LS_OK) << rank;
    EXPECT_EQ(room.out[0].dl.ndim, std::stoi(rank));
    EXPECT_EQ(room.out[0].precision, 8);
    for (int d = 0; d < 6; ++d) EXPECT_EQ(room.extents[0][d], d < std::stoi(rank) ? 3 : 0);
  }
}

TEST(Helper, RefusesRanksAndCountsForWhichThereIsNone) {
  for (const char* rank : {"7", "8", "1000"}) {
    Opened o(Texts{{"Y", "6"}, {"Z", rank}});
    Room room(2);
    uint32_t n = 2;
    EXPECT_EQ(infer(o, room, n, o.status), LS_RUNTIME) << rank;
    EXPECT_STREQ(o.status.text, "no room for an output's rank");
    EXPECT_EQ(room.out[0].dl.ndim, -1) << "nothing is written before the refusal";
  }
  Opened o(Texts{{"Y", "1"}, {"Z", "1"}});
  Room room(1);
  uint32_t n = 1;
  EXPECT_EQ(infer(o, room, n, o.status), LS_RUNTIME);
  EXPECT_STREQ(o.status.text, "no room for the outputs' types");
}

// An illegal call may have any rank, and the backend cannot know that a call is legal before it
// looks.
TEST(Helper, ReadsInputsOfAnyRank) {
  for (int rank : {0, 1, 6, 7, 100}) {
    std::vector<int64_t> shape(static_cast<std::size_t>(rank), 1), strides = shape;
    if (rank > 0) shape.back() = 5;
    ls_tensor t{};
    t.dl.ndim = rank;
    t.dl.shape = shape.data();
    t.dl.strides = strides.data();
    t.precision = 8;
    Opened o(Texts{});
    ls_plan* plan = nullptr;
    uint64_t scratch = 0;
    EXPECT_EQ(
        o.api.prepare(o.self, "op", nullptr, 0, &t, 1, nullptr, 0, &plan, &scratch, &o.status),
        LS_LOGIC);
    EXPECT_STREQ(o.status.label, "compact");
    EXPECT_STREQ(o.status.text, rank > 0 ? "5" : "1");
  }
}

}  // namespace
}  // namespace lockstep::backend
