#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "conformance/reports/report.h"
#include "conformance/run/judge.h"
#include "conformance/subjects/process.h"
#include "conformance/subjects/reference_subject.h"
#include "conformance/subjects/subject.h"
#include "conformance/tests/expect.h"
#include "conformance/tests/program.h"

namespace lockstep::judge {
namespace {

// Long by default, so that answers arrive on a busy machine; tests without an answer pass short
// limits.
Limits limits(double start_s = 20, double timeout_s = 20) {
  return {.timeout_s = timeout_s, .start_s = start_s};
}

Case relu_of(i64 n) { return {.op = find_operator("relu"), .in = {{{n}, 8}}}; }

Answer ask(Subject& s, const Case& c) {
  return s.execute(c, inputs_of(c), c.op->infer(c.attributes(), c.types()), {});
}

// Words of a shell that read a call, whose id is then in $id.
const std::string kRead = "read x; id=${x#*:}; id=${id%%,*}; ";

Answer ask(const std::string& command, double start_s = 20) {
  return ask(*open_exec(command, limits(start_s)), relu_of(2));
}

std::string said(const Answer& a) { return std::string(name_of(a.kind)) + " " + a.message; }

void expect_answer(const Answer& a, AnswerKind kind, const std::string& part) {
  EXPECT_EQ(a.kind, kind);
  expect_contains(a.message, part);
}

void expect_right(Subject& s, const Case& c) {
  const Answer a = ask(s, c);
  ASSERT_TRUE(a.ok()) << a.message;
  const auto expected = reference::outputs(*c.op, c.attributes(), inputs_of(c));
  ASSERT_EQ(a.out.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_EQ(a.out[k], expected[k].data);
    const Type& t = expected[k].type;
    EXPECT_EQ(a.types[k], (TensorType{{t.shape.begin(), t.shape.end()}, t.precision}));
  }
}

TEST(Exec, AnswersEveryExampleAndIsFoundBesideTheProgram) {
  const auto s = open_exec("eval_reference", limits());
  for (const OpInfo* op : operators())
    for (int i = 0; i < op->example_count; ++i) expect_right(*s, example_case(*op, i));
  EXPECT_EQ(s->manifest().name, "eval_reference");
  EXPECT_EQ(s->manifest().errors, Errors::label);
}

TEST(Exec, PutsIllegalCalls) {
  const auto s = open_exec("eval_reference", limits());
  Case c = relu_of(2);
  c.in[0].shape = {0};
  const Answer a = s->refuse(c);
  EXPECT_EQ(a.kind, AnswerKind::logic_error);
  EXPECT_EQ(a.label, "input.extent");
}

TEST(Exec, NamesWhatIsNoBackend) {
  EXPECT_EQ(said(ask("true")), "crashed exited with status 0 before answering");
  expect_answer(ask("cat"), AnswerKind::broken_channel, "'op' is no key of a line");
  EXPECT_EQ(said(ask("yes")), "printed 'y' on standard output, where only answers belong");
  expect_answer(ask("sleep 999", 0.2), AnswerKind::timed_out, "no answer in time");
  const Answer missing = ask("no_such_program_anywhere");
  expect_answer(
      missing, AnswerKind::crashed, "exited with status 127 before answering; its last words: ");
  expect_contains(missing.message, "not found");
}

TEST(Exec, SaysHowAProcessEnded) {
  EXPECT_EQ(ask("read x; kill -SEGV $$").message, "was killed by SIGSEGV before answering");
  EXPECT_EQ(ask("read x; printf '{\"id\":'; exit 3").message,
      "exited with status 3 in the middle of an answer");
  EXPECT_EQ(ask("exit 4").message, "exited with status 4 before answering");
  EXPECT_EQ(ask("read x; printf 'first\\nlast \\001 words\\n' >&2; exit 5").message,
      "exited with status 5 before answering; its last words: 'first', 'last \\x01 words'");
}

TEST(Exec, QuotesTheLastTwoLinesOfTheLastWords) {
  const std::string head = "exited with status 5 before answering; its last words: ";
  EXPECT_EQ(ask("printf 'only\\n' >&2; exit 5").message, head + "'only'");
  EXPECT_EQ(ask("printf 'only' >&2; exit 5").message, head + "'only'");
  EXPECT_EQ(ask("printf 'one\\n\\ntwo\\nthree\\n' >&2; exit 5").message, head + "'two', 'three'");
  // Numbers of four digits show where the 2048 bytes that the judge keeps begin.
  std::string kept;
  for (int k = 489; k < 504; ++k) kept += "0" + std::to_string(k);
  EXPECT_EQ(ask("seq -w 1 1000 | tr -d '\\n' >&2; exit 5").message, head + "'" + kept + "...'");
  EXPECT_EQ(ask("printf a >&2; sleep 0.2; printf b >&2; sleep 0.2; exit 5").message, head + "'ab'");
}

TEST(Exec, ReadsAnAnswerThatComesByteByByte) {
  const Answer pieces = ask(kRead +
      "printf '{'; sleep 0.2; printf '\"id\":'; printf $id; sleep 0.2;"
      " printf ',\"status\":\"unsupported\"}'; sleep 0.2; printf '\\n'; read x");
  EXPECT_EQ(pieces.kind, AnswerKind::unsupported) << pieces.message;
  const Answer blank = ask("read x; echo; exec sleep 999", 5);
  EXPECT_EQ(blank.kind, AnswerKind::broken_channel) << "an empty line is an answer";
}

TEST(Exec, EndsACommandThatClosesItsOutputAndStays) {
  EXPECT_EQ(ask("exec >&-; exec sleep 999").message, "was killed by SIGTERM before answering");
}

// Each byte comes in time, and the answer never does. A judge that counts the time from the last
// byte sees the command end by itself.
TEST(Exec, EndsACommandThatAnswersByteByByteWithoutAnEnd) {
  expect_answer(ask("for k in $(seq 100); do printf '{'; sleep 0.1; done", 1),
      AnswerKind::timed_out, "no answer in time");
}

// The parent of the command's shell is the process that ends all that the command starts.
TEST(Exec, EndsACommandThatEndsItsKeeper) {
  EXPECT_EQ(ask(kRead + R"(kill -9 $PPID; sleep 3; echo "{\"id\":$id,\"status\":\"unsupported\"}")")
                .message,
      "was killed by SIGKILL before answering");
}

// A scheduler that ends a whole job may signal the judge a moment later than the command.
TEST(Exec, WaitsToBeEndedWhereTheShellSaysThatOthersEndedTheCommand) {
  for (const char* status : {"129", "130", "137", "143"}) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(ask("exit " + std::string(status)).message,
        "exited with status " + std::string(status) + " before answering");
    EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(450)) << status;
  }
}

TEST(Exec, WaitsLessAndLessForASignalThatDoesNotCome) {
  using std::chrono::milliseconds;
  milliseconds reach = kReach;
  for (const auto& [command, left] :
      {std::pair("exit 137", 250), {"exit 3", 250}, {"exit 143", 125}}) {
    const pid_t pid =
        start_host({"command", std::to_string(bytes_of_gib(1)), command}, {-1, -1, -1}, {});
    reap_host(pid, reach);
    EXPECT_EQ(reach, milliseconds(left)) << command;
  }
}

// The judge reports a line printed before, between or after answers in the same way, whenever it
// reads it.
TEST(Exec, SaysWhatWasPrintedBesideAnswers) {
  const std::string answer = R"({\"id\":$id,\"status\":\"unsupported\"})";
  for (const std::string& command : {std::string("echo loading 1 of 2; read x; read x"),
           kRead + "printf \"loading 1 of 2\\n" + answer + "\\n\"; read x",
           kRead + "printf \"" + answer + "\\nloading 1 of 2\\n\"; read x",
           kRead + "printf \"" + answer + "\\n\\n " + answer + "\\nloading 1 of 2\\n\"; read x"})
    EXPECT_EQ(said(ask(command)),
        "printed 'loading 1 of 2' on standard output, where only answers belong")
        << command;
}

TEST(Exec, PassesTheEnvironmentOn) {
  setenv("LOCKSTEP_TEST_A", "first", 1);
  setenv("LOCKSTEP_TEST_B", "second", 1);
  expect_contains(
      ask("echo $LOCKSTEP_TEST_A $LOCKSTEP_TEST_B >&2; exit 3").message, "'first second'");
}

std::set<std::string> open_descriptors() {
  std::set<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    all.insert(entry.path().filename());
  return all;
}

TEST(Exec, LeavesNoDescriptorOpenAndClosesNoneOfOthers) {
  const auto before = open_descriptors();
  for (const char* command : {"eval_reference", "exec 2>&-; eval_reference", "true"}) ask(command);
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Exec, GoesOnWithAFreshProcessAfterACrash) {
  const auto s = open_exec("eval_reference crash-after 2", limits());
  for (int round = 0; round < 3; ++round) {
    expect_right(*s, relu_of(3));
    expect_right(*s, relu_of(4));
    expect_answer(ask(*s, relu_of(5)), AnswerKind::crashed,
        "before answering; its last words: 'the third law is broken'");
  }
}

TEST(Exec, GoesOnWithAFreshProcessAfterAHang) {
  const auto s = open_exec("eval_reference hang-after 1", limits(20, 0.2));
  for (int round = 0; round < 3; ++round) {
    expect_right(*s, relu_of(3));
    EXPECT_EQ(ask(*s, relu_of(4)).kind, AnswerKind::timed_out);
  }
}

TEST(Exec, GoesOnWithAFreshProcessAfterNonsense) {
  // The first process answers a second question with the first answer.
  const auto s = open_exec(
      "read x; y=$(printf '%s\\n' \"$x\" | eval_reference); echo \"$y\"; read x; echo \"$y\"",
      limits());
  expect_right(*s, relu_of(3));
  expect_answer(ask(*s, relu_of(4)), AnswerKind::broken_channel,
      "the line is not an answer (id is not that of the call): '{\"id\":0,");
  expect_right(*s, relu_of(5));
}

TEST(Exec, RefusesAnswersBesideTheOneAskedFor) {
  const std::string answer = R"({\"id\":$id,\"status\":\"ok\",)"
                             R"(\"out\":[{\"shape\":[2],\"prec\":8,\"data\":[0,0]}]})";
  EXPECT_TRUE(ask(kRead + "echo \"" + answer + "\"; read x").ok());
  expect_answer(ask(kRead + "printf \"" + answer + "\\n" + answer + "\\n\"; read x"),
      AnswerKind::broken_channel, "more than one answer");
  // The command has read only the id when its answer comes, and the rest exceeds what a pipe holds.
  const auto early = open_exec(
      "x=$(head -c 40); id=${x#*:}; id=${id%%,*}; echo \"" + answer + "\"; sleep 999", limits());
  expect_answer(ask(*early, relu_of(1 << 20)), AnswerKind::broken_channel,
      "an answer before it read the call");
  EXPECT_EQ(said(ask(kRead +
                "echo \"{\\\"id\\\":$id,\\\"status\\\":\\\"ok\\\",\\\"out\\\":[]}\"; read x")),
      "protocol an answer with 0 outputs instead of 1");
}

TEST(Exec, CannotForeseeTheIdOfACall) {
  const std::string answer = R"(echo "{\"id\":$id,\"status\":\"ok\",)"
                             R"(\"out\":[{\"shape\":[2],\"prec\":8,\"data\":[0,0]}]}")";
  const auto s = open_exec(
      kRead + answer + "; sleep 0.1; id=$((id + 1)); " + answer + "; exec sleep 999", limits());
  EXPECT_TRUE(ask(*s, relu_of(2)).ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  expect_answer(ask(*s, relu_of(2)), AnswerKind::broken_channel, "id is not that of the call");
}

TEST(Exec, NeverBlocksHoweverMuchBothSidesSay) {
  const auto s = open_exec("eval_reference noisy", limits());
  expect_right(*s, relu_of(3 << 20));
  expect_right(*s, relu_of(1));
  // The command fills its own output before it reads a call that is larger than any pipe.
  const auto c = open_exec("head -c 3000000 /dev/zero | tr '\\0' x; cat", limits());
  EXPECT_EQ(ask(*c, relu_of(1 << 20)).kind, AnswerKind::printed);
}

TEST(Exec, LimitsTheLengthOfAnAnswer) {
  expect_answer(ask("tr '\\0' x < /dev/zero"), AnswerKind::broken_channel,
      "an answer of more than 67108928 bytes, beginning 'xxxx");
  const std::string answer = R"({\"id\":$id,\"status\":\"unsupported\"})";
  const std::string length = "$((67108928 - 30 - ${#id}))";
  const Answer longest = ask(
      kRead + "head -c " + length + " /dev/zero | tr '\\0' ' '; echo \"" + answer + "\"; read x");
  EXPECT_EQ(longest.kind, AnswerKind::unsupported) << longest.message;
  // An answer to an illegal call has no values.
  const Answer illegal = open_exec("tr '\\0' x < /dev/zero", limits())->refuse(relu_of(0));
  expect_contains(illegal.message, "an answer of more than 67108864 bytes, beginning 'xxxx");
}

TEST(Exec, GivesUpOnACommandThatNeverAnswers) {
  const auto s = open_exec("sleep 999", limits(0.2));
  for (int i = 0; i < 1000; ++i) {
    const Answer a = ask(*s, relu_of(1));
    ASSERT_EQ(a.kind, AnswerKind::timed_out);
    if (i > 0) expect_contains(a.message, "not started again");
  }
}

// A crash is one trial of a hundred, and a hang fifty: 49 crashes and a hang leave one.
TEST(Exec, GivesUpAfterAHundredTrials) {
  const std::string count = testing::TempDir() + "lockstep_trials_" + std::to_string(getpid());
  std::ofstream(count) << "0\n";
  const auto s = open_exec("read n <" + count + "; echo $((n + 1)) >" + count +
          "; [ $n -ne 49 ] || exec sleep 999; exit 3",
      limits(3));
  for (int k = 0; k < 53; ++k) {
    const Answer a = ask(*s, relu_of(1));
    EXPECT_EQ(a.kind, k == 49 ? AnswerKind::timed_out : AnswerKind::crashed) << k;
    EXPECT_EQ(a.message.find("not started again") != std::string::npos, k >= 50) << k;
  }
  int started = 0;
  std::ifstream(count) >> started;
  EXPECT_EQ(started, 51);
  std::filesystem::remove(count);
}

TEST(Exec, KeepsTryingACommandThatCrashesOnSomeCalls) {
  const auto s = open_exec(
      "read x; case $x in *[[]3[]]*) printf '%s\\n' \"$x\" | eval_reference;; esac", limits());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(ask(*s, relu_of(2)).kind, AnswerKind::crashed);
  expect_right(*s, relu_of(3));
}

TEST(Exec, LimitsWhatItsProcessesMayAllocate) {
  Limits l = limits();
  const auto data_limit = [&] {
    return ask(*open_exec("ulimit -d >&2; exit 3", l), relu_of(2)).message;
  };
  const std::string otherwise = data_limit();
  l.memory_gib = 0.125;
  expect_contains(data_limit(), "'131072'");  // KiB
  EXPECT_EQ(otherwise.find("'131072'"), std::string::npos) << otherwise;
  l.memory_gib = 0;
  rlimit own{};
  getrlimit(RLIMIT_DATA, &own);
  if (own.rlim_cur == RLIM_INFINITY) expect_contains(data_limit(), "'unlimited'");
}

// A command that states a manifest with its name and these members, then answers like another
// command.
std::string stating(const std::string& members, const std::string& answers = "eval_reference") {
  return "read x; echo '{\"id\":0,\"manifest\":{\"name\":\"told\"," + members + "}}'; exec " +
      answers;
}

constexpr char kWhole[] = R"("version":"2","device":"d","kernels":[])";

TEST(Manifest, OfACommandIsAskedForFirst) {
  const std::string claims =
      std::string(kWhole) + R"(,"claims":{"operators":{"relu":{}},"determinism":"D1"})";
  const auto s = open_exec(stating(claims), limits(), true);
  EXPECT_EQ(s->manifest().name, "told");
  EXPECT_EQ(s->manifest().determinism, "D1");
  EXPECT_TRUE(s->manifest().stated());
  EXPECT_TRUE(s->manifest().claims_operator("relu"));
  EXPECT_FALSE(s->manifest().claims_operator("abs"));
  // The process that stated the manifest goes on; a new process would have to state it again first.
  expect_right(*s, relu_of(3));
}

TEST(Manifest, OfACommandThatStatesNoneClaimsEverything) {
  // The command may refuse, end or answer nonsense; a fresh process gets the next question.
  for (const std::string command : {"eval_reference",
           "read x; echo '{\"id\":0,\"status\":\"unsupported\"}'; exec eval_reference",
           "read x; echo '{\"manifest\":{},\"x\":0}'", "eval_reference crash-after 0", "yes"}) {
    const auto s = open_exec(command, limits(), true);
    EXPECT_EQ(s->manifest().name, command);
    EXPECT_FALSE(s->manifest().stated());
    EXPECT_TRUE(s->manifest().claims_operator("abs"));
    if (command.ends_with("eval_reference")) expect_right(*s, relu_of(3));
  }
}

TEST(Manifest, OfACommandIsRefusedWhereItIsWrong) {
  const auto says = [](const std::string& members) {
    return words_of<UsageError>([&] { open_exec(stating(members), limits(), true); });
  };
  expect_contains(
      says(R"("version":"2")"), "eval_reference has a wrong manifest: 'device' must be");
  expect_contains(says(std::string(kWhole) + R"(,"options":["isa"])"),
      "has a wrong manifest: 'options' belong in the command");
}

TEST(Exec, SaysWhichKernelRan) {
  const auto s = open_exec(R"(eval_reference | sed -u 's/}$/,"path":"loop"}/')", limits());
  EXPECT_EQ(ask(*s, relu_of(2)).path, "loop");
}

TEST(Exec, NamesWhatACommandCannotBeAsked) {
  Conduct conduct;
  conduct.limits = limits();
  const Report r =
      judge("exec:eval_reference", {.tier = 0, .operators = {"relu"}, .budget = 9}, conduct);
  const std::string verdict = verdict_line(r);
  const std::size_t others = verdict.find("properties judged, not ");
  ASSERT_NE(others, verdict.npos) << verdict;
  for (const char* p : {"layout", "threads", "constants", "writes_in_bounds", "isa"})
    expect_contains(verdict.substr(others), p);
}

// The report of a run on a golden vector about illegal text.
Report judged(const std::string& backend, const std::string& vector) {
  const Selection s{.properties = {"rejects"}, .cases = {vector}, .vectors = "conformance/vectors"};
  Conduct conduct;
  conduct.limits = limits();
  return judge(backend, s, conduct);
}

TEST(IllegalText, IsPutToCommands) {
  for (const char* vector : {"sum-0092", "sum-0079", "dense-0090"}) {
    const Report r = judged("exec:eval_reference", vector);
    EXPECT_EQ(r.counts.passed, 1) << vector;
    EXPECT_EQ(r.verdict, "PASS") << vector;
  }
  // This command never sees the illegal text.
  const std::string deaf = R"(sed -u 's/"attrs":{[^}]*}/"attrs":{}/' | eval_reference)";
  const Report r = judged("exec:" + deaf, "sum-0092");
  EXPECT_EQ(r.verdict, "FAIL");
  ASSERT_EQ(r.failures.size(), 1U);
  EXPECT_EQ(r.failures[0].id, "sum-0092");
  expect_contains(r.failures[0].text, "expected a logic error attr.syntax, the call was accepted");
}

TEST(IllegalText, IsNotPutToLibrariesThatTakeValuesAndNeverPasses) {
  const Report r = judged("null", "sum-0092");
  EXPECT_EQ(r.counts.not_claimed, 1);
  EXPECT_EQ(r.counts.executed, 0);
  EXPECT_EQ(r.verdict, "INCOMPLETE");
}

TEST(Exec, TakesNoOptions) {
  Limits l;
  l.set["isa"] = "avx2";
  EXPECT_THROW(open_exec("true", l), UsageError);
  EXPECT_THROW(open_exec("true", limits())->configure({{"isa", "avx2"}}), UsageError);
  EXPECT_EQ(open_exec("true", limits())->configure({}), 0);
}

bool exists(pid_t pid) { return kill(pid, 0) == 0; }

// A command whose grandchild writes its process number into a file, and that number.
struct Family {
  std::string file = testing::TempDir() + "lockstep_family_" + std::to_string(getpid());
  std::string command = "sleep 999 & echo $! > " + file + ".part; mv " + file + ".part " + file +
      "; trap '' TERM HUP INT; eval_reference; wait";
  ~Family() { std::filesystem::remove(file); }
  pid_t grandchild() const {
    pid_t pid = 0;
    for (int tries = 0; pid == 0 && tries < 1000; ++tries) {
      std::ifstream(file) >> pid;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return pid;
  }
};

bool gone_soon(pid_t pid) {
  // An orphan that has ended remains as a zombie until somebody reaps it; a zombie no longer runs.
  for (int tries = 0; tries < 500; ++tries) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, state;
    if (!(stat >> number >> name >> state) || state == "Z") return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(Exec, EndsEverythingThatTheCommandStarted) {
  const Family f;
  auto s = open_exec(f.command, limits());
  expect_right(*s, relu_of(2));
  const pid_t pid = f.grandchild();
  ASSERT_GT(pid, 0);
  EXPECT_TRUE(exists(pid));
  s.reset();
  EXPECT_TRUE(gone_soon(pid));
}

TEST(Exec, EndsEverythingWhenTheJudgeIsKilled) {
  const Family f;
  const pid_t judge = fork();
  if (judge == 0) {
    const auto s = open_exec(f.command, limits());
    ask(*s, relu_of(2));
    pause();
    _exit(0);
  }
  const pid_t pid = f.grandchild();
  ASSERT_GT(pid, 0);
  EXPECT_TRUE(exists(pid));
  kill(judge, SIGKILL);
  waitpid(judge, nullptr, 0);
  EXPECT_TRUE(gone_soon(pid));
}

TEST(Exec, WorksWithoutStandardStreams) {
  const int status = status_of([] {
    for (int i = 0; i < 3; ++i) close(i);
    if (!ask(*open_exec("eval_reference", limits()), relu_of(2)).ok()) _exit(1);
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace lockstep::judge
