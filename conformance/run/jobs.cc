#include "conformance/run/jobs.h"

#include <malloc.h>

#include <algorithm>
#include <map>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include "conformance/run/agenda.h"
#include "conformance/run/inbox.h"
#include "conformance/run/processes.h"
#include "conformance/subjects/library_subject.h"
#include "conformance/trial/properties.h"
#include "conformance/verdict/outputs.h"

namespace lockstep::judge {
namespace {

using json = nlohmann::ordered_json;

constexpr i64 kCanaries = 16;

ItemResult crashed_at_start(const Item& item, const std::string& text) {
  ItemResult r;
  if (item.runs()) r.outputs = output_hash(item.id, {.kind = AnswerKind::crashed});
  r.outcome = Outcome::crashed;
  r.judged = {std::string(kMatchesReference.name)};
  r.findings = {{std::string(kMatchesReference.name), {text, AnswerKind::crashed}}};
  return r;
}

using Results = std::map<std::size_t, ItemResult>;

// The stretch of each item. All stretches hold equally many calls that run, so that each stretch
// can have one canary of each property.
std::vector<i64> stretches_of(const std::vector<const Item*>& items) {
  const i64 all =
      std::count_if(items.begin(), items.end(), [](const Item* i) { return i->runs(); });
  std::vector<i64> stretches;
  i64 before = 0;
  for (const Item* item : items) {
    stretches.push_back(min(before * kCanaries / std::max<i64>(1, all), kCanaries - 1));
    before += item->runs();
  }
  return stretches;
}

// The data that the processes of a run share.
struct Work {
  const std::string& backend;
  const std::vector<const Item*>& items;
  const TrialPlan& plan;
  const Selection& selection;
  const Conduct& conduct;
  const Results known;  // from the journal
  const std::vector<i64> stretches = stretches_of(items);
  Agenda agenda = {};
  const OpInfo& operator_of(std::size_t n) const { return *items[n]->call.op; }
};

// The work of one process: it takes items from the agenda and judges them, except those that the
// journal knows and those whose operator is quarantined.
class JudgingProcess {
 public:
  explicit JudgingProcess(const Work& work) : work_(work) {}

  void run(int fd) {
    // Large tensors would else be mapped anew for each question, page by page.
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    work_.agenda.keep_from_children();
    for (bool is_more = true; is_more;) {
      std::vector<std::size_t> group;
      const i64 most = subject_ && subject_->takes_many() ? together_ : 1;
      for (i64 elements = 0; is_more && elements < most;) {
        const std::size_t n = work_.agenda.take();
        is_more = n < work_.items.size();
        if (!is_more || work_.known.contains(n) || work_.agenda.is_aside(work_.operator_of(n)))
          continue;
        group.push_back(n);
        elements += kElementsOfCase + elements_of(*work_.items[n]);
      }
      if (!group.empty()) judge_group(group, fd);
    }
  }

 private:
  // Cases are put in groups, since waiting for an answer takes longer than most calls. Groups grow
  // as long as no case ends the backend's process: other cases of its group would delay quarantine.
  static constexpr i64 kElementsOfGroup = i64{1} << 17, kElementsOfCase = i64{1} << 12;
  i64 together_ = 1;
  static i64 elements_of(const Item& item) {
    i64 n = 0;
    for (const Type& t : item.call.in) n += item.runs() ? volume(t.shape) : 0;
    return n;
  }
  void judge_group(const std::vector<std::size_t>& group, int fd) {
    std::vector<Trial> trials;
    try {
      trials = put(group);
    } catch (const LoadCrash&) {
      // The library may crash on loading here although it did not at the start of the run.
    }
    together_ = std::min(2 * together_ + kElementsOfCase, kElementsOfGroup);
    for (std::size_t k = 0; k < group.size(); ++k) {
      const CaseResult c{
          group[k], trials.empty() ? judged_alone(group[k]) : judged(trials[k], group[k])};
      if (ended_process(c.result)) together_ = 1;
      send_line(fd, form::written(c));
    }
  }
  std::vector<Trial> put(const std::vector<std::size_t>& group) {
    if (!subject_) {
      std::unique_ptr<Subject> opened = open_subject(work_.backend, work_.conduct.limits);
      configure(*opened, work_.plan);
      subject_ = std::move(opened);
    }
    std::vector<const Item*> items;
    for (std::size_t n : group) items.push_back(work_.items[n]);
    return perform(*subject_, items, work_.plan);
  }
  ItemResult judged_alone(std::size_t n) {
    std::optional<Trial> t = put_alone(n);
    if (t) return judged(*t, n);
    ItemResult r = crashed_at_start(*work_.items[n], why_no_start_);
    r.flaky = repeats_failures(work_.conduct) && put_alone(n);
    return r;
  }
  // The trial of a case; nothing if the backend's process ended while it loaded the library.
  std::optional<Trial> put_alone(std::size_t n) {
    try {
      return std::move(put({n})[0]);
    } catch (const LoadCrash& e) {
      why_no_start_ = e.what();
      return std::nullopt;
    }
  }
  ItemResult judged(const Trial& t, std::size_t n) {
    ItemResult r = judge_trial(t, work_.selection.properties);
    if (r.outcome == Outcome::passed) {
      r.canaries = canaries(t, without_canary(r, n), n);
      for (const auto& [property, noticed] : r.canaries) planted_.insert(place(n, property));
    } else if (repeats_failures(work_.conduct) && subject_->live()) {
      if (const std::optional<Trial> again = put_alone(n))
        compare_again(r, t, *again, work_.selection.properties);
      else
        r.flaky = true;
    }
    return r;
  }
  // The first passing item of a stretch at which a property is judged holds the property's canary
  // that counts. This process may be ahead of the quarantine, so it plants one per operator in case
  // an earlier operator gets quarantined.
  std::vector<const Property*> without_canary(const ItemResult& r, std::size_t n) const {
    std::vector<const Property*> all;
    for (const Property* p : kProperties)
      if (std::find(r.judged.begin(), r.judged.end(), p->name) != r.judged.end() &&
          !planted_.contains(place(n, std::string(p->name))))
        all.push_back(p);
    return all;
  }
  using Place = std::tuple<i64, const OpInfo*, std::string>;
  Place place(std::size_t n, const std::string& property) const {
    return {work_.stretches[n], &work_.operator_of(n), property};
  }

