#include "conformance/cases/call_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "conformance/host/channel.h"
#include "spec/attributes.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

constexpr u64 kSalt = 17;
constexpr i64 kMostElements = 512;  // of an entry
constexpr i64 kFewCalls = 8;        // of most graphs
constexpr i64 kMostCalls = 40;      // of one graph in kFewOf
constexpr i64 kFewOf = 8;
constexpr int kLayerTries = 32;
constexpr i64 kMostRead = 16 * kMostElements;  // by a call
constexpr i64 kWide = 64;                      // the most channels that compilers keep together
constexpr u64 kNetworkOf = 64;  // one graph of conv2d and dense in so many has a network
constexpr i64 kMostOfNetwork = i64{1} << 20;  // elements of its entries, and read by its calls
constexpr i64 kMostWork = i64{1} << 24;       // multiply-adds of a network
constexpr i64 kHighOf = 16;                   // one network in so many has a high image
constexpr i64 kHigh = 500;                    // rows of an image that blocks do not hold
constexpr i64 kHighWidth = 18;
constexpr i64 kSmallImage = 25;  // places

Tensor drawn_values(const Type& type, Draw& draw) {
  Tensor t{type, {}};
  const i64 most = max_of(type.precision);
  for (i64 k = volume(type.shape); k > 0; --k)
    t.data.push_back(static_cast<i32>(draw(-most, most)));
  return t;
}

// The operators that work element by element, which compilers of graphs fuse with what they read.
const std::vector<const OpInfo*>& pointwise() {
  static const std::vector<const OpInfo*> some = [] {
    std::vector<const OpInfo*> all = operators();
    std::erase_if(all, [](const OpInfo* op) { return !op->in_place; });
    return all;
  }();
  return some;
}

// Builds a graph, beginning with its inputs. At the end, feeds and constants get the first numbers.
class Builder {
 public:
  Builder(const Case& c, const std::function<bool(const Case&)>& claimed)
      : case_(c), claimed_(claimed), draw_(word(c.seed, kSalt, hash_of_name(c.op->name))) {}

  CallGraph build(const std::vector<Tensor>& in, const std::vector<Tensor>& out) {
    std::vector<int> inputs;
    const bool has_constants = draw_.coin(), is_made = draw_.coin();
    for (std::size_t k = 0; k < in.size(); ++k)
      inputs.push_back(k == 0 && is_made ? negated(in[0]) : given(in[k], k > 0 && has_constants));
    results_.push_back(append({case_.op, case_.attrs, inputs, {}}, out));
    const i64 calls = draw_(0, draw_(1, kFewOf) == 1 ? kMostCalls : kFewCalls);
    for (i64 tries = 2 * calls; tries > 0 && std::ssize(g_.nodes) < calls; --tries) {
      const auto& all = draw_.coin() ? pointwise() : operators();
      try_call(*all[static_cast<std::size_t>(draw_(0, std::ssize(all) - 1))]);
    }
    if (word(case_.seed, kSalt + 1, hash_of_name(case_.op->name)) % kFewOf == 0) append_layers();
    if (word(case_.seed, kSalt, kSalt) % kNetworkOf == 0) {
      if (case_.op->name == "conv2d") append_network();
      if (case_.op->name == "dense") append_matrices();
    }
    choose_heads();
    return numbered(g_, feeds_, constants_);
  }

