#include "conformance/subjects/library_subject.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "conformance/host/drawn_number.h"
#include "conformance/subjects/mail.h"
#include "conformance/subjects/process.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

// How often a new process is started after a device's failure; opening a device is slow.
constexpr int kFreshProcesses = 100;

// The environment without the variables of this program, and without the one in which a shell tells
// a program its path.
std::vector<std::string> neutral_environment() {
  std::vector<std::string> env;
  for (char** e = environ; *e; ++e) {
    const std::string_view entry = *e;
    if (!entry.starts_with("LOCKSTEP_") && !entry.starts_with("_=")) env.emplace_back(entry);
  }
  return env;
}

// A process that holds the library, and the mail to it.
class Host {
 public:
  Host(std::string path, const Limits& limits) : path_(std::move(path)), limits_(limits) {}
  Host(const Host&) = delete;
  ~Host() { stop(); }
  Mail& mail() { return mail_; }
  /// What each process of the library has to state.
  const std::string& offered() const { return offered_; }

  /// @throws LoadCrash if the process ends while it loads the library, or if the library states
  /// another manifest or offers other functions than before.
  /// @param leaves whether the process starts others, which it leaves behind.
  void start(const std::vector<Options>& configs, bool leaves = false) {
    if (pid_) return;
    std::vector<std::string> words = {
        "library", std::to_string(bytes_of_gib(limits_.memory_gib)), path_};
    for (const Options& o : configs) {
      if (&o != configs.data()) words.emplace_back("--");
      for (const auto& [key, value] : o) words.push_back(key + "=" + value);
    }
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw std::runtime_error("no socket for a backend");
    mail_.channel().state = Channel::accepted;
    mail_.channel().leaves = leaves;
    socket_ = ends[0];
    try {
      pid_ = start_host(words, {-1, -1, -1, ends[1], mail_.file()}, neutral_environment());
    } catch (...) {
      for (int end : ends) close(end);
      throw;
    }
    close(ends[1]);
    u64 number = 0;
    const bool in_time = readable_within(socket_, limits_.start_s, limits_.interrupted);
    if (in_time && read(socket_, &number, sizeof number) == sizeof number) {
      const std::string offered = mail_.channel().offered();
      if (offered_.empty()) offered_ = offered;
      if (offered_ == offered) return;
      end(false);
      throw LoadCrash("the backend '" + path_ +
          "' states another manifest or offers other functions than in an earlier process");
    }
    const std::string how = end(in_time);
    throw LoadCrash("the backend '" + path_ + "' " +
        (in_time ? how + " while it was being loaded" : "did not finish loading"));
  }
  void stop() {
    if (pid_) end(false);
  }
  /// Ends a process that has started others. @param killed whether the program that keeps it is
  /// killed first, and so leaves them to this process. @return how it ended
  std::string end_leaving(const std::vector<Options>& configs, bool killed) {
    stop();
    start(configs, true);
    const std::string started = std::to_string(mail_.channel().left) + " processes and it: ";
    if (!killed) return started + end(false);
    kill(pid_, SIGKILL);
    std::chrono::milliseconds reach{0};
    return started + closed(reap_host(std::exchange(pid_, 0), reach));
  }

  /// Has the process answer the letters. @return how the process ended meanwhile; nothing if it
  /// lives
  /// @param answered receives the number of answers if the process lives
  /// @param timeout_s for one answer; patience_for() times that for large calls
  std::optional<Answer> exchange(std::size_t& answered, double timeout_s) {
    mail_.send();
    const u64 number = drawn_number();
    // It comes back with the answers.
    const bool sent = write(socket_, &number, sizeof number) == sizeof number;
    const bool in_time = sent && answers_in_time(timeout_s);
    u64 numbers[2] = {};  // room for more than the answer
    const ssize_t got = in_time ? recv(socket_, numbers, sizeof numbers, 0) : 0;
    answered = mail_.channel().answered;
    if (got == sizeof number && numbers[0] == number && answered > 0 && answered <= mail_.letters())
      return std::nullopt;
    if (got > 0) {
      end(false);
      const bool fits = got == sizeof number && numbers[0] == number;
      return Answer{.kind = AnswerKind::broken_channel,
          .message =
              fits ? "it wrote over the number of its answers" : "it wrote to the judge's socket"};
    }
    if (sent && !in_time) {
      end(false);
      return Answer{.kind = AnswerKind::timed_out, .message = "no answer within the time limit"};
    }
    return Answer{.kind = AnswerKind::crashed, .message = "the backend's process " + end(true)};
  }

