#include "conformance/host/calls.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "backends/call.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

// The attributes of a letter's call.
client::Attributes attributes_of(const Letter& letter, const char* mail) {
  const OpInfo& op = *operators()[static_cast<std::size_t>(letter.op)];
  if (letter.texts == 0) return client::attributes_of(op, {letter.attrs, letter.attr_count});
  client::Attributes all;
  const char* at = mail + letter.texts;
  for (int k = 0; k < letter.text_count; ++k) {
    const std::string name = at, text = at + name.size() + 1;
    all.word(name, text);
    at += name.size() + text.size() + 2;
  }
  return all;
}

// The graph of a letter. It refers to these types of its entries.
client::Graph graph_of(const Letter& outer, const GraphLetter& letter,
    const std::vector<Slot>& types, const char* mail, char* const* tensors) {
  client::Graph graph;
  const auto numbers = [&](u64 at, int first, int count) {
    const int* all = reinterpret_cast<const int*>(mail + at) + first;
    return std::vector<uint32_t>(all, all + count);
  };
  const auto* nodes = reinterpret_cast<const GraphNode*>(mail + letter.nodes);
  for (const GraphNode& n : std::span(nodes, static_cast<std::size_t>(letter.node_count))) {
    const OpInfo& op = *operators()[static_cast<std::size_t>(n.op)];
    graph.nodes.push_back({std::string(op.name), client::attributes_of(op, {n.attrs, n.attr_count}),
        numbers(n.entries, 0, n.in_count), numbers(n.entries, n.in_count, n.out_count)});
  }
  for (std::size_t e = 0; e < types.size(); ++e) {
    const Slot& s = types[e];
    const auto rank = static_cast<std::size_t>(s.rank);
    const bool is_constant =
        std::cmp_greater_equal(e, letter.feed_count) && std::cmp_less(e, outer.in_count);
    graph.entries.push_back({{s.shape, rank}, {s.stride, rank}, s.precision,
        is_constant ? tensors[e] : nullptr, s.is_int8});
  }
  for (int e = 0; e < letter.feed_count; ++e) graph.feeds.push_back(static_cast<uint32_t>(e));
  graph.heads = numbers(letter.heads, 0, outer.out_count);
  return graph;
}

// What stands then in arrays that a backend was given.
constexpr int64_t kSpoilt = -1;
constexpr char kBlank = '?';

// Overwrites the arrays that prepare() or compile() was given, because they live only until it
// returns.
void spoil(std::string& op, const client::Attributes& attrs) {
  const auto blank = [](const char* text) {
    if (text) std::memset(const_cast<char*>(text), kBlank, std::strlen(text));
  };
  blank(op.c_str());
  for (const ls_attr& a : attrs.rows()) {
    if (a.ints) std::fill_n(const_cast<int64_t*>(a.ints), a.count, kSpoilt);
    blank(a.key);
    blank(a.text);
  }
}
void spoil(std::vector<Slot>& types) {
  for (Slot& s : types) {
    std::fill_n(s.shape, s.rank, kSpoilt);
    std::fill_n(s.stride, s.rank, kSpoilt);
  }
}

// Numbers and characters that were not overwritten.
std::size_t left_of(const client::Call& call, const std::vector<Slot>& types) {
  const auto letters = [](std::string_view text) {
    return text.size() - static_cast<std::size_t>(std::count(text.begin(), text.end(), kBlank));
  };
  const auto numbers = [](const int64_t* first, std::size_t n) {
    return n - static_cast<std::size_t>(std::count(first, first + n, kSpoilt));
  };
  std::size_t n = letters(call.op);
  for (const ls_attr& a : call.attrs.rows())
    n += letters(a.key) + letters(a.text ? a.text : "") + numbers(a.ints, a.ints ? a.count : 0);
  for (const Slot& s : types)
    for (const auto* extents : {s.shape, s.stride})
      n += numbers(extents, static_cast<std::size_t>(s.rank));
  return n;
}

const GraphLetter& graph_letter(const Letter& letter, const char* mail) {
  return *reinterpret_cast<const GraphLetter*>(mail + letter.graph);
}

// Makes a plan of a letter's graph, whose arrays are overwritten then.
template <class F>
auto planned(const Letter& letter, const char* mail, char* const* tensors, const F& make) {
  const GraphLetter& its = graph_letter(letter, mail);
  const auto* entries = reinterpret_cast<const Slot*>(mail + its.entries);
  std::vector<Slot> types(entries, entries + its.entry_count);
  client::Graph graph = graph_of(letter, its, types, mail, tensors);
  auto plan = make(graph);
  for (client::Node& n : graph.nodes) spoil(n.op, n.attrs);
  spoil(types);
  return plan;
}

}  // namespace

bool note(Reply& r, const client::Status& s) {
  r.code = s.code == LS_OK       ? kOk
      : s.code == LS_LOGIC       ? kLogic
      : s.code == LS_RUNTIME     ? kRuntime
      : s.code == LS_UNSUPPORTED ? kUnsupported
                                 : kBroken;
  copy_text(r.label, s.label);
  copy_text(r.text, s.text);
  return s.ok();
}

std::vector<Slot> types_of(const Letter& letter, const char* mail) {
  const auto* slots = reinterpret_cast<const Slot*>(mail + letter.slots);
  return {slots, slots + letter.tensors()};
}

client::Call call_of(const Letter& letter, const std::vector<Slot>& types, const char* mail) {
  const OpInfo& op = *operators()[static_cast<std::size_t>(letter.op)];
  client::Call call{std::string(op.name), attributes_of(letter, mail), {}, {}};
  for (const Slot& s : types) {
    const auto rank = static_cast<std::size_t>(s.rank);
    (&s - types.data() < letter.in_count ? call.in : call.out)
        .push_back({{s.shape, rank}, {s.stride, rank}, s.precision, nullptr});
  }
  return call;
}

client::Result<client::Plan> prepared(
    const client::Backend& backend, const Letter& letter, const char* mail, char* const* tensors) {
  std::vector<Slot> types = types_of(letter, mail);
  client::Call call = call_of(letter, types, mail);
  for (std::size_t k = 1; letter.constants && k < call.in.size(); ++k)
    call.in[k].constant = tensors[k];
  const auto constants = std::count_if(
      call.in.begin(), call.in.end(), [](const client::TensorView& v) { return v.constant; });
  auto plan = backend.prepare(call);
  spoil(call.op, call.attrs);
  spoil(types);
  if (letter.plant == Plant::arguments)
    return client::Status{"prepare", LS_LOGIC, "",
        std::to_string(constants) + " constants, " + std::to_string(left_of(call, types)) +
            " of its arguments are left"};
  return plan;
}

client::Result<client::Plan> compiled(
    const client::Backend& backend, const Letter& letter, const char* mail, char* const* tensors) {
  return planned(letter, mail, tensors, [&](client::Graph& g) { return backend.compile(g); });
}

client::Result<CallSequence> prepared_one_by_one(
    const client::Backend& backend, const Letter& letter, const char* mail, char* const* tensors) {
  return planned(
      letter, mail, tensors, [&](client::Graph& g) { return CallSequence::prepare(backend, g); });
}

bool is_sequence(const Letter& letter, const char* mail) {
  return letter.graph != 0 && graph_letter(letter, mail).one_by_one;
}

}  // namespace lockstep::judge
