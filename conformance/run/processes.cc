#include "conformance/run/processes.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "conformance/subjects/process.h"

namespace lockstep::judge {
namespace {

using json = nlohmann::ordered_json;

// A terminal sends an interrupt to every process, but only the reporting process acts on it and
// ends the others. These install an empty handler: commands would inherit an ignored signal.
void ignore_interrupts_once() {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  for (int s : {SIGINT, SIGTERM}) sigaction(s, &action, nullptr);
}

}  // namespace

void send_line(int fd, const json& j) {
  const std::string line = j.dump(-1, ' ', true, json::error_handler_t::replace) + "\n";
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t n = write(fd, line.data() + at, line.size() - at);
    if (n <= 0) _exit(1);
    at += static_cast<std::size_t>(n);
  }
}

Processes::~Processes() {
  for (Child& c : children_) {
    close(c.fd);
    if (c.pid > 0) end_process(c.pid);
  }
  end_orphans();
}

void Processes::start(const std::function<void(int)>& body) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for a judging process");
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("no judging process");
  note_child(pid);
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    ignore_interrupts_once();
    close(ends[0]);
    for (const Child& o : children_) close(o.fd);
    int status = 0;
    try {
      body(ends[1]);
      send_line(ends[1], json{{"done", true}});
    } catch (const std::exception& e) {
      send_line(ends[1], json{{"broke", e.what()}});
      status = 1;
    }
    _exit(status);
  }
  close(ends[1]);
  children_.push_back({pid, ends[0]});
}

bool Processes::working() const {
  return std::any_of(children_.begin(), children_.end(), [](const Child& c) { return !c.done; });
}

void Processes::receive(const std::function<bool()>& interrupted,
    const std::function<void(const std::string&, const json&)>& take) {
  constexpr int kPatienceMs = 500;  // the longest delay until an interrupt is seen
  std::vector<pollfd> fds;
  for (const Child& c : children_) fds.push_back({c.done ? -1 : c.fd, POLLIN, 0});
  if (poll(fds.data(), fds.size(), kPatienceMs) < 0) return;
  for (std::size_t k = 0; k < fds.size(); ++k) {
    if (!fds[k].revents || interrupted()) continue;
    for (const std::string& line : lines_of(children_[k])) {
      const json j = json::parse(line, nullptr, false);
      if (!j.is_object()) throw std::runtime_error("a judging process sent no result");
      if (j.contains("broke")) throw std::runtime_error(j["broke"].get<std::string>());
      if (j.contains("done"))
        children_[k].done = true;
      else
        take(line, j);
    }
  }
}

std::vector<std::string> Processes::lines_of(Child& c) {
  char buffer[1 << 16];
  const ssize_t n = read(c.fd, buffer, sizeof buffer);
  if (n <= 0)
    throw std::runtime_error(
        "a judging process " + end_process(std::exchange(c.pid, 0)) + " before it was done");
  c.pending.append(buffer, static_cast<std::size_t>(n));
  std::vector<std::string> lines;
  std::size_t from = 0;
  for (std::size_t end; (end = c.pending.find('\n', from)) != std::string::npos; from = end + 1)
    lines.push_back(c.pending.substr(from, end - from));
  c.pending.erase(0, from);
  return lines;
}

}  // namespace lockstep::judge
