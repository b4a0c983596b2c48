// Backends as libraries: what the judge hands to a backend, and how it judges the answers.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "conformance/cases/malformed_graph.h"
#include "conformance/host/channel.h"
#include "conformance/run/jobs.h"
#include "conformance/subjects/library_subject.h"
#include "conformance/subjects/mail.h"
#include "conformance/tests/expect.h"
#include "conformance/tests/program.h"

namespace lockstep::judge {
namespace {

// A variable of the environment for as long as this lives; workers inherit it.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

Limits patient(Options set) { return {.timeout_s = 30, .start_s = 30, .set = std::move(set)}; }

std::unique_ptr<Subject> telling(Options set) {
  return open_library(hostile("telling"), patient(std::move(set)));
}

Inferred outputs_of(const Case& c) { return c.op->infer(c.attributes(), c.types()); }

Answer execute(Subject& s, const Case& c, const judge::Run& run = {}) {
  return s.execute(c, inputs_of(c), outputs_of(c), run);
}

Answer execute(Options set, const std::string& id, const judge::Run& run = {}) {
  return execute(*telling(std::move(set)), parse_case(id), run);
}

// An answer in one line: its kind, the reason, or what the judge found damaged.
std::string text_of(const Answer& a) {
  return std::string(name_of(a.kind)) + " " + (a.ok() ? a.out_damage + a.in_damage : a.message);
}

// ---- what it is put ----

TEST(LibraryDoor, PutsTheTensorsOfACallAsTheyLie) {
  const auto s = telling({{"tells", "call"}});
  const auto told = [&](const std::string& id, bool constants = false) {
    const Case c = parse_case(id);
    return execute(*s, c, {.layout = c.layout, .constants = constants}).message;
  };
  EXPECT_EQ(told("relu/in=2x3x4@8/fill=one"), "relu 1 1 2x3x4/12,4,1@8 -> 2x3x4/12,4,1@8");
  EXPECT_EQ(told("get_valid_counts/in=1x2x6@8/fill=one"),
      "get_valid_counts 1 2 1x2x6/12,6,1@8 -> 1/1@5 1x2x6/12,6,1@8");
  EXPECT_EQ(told("broadcast_add/in=2@8+3x1@9/fill=one", true),
      "broadcast_add 2 1 2/1@8 3x1/1,1@9#1 -> 3x2/2,1@10");
  EXPECT_EQ(told("relu/in=2x3@8/fill=one:3/memory=scattered"), "relu 1 1 2x3/14,2@8 -> 2x3/8,2@8");
}

TEST(LibraryDoor, PutsAttributesAsText) {
  const auto s = telling({{"tells", "attrs"}});
  const Case c = parse_case("sum/axis=1/in=2x3@8/fill=one");
  const std::vector<Tensor> in = inputs_of(c);
  const AttrTexts none, some = {{"axis", " [1L,\t] "}, {"keepdims", ""}, {"\xff", "it's"}};
  const auto told = [&](const AttrTexts* texts) {
    const Question q{.call = &c, .texts = texts, .callers = {&in}, .out = outputs_of(c)};
    return s->ask({q})[0][0].message;
  };
  EXPECT_EQ(told(nullptr), "axis:2 keepdims:1 exclude:1");
  EXPECT_EQ(told(&none), "");
  EXPECT_EQ(told(&some), "axis:3= [1L,?]  keepdims:3= \xff:3=it's");
  const AttrTexts endless = {{"axis", std::string("1\0", 2)}};
  expect_throws<std::runtime_error>([&] { told(&endless); }, "no text with a NUL");
}

TEST(LibraryDoor, PutsTheTypesOfAnIllegalCallWithStridesThatDoNotOverflow) {
  const auto s = telling({{"tells", "call"}});
  const std::pair<const char*, const char*> rows[] = {
      {"relu/in=3x0x2@8/fill=one", "relu 1 1 3x0x2/2,2,1@8 -> 1/1@32"},
      {"relu/in=2x3x4@33/fill=one", "relu 1 1 2x3x4/12,4,1@33 -> 2x3x4/12,4,1@32"},
      {"relu/in=1x2x3x4x5x6x7@8/fill=one",
          "relu 1 1 1x2x3x4x5x6x1/720,360,120,30,6,1,1@8 -> 1/1@32"},
      {"relu/in=1x2x3x4x5x6x7x8@8/fill=one",
          "relu 1 1 1x2x3x4x5x6x1/720,360,120,30,6,1,1@8 -> 1/1@32"},
      {"relu/in=2x2x99999999999@8/fill=one",
          "relu 1 1 2x2x99999999999/67108864,33554432,1@8 -> 1/1@32"},
      {"relu/in=5x3x32x33554432@8/fill=one",
          "relu 1 1 5x3x32x33554432/3221225472,1073741824,33554432,1@8 -> 1/1@32"},
      {"relu/in=5x-3x7@8/fill=one", "relu 1 1 5x-3x7/7,7,1@8 -> 1/1@32"},
      {"get_valid_counts/in=2@8/fill=one", "get_valid_counts 1 2 2/1@8 -> 2/1@32 2/1@32"},
  };
  for (const auto& [id, text] : rows) EXPECT_EQ(s->refuse(parse_case(id)).message, text) << id;
}

TEST(LibraryDoor, PutsAsManyInputsAsThereIsRoomFor) {
  const auto s = telling({});
  Case c = parse_case("concatenate/axis=0/in=1@8/fill=one");
  c.in.assign(1040, c.in[0]);
  EXPECT_EQ(s->infer(c).types.at(0).precision, kMaxSlots - kMaxOutputs);
  const auto answers = [&](std::size_t callers, std::size_t inputs) {
    c.in.assign(inputs, c.in[0]);
    const std::vector<std::vector<Tensor>> in(callers, inputs_of(c));
    return s->execute_at_once(c, in, outputs_of(c), {}).size();
  };
  EXPECT_EQ(answers(1, 1024), 1U);
  EXPECT_EQ(answers(1, 1032), 0U);
  EXPECT_EQ(answers(4, 257), 4U);
  EXPECT_EQ(answers(4, 258), 0U);
  c.in.assign(kMaxSlots - 1, c.in[0]);
  const std::string told =
      telling({{"tells", "call"}})->execute(c, inputs_of(c), outputs_of(c), {}).message;
  EXPECT_EQ(told.substr(0, 18), "concatenate 1031 1") << "a call that runs has all its inputs";
}

TEST(LibraryDoor, LimitsMemoryToWhatTheProcessHasAndMoreAndWritesNoCore) {
  rlimit core{};
  getrlimit(RLIMIT_CORE, &core);
  const rlimit all{core.rlim_max, core.rlim_max};
  setrlimit(RLIMIT_CORE, &all);
  const auto told = [](double gib) {
    Limits l = patient({{"tells", "limits"}});
    l.memory_gib = gib;
    const Case c = parse_case("relu/in=1@8/fill=one");
    std::istringstream words(execute(*open_library(hostile("telling"), l), c).message);
    std::vector<unsigned long long> numbers(3);
    for (auto& n : numbers) words >> n;
    return numbers;
  };
  // More memory than a sanitizer reserves.
  constexpr unsigned long long kMuch = 1ULL << 60;
  const auto limited = told(1 << 30), unlimited = told(0);
  EXPECT_GT(limited[0], kMuch + (100 << 10)) << "what the process has already";
  EXPECT_LT(limited[0], kMuch + (kMuch >> 4));
  EXPECT_EQ(unlimited[0], RLIM_INFINITY);
  setrlimit(RLIMIT_CORE, &core);
  EXPECT_EQ(limited[1], 0U);
  EXPECT_EQ(limited[2], 0U);
}

// ---- what it answers ----

TEST(LibraryDoor, RefusesATableThatLacksARequiredFunction) {
  for (int k = 0; k < 7; ++k) {
    const Variable lacks("TELLING_LACKS", std::to_string(k));
    expect_throws<UsageError>([] { telling({}); }, "a required function of its table is missing");
  }
}

TEST(LibraryDoor, TakesAManifestOfAMebibyteAndNoLargerOne) {
  {
    const Variable size("TELLING_SIZE", std::to_string(1 << 20));
    EXPECT_EQ(telling({})->manifest().name, "telling");
  }
  const Variable size("TELLING_SIZE", std::to_string((1 << 20) + 1));
  expect_throws<UsageError>([] { telling({}); }, "it has no manifest");
}

TEST(LibraryDoor, KnowsAStatusByAllItsBits) {
  const auto answer = [](const std::string& function) {
    return text_of(execute({{"code", function + ":65536"}}, "relu/in=1@8/fill=one"));
  };
  for (const char* function : {"prepare", "execute"})
    EXPECT_EQ(answer(function), "protocol answered the unknown status 65536") << function;
  EXPECT_EQ(answer("open"), "protocol open() failed: answered the unknown status 65536");
  const Variable device("TELLING_DEVICE", "1");
  for (const char* function : {"upload", "download", "stream", "wait", "execute"})
    EXPECT_EQ(answer(function), "protocol answered the unknown status 65536") << function;
  EXPECT_EQ(telling({{"code", "infer:65536"}})->infer(parse_case("relu/in=1@8/fill=one")).message,
      "answered the unknown status 65536");
}

TEST(LibraryDoor, TakesTextsWithoutAnEnd) {
  const Case c = parse_case("relu/in=1@8/fill=one");
  const Answer refused = execute({{"words", "long"}, {"tells", "call"}}, case_id(c));
  EXPECT_EQ(refused.label, std::string(63, 'l'));
  EXPECT_EQ(refused.message, std::string(255, 't'));
  const Answer done = execute({{"words", "long"}}, case_id(c));
  EXPECT_EQ(done.path, std::string(127, 'p'));
  EXPECT_EQ(done.threads, 3000000000);
  EXPECT_EQ(words_of<UsageError>([] {
    telling({{"words", "open"}});
  }),
      "'" + hostile("telling") + "' refuses its options: open() failed: " + std::string(256, 't'));
  const std::string nowhere = "/" + std::string(600, 'x');
  const std::string text = "'" + nowhere + "' is no backend: no library: " + nowhere;
  EXPECT_EQ(words_of<UsageError>([&] { open_library(nowhere, {}); }),
      text.substr(0, text.find("is no")) + text.substr(text.find("is no"), 511));
}

TEST(LibraryDoor, TakesTypesOfNoAxesAndOfLongOnes) {
  const Answer a = telling({})->infer(parse_case("relu/in=1@8/fill=one"));
  ASSERT_EQ(a.types.size(), 2U);
  EXPECT_EQ(a.types[0], (TensorType{{}, 1}));
  EXPECT_EQ(a.types[1], (TensorType{{i64{1} << 40}, 0}));
}

TEST(LibraryDoor, IsJudgedByOneProcessOnADeviceUnlessTold) {
  const Conduct some{.jobs = 3}, none{};
  EXPECT_EQ(jobs_of(none, *telling({})), jobs_of(none));
  const Variable device("TELLING_DEVICE", "1");
  const auto s = telling({});
  EXPECT_EQ(jobs_of(none, *s), 1);
  EXPECT_EQ(jobs_of(some, *s), 3);
}

TEST(LibraryDoor, StartsANewProcessForADeviceThatFailedAHundredTimes) {
  const Variable device("TELLING_DEVICE", "1");
  const auto s = telling({{"code", "wait:2"}});
  const Case c = parse_case("relu/in=1@8/fill=one");
  for (int k = 1; k <= 101; ++k) ASSERT_EQ(execute(*s, c).message, "answer 1") << k;
  EXPECT_EQ(execute(*s, c).message, "answer 2") << "by the same process";
}

// ---- what it does ----

TEST(LibraryDoor, GivesScratchMemoryFullOfANumber) {
  for (const int bytes : {4, 64, 68, 4096, 4100})
    EXPECT_EQ(execute({{"tells", "scratch"}, {"scratch", std::to_string(bytes)}},
                  "relu/in=1@8/fill=one", {.filler = -100000})
                  .message,
        "-100000 -100000 0")
        << bytes;
}

TEST(LibraryDoor, RunsAPlanManyTimesAndPutsItsOutputsBackBeforeEach) {
  // How often the plan runs, in which run it errs, and the result: which run, and its output.
  const std::tuple<int, const char*, int, i32> rows[] = {{1, "1", 0, 102}, {128, "999", 0, 101},
      {128, "2", 2, 102}, {128, "128", 128, 102}, {128, "1", 2, 101}, {128, "129", 0, 101}};
  for (const auto& [runs, errs, changed, value] : rows) {
    const Answer a =
        execute({{"counts", errs}}, "relu/in=1@8/fill=one", {.poison = 100, .runs = runs});
    ASSERT_TRUE(a.ok()) << a.message;
    EXPECT_EQ(a.changed_run, changed) << runs << " " << errs;
    EXPECT_EQ(a.out[0][0], value) << runs << " " << errs;
  }
  const Variable device("TELLING_DEVICE", "1");
  const Answer a = execute({{"counts", "3"}}, "relu/in=1@8/fill=one", {.poison = 100, .runs = 128});
  EXPECT_EQ(a.changed_run, 3);
  EXPECT_EQ(a.out[0][0], 102);
}

// The library counts a run a moment before each limit. A judge that waits for all of them sees it
// exit.
TEST(LibraryDoor, EndsALibraryThatOnlyPretendsToGoOn) {
  Limits l = patient({{"pretends", "yes"}});
  l.timeout_s = 0.5;
  const Answer a = execute(
      *open_library(hostile("telling"), l), parse_case("relu/in=1@8/fill=one"), {.runs = 128});
  EXPECT_EQ(text_of(a), "timed_out no answer within the time limit");
}

TEST(LibraryDoor, BelievesNoNumberOfAnswersThatItDidNotAskFor) {
  for (const char* number : {"1", "-1"})
    EXPECT_EQ(text_of(execute({{"answers", number}}, "relu/in=1@8/fill=one")),
        "broken_channel it wrote over the number of its answers")
        << number;
  EXPECT_EQ(text_of(execute({{"answers", "0"}}, "relu/in=1@8/fill=one")), "ok ");
}

TEST(LibraryDoor, BelievesNoAnswerThatComesWithAnotherNumber) {
  EXPECT_EQ(text_of(execute({{"guesses", "1"}}, "relu/in=1@8/fill=one")),
      "broken_channel it wrote to the judge's socket");
}

TEST(LibraryDoor, BelievesNothingThatADeadProcessLeftBehind) {
  const Case c = parse_case("relu/in=1@8/fill=one");
  const std::vector<Tensor> in = inputs_of(c);
  std::vector<Question> both;
  for (const std::size_t trial : {0U, 1U})
    both.push_back({.call = &c, .callers = {&in}, .out = outputs_of(c), .trial = trial});
  const std::vector<Answers> answers = telling({{"spoils", "2"}})->ask(both);
  EXPECT_EQ(text_of(answers[0][0]), "ok ");
  EXPECT_EQ(text_of(answers[1][0]), "crashed the backend's process was killed by SIGABRT");
}

TEST(LibraryDoor, RunsAGraphManyTimes) {
  const Case c = parse_case("relu/in=1@8/fill=one");
  const std::vector<Tensor> in = inputs_of(c);
  const CallGraph graph = graph_of_call(c);
  const auto changed = [&](const char* errs) {
    const auto s = telling({{"counts", errs}});
    return s
        ->ask({{.call = &c,
            .callers = {&in},
            .graph = &graph,
            .out = outputs_of(c),
            .run = {.runs = 3}}})[0][0]
        .changed_run;
  };
  EXPECT_EQ(changed("9"), 0);
  EXPECT_EQ(changed("2"), 2);
  EXPECT_EQ(changed("3"), 3);
}

TEST(LibraryDoor, HasPatienceWithLargeCalls) {
  EXPECT_EQ(patience_for(1), 1);
  EXPECT_EQ(patience_for((1 << 18) - 1), 1);
  EXPECT_EQ(patience_for(1 << 18), 2);
  EXPECT_EQ(patience_for(1 << 21), 9);
  Mail mail;
  const auto add = [&](const std::string& id, int runs) {
    const Case c = parse_case(id);
    const std::vector<Tensor> in = inputs_of(c);
    mail.add({.call = &c, .callers = {&in}, .out = outputs_of(c), .run = {.runs = runs}});
  };
  add("relu/in=1048577@8/fill=one", 1);
  add("relu/in=5@8/fill=one", 128);
  EXPECT_EQ(mail.steps(), 129U) << "by each of which a host shows that it is at work";
  EXPECT_EQ(mail.patience(), 9) << "none is begun";
  for (const auto& [begun, patience] : {std::pair{1U, 9}, {2U, 1}, {7U, 1}}) {
    mail.channel().begun = begun;
    EXPECT_EQ(mail.patience(), patience) << begun;
  }
  mail.clear();
  EXPECT_EQ(mail.steps(), 0U);
}

// 960 elements and 256 bytes beside them are a page.
TEST(LibraryDoor, SaysWhatWasWrittenBesideATensor) {
  const std::tuple<const char*, Base, std::string> rows[] = {
      {"0:0", Base::end, "ok input 0 was written, an element of it"},
      {"0:3839", Base::end, "ok input 0 was written, an element of it"},
      {"0:-1", Base::end, "ok input 0 was written, 1 bytes before its memory"},
      {"0:-256", Base::end, "ok input 0 was written, 256 bytes before its memory"},
      {"0:-257", Base::end, " touching memory of input 0, 257 bytes before its memory"},
      {"0:-4352", Base::end, " touching memory of input 0, 4352 bytes before its memory"},
      {"0:3840", Base::end, " touching memory of input 0, 0 bytes after its memory"},
      {"0:9000000", Base::end, " touching memory of input 0, 8996160 bytes after its memory"},
      {"1:-30000000", Base::begin,
          " touching memory of output 0, 30000000 bytes before its memory"},
      {"0:3840", Base::begin, "ok input 0 was written, 0 bytes after its memory"},
      {"0:4095", Base::begin, "ok input 0 was written, 255 bytes after its memory"},
      {"0:-1", Base::begin, " touching memory of input 0, 1 bytes before its memory"},
      {"0:-4", Base::unaligned, "ok input 0 was written, 4 bytes before its memory"},
      {"0:-5", Base::unaligned, " touching memory of input 0, 5 bytes before its memory"},
      {"1:0", Base::end, "ok "},
      {"1:-1", Base::end, "ok memory of output 0 was written, 1 bytes before its memory"},
      {"1:3840", Base::begin, "ok memory of output 0 was written, 0 bytes after its memory"},
      {"1:3840", Base::end, " touching memory of output 0, 0 bytes after its memory"},
  };
  for (const auto& [byte, base, text] : rows) {
    const std::string how =
        text[0] == ' ' ? "crashed the backend's process was killed by SIGSEGV" : "";
    EXPECT_EQ(
        text_of(execute({{"poke", byte}}, "relu/in=960@8/fill=one", {.base = base})), how + text)
        << byte << " " << static_cast<int>(base);
  }
}

TEST(LibraryDoor, SaysWhichCellOfPaddedMemoryWasWritten) {
  const std::pair<const char*, const char*> rows[] = {
      {"0:0", "ok input 0 was written, an element of it"},
      {"0:4", "ok input 0 was written, a padding cell, element 1 from its first"},
      {"0:8", "ok input 0 was written, an element of it"}, {"1:0", "ok "},
      {"1:4", "ok memory of output 0 was written, a padding cell, element 1 from its first"},
      {"1:8", "ok "}};
  for (const auto& [byte, text] : rows)
    EXPECT_EQ(text_of(execute(
                  {{"poke", byte}}, "relu/in=2x3@8/fill=one:3", {.layout = Layout::scattered})),
        text)
        << byte;
}

}  // namespace
}  // namespace lockstep::judge
