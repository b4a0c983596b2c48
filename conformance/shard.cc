#include "conformance/shard.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "conformance/outputs.h"
#include "conformance/subjects/library_subject.h"
#include "conformance/subjects/process.h"

namespace lockstep::judge {
namespace {

using json = nlohmann::ordered_json;

constexpr int kCanaries = 16;
constexpr i64 kMaxHangs = 3, kMaxCrashes = 10;      // of one operator, in one process
constexpr i64 kMaxHangsInAll = 10, kMaxSilent = 3;  // of a backend; of one that never answered

// Which operators are no longer put to the backend: each death costs time, and the verdict is
// clear.
class Quarantine {
 public:
  /// The reason why a case of this operator is not put any more; empty if it is.
  std::string reason(const std::string& op) const {
    if (!answered_ && (hangs_ > 0 || crashes_ >= kMaxSilent))
      return "the backend never answered: " + last_;
    if (hangs_ >= kMaxHangsInAll) return "the backend hangs too often";
    const auto at = ops_.find(op);
    if (at == ops_.end()) return "";
    if (at->second.hangs >= kMaxHangs) return op + " hung " + std::to_string(kMaxHangs) + " times";
    if (at->second.crashes >= kMaxCrashes)
      return op + " crashed " + std::to_string(kMaxCrashes) + " times";
    return "";
  }
  void note(const std::string& op, Outcome o, const std::string& text) {
    answered_ = answered_ || o == Outcome::passed || o == Outcome::failed;
    if (o == Outcome::timed_out) ++ops_[op].hangs, ++hangs_, last_ = text;
    if (o == Outcome::crashed) ++ops_[op].crashes, ++crashes_, last_ = text;
  }

 private:
  struct Deaths {
    i64 hangs = 0, crashes = 0;
  };
  std::map<std::string, Deaths> ops_;
  i64 hangs_ = 0, crashes_ = 0;
  bool answered_ = false;
  std::string last_;
};

// Flips one bit of a returned output and looks whether the judge notices, by the way that every
// case takes.
ItemResult::Canary canary(const Trial& t, u64 n) {
  Trial tampered = t;
  std::vector<i32>& out = tampered.base.out[0];
  const u64 w = word(n, 3, 5);
  i32& e = out[w % out.size()];
  e = static_cast<i32>(static_cast<std::uint32_t>(e) ^ (1u << (w >> 32) % 32));
  const Property& p = t.item->what == Item::vector ? kMatchesVectors : kMatchesReference;
  Selection only;
  only.properties = {std::string(p.name)};
  return judge_trial(tampered, only).outcome == Outcome::failed ? ItemResult::flagged
                                                                : ItemResult::missed;
}

ItemResult crashed_at_start(const std::string& text) {
  ItemResult r;
  r.outcome = Outcome::crashed;
  r.judged = {std::string(kMatchesReference.name)};
  r.findings = {{std::string(kMatchesReference.name), {text, Answer::Kind::crashed}}};
  return r;
}

json to_json(const Finding& f) {
  json elements = json::array();
  for (const Element& e : f.elements)
    elements.push_back({{"output", e.output}, {"index", e.index}, {"values", {e.expected, e.got}}});
  return {{"text", f.text}, {"hint", f.hint}, {"elements", elements}};
}

Finding finding_of(const json& j) {
  Finding f{j.at("text"), {}, j.at("hint")};
  for (const json& e : j.at("elements"))
    f.elements.push_back(
        {e.at("output"), e.at("index"), e.at("values").at(0), e.at("values").at(1)});
  return f;
}

json to_json(std::size_t n, const ItemResult& r) {
  json findings = json::array();
  for (const auto& [property, found] : r.findings) findings.push_back({property, to_json(found)});
  return {{"n", n},
          {"outcome", static_cast<int>(r.outcome)},
          {"calls", r.calls},
          {"judged", r.judged},
          {"paths", r.paths},
          {"findings", findings},
          {"outputs", r.outputs},
          {"canary", static_cast<int>(r.canary)},
          {"quarantine", r.quarantine}};
}

// One of the values 0 .. last of an enumeration.
template <class E>
E one_of(const json& j, E last) {
  const int n = j.get<int>();
  if (n < 0 || n > static_cast<int>(last)) throw std::out_of_range("no such value");
  return static_cast<E>(n);
}

// @throws std::exception where it is none: journals are files, and files get changed.
ItemResult from_json(const json& j) {
  ItemResult r;
  r.outcome = one_of(j.at("outcome"), Outcome::quarantined);
  r.calls = j.at("calls");
  r.judged = j.at("judged");
  r.paths = j.at("paths");
  for (const json& f : j.at("findings")) r.findings.emplace_back(f.at(0), finding_of(f.at(1)));
  r.outputs = j.at("outputs");
  r.canary = one_of(j.at("canary"), ItemResult::missed);
  r.quarantine = j.at("quarantine");
  return r;
}

void send(int fd, const json& j) {
  const std::string line = j.dump(-1, ' ', true, json::error_handler_t::replace) + "\n";
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t n = write(fd, line.data() + at, line.size() - at);
    if (n <= 0) _exit(1);
    at += static_cast<std::size_t>(n);
  }
}

using Results = std::map<std::size_t, ItemResult>;

// What one process judges.
struct Share {
  int number, of, canaries;
};

// The work of one process. What the journal knows is not judged again, and counts for what follows
// as if it were: a run that was interrupted comes to what it would have come to.
class Judging {
 public:
  Judging(const std::string& backend, const std::vector<const Item*>& items, const TrialPlan& plan,
          const Selection& selection, const Conduct& conduct, Share share)
      : backend_(backend),
        items_(items),
        plan_(plan),
        selection_(selection),
        conduct_(conduct),
        share_(share) {}

