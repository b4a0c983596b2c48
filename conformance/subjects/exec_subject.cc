#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <deque>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "conformance/base/places.h"
#include "conformance/host/drawn_number.h"
#include "conformance/jsonl/lines.h"
#include "conformance/subjects/process.h"
#include "conformance/subjects/subject.h"

namespace lockstep::judge {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLongestAnswer = std::size_t{64} << 20;  // not counting the outputs' values
constexpr std::size_t kLongestValue = 32;                      // as JSON text
constexpr std::size_t kLastWords = 2048;                       // bytes kept of standard error

// How often a command that has never answered is started again. A crash may be due to the call and
// costs little; a hang costs seconds.
constexpr int kTrials = 100, kHang = 50;  // how many trials a hang counts

// Ids of calls are less, so that every program can hold one as an int.
constexpr std::uint64_t kIds = std::uint64_t{1} << 31;
constexpr std::size_t kIdsKept = 16;  // to recognize the answer to an earlier call

// A file descriptor that closes itself.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd& operator=(Fd&& o) noexcept {
    std::swap(fd_, o.fd_);
    return *this;
  }
  ~Fd() { close(); }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
    read = Fd(ends[0]);
    write = Fd(ends[1]);
  }
  Fd read, write;
};

// The environment with the directory of this program at the end of PATH.
std::vector<std::string> environment_with_own_directory() {
  std::vector<std::string> env;
  std::string path = "PATH=/usr/local/bin:/usr/bin:/bin";
  for (char** e = environ; *e; ++e) {
    const std::string_view entry = *e;
    if (entry.starts_with("PATH="))
      path = entry;
    else
      env.emplace_back(entry);
  }
  if (const std::string own = program_directory(); !own.empty()) path += ":" + own;
  env.push_back(path);
  return env;
}

// The end of a text for a message: two lines, since the last is often the shell's "Aborted".
std::string last_lines(std::string_view text) {
  std::string words;
  for (int lines = 0; lines < 2 && !text.empty();) {
    const std::size_t begin = text.rfind('\n') + 1;  // npos + 1 is 0
    const std::string_view line = text.substr(begin);
    text = text.substr(0, begin == 0 ? 0 : begin - 1);
    if (line.empty()) continue;
    words = quote(line) + (words.empty() ? "" : ", " + words);
    ++lines;
  }
  return words.empty() ? words : "; its last words: " + words;
}

// A running command and its unread output.
class Conversation {
 public:
  /// @param reach of reap_host().
  Conversation(const std::string& command, const Limits& limits, std::chrono::milliseconds& reach)
      : interrupted_(limits.interrupted), reach_(reach) {
    Pipe in, out, err;
    pid_ = start_host({"command", std::to_string(bytes_of_gib(limits.memory_gib)), command},
        {in.read.get(), out.write.get(), err.write.get()}, environment_with_own_directory());
    to_ = std::move(in.write);
    from_ = std::move(out.read);
    err_ = std::move(err.read);
    for (const Fd* f : {&to_, &from_, &err_}) fcntl(f->get(), F_SETFL, O_NONBLOCK);
  }
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;
  ~Conversation() {
    if (pid_ > 0) end_host(pid_);
  }

  // Writes a line and reads one. If a line comes, the answer's kind is ok and `reply` is the line.
  Answer exchange(
      const std::string& line, double seconds, std::size_t longest, std::string_view& reply);
  // Whether the last exchange left nothing unread or unwritten.
  bool in_step() const { return in_step_; }
  // The first line of the last exchange that does not begin as answers do; empty if there is none.
  std::string_view printed() const;

 private:
  Answer failed(AnswerKind kind, const std::string& why);
  bool wait(bool writing, Clock::time_point deadline);
  void write_some(const std::string& line);
  bool read_some();
  void hear_last_words();

  const Interruption& interrupted_;
  std::chrono::milliseconds& reach_;
  pid_t pid_ = -1;
  Fd to_, from_, err_;
  std::string said_;        // read from standard output
  std::string last_words_;  // from standard error
  std::size_t written_ = 0;
  bool in_step_ = true;
};

// Ends the process, and quotes the end of its standard error, which usually names the reason.
Answer Conversation::failed(AnswerKind kind, const std::string& why) {
  Answer a{.kind = kind, .message = why};
  if (kind == AnswerKind::crashed)
    a.message = reap_host(pid_, reach_) + " " + why;
  else
    end_host(pid_);
  pid_ = -1;
  hear_last_words();
  a.message += last_lines(last_words_);
  return a;
}