 private:
  static u64 hash_of_name(string_view name) {
    u64 h = 0;
    for (const char c : name) h = word(h, kSalt, static_cast<u64>(c));
    return h;
  }
  static std::string pair(i64 a, i64 b) { return fmt::format("[{},{}]", a, b); }
  int add(Tensor t) {
    g_.entries.push_back(std::move(t));
    return static_cast<int>(g_.entries.size()) - 1;
  }
  // How many more tensors a question can give beside as many heads as any graph has.
  i64 room() const { return kMaxSlots - kMaxHeads - std::ssize(feeds_) - std::ssize(constants_); }
  int given(const Tensor& t, bool constant) {
    const int e = add(t);
    (constant ? constants_ : feeds_).push_back(e);
    return e;
  }
  // An entry with the same values, computed by a call of `negative` if that is claimed.
  int negated(Tensor t) {
    Case c{.op = find_operator("negative"), .in = {t.type}};
    if (!claimed_(c)) return given(t, false);
    const Tensor right = t;
    for (i32& v : t.data) v = -v;
    const int feed = given(t, false);
    return append({c.op, {}, {feed}, {}}, {right});
  }
  // @return the entry of its first output
  int append(CallGraph::Node n, const std::vector<Tensor>& out) {
    for (const Tensor& t : out) n.out.push_back(add(t));
    g_.nodes.push_back(std::move(n));
    return g_.nodes.back().out[0];
  }

  // Appends a call of an operator that reads an entry, if the call that its domain draws is legal
  // with that entry's type. Sums of two tensors are legal only where these have one shape.
  void try_call(const OpInfo& op) {
    Case c = draw_case(op, draw_);
    const bool reads_many = draw_.coin(), alike = draw_.coin();
    std::vector<int> inputs;
    std::vector<Tensor> in;
    for (std::size_t k = 0; k < c.in.size(); ++k) {
      const bool reads = k == 0 || reads_many;
      inputs.push_back(reads ? drawn_entry() : -1);
      if (!reads && alike) c.in[k].shape = c.in[0].shape;
      in.push_back(reads ? g_.entries[static_cast<std::size_t>(inputs[k])] : Tensor{c.in[k], {}});
      c.in[k] = in[k].type;
    }
    if (!refusal(c).refused()) append_claimed(c, inputs, in, kMaxPrecision);
  }

  // Appends a legal call, whose inputs without an entry are drawn.
  // @return whether it is claimed, and its results are neither large nor of more precision
  bool append_claimed(
      const Case& c, std::vector<int> inputs, std::vector<Tensor> in, int precision) {
    if (!claimed_(c)) return false;
    const Inferred types = c.op->infer(c.attributes(), c.types());
    for (int k = 0; k < types.count; ++k)
      if (volume(types[k].shape) > most_elements_ || types[k].precision > precision) return false;
    if (elements(in) > most_read_) return false;
    if (std::count_if(inputs.begin(), inputs.end(), [](int e) { return e < 0; }) > room())
      return false;
    for (std::size_t k = 0; k < in.size(); ++k)
      if (inputs[k] < 0) {
        in[k] = drawn_values(c.in[k], draw_);
        inputs[k] = given(in[k], gives_constants_ || draw_.coin());
      }
    results_.push_back(
        append({c.op, c.attrs, inputs, {}}, reference::outputs(*c.op, c.attributes(), in)));
    return true;
  }