  void run(const Results& known, int fd) {
    for (auto n = static_cast<std::size_t>(share_.number); n < items_.size();
         n += static_cast<std::size_t>(share_.of)) {
      const auto before = known.find(n);
      const ItemResult result = before != known.end() ? before->second : judged(n);
      quarantine_.note(operator_of(n), result.outcome,
                       result.findings.empty() ? "" : result.findings[0].second.text);
      planted_ += result.canary != ItemResult::none;
      if (before == known.end()) send(fd, to_json(n, result));
    }
    send(fd, {{"done", true}});
  }

 private:
  std::string operator_of(std::size_t n) const { return std::string(items_[n]->call.op->name); }

  ItemResult judged(std::size_t n) {
    if (std::string why = quarantine_.reason(operator_of(n)); !why.empty()) {
      ItemResult r;
      r.outcome = Outcome::quarantined;
      r.quarantine = std::move(why);
      return r;
    }
    try {
      // Loading may kill it here although it did not where the run began.
      if (!subject_) {
        subject_ = open_subject(backend_, conduct_.limits);
        configure(*subject_, plan_);
      }
      const Trial t = perform(*subject_, *items_[n], plan_);
      ItemResult r = judge_trial(t, selection_);
      if (planted_ < canaries_due(n) && t.item->runs() && t.base.ok() &&
          r.outcome == Outcome::passed)
        r.canary = canary(t, n);
      return r;
    } catch (const LoadCrash& e) {
      return crashed_at_start(e.what());
    }
  }
  // All are planted by the middle of the run, for its end may hold no legal call.
  i64 canaries_due(std::size_t n) const {
    const auto all = static_cast<std::size_t>(share_.canaries);
    return std::min(static_cast<i64>(2 * all * n / items_.size()) + 1, i64{share_.canaries});
  }

  const std::string& backend_;
  const std::vector<const Item*>& items_;
  const TrialPlan& plan_;
  const Selection& selection_;
  const Conduct& conduct_;
  const Share share_;
  std::unique_ptr<Subject> subject_;
  Quarantine quarantine_;
  i64 planted_ = 0;
};

// A process of the judge and what it has said so far.
struct Child {
  pid_t pid = 0;
  int fd = -1;
  bool done = false;
  std::string pending;
};

// An interrupt that reaches all processes of a terminal or a job is for the one that reports: it
// ends the others. They must not ignore it, or the commands that they start would, too.
void hold_out() {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  for (int s : {SIGINT, SIGTERM}) sigaction(s, &action, nullptr);
}

Child start_child(const std::vector<Child>& others, const std::function<void(int)>& body) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe for a judging process");
  Child c;
  c.pid = fork();
  if (c.pid < 0) throw std::runtime_error("no judging process");
  if (c.pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    hold_out();
    close(ends[0]);
    for (const Child& o : others) close(o.fd);
    int status = 0;
    try {
      body(ends[1]);
    } catch (const std::exception& e) {
      send(ends[1], {{"broke", e.what()}});
      status = 1;
    }
    _exit(status);
  }
  close(ends[1]);
  c.fd = ends[0];
  return c;
}

// Collects lines of all children; results are handed over in the order of the items.
class Collector {
 public:
  Collector(std::vector<Child>& children, const Conduct& conduct, Journal* journal, Results known,
            const std::function<bool(std::size_t, const ItemResult&)>& take)
      : children_(children),
        conduct_(conduct),
        journal_(journal),
        waiting_(std::move(known)),
        take_(take) {}

  void run() {
    hand_over();
    while (!enough_ && open() > 0 && !interrupted()) {
      constexpr int kPatienceMs = 500;  // until an interrupt is seen that came right before
      std::vector<pollfd> fds;
      for (const Child& c : children_) fds.push_back({c.done ? -1 : c.fd, POLLIN, 0});
      if (poll(fds.data(), fds.size(), kPatienceMs) < 0) continue;
      // What is told after an interrupt may be its own doing.
      for (std::size_t k = 0; k < fds.size(); ++k)
        if (fds[k].revents && !interrupted()) read_from(children_[k]);
    }
    for (auto at = waiting_.begin(); !enough_ && at != waiting_.end(); ++at)
      enough_ = !take_(at->first, at->second);
  }