// Waits until something can be read or written. @return false at the deadline
bool Conversation::wait(bool writing, Clock::time_point deadline) {
  give_up_if(interrupted_);
  const std::int64_t left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  if (left <= 0) return false;
  // poll() passes over negative descriptors.
  pollfd fds[] = {
      {from_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}, {writing ? to_.get() : -1, POLLOUT, 0}};
  const int n = poll(fds, std::size(fds), static_cast<int>(std::min(left, kInterruptionMs)));
  if (n > 0 && fds[1].revents) hear_last_words();
  return true;
}

void Conversation::write_some(const std::string& line) {
  const ssize_t n = write(to_.get(), line.data() + written_, line.size() - written_);
  if (n > 0) written_ += static_cast<std::size_t>(n);
  // The command no longer reads. Its output shows whether it has ended or will still answer.
  if (n < 0 && errno == EPIPE) to_.close();
}

// @return false at the end of standard output
bool Conversation::read_some() {
  char chunk[1 << 16];
  const ssize_t n = read(from_.get(), chunk, sizeof chunk);
  if (n > 0) said_.append(chunk, static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

void Conversation::hear_last_words() {
  char chunk[4096];
  // Bounded, so that a command that writes without end cannot delay the timeout.
  for (int turn = 0; turn < 16; ++turn) {
    const ssize_t n = read(err_.get(), chunk, sizeof chunk);
    if (n == 0) err_.close();
    if (n <= 0) return;
    last_words_.append(chunk, static_cast<std::size_t>(n));
    if (last_words_.size() > kLastWords) last_words_.erase(0, last_words_.size() - kLastWords);
  }
}

std::string_view Conversation::printed() const {
  for (std::string_view rest = said_; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first != line.npos && line[first] != '{') return line;
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  return {};
}

Answer Conversation::exchange(
    const std::string& line, double seconds, std::size_t longest, std::string_view& reply) {
  const auto deadline = Clock::now() +
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  said_.clear();
  written_ = 0;
  std::size_t newline = std::string::npos, searched = 0;
  while (newline == std::string::npos) {
    const bool writing = written_ < line.size() && to_.get() >= 0;
    if (!wait(writing, deadline)) return failed(AnswerKind::timed_out, "no answer in time");
    if (writing) write_some(line);
    if (!read_some())
      return failed(
          AnswerKind::crashed, said_.empty() ? "before answering" : "in the middle of an answer");
    newline = said_.find('\n', searched);
    searched = said_.size();
    if (std::min(newline, searched) > longest)
      return failed(AnswerKind::broken_channel,
          "an answer of more than " + std::to_string(longest) + " bytes, beginning " +
              quote(said_));
  }
  reply = std::string_view(said_).substr(0, newline);
  in_step_ = written_ == line.size() && newline + 1 == said_.size();
  return {};
}

// The call that asks a command for its manifest. A command without one finds an unknown operator.
constexpr char kAskManifest[] = R"({"id":0,"op":"manifest","attrs":{},"in_prec":[],"in":[]})";

// The values of a call's outputs, and the elements of all its tensors.
struct Size {
  std::size_t values = 0, elements = 0;
};

class ExecSubject final : public Subject {
 public:
  ExecSubject(const std::string& command, const Limits& limits)
      : command_(command), limits_(limits), manifest_(default_manifest(command)) {
    refuse_options(limits.set);
  }
  void ask_manifest();
  const Manifest& manifest() const override { return manifest_; }
  Answer execute(
      const Case& c, const std::vector<Tensor>& in, const Inferred& out, const Run&) override {
    return run([&](std::string_view id) { return write_request(c, in, id); }, in, out);
  }
  Answer refuse(const Case& c) override {
    return ask([&](std::string_view id) { return write_request(c, {}, id); });
  }
  bool takes_text() const override { return true; }
  Answer execute_text(const Case& c, const AttrTexts& attrs, const std::vector<Tensor>& in,
      const Inferred& out) override {
    return run([&](std::string_view id) { return write_text_request(c, attrs, in, id); }, in, out);
  }
  Answer refuse_text(const Case& c, const AttrTexts& attrs) override {
    return ask([&](std::string_view id) { return write_text_request(c, attrs, {}, id); });
  }
  int configure(const Options& more) override {
    refuse_options(more);
    return 0;
  }

 private:
  void refuse_options(const Options& o) const {
    if (!o.empty())
      throw UsageError("exec:" + command_ + " takes no option '" + o.begin()->first +
          "'; write it into the command");
  }
  // Puts the line of a legal call to the command.
  template <class Line>
  Answer run(const Line& line, const std::vector<Tensor>& in, const Inferred& out) {
    std::size_t values = 0;
    for (int k = 0; k < out.count; ++k) values += static_cast<std::size_t>(volume(out[k].shape));
    std::size_t elements = values;
    for (const Tensor& t : in) elements += t.data.size();
    return of_outputs(ask(line, {values, elements}), out.count);
  }
  // Puts the line of a call to the command.
  template <class Line> Answer ask(const Line& line, Size size = {}) {
    const std::string id = std::to_string(drawn_number() % kIds);
    std::string_view reply;
    Answer a = exchange(line(id), size, reply);
    if (a.ok()) a = answer_of(reply, id);
    a.message = without_ids(a.message, id);
    ids_.push_back(id);
    if (ids_.size() > kIdsKept) ids_.pop_front();
    return a;
  }
  // A text with 1 in place of the present id, and 0 in place of the last ones, since ids differ
  // from run to run.
  std::string without_ids(std::string_view text, std::string_view id) const;
  // Writes a line and reads one, from a fresh process if there is none.
  Answer exchange(const std::string& line, Size size, std::string_view& reply);
  Answer answer_of(std::string_view reply, const std::string& id);
  // Drops a process whose answer fits no question; the next question starts a fresh one.
  Answer lost(const std::string& why, AnswerKind kind = AnswerKind::broken_channel) {
    running_.reset();
    return {.kind = kind, .message = why};
  }
  // Notes a failure of the process and decides whether to start another.
  Answer failed(Answer a);

  std::string command_;
  Limits limits_;
  Manifest manifest_;
  std::chrono::milliseconds reach_ = kReach;
  std::unique_ptr<Conversation> running_;
  std::deque<std::string> ids_;  // of the last calls
  int trials_ = 0;               // while no process has ever answered
  bool has_answered_ = false;    // whether any process answered
  Answer last_failure_;
};

std::string ExecSubject::without_ids(std::string_view text, std::string_view id) const {
  constexpr std::string_view kDigits = "0123456789";
  std::string all;
  while (!text.empty()) {
    const bool number = kDigits.find(text[0]) != kDigits.npos;
    const std::string_view part =
        text.substr(0, number ? text.find_first_not_of(kDigits) : text.find_first_of(kDigits));
    all += part == id ? "1" : std::find(ids_.begin(), ids_.end(), part) != ids_.end() ? "0" : part;
    text.remove_prefix(part.size());
  }
  return all;
}

Answer ExecSubject::exchange(const std::string& line, Size size, std::string_view& reply) {
  if (!has_answered_ && trials_ >= kTrials) return last_failure_;
  const bool fresh = !running_;
  if (fresh) running_ = std::make_unique<Conversation>(command_, limits_, reach_);
  const auto patience = static_cast<double>(patience_for(static_cast<i64>(size.elements)));
  Answer a =
      running_->exchange(line + "\n", (fresh ? limits_.start_s : limits_.timeout_s) * patience,
          kLongestAnswer + kLongestValue * size.values, reply);
  return a.ok() ? a : failed(std::move(a));
}

Answer ExecSubject::answer_of(std::string_view reply, const std::string& id) {
  if (const auto printed = running_->printed(); !printed.empty())
    return failed(lost(
        quote(printed) + " on standard output, where only answers belong", AnswerKind::printed));
  Answer a = read_reply(reply, id);
  if (a.kind == AnswerKind::protocol) return failed(lost(a.message));
  if (!running_->in_step())
    return failed(
        lost("more than one answer, or an answer before it read the call: " + quote(reply)));
  has_answered_ = true;
  return a;
}

void ExecSubject::ask_manifest() {
  std::string_view reply;
  if (!exchange(kAskManifest, {}, reply).ok()) return;
  const auto j = nlohmann::ordered_json::parse(reply, nullptr, false);
  const bool stated =
      j.is_object() && j.size() == 2 && j.contains("manifest") && j.contains("id") && j["id"] == 0;
  if (!stated || !running_->in_step()) {
    if (answer_of(reply, "0").kind == AnswerKind::ok) lost("an answer to no call");
    has_answered_ = false;
    return;
  }
  const std::string where = "exec:" + command_ + " ";
  try {
    manifest_ = parse_manifest(j["manifest"].dump());
  } catch (const UsageError& e) {
    throw UsageError(where + e.what());
  }
  if (!manifest_.options.empty())
    throw UsageError(where + "has a wrong manifest: 'options' belong in the command");
}

Answer ExecSubject::failed(Answer a) {
  running_.reset();
  trials_ += a.kind == AnswerKind::timed_out ? kHang : 1;
  if (has_answered_ || trials_ < kTrials) return a;
  last_failure_ = std::move(a);
  last_failure_.message += " (the command has never answered and is not started again)";
  return last_failure_;
}

}  // namespace

std::unique_ptr<Subject> open_exec(const std::string& command, const Limits& limits, bool asks) {
  // A command that ends while the judge writes to it must not end the judge.
  signal(SIGPIPE, SIG_IGN);
  auto subject = std::make_unique<ExecSubject>(command, limits);
  if (asks) subject->ask_manifest();
  return subject;
}

}  // namespace lockstep::judge