  // Appends layers of a network, each of which reads the one before. Compilers keep tensors between
  // products in a form of their own, and calls drawn one by one seldom form such a chain.
  void append_layers() {
    struct Layer {
      const char* op;
      int precision;  // of its results, at most
    };
    constexpr Layer kLayers[] = {{"conv2d", kMaxPrecision}, {"cvm_right_shift", 8},
        {"max_pool2d", 8}, {"conv2d", kMaxPrecision}, {"cvm_clip", 8}};
    bool first = true;
    for (const Layer& l : kLayers) {
      int tries = kLayerTries;
      while (tries > 0 && !try_layer(*find_operator(l.op), first, l.precision)) --tries;
      if (tries == 0) return;
      first = false;
    }
    append_branches();
    if (draw_.coin()) append_wide();
  }
  // Appends products, whose weights are constants, with as many channels as compilers keep
  // together, a shortcut, and a product with fewer. The first reads the last result or a new image.
  void append_wide() {
    gives_constants_ = true;
    const auto product = [&](int image, i64 channels, i64 taps) {
      const Type& type = type_of(image);
      return type.rank() == 4 &&
          append_product(image, {{channels, type.dim(1), 1, taps}, 8}, -1, "9");
    };
    const Type image{{draw_(1, 2), draw_(1, 3), 1, draw_(2, 4)}, 8};
    const bool is_new = draw_.coin() && room() > 0;
    if (!product(is_new ? given(drawn_values(image, draw_), false) : results_.back(), kWide,
            draw_(1, 2)))
      return;
    const int shortcut = results_.back();
    if (!product(shortcut, kWide, 1)) return;
    if (draw_.coin() &&
        (!append_words("elemwise_add", {}, {results_.back(), shortcut}) ||
            !append_words("cvm_clip", {{"precision", "8"}}, {results_.back()})))
      return;
    const i64 channels = draw_.coin() ? kWide : draw_(1, 8);
    product(results_.back(), channels, 1);
  }
  // Appends two products of the last result, and joins them along their channels or images, adds
  // or multiplies them, or adds one to itself. A product follows unless they are multiplied.
  // Compilers let the two write into one tensor, or one add the other, and must not take weights
  // for an image.
  void append_branches() {
    constexpr i64 kJoined = 4;  // channels that compilers keep in one word, at most
    enum { joined, stacked, added, doubled, multiplied };
    const int image = results_.back();
    const i64 way = draw_(joined, multiplied), channels = kJoined * draw_(1, 2);
    std::vector<int> sides;
    for (const i64 its : {channels, way == joined ? kJoined : channels}) {
      if (!append_product(image, {{its, type_of(image).dim(1), 1, 1}, 8})) return;
      sides.push_back(results_.back());
    }
    if (way == doubled) sides[0] = sides[1];
    if (way == multiplied) {
      append_product(sides[0], type_of(sides[1]), sides[1]);
      return;
    }
    const bool is_one = way <= stacked
        ? append_words("concatenate", {{"axis", way == joined ? "1" : "0"}}, sides)
        : append_words("elemwise_add", {}, sides) &&
            append_words("cvm_clip", {{"precision", "8"}}, {results_.back()});
    if (is_one)
      append_product(results_.back(), {{channels, type_of(results_.back()).dim(1), 1, 1}, 8});
  }