  const Work& work_;
  std::unique_ptr<Subject> subject_;
  std::string why_no_start_;
  std::set<Place> planted_;
};

// Collects the lines of all children and hands the results over in the order of the items.
class Collector {
 public:
  Collector(
      Work& work, Journal* journal, const std::function<bool(std::size_t, const ItemResult&)>& take)
      : work_(work),
        journal_(journal),
        take_(take),
        waiting_(work.known),
        inbox_(work.items.size()) {}

  /// Hands over the results that the journal knows. @return whether any are missing
  bool begin() {
    hand_over();
    return !ended();
  }
  void run(Processes& processes) {
    while (!ended() && processes.working() && !interrupted())
      processes.receive([&] { return interrupted(); },
          [&](const std::string& line, const json& j) { take(line, j); });
    while (!enough_ && !waiting_.empty()) hand_over(waiting_.begin()->first);
  }

 private:
  bool ended() const { return enough_ || next_ == work_.items.size(); }
  bool interrupted() const { return work_.conduct.interrupted && work_.conduct.interrupted(); }
  void take(const std::string& line, const json& j) {
    auto [n, result] = inbox_.take(j);
    if (journal_) journal_->add(line);
    // A case that was quarantined while a process judged it has been handed over already.
    if (n >= next_) waiting_.emplace(n, std::move(result));
    hand_over();
  }
  void hand_over() {
    while (!ended() && (waiting_.contains(next_) || !why_aside(next_).empty())) hand_over(next_++);
  }
  // A process that was ahead of the quarantine may have judged an item; its result is replaced.
  void hand_over(std::size_t n) {
    ItemResult result;
    if (const auto node = waiting_.extract(n)) result = std::move(node.mapped());
    if (std::string why = why_aside(n); !why.empty()) {
      result = {};
      result.outcome = Outcome::quarantined;
      result.quarantine = std::move(why);
    } else {
      note(n, result);
    }
    // A missed canary is reported even if it is not the one that counts.
    std::erase_if(result.canaries, [&](const auto& canary) {
      const auto& [property, noticed] = canary;
      return !stretches_.emplace(work_.stretches[n], property).second && noticed;
    });
    enough_ = !take_(n, result);
  }
  std::string why_aside(std::size_t n) const {
    return quarantine_.reason(std::string(work_.operator_of(n).name));
  }
  void note(std::size_t n, const ItemResult& r) {
    static const Finding none;
    const Finding& found = r.findings.empty() ? none : r.findings[0].second;
    quarantine_.note(std::string(work_.operator_of(n).name), r.outcome, found.text, found.kind);
    if (!r.hung.empty()) quarantine_.note(r.hung, Outcome::timed_out, r.hung + " hung");
    if (!ended_process(r) && r.hung.empty()) return;
    for (const OpInfo* op : operators())
      if (!quarantine_.reason(std::string(op->name)).empty()) work_.agenda.set_aside(*op);
  }

  Work& work_;
  Journal* journal_;
  const std::function<bool(std::size_t, const ItemResult&)>& take_;
  Results waiting_;
  Inbox inbox_;
  Quarantine quarantine_;
  std::set<std::pair<i64, std::string>> stretches_;  // with a canary of the property
  std::size_t next_ = 0;
  bool enough_ = false;
};

// The results in a journal, which somebody may have edited.
Results results_of(const Journal* journal) {
  Results known;
  if (!journal) return known;
  for (const auto& [n, line] : journal->known()) {
    try {
      known.emplace(n, form::loaded<CaseResult>(json::parse(line)).result);
    } catch (const UsageError& e) {
      throw UsageError("the journal's line of case " + std::to_string(n) + ": " + e.what());
    }
  }
  return known;
}

}  // namespace

bool repeats_failures(const Conduct& conduct) {
  return conduct.writes_expectations || !conduct.expectations.empty();
}

int jobs_of(const Conduct& conduct) {
  if (conduct.jobs > 0) return conduct.jobs;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int jobs_of(const Conduct& conduct, const Subject& subject) {
  return conduct.jobs == 0 && subject.takes_turns() ? 1 : jobs_of(conduct);
}

void judge_in_processes(const std::string& backend, const std::vector<const Item*>& items,
    const TrialPlan& plan, const Selection& selection, const Conduct& conduct, int jobs,
    Journal* journal, const std::function<bool(std::size_t, const ItemResult&)>& take) {
  Work work{backend, items, plan, selection, conduct, results_of(journal)};
  Collector collector(work, journal, take);
  if (!collector.begin()) return;
  const auto of = std::min(static_cast<std::size_t>(jobs), items.size());
  Processes processes;
  for (std::size_t k = 0; k < of; ++k)
    processes.start([&](int fd) { JudgingProcess(work).run(fd); });
  collector.run(processes);
}

}  // namespace lockstep::judge
