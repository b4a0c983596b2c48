#include "conformance/coverage/cover.h"

#include <algorithm>
#include <map>

#include "conformance/cases/boundary.h"
#include "conformance/cases/mutate.h"
#include "conformance/golden/vector_cases.h"

namespace lockstep::judge {
namespace {

constexpr int kConstantDraws = 24;  // constant calls after which a cell's calls are not evaluated
constexpr int kTries = 3000;        // draws of the search for a legal call in a cell

constexpr char kIllegalSide[] = "just illegal", kLegalSide[] = "just legal";

// Collects the state of one operator's cells from case after case.
class Measure {
 public:
  explicit Measure(const OpInfo& op)
      : op_(op),
        combinations_(op),
        shown_(combinations_.size()),
        shown_constant_(combinations_.size()) {
    for (const CallClass& f : call_classes(op)) add(f);
    for (const CallClass& f : value_classes(op)) add(f);
    for (const std::string& l : typed_labels(op))
      for (const char* side : {kIllegalSide, kLegalSide}) add({l, side});
    for (const std::string& l : text_labels(op)) {
      add({l, kIllegalSide});
      if (has_legal_side(l)) add({l, kLegalSide});
    }
  }

  void look(const Item& item) {
    if (item.texts) return;  // its vector is a TextCase
    if (item.what == Item::illegal) return look_illegal(item);
    look_beside(item);
    if (item.what == Item::typed) return;
    const std::vector<std::size_t> call = open(call_classes(item.call));
    const bool small = elements_of(item.call) <= kMaxRun;
    if (!small && call.empty() && values_done()) return;
    const std::vector<Tensor> in = inputs_of(item.call);
    std::vector<std::size_t> here = open(value_classes(item.call, in));
    here.insert(here.end(), call.begin(), call.end());
    const std::vector<int> classes =
        small ? combinations_.shown_by(item.call, in) : std::vector<int>();
    const bool news = combinations_.count_new(classes, shown_) > 0;
    if (here.empty() && !news) return;
    const bool constant = is_constant(item.what == Item::vector
            ? item.expected
            : reference::outputs(op_, item.call.attributes(), in));
    for (std::size_t k : here) mark(k, item.id, constant);
    combinations_.add_to(constant ? shown_constant_ : shown_, classes);
  }

  // Counts a vector about the spelling of attributes or values.
  void look(const TextCase& w) {
    if (const auto at = numbers_.find(CallClass{w.label, w.legal ? kLegalSide : kIllegalSide});
        at != numbers_.end())
      mark(at->second, w.id, false);
  }

  // Decides for each cell without a case whether one is required or no such call exists.
  CoverRow settle() && {
    for (std::size_t k = 0; k < cells_.size(); ++k)
      if (cells_[k].state == CoverCell::empty) search(k);
    return {&op_, std::move(cells_), settle_combinations()};
  }

 private:
  void add(CallClass f) {
    if (!numbers_.emplace(f, cells_.size()).second) return;
    cells_.push_back({{std::move(f)}, CoverCell::empty, {}});
    constants_.push_back(0);
  }
  // The cells of these classes that have no case yet.
  std::vector<std::size_t> open(const std::vector<CallClass>& classes) const {
    std::vector<std::size_t> all;
    for (const CallClass& f : classes) {
      const auto at = numbers_.find(f);
      if (at == numbers_.end()) continue;
      if (cells_[at->second].state == CoverCell::empty && constants_[at->second] < kConstantDraws)
        all.push_back(at->second);
    }
    return all;
  }
  bool values_done() {
    if (!values_done_) values_done_ = open(value_classes(op_)).empty();
    return values_done_;
  }
  void mark(std::size_t k, const std::string& id, bool constant) {
    if (cells_[k].id.empty()) cells_[k].id = id;
    if (constant) {
      ++constants_[k];
    } else {
      cells_[k].state = CoverCell::covered;
      cells_[k].id = id;
    }
  }
  void look_illegal(const Item& item) {
    const auto at = numbers_.find(CallClass{item.label, kIllegalSide});
    if (at == numbers_.end() || cells_[at->second].state == CoverCell::covered) return;
    const std::vector<std::string> beside = labels_beside(item.call);
    if (!beside.empty() && beside[0].empty()) mark(at->second, item.id, false);
  }
  void look_beside(const Item& item) {
    const bool wanted = std::any_of(cells_.begin(), cells_.end(), [](const CoverCell& c) {
      return c.state == CoverCell::empty && c.classes[0].value == kLegalSide;
    });
    if (!wanted) return;
    for (const std::string& l : labels_beside(item.call))
      if (const auto at = numbers_.find(CallClass{l, kLegalSide}); at != numbers_.end())
        if (cells_[at->second].state == CoverCell::empty) mark(at->second, item.id, false);
  }
  // Searches for a legal call in a cell with another seed and far more draws than the selection.
  void search(std::size_t k) {
    CoverCell& cell = cells_[k];
    const CallClass& f = cell.classes[0];
    const std::vector<CallClass> of_calls = call_classes(op_);
    if (f.value == kLegalSide && f.axis.starts_with("attr.")) {
      // Other rules may forbid both ends of an attribute's range.
      if (!begins(f.axis)) cell.state = CoverCell::impossible;
      return;
    }
    // For any other label and any class of values, every operator has calls.
    if (std::find(of_calls.begin(), of_calls.end(), f) == of_calls.end()) {
      if (constants_[k] > 0) cell.state = CoverCell::constant;
      return;
    }
    Seeded draw(word(0, 7, k));
    const int rounds = constants_[k] > 0 ? kConstantDraws : 1;
    for (int n = 0; n < rounds; ++n) {
      std::optional<Case> c = aimed_case(op_, f, kMaxRun, kTries, draw);
      if (!c) break;
      if (constants_[k] == 0) {
        cell.id = case_id(*c);
        return;
      }
      c->fill = n % 2 == 0 ? Fill::dense : Fill::hinted;
      c->seed = static_cast<u64>(n);
      if (!is_constant(reference::outputs(op_, c->attributes(), inputs_of(*c)))) {
        cell.id = case_id(*c);
        return;
      }
    }
    cell.state = constants_[k] > 0 ? CoverCell::constant : CoverCell::impossible;
  }