  // Appends the layers of a network, each of which reads the one before. Its images do not fit into
  // one block of a kernel, and its sums are deep: windows with padding and strides, shortcuts,
  // branches that are joined, and groups of single channels. A few images are so high that kernels
  // take them in parts.
  void append_network() {
    gives_constants_ = g_.has_network = true;
    most_elements_ = most_read_ = kMostOfNetwork;
    const bool is_high = draw_(1, kHighOf) == 1;
    // As many channels and taps as kernels take at a time from a row of an image with few channels.
    const bool is_full = draw_.coin();
    const Type image{{1, is_full ? 4 : draw_(1, 4), is_high ? kHigh : draw_(9, 24),
                         is_high ? kHighWidth : draw_(9, 24)},
        8};
    const int feed = given(drawn_values(image, draw_), false);
    if (is_high) {
      work_ = -3 * kMostWork;  // a high image takes more
      append_layer({kWide / 2, 1}, feed) &&
          append_layer({.channels = kWide, .taps = 3, .across = 1}) && append_pooling() &&
          append_layer({kWide, 1});
      return;
    }
    if (!append_layer({kWide, is_full ? draw_(7, 8) : 2 * draw_(1, 3) + 1, draw_(1, 2)}, feed))
      return;
    if (draw_.coin() && !append_pooling()) return;
    for (i64 layers = draw_(2, 4); layers > 0; --layers)
      if (!append_some_layers() || (draw_.coin() && !append_words("relu", {}, {results_.back()})))
        return;
  }
  bool append_some_layers() {
    constexpr i64 kWider = 9 * kWide;
    const Type& x = type_of(results_.back());
    if (x.dim(2) * x.dim(3) <= kSmallImage && draw_.coin() && !append_layer({kWider, 1}))
      return false;
    const int before = results_.back();
    const i64 channels = type_of(before).dim(1), wide = kWide * draw_(1, 3);
    const i64 taps = channels == kWider ? 1 : 2 * draw_(0, 1) + 1;
    switch (draw_(0, 3)) {
      case 0: return append_layer({draw_.coin() ? wide : kWide / 2, taps, draw_(1, 2)});
      case 1:
        return append_layer({channels, taps}) &&
            append_words("elemwise_add", {}, {results_.back(), before}) &&
            (draw_.coin() ? append_words("cvm_clip", {{"precision", "8"}}, {results_.back()})
                          : append_shift(1));
      case 2: {
        if (!append_layer({wide, taps, draw_(1, 2)})) return false;
        const int first = results_.back();
        const i64 stride = type_of(first).dim(2) < type_of(before).dim(2) ? 2 : 1;
        return append_layer({kWide, 1, stride}, before) &&
            append_words("concatenate", {{"axis", "1"}}, {first, results_.back()});
      }
      default: return append_layer({channels, 3, 1, channels}) && append_layer({wide, 1});
    }
  }
  // The same with matrices, for dense: as many units as compilers keep together, or few.
  void append_matrices() {
    gives_constants_ = g_.has_network = true;
    most_elements_ = most_read_ = kMostOfNetwork;
    const Type rows{{draw_(2, 50), draw_(1, 3 * kWide)}, 8};
    int matrix = given(drawn_values(rows, draw_), false);
    for (i64 layers = draw_(2, 4); layers > 0; --layers) {
      const i64 units = draw_(0, 3) > 0 ? kWide * draw_(1, 3) : draw_(1, kWide);
      if (!append_units(units, matrix)) return;
      matrix = results_.back();
    }
  }
  // Appends a matrix product with a bias, in 8 bits.
  bool append_units(i64 units, int matrix) {
    const i64 depth = type_of(matrix).dim(1);
    Case c{.op = case_.op};
    c.attrs = read_attributes(*c.op, {{"units", std::to_string(units)}}).values;
    c.in = {type_of(matrix), {{units, depth}, 8}, {{units}, 16}};
    return append_layer(c, matrix, depth);
  }
  struct Layer {
    i64 channels, taps, stride = 1, groups = 1, across = taps;
  };
  // Appends a convolution with a bias and as much padding as keeps the middle of windows inside,
  // in 8 bits. It reads the last result or an earlier one.
  bool append_layer(const Layer& l, int image = -1) {
    if (image < 0) image = results_.back();
    const Type& x = type_of(image);
    const i64 inputs = x.dim(1) / l.groups, depth = inputs * l.taps * l.across;
    work_ += l.channels * depth * x.dim(2) * x.dim(3) / (l.stride * l.stride);
    if (work_ > kMostWork) return false;
    const AttrTexts attrs{{"channels", std::to_string(l.channels)},
        {"kernel_size", pair(l.taps, l.across)}, {"padding", pair(l.taps / 2, l.across / 2)},
        {"strides", pair(l.stride, l.stride)}, {"groups", std::to_string(l.groups)}};
    Case c{.op = case_.op};
    c.attrs = read_attributes(*c.op, {attrs.begin(), attrs.end()}).values;
    c.in = {x, {{l.channels, inputs, l.taps, l.across}, 8}, {{l.channels}, 16}};
    return append_layer(c, image, depth);
  }
  // Appends a product whose sums have `depth` terms.
  bool append_layer(const Case& c, int x, i64 depth) {
    std::vector<Tensor> in{g_.entries[static_cast<std::size_t>(x)]};
    in.resize(c.in.size());
    // This shift spreads the sums of drawn products over the range of 8 bits.
    constexpr int kBits = 6;
    return !refusal(c).refused() && append_claimed(c, {x, -1, -1}, in, kMaxPrecision) &&
        append_shift(kBits + static_cast<int>(std::bit_width(static_cast<u64>(depth))) / 2);
  }
  bool append_pooling() {
    const auto drawn_pair = [&](i64 a, i64 b) {
      const i64 first = draw_(a, b);
      return pair(first, draw_(a, b));
    };
    return append_words("max_pool2d",
        {{"pool_size", drawn_pair(2, 3)}, {"strides", drawn_pair(1, 2)},
            {"padding", drawn_pair(0, 1)}},
        {results_.back()});
  }
  bool append_shift(int bits) {
    return append_words("cvm_right_shift",
        {{"precision", "8"}, {"shift_bit", std::to_string(bits)}}, {results_.back()});
  }
  const Type& type_of(int e) const { return g_.entries[static_cast<std::size_t>(e)].type; }
  // Appends a product of an image, in 8 bits. Weights that are no entry are drawn.
  bool append_product(int image, const Type& weights, int entry = -1, const char* shift = "5") {
    const auto extent = [&](int d) { return std::to_string(weights.dim(d)); };
    return append_words("conv2d",
               {{"channels", extent(0)}, {"kernel_size", "[" + extent(2) + "," + extent(3) + "]"},
                   {"use_bias", "false"}},
               {image, entry}, weights) &&
        append_words(
            "cvm_right_shift", {{"precision", "8"}, {"shift_bit", shift}}, {results_.back()});
  }
  // Appends a call whose attributes have these texts, with drawn values of a type for the input
  // that is no entry. @return whether the call is legal and claimed
  bool append_words(const char* op, const AttrTexts& attrs, const std::vector<int>& inputs,
      const Type& drawn = {}) {
    Case c{.op = find_operator(op)};
    c.attrs = read_attributes(*c.op, {attrs.begin(), attrs.end()}).values;
    std::vector<Tensor> in;
    for (const int e : inputs) {
      in.push_back(e < 0 ? Tensor{drawn, {}} : g_.entries[static_cast<std::size_t>(e)]);
      c.in.push_back(in.back().type);
    }
    return !refusal(c).refused() && append_claimed(c, inputs, in, kMaxPrecision);
  }
  // Appends a drawn layer. The first one reads drawn values, the others the last result.
  bool try_layer(const OpInfo& op, bool is_first, int precision) {
    Case c = draw_case(op, draw_);
    std::vector<int> inputs(c.in.size(), -1);
    std::vector<Tensor> in(c.in.size());
    if (!is_first) {
      inputs[0] = results_.back();
      in[0] = g_.entries[static_cast<std::size_t>(inputs[0])];
      c.in[0] = in[0].type;
    }
    if (!fit(c)) return false;
    for (std::size_t k = 0; k < c.in.size(); ++k) in[k].type = c.in[k];
    return append_claimed(c, inputs, in, precision);
  }
  // Makes a call legal by giving another input an extent of the first. @return whether it is legal
  static bool fit(Case& c) {
    if (!refusal(c).refused()) return true;
    for (std::size_t k = 1; k < c.in.size(); ++k)
      for (int d = 0; d < c.in[k].rank(); ++d)
        for (const i64 extent : c.in[0].shape) {
          const i64 drawn = std::exchange(c.in[k].shape[d], extent);
          if (!refusal(c).refused()) return true;
          c.in[k].shape[d] = drawn;
        }
    return false;
  }