 private:
  bool answers_in_time(double timeout_s) {
    for (Wait wait;;) {
      if (readable_within(socket_, timeout_s / Wait::kParts, limits_.interrupted)) return true;
      const u64 steps = mail_.channel().begun + mail_.channel().runs;
      if (!wait.goes_on(mail_.patience(), steps, mail_.steps())) return false;
    }
  }
  // Ends the process. @param by_itself whether it has ended, or is about to end, by itself
  std::string end(bool by_itself) {
    const pid_t pid = std::exchange(pid_, 0);
    return closed(by_itself ? reap_host(pid, reach_) : end_host(pid));
  }
  // Closes the socket of a process that has ended. Others that live hold its other end.
  std::string closed(std::string how) {
    char rest[256];
    ssize_t n = 0;
    while ((n = recv(socket_, rest, sizeof rest, MSG_DONTWAIT)) > 0) {
    }
    if (n < 0 && errno == EAGAIN) how += " and left others behind";
    close(socket_);
    return how;
  }

  std::string path_, offered_;
  Limits limits_;
  Mail mail_;
  pid_t pid_ = 0;
  std::chrono::milliseconds reach_ = kReach;
  int socket_ = -1;
};

// Whether this machine can run any of the backend's kernels, as its manifest states.
bool runs_here(const Manifest& m) {
  return std::any_of(
      m.kernels.begin(), m.kernels.end(), [](const KernelInfo& k) { return k.runnable; });
}

class LibrarySubject : public Subject {
 public:
  LibrarySubject(const std::string& path, const Limits& limits)
      : limits_(limits), host_(path, limits), configs_{limits.set} {
    host_.start(configs_);
    const Channel& c = host_.mail().channel();
    const std::string library = "'" + path + "' ";
    try {
      if (c.state == Channel::refused) throw UsageError(text_in(c.refusal));
      if (c.state == Channel::unopened) throw RefusedOptions(text_in(c.refusal));
      manifest_ = parse_manifest(c.stated());
      if (c.failure[0] && !runs_here(manifest_))
        throw CannotRun("cannot run here: " + printable(text_in(c.failure)), manifest_);
    } catch (const RefusedOptions& e) {
      throw RefusedOptions(library + e.what());
    } catch (const CannotRun& e) {
      throw CannotRun(library + e.what(), e.manifest);
    } catch (const UsageError& e) {
      throw UsageError(library + e.what());
    }
    infers_ = c.infers;
    compiles_ = c.compiles;
    reads_int8_ = c.reads_int8;
    has_device_ = c.has_device;
  }

  const Manifest& manifest() const override { return manifest_; }
  std::string offered() const override { return host_.offered(); }
  bool shares_memory() const override { return true; }
  bool can_infer() const override { return infers_; }
  bool can_compile() const override { return compiles_; }
  bool reads_int8() const override { return reads_int8_; }
  bool takes_turns() const override { return has_device_; }
  bool can_close() const override { return true; }
  bool can_plant() const override { return !has_device_; }
  bool takes_many() const override { return true; }
  int configure(const Options& more) override {
    Options o = limits_.set;
    for (const auto& [key, value] : more) o[key] = value;
    const auto same = std::find(configs_.begin(), configs_.end(), o);
    if (same != configs_.end()) return static_cast<int>(same - configs_.begin());
    configs_.push_back(o);
    host_.stop();  // the next process gets the new list
    return static_cast<int>(configs_.size()) - 1;
  }

  Answer execute(
      const Case& c, const std::vector<Tensor>& in, const Inferred& out, const Run& run) override {
    return ask({{.call = &c, .callers = {&in}, .out = out, .run = run}})[0][0];
  }
  Answers execute_at_once(const Case& c, const std::vector<std::vector<Tensor>>& in,
      const Inferred& out, const Run& run) override {
    Question q{.call = &c, .out = out, .run = run};
    for (const auto& values : in) q.callers.push_back(&values);
    return ask({q})[0];
  }
  Answer refuse(const Case& c) override {
    return ask({{.what = Question::refuse, .call = &c}})[0][0];
  }
  bool takes_text() const override { return manifest_.reads_text; }
  Answer infer(const Case& c) override {
    return ask({{.what = Question::infer, .call = &c}})[0][0];
  }
  Answer tally(const Case& c, const std::string& witness) override {
    const Inferred out = c.op->infer(c.attributes(), c.types());
    Answer a = ask({{.what = Question::tally, .call = &c, .out = out, .witness = witness}})[0][0];
    if (a.tally && a.tally->is_blind)
      throw std::runtime_error("the witness '" + witness + "' misses a wrong output of " +
          std::string(c.op->name) + ", or sees one that is right");
    return a;
  }