  std::vector<CombinationCoverage> settle_combinations() const {
    const Reached& found = reached(op_);
    std::vector<CombinationCoverage> all;
    for (int classes = 2; classes <= combinations_.strength(); ++classes)
      all.emplace_back().classes = classes;
    for (std::size_t t = 0; t < combinations_.size(); ++t) {
      CombinationCoverage& of = all[static_cast<std::size_t>(combinations_.classes_of(t) - 2)];
      if (shown_[t]) {
        ++of.required, ++of.covered;
      } else if (found.combinations[t]) {
        ++of.required;
        of.empty.push_back(combinations_.members_of(t));
      } else {
        of.constant += shown_constant_[t] || found.constant[t];
      }
    }
    return all;
  }

  // Whether some legal call is one step away from a label.
  bool begins(const std::string& label) const {
    const std::vector<Boundary> all = boundaries(op_, 7);
    return std::any_of(all.begin(), all.end(), [&](const Boundary& b) { return b.label == label; });
  }

  const OpInfo& op_;
  const Combinations combinations_;
  std::vector<bool> shown_, shown_constant_;
  std::vector<CoverCell> cells_;
  std::vector<int> constants_;
  std::map<CallClass, std::size_t> numbers_;
  bool values_done_ = false;
};

}  // namespace

std::string text_of(const std::vector<CallClass>& classes) {
  std::string s;
  for (const CallClass& f : classes) s += (s.empty() ? "" : " & ") + f.axis + ": " + f.value;
  return s;
}

string_view name_of(CoverCell::State s) {
  constexpr string_view kNames[] = {"covered", "constant", "empty", "impossible"};
  return kNames[s];
}

i64 CoverRow::count(CoverCell::State s) const {
  return std::count_if(
      cells.begin(), cells.end(), [s](const CoverCell& c) { return c.state == s; });
}

i64 CoverRow::required() const { return std::ssize(cells) - count(CoverCell::impossible); }

bool CoverRow::complete() const {
  return count(CoverCell::empty) == 0 &&
      std::all_of(combinations.begin(), combinations.end(),
          [](const CombinationCoverage& t) { return t.empty.empty(); });
}

bool Cover::complete() const {
  return std::all_of(rows.begin(), rows.end(), [](const CoverRow& r) { return r.complete(); });
}

Cover cover(const Selection& s) {
  const std::vector<Item> items = select_cases(s);
  std::map<const OpInfo*, Measure> measures;
  const std::vector<const OpInfo*> ops = selected_operators(s);
  for (const OpInfo* op : ops) measures.emplace(op, *op);
  for (const Item& item : items) measures.at(item.call.op).look(item);
  if (!s.vectors.empty())
    for (const TextCase& w : text_cases(s.vectors))
      if (const auto at = measures.find(w.op); at != measures.end()) at->second.look(w);
  Cover c{s.tier, s.seed, set_hash(items), {}};
  for (const OpInfo* op : ops) c.rows.push_back(std::move(measures.at(op)).settle());
  return c;
}

}  // namespace lockstep::judge