  // An entry to read: in half of the draws the last result, else any result or any entry.
  int drawn_entry() {
    const auto any_of = [&](i64 n) { return draw_(0, n - 1); };
    switch (draw_(0, 3)) {
      case 0: return static_cast<int>(any_of(std::ssize(g_.entries)));
      case 1: return results_[static_cast<std::size_t>(any_of(std::ssize(results_)))];
      default: return results_.back();
    }
  }

  // Makes the last result a head, and in half of the graphs some other entries, seldom as many as
  // one question has room for: results, or what is a feed, a constant or a head already.
  void choose_heads() {
    constexpr i64 kFewHeads = 2, kCopyOf = 4;
    const auto any_of = [&](const auto& all) {
      return all[static_cast<std::size_t>(draw_(0, std::ssize(all) - 1))];
    };
    g_.heads = {results_.back()};
    if (draw_.coin()) return;
    const i64 most = draw_(1, kFewOf) == 1 ? kMaxHeads - 1 : kFewHeads;
    for (i64 more = draw_(1, most); more > 0; --more) {
      if (draw_(1, kCopyOf) > 1) {
        const int e = any_of(any_of(g_.nodes).out);
        if (std::find(g_.heads.begin(), g_.heads.end(), e) == g_.heads.end()) g_.heads.push_back(e);
        continue;
      }
      const std::vector<int>* const pools[] = {&feeds_, &constants_, &g_.heads};
      const std::vector<int>& pool = *pools[draw_(0, 2)];
      g_.heads.push_back(any_of(pool.empty() ? feeds_ : pool));
    }
  }

