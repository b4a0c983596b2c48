#include "conformance/verdict/frozen.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "conformance/base/at_once.h"
#include "conformance/base/form.h"
#include "conformance/base/places.h"
#include "conformance/base/read_file.h"
#include "conformance/base/sha256.h"
#include "conformance/verdict/manifests.h"
#include "conformance/verdict/rehearsal.h"
#include "conformance/verdict/report.h"
#include "spec/gas.h"
#include "spec/operators.h"

namespace lockstep::judge {

using form::Like;

static void fields(auto& f, Like<Frozen::OperatorTier> auto& r) {
  f("set", r.set, {.hash = true});
  f("questions", r.questions, {.hash = true});
  f("calls", r.outputs.calls);
  f("outputs", r.outputs.sum, {.hash = true});
}

static void fields(auto& f, Like<Frozen::Tier> auto& t) {
  f("order", t.order, {.hash = true});
  f("operators", t.operators);
}

static void fields(auto& f, Like<Frozen> auto& z) {
  f.constant("format", 1);
  f("judge", z.judge);
  f("manifests", z.manifests, {.hash = true});
  f("rare", z.rare, {.hash = true});
  f("words", z.words, {.hash = true});
  f("tiers", z.tiers);
}

namespace {

namespace fs = std::filesystem;

constexpr int kTiers = 2;

using ItemsByOperator = std::map<std::string, std::vector<const Item*>>;

ItemsByOperator by_operator(const std::vector<Item>& items) {
  ItemsByOperator all;
  for (const Item& item : items) all[std::string(item.call.op->name)].push_back(&item);
  return all;
}

// The gas that a network charges for a call, or the name of the limit that it exceeds.
std::string gas_of(const Item& i) {
  if (!i.runs()) return "";
  const Case& c = i.call;
  const GasMeter gas = lockstep::gas_of(*c.op, c.attributes(), c.types());
  return gas.exceeded().empty() ? std::to_string(gas.total()) : std::string(gas.exceeded());
}

std::string set_of(const std::vector<const Item*>& items) {
  std::vector<std::string> lines;
  for (const Item* i : items)
    lines.push_back(
        i->id + "\t" + std::to_string(i->what) + "\t" + i->label + "\t" + gas_of(*i) + "\n");
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (const std::string& line : lines) all += line;
  return sha256(all);
}

// The hash of the questions about some small cases, sorted by id, so that the order of a set does
// not matter.
std::string questions_of(std::vector<const Item*> items) {
  constexpr std::size_t kCases = 16;
  std::erase_if(items, [](const Item* i) { return i->runs() && is_large(i->call); });
  std::sort(items.begin(), items.end(), [](const Item* a, const Item* b) { return a->id < b->id; });
  std::vector<const Item*> some;
  const std::size_t n = std::min(kCases, items.size());
  for (std::size_t k = 0; k < n; ++k) some.push_back(items[k * items.size() / n]);
  return questions_hash(some);
}

std::string questions_of_rare() {
  const std::vector<Item> items = rare_cases();
  std::vector<const Item*> all;
  for (const Item& i : items) all.push_back(&i);
  return questions_hash(all);
}

Outputs right_outputs(const std::vector<const Item*>& items) {
  Outputs sum;
  for (const Item* i : items) {
    if (!i->runs()) continue;
    const Case& c = i->call;
    Answer right;
    const bool is_frozen = i->what == Item::vector;
    for (const Tensor& t :
        is_frozen ? i->expected : reference::outputs(*c.op, c.attributes(), inputs_of(c)))
      right.out.push_back(t.data);
    sum.add(output_hash(i->id, right));
  }
  return sum;
}

Selection whole_tier(int tier) {
  Selection s;
  s.tier = tier;
  s.kills = kill_matrix_file();
  s.vectors = vector_directory();
  return s;
}

// The tier that a selection takes its operators from; nullptr if it is none of the frozen ones.
const Frozen::Tier* tier_of(const std::optional<Frozen>& f, const Selection& s) {
  const bool is_other = s.seed != Selection().seed || !s.properties.empty() || !s.cases.empty() ||
      !s.model.empty() || s.budget > 0 || !s.nonce.empty() || s.tier >= kTiers;
  std::error_code none;
  if (is_other || !fs::equivalent(s.vectors, vector_directory(), none)) return nullptr;
  if (!f || f->tiers.size() != kTiers)
    throw std::runtime_error(
        "the frozen tiers of this version are not installed (share/lockstep/frozen_tiers.json)");
  return &f->tiers.at(static_cast<std::size_t>(s.tier));
}

// Checks on some cases that ids, by which a report names cases, read back as the same cases.
void hold_ids(const std::vector<Item>& items) {
  constexpr std::size_t kEvery = 8;
  for (std::size_t k = 0; k < items.size(); k += kEvery) {
    const Item& i = items[k];
    const bool is_line = i.id.find('/') != std::string::npos;  // not the name of a vector
    if (is_line && case_id(parse_case(i.id)) != i.id)
      throw std::runtime_error("this program reads its own case as another: " + i.id);
  }
}

[[noreturn]] void differs(const std::string& what) {
  throw std::runtime_error("this program would judge otherwise than the one that was tested: " +
      what + " (after a change on purpose: lockstep cover --freeze FILE)");
}

}  // namespace

std::vector<Item> rare_cases() {
  std::vector<Item> items;
  for (const char* id :
      {"relu/in=65537@8/fill=dense:1", "elemwise_add/in=65537@8+65537@8/fill=dense:1",
          "conv2d/channels=1/kernel_size=1,1/use_bias=false/in=1x1x1x1@8+1x1x1x1@8/fill=dense:25"})
    items.push_back({Item::legal, parse_case(id), "", id, {}});
  return items;
}

Frozen freeze(int threads) {
  Frozen f{LOCKSTEP_VERSION, manifests_hash(), questions_of_rare(), words_hash(), {}};
  for (int tier = 0; tier < kTiers; ++tier) {
    const std::vector<Item> items = select_cases(whole_tier(tier), threads);
    Frozen::Tier& t = f.tiers.emplace_back(Frozen::Tier{order_hash(items), {}});
    const ItemsByOperator all = by_operator(items);
    for (const auto& [op, its] : all) t.operators[op];
    for_each_at_once(all.size(), threads, [&](std::size_t k) {
      const auto at = std::next(all.begin(), static_cast<std::ptrdiff_t>(k));
      t.operators.at(at->first) = {
          set_of(at->second), questions_of(at->second), right_outputs(at->second)};
    });
  }
  return f;
}

std::string frozen_json(const Frozen& f) { return form::written(f).dump(1) + "\n"; }

Frozen read_frozen(const std::string& text) { return form::parsed<Frozen>(text); }

std::optional<Frozen> installed_frozen() {
  if (frozen_file().empty()) return std::nullopt;
  Frozen f = read_frozen(read_file(frozen_file()));
  return f.judge == LOCKSTEP_VERSION ? std::optional(std::move(f)) : std::nullopt;
}

void hold_cases(const std::optional<Frozen>& f, const Selection& s, const std::vector<Item>& items,
    int threads) {
  hold_ids(items);
  const Frozen::Tier* tier = tier_of(f, s);
  if (!tier) return;
  if (f->manifests != manifests_hash()) differs("what it reads in manifests is something else");
  if (f->words != words_hash()) differs("what it says of wrong elements is something else");
  const ItemsByOperator all = by_operator(items);
  // Graphs have calls of all operators, so those of a program with more are others.
  const bool has_more = operators().size() > tier->operators.size();
  if (!has_more && f->rare != questions_of_rare())
    differs("what it asks about large calls or networks is something else");
  std::map<std::string, std::string> questions;
  for (const auto& [op, its] : all) questions[op];
  for_each_at_once(all.size(), threads, [&](std::size_t k) {
    const auto at = std::next(all.begin(), static_cast<std::ptrdiff_t>(k));
    questions.at(at->first) = questions_of(at->second);
  });
  bool is_whole = all.size() == tier->operators.size();
  for (const auto& [op, its] : all) {
    const auto row = tier->operators.find(op);
    is_whole = is_whole && row != tier->operators.end();
    if (row != tier->operators.end() && row->second.set != set_of(its))
      differs("its cases of " + op + " are not those of tier " + std::to_string(s.tier));
    if (row != tier->operators.end() && row->second.questions != questions.at(op))
      differs("what it asks about cases of " + op + " is something else");
  }
  if (is_whole && fs::path(s.kills) == kill_matrix_file() && order_hash(items) != tier->order)
    differs("the cases of tier " + std::to_string(s.tier) + " stand in another order");
}

void hold_outputs(const std::optional<Frozen>& f, const Selection& s, const Report& r) {
  const Frozen::Tier* tier = tier_of(f, s);
  const bool is_all = r.exit == Exit::pass && r.legal_not_claimed == 0 && r.part.of == 1;
  if (!tier || !is_all) return;
  for (const auto& [op, outputs] : r.outputs) {
    const auto row = tier->operators.find(op);
    if (row != tier->operators.end() && !(row->second.outputs == outputs))
      differs("the outputs of " + op + " that it calls right are others");
  }
}

}  // namespace lockstep::judge