 private:
  bool interrupted() const { return conduct_.interrupted && conduct_.interrupted(); }
  i64 open() const {
    return std::count_if(children_.begin(), children_.end(),
                         [](const Child& c) { return !c.done; });
  }
  void read_from(Child& c) {
    char buffer[1 << 16];
    const ssize_t n = read(c.fd, buffer, sizeof buffer);
    if (n <= 0) throw std::runtime_error("a judging process ended early");
    c.pending.append(buffer, static_cast<std::size_t>(n));
    std::size_t from = 0;
    for (std::size_t end; (end = c.pending.find('\n', from)) != std::string::npos; from = end + 1)
      message(c, c.pending.substr(from, end - from));
    c.pending.erase(0, from);
  }
  void message(Child& c, const std::string& line) {
    const json j = json::parse(line);
    if (j.contains("broke")) throw std::runtime_error(j["broke"].get<std::string>());
    if (j.contains("done")) {
      c.done = true;
      return;
    }
    if (journal_) journal_->add(line);
    waiting_.emplace(j["n"].get<std::size_t>(), from_json(j));
    hand_over();
  }
  void hand_over() {
    for (auto at = waiting_.begin(); !enough_ && at != waiting_.end() && at->first == next_;
         at = waiting_.erase(at))
      enough_ = !take_(next_++, at->second);
  }

  std::vector<Child>& children_;
  const Conduct& conduct_;
  Journal* journal_;
  Results waiting_;
  const std::function<bool(std::size_t, const ItemResult&)>& take_;
  std::size_t next_ = 0;
  bool enough_ = false;
};

// What the journal says of cases. Its lines were written by this program, and may have been
// changed.
Results results_of(const Journal& journal) {
  Results known;
  for (const auto& [n, line] : journal.known()) {
    try {
      known.emplace(n, from_json(json::parse(line)));
    } catch (const std::exception&) {
      throw UsageError("the journal's line of case " + std::to_string(n) + " is no result");
    }
  }
  return known;
}

// A death is told even where only properties were selected that leave the dead unjudged.
std::pair<std::string, Finding> death(const Trial& t, std::vector<std::string>& judged) {
  const Property& p = t.refusal                      ? kRejects
                      : t.item->what == Item::typed  ? kInfers
                      : t.item->what == Item::vector ? kMatchesVectors
                                                     : kMatchesReference;
  judged.emplace_back(p.name);
  const Answer* dead = t.refusal ? &*t.refusal : nullptr;
  for (const auto& [when, answer] : t.answers())
    if (answer->gone()) dead = answer;
  if (t.inferred && t.inferred->gone()) dead = &*t.inferred;
  return {std::string(p.name),
          {"answered " + std::string(name_of(dead->kind)) + ": " + dead->message, dead->kind}};
}

}  // namespace

ItemResult judge_trial(const Trial& t, const Selection& selection) {
  ItemResult r;
  r.calls = t.calls;
  if (t.item->runs()) r.outputs = output_hash(t.item->id, t.base);
  bool crashed = false, hung = false;
  for (const auto& [when, answer] : t.answers()) {
    // Where there is a manifest, a kernel without a name is one that it lacks.
    if (!answer->path.empty() || (answer->ok() && t.manifest->stated()))
      r.paths.push_back(answer->path);
    crashed = crashed || answer->kind == Answer::Kind::crashed;
    hung = hung || answer->kind == Answer::Kind::timed_out;
  }
  for (const std::optional<Answer>& a : {t.refusal, t.inferred})
    if (a) {
      crashed = crashed || a->kind == Answer::Kind::crashed;
      hung = hung || a->kind == Answer::Kind::timed_out;
    }
  for (const Property* p : properties()) {
    if (!selection.wants(p->name) || !p->applies(t)) continue;
    r.judged.emplace_back(p->name);
    if (std::optional<Finding> f = p->inspect(t))
      r.findings.emplace_back(std::string(p->name), std::move(*f));
  }
  if ((crashed || hung) && r.findings.empty()) r.findings.push_back(death(t, r.judged));
  r.outcome = hung                 ? Outcome::timed_out
              : crashed            ? Outcome::crashed
              : r.findings.empty() ? Outcome::passed
                                   : Outcome::failed;
  return r;
}

void judge_in_processes(const std::string& backend, const std::vector<const Item*>& items,
                        const TrialPlan& plan, const Selection& selection, const Conduct& conduct,
                        int jobs, Journal* journal,
                        const std::function<bool(std::size_t, const ItemResult&)>& take) {
  const Results known = journal ? results_of(*journal) : Results();
  jobs = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(jobs), items.size()));
  std::vector<Child> children;
  for (int k = 0; k < jobs; ++k) {
    const Share share{k, jobs, kCanaries / jobs + (k < kCanaries % jobs)};
    children.push_back(start_child(children, [&](int fd) {
      Judging(backend, items, plan, selection, conduct, share).run(known, fd);
    }));
  }
  const auto end_all = [&] {
    for (Child& c : children) {
      close(c.fd);
      end_process(c.pid);
    }
  };
  try {
    Collector(children, conduct, journal, known, take).run();
    end_all();
  } catch (...) {
    end_all();
    throw;
  }
}

}  // namespace lockstep::judge