  const Case& case_;
  const std::function<bool(const Case&)>& claimed_;
  Seeded draw_;
  CallGraph g_;
  std::vector<int> feeds_, constants_, results_;
  bool gives_constants_ = false;  // for all drawn inputs
  i64 most_elements_ = kMostElements, most_read_ = kMostRead, work_ = 0;
};

}  // namespace

CallGraph numbered(
    const CallGraph& old, const std::vector<int>& feeds, const std::vector<int>& constants) {
  CallGraph g{old.nodes, {}, static_cast<int>(feeds.size()),
      static_cast<int>(feeds.size() + constants.size()), old.heads, old.has_network};
  std::vector<int> now(old.entries.size());
  const auto add = [&](const std::vector<int>& entries) {
    for (const int e : entries) {
      now[static_cast<std::size_t>(e)] = static_cast<int>(g.entries.size());
      g.entries.push_back(old.entries[static_cast<std::size_t>(e)]);
    }
  };
  add(feeds);
  add(constants);
  for (const CallGraph::Node& n : old.nodes) add(n.out);
  const auto renumber = [&](std::vector<int>& all) {
    for (int& e : all) e = now[static_cast<std::size_t>(e)];
  };
  for (CallGraph::Node& n : g.nodes) {
    renumber(n.in);
    renumber(n.out);
  }
  renumber(g.heads);
  return g;
}

bool fits_a_question(const CallGraph& g) { return g.given + std::ssize(g.heads) <= kMaxSlots; }

std::optional<std::size_t> same_tensor(const CallGraph& g, std::size_t k) {
  const int e = g.heads[k];
  if (e < g.given) return static_cast<std::size_t>(e);
  const auto first =
      static_cast<std::size_t>(std::find(g.heads.begin(), g.heads.end(), e) - g.heads.begin());
  if (first == k) return std::nullopt;
  return static_cast<std::size_t>(g.given) + first;
}

void drop_copies(CallGraph& g) {
  std::vector<int> heads;
  for (std::size_t k = 0; k < g.heads.size(); ++k)
    if (!same_tensor(g, k)) heads.push_back(g.heads[k]);
  g.heads = std::move(heads);
}

CallGraph graph_around(const Case& c, const std::vector<Tensor>& in, const std::vector<Tensor>& out,
    const std::function<bool(const Case&)>& claimed) {
  return Builder(c, claimed).build(in, out);
}

std::string graph_text(const CallGraph& g) {
  const auto names = [](const std::vector<int>& entries) {
    std::string s;
    for (const int e : entries) s += (s.empty() ? "e" : ", e") + std::to_string(e);
    return s;
  };
  std::string s;
  for (const CallGraph::Node& n : g.nodes)
    s += names(n.out) + " = " + operator_text(*n.op, n.attrs) + "(" + names(n.in) + "); ";
  s += (g.heads.size() == 1 ? "head " : "heads ") + names(g.heads);
  std::vector<int> bytes;
  for (int e = g.feeds; g.int8_constants && e < g.given; ++e)
    if (g.entries[static_cast<std::size_t>(e)].type.precision <= 8) bytes.push_back(e);
  return bytes.empty() ? s : s + "; int8 " + names(bytes);
}

}  // namespace lockstep::judge