  // A letter must name an operator, and the call serves only for that.
  Answer close() override {
    const Case none{.op = operators()[0]};
    return ask({{.what = Question::close, .call = &none}})[0][0];
  }

  std::string end_leaving(bool killed) override { return host_.end_leaving(configs_, killed); }

  std::vector<Answers> ask(const std::vector<Question>& questions) override {
    Asking a{questions, std::vector<Answers>(questions.size()), {}};
    for (std::size_t k = 0; k < questions.size();) {
      std::vector<std::size_t> sent;
      host_.mail().clear();
      for (; k < questions.size() && host_.mail().has_room(); ++k)
        if (a.can_put(k)) {
          host_.mail().add(questions[k]);
          sent.push_back(k);
        }
      put(a, std::move(sent));
    }
    return std::move(a.answers);
  }

 private:
  // Questions with the answers so far.
  struct Asking {
    const std::vector<Question>& questions;
    std::vector<Answers> answers;
    std::optional<std::size_t> dead = {};  // the last trial that ended the process

    // Whether the callers of a question have room, and no question of its trial ended the process.
    bool can_put(std::size_t k) const {
      const Question& q = questions[k];
      std::size_t tensors = 0;
      for (const auto* in : q.callers)
        tensors += in->size() + static_cast<std::size_t>(q.outputs());
      return tensors <= std::size_t{kMaxSlots} && q.trial != dead;
    }
    void note_end(std::size_t k, const Answer& end) {
      answers[k].assign(std::max<std::size_t>(1, questions[k].callers.size()), end);
      if (end.gone()) dead = questions[k].trial;
    }
  };

  // Puts the questions whose letters are in the mail.
  void put(Asking& a, std::vector<std::size_t> sent) {
    Mail& mail = host_.mail();
    while (!sent.empty()) {
      host_.start(configs_);
      std::size_t n = 0;
      constexpr double kHangs = 0.05;  // seconds for an answer that cannot come
      const bool hangs = a.questions[sent[0]].plant == Plant::hanging;
      if (std::optional<Answer> end = host_.exchange(n, hangs ? kHangs : limits_.timeout_s)) {
        if (sent.size() > 1) return put_one_by_one(a, sent, *end);
        mail.explain(0, *end);
        return a.note_end(sent[0], *end);
      }
      for (std::size_t k = 0; k < n; ++k) a.answers[sent[k]] = mail.take(k);
      // After a device error every later call of the process may fail, so a fresh process starts.
      const bool failed = a.answers[sent[n - 1]][0].kind == AnswerKind::runtime_error;
      if (has_device_ && failed && ++device_failures_ <= kFreshProcesses) host_.stop();
      sent.erase(sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(n));
      if (sent.empty()) return;
      mail.clear();
      for (std::size_t k : sent) mail.add(a.questions[k]);
    }
  }

  // Puts questions again, one by one, after one of several letters ended the process, since no
  // answer that it left behind can be trusted.
  void put_one_by_one(Asking& a, const std::vector<std::size_t>& sent, Answer end) {
    const u64 begun = std::clamp<u64>(host_.mail().channel().begun, 1, sent.size());
    bool again = false;
    for (std::size_t k : sent) {
      if (!a.can_put(k)) continue;
      host_.mail().clear();
      host_.mail().add(a.questions[k]);
      put(a, {k});
      const AnswerKind kind = a.answers[k][0].kind;
      again = again || a.answers[k][0].gone() || kind == AnswerKind::protocol;
    }
    // A delay that does not recur is due to the machine.
    if (again || end.kind == AnswerKind::timed_out) return;
    end.message += " after other calls, and not when it was asked alone";
    a.note_end(sent[begun - 1], end);
  }

  Limits limits_;
  Host host_;
  std::vector<Options> configs_;
  Manifest manifest_;
  bool infers_ = false, compiles_ = false, reads_int8_ = false, has_device_ = false;
  int device_failures_ = 0;
};

}  // namespace

std::unique_ptr<Subject> open_library(const std::string& path, const Limits& limits) {
  return std::make_unique<LibrarySubject>(path, limits);
}

}  // namespace lockstep::judge
