// The real program, and processes that a backend starts or looks into.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <set>

#include "conformance/tests/verbs.h"

namespace lockstep::judge {
namespace {

const Words kFewCases = words_in("--tier 0 --op relu --budget 20 --vectors '' --jobs 1 --no-shrink",
    words_in("--timeout 20 --start-timeout 60"));

Ended check_few(const std::string& backend, const Words& more = {}, const Variables& env = {}) {
  return lockstep_says(joined(joined({"check", backend}, kFewCases), more), env);
}

Ended check_fault(const std::string& fault, const Variables& env = {}) {
  return check_few(hostile("misbehaving"), {"--set", "fault=" + fault}, env);
}

TEST(Processes, CanBeStartedByNoCallOfTheKernel) {
  for (const char* way : {
#ifdef __x86_64__
           "fork", "vfork", "x32",
#endif
           "clone", "thread"}) {
    SCOPED_TRACE(way);
    expect_end(check_fault("starts", {{"HOSTILE_WAY", way}}), 1, {"because it started a process"});
  }
#ifdef __x86_64__
  // A system without programs of 32 bits ends the process by another signal.
  expect_end(
      check_fault("starts", {{"HOSTILE_WAY", "x86"}}), 1, {"the backend's process was killed"});
#endif
  // The C library takes another call where the kernel lacks this one.
  expect_end(check_fault("starts", {{"HOSTILE_WAY", "clone3"}}), 0);
}

TEST(Processes, OfACommandThatHangsAreEndedByTheDeadline) {
  const Words limits = words_in("--timeout 1000 --start-timeout 1000 --deadline 3");
  expect_end(lockstep_says(joined({"check", "exec:exec sleep 999"}, limits)), 3,
      {"INCOMPLETE", "(no case selected yet)", "ended early, while the backend was opened"});
}

// Words of a shell that start processes by this command.
std::string starting(int number, const std::string& command) {
  return "exec:k=0; while [ $k -lt " + std::to_string(number) + " ]; do " + command +
      " & k=$((k + 1)); done; ";
}

const std::string kAnswer = "lockstep eval --backend reference --cases -";
const Words kTooMany = {
    "CRASH", "was killed by SIGSYS, because it started a process too many before answering"};

TEST(Processes, OfACommandAreSoManyAtMost) {
  for (const char* command : {"sleep 999", "setsid sleep 999"}) {
    SCOPED_TRACE(command);
    expect_end(check_few(starting(400, command) + kAnswer), 0);
    expect_end(check_few(starting(700, command) + "wait"), 1, kTooMany);
  }
}

TEST(Processes, OfACommandAreNoThreads) {
  const std::string start =
      "import subprocess, threading\n"
      "threading.stack_size(1 << 16)\n"
      "for _ in range(700): threading.Thread(target=threading.Event().wait, daemon=True).start()\n";
  expect_end(
      check_few("exec:python3 -c \"" + start + "subprocess.run('" + kAnswer + "'.split())\""), 0);
}

// Each process forks and goes on, for some seconds at most.
TEST(Processes, OfACommandThatForksWithoutEndAreEnded) {
  expect_end(check_few("exec:end=$(($(date +%s) + 5)); "
                       "f() { while [ $(date +%s) -lt $end ]; do f & done; }; f"),
      1, kTooMany);
}

// The kernel takes a filter that asks from no process that has one already.
TEST(Processes, OfALibraryAreCountedWhereTheKernelDoesNotAsk) {
  const int status = status_of([] {
    sock_filter allow BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const sock_fprog program{1, &allow};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    const Ended e = check_few(hostile("misbehaving"), {}, {{"HOSTILE_STARTS", "700"}});
    if (e.out.find("because it started a process too many") == e.out.npos) _exit(1);
  });
  EXPECT_EQ(status, 0);
}

TEST(Processes, OfACommandLookIntoNoneOfTheJudge) {
  const std::string judge = "$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$PPID/status)";
  const std::string enter = "exec:(exec 3< /proc/" + judge + "/mem) 2> /dev/null && exit 3; ";
  expect_end(check_few(enter + "lockstep eval --backend reference --cases -"), 0);
}

TEST(Processes, OfALibraryHaveNoFileOfOthers) {
  constexpr int kFree = 10;
  const int file = fcntl(STDERR_FILENO, F_DUPFD, kFree);
  ASSERT_GE(file, kFree);
  expect_end(check_fault("look"), 0);
  close(file);
}

TEST(Tensors, OfOutputsHoldAnotherNumberInEachRun) {
  std::set<std::string> numbers;
  for (int run = 0; run < 2; ++run) {
    const std::string out =
        lockstep_says({"repro", hostile("telling"), "relu/in=1@8/fill=one", "--set", "tells=output",
                          "--property", "matches_reference"})
            .out;
    const std::size_t at = out.find("it held ");
    ASSERT_NE(at, out.npos) << out;
    numbers.insert(out.substr(at, out.find('\n', at) - at));
  }
  EXPECT_EQ(numbers.size(), 2U) << *numbers.begin();
}

TEST(Tensors, OfAnEarlierCallCannotBeReached) {
  expect_end(check_fault("back"), 1, {"was killed by SIGSEGV"});
}

// Graphs of the operators of this model have no abs, of which the backend is always wrong.
TEST(Arguments, OfACompiledGraphAreGoneWhenItRuns) {
  const auto verdict = [](const char* keeps) {
    return lockstep_says({"repro", hostile("compiling"), "relu/in=2@8/data=1,-1", "--property",
        "graphs", "--model", "conformance/models/digits", "--set", std::string("keeps=") + keeps});
  };
  expect_end(verdict("nothing"), 0);
  for (const char* keeps : {"shape", "name"}) expect_end(verdict(keeps), 1, {"compiled: "});
}

// A program with frozen tiers of its own; the rest of its tree is that of the real one.
TEST(FrozenTiers, LeaveARunOfOthersWithoutAVerdict) {
  namespace fs = std::filesystem;
  const Scratch scratch;
  const fs::path tree = scratch.path(""), built = build_directory();
  fs::create_directories(tree / "bin");
  fs::create_directories(tree / "share/lockstep");
  fs::copy_file(program(), tree / "bin/lockstep");
  fs::create_directory_symlink(built / "lib", tree / "lib");
  const char* const kTiers = "frozen_tiers.json";
  for (const auto& entry : fs::directory_iterator(built / "share/lockstep"))
    if (entry.path().filename() != kTiers)
      fs::create_symlink(entry.path(), tree / "share/lockstep" / entry.path().filename());
  const auto tiers = nlohmann::ordered_json::parse(text_of_file(built / "share/lockstep" / kTiers));
  const std::string row = "/tiers/0/operators/relu";
  const auto checked = [&](const nlohmann::ordered_json& frozen) {
    scratch.write(std::string("share/lockstep/") + kTiers, frozen.dump(1));
    return run({tree / "bin/lockstep", "check", "reference", "--tier", "0", "--op", "relu"});
  };
  expect_end(checked(tiers), 0);
  const std::string other(64, '0');
  expect_end(checked(with(tiers, row + "/set", other)), 4, {"its cases of relu are not those"});
  expect_end(checked(with(tiers, row + "/outputs", other)), 4, {"the outputs of relu"});
}

}  // namespace
}  // namespace lockstep::judge
