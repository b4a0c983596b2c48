// The specification as data and as pages: a test or vector that exists shows every erratum, a
// cross-check that is not installed counts for nothing, and a comparison names each difference
// between two versions.
#include "conformance/specification/specification.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "conformance/base/places.h"
#include "conformance/specification/describe.h"
#include "conformance/tests/verbs.h"
#include "reference/graph/errata.h"
#include "spec/explain.h"

namespace lockstep::judge {
namespace {

using nlohmann::ordered_json;

const std::string kVectors = "conformance/vectors", kNowhere;

const Evidence& evidence() {
  static const Evidence all(kVectors, kNowhere);
  return all;
}

// ---- errata ----

std::map<std::string, VectorTest> vectors_by_id() {
  std::map<std::string, VectorTest> all;
  for (const OpInfo* op : operators()) {
    const std::string file = kVectors + "/" + std::string(op->name) + ".json";
    for (VectorTest& t : read_vectors(text_of_file(file), file).tests)
      all.emplace(t.id, std::move(t));
  }
  return all;
}

TEST(Errata, AreEachShownByAVectorThatExists) {
  const auto vectors = vectors_by_id();
  for (const ordered_json& e : describe_errata(evidence())) {
    EXPECT_FALSE(e["reason"].get<std::string>().empty()) << e;
    ASSERT_EQ(e["shown_by"].contains("example") + e["shown_by"].contains("label") +
            e["shown_by"].contains("test"),
        1)
        << e;
    if (e["shown_by"].contains("test")) continue;
    ASSERT_TRUE(e["vector"].is_string()) << e;
    const auto vector = vectors.find(e["vector"]);
    ASSERT_NE(vector, vectors.end()) << e;
    if (e["shown_by"].contains("example")) {
      EXPECT_EQ(vector->second.comment, e["shown_by"]["example"]);
      continue;
    }
    const std::string label = e["shown_by"]["label"], id = e["vector"];
    const bool shared = label.find('.') != std::string::npos;
    EXPECT_EQ(
        vector->second.result.label, shared ? label : id.substr(0, id.find('-')) + "." + label);
  }
}

TEST(Errata, ShownByATestAreShownByOneThatExists) {
  std::string sources;
  for (const auto& f : std::filesystem::directory_iterator("reference/graph/tests"))
    sources += text_of_file(f.path());
  int found = 0;
  for (const ordered_json& e : describe_errata(evidence())) {
    if (!e["shown_by"].contains("test")) continue;
    std::string test = e["shown_by"]["test"];
    test.replace(test.find('.'), 1, ", ");
    EXPECT_NE(sources.find("TEST(" + test + ")"), std::string::npos) << e;
    ++found;
  }
  EXPECT_GE(found, static_cast<int>(std::size(graph::kModelErrata)));
}

TEST(Errata, AreListedOnceWithEveryOperatorTheyAreAbout) {
  std::set<std::string> texts, pairs, listed;
  for (const ordered_json& e : describe_errata(evidence())) {
    EXPECT_TRUE(texts.insert(e["text"]).second) << e;
    EXPECT_EQ(e["scope"] == "operators", !e["operators"].empty()) << e;
    for (const ordered_json& op : e["operators"])
      listed.insert(op.get<std::string>() + ": " + e["text"].get<std::string>());
  }
  for (const OpInfo* op : operators())
    for (const Erratum& e : op->errata)
      pairs.insert(std::string(op->name) + ": " + std::string(e.text));
  EXPECT_EQ(listed, pairs);
}

// ---- cross-checks ----

TEST(CrossChecks, AreCountedWhereTheyAre) {
  const Scratch scratch;
  const std::string file = scratch.write("crosschecks.json", R"({
    "sum": ["independent", "numpy", "pytorch"],
    "max": ["independent"]
  })");
  const Evidence known(kVectors, file);
  const Crosschecks sum = known.crosschecks_of(*find_operator("sum"));
  const Crosschecks max = known.crosschecks_of(*find_operator("max"));
  EXPECT_EQ(sum.examples, find_operator("sum")->example_count);
  EXPECT_GE(sum.vectors, 60);
  EXPECT_EQ(sum.independent, 1);
  EXPECT_EQ(sum.libraries, 2);
  EXPECT_EQ(max.independent, 1);
  EXPECT_EQ(max.libraries, 0);
  EXPECT_EQ(sum.kinds(), 4 + (sum.laws > 0));
  EXPECT_EQ(max.kinds(), 3 + (max.laws > 0));
}

TEST(CrossChecks, ThatAreNotInstalledAreUnknownAndDoNotCount) {
  const Evidence none(kNowhere, kNowhere);
  const OpInfo& relu = *find_operator("relu");
  const Crosschecks w = none.crosschecks_of(relu);
  for (const std::optional<i64>& count : {w.vectors, w.independent, w.libraries})
    EXPECT_EQ(count, std::nullopt);
  EXPECT_EQ(w.kinds(), 1 + (w.laws > 0));
  for (const ordered_json& e : describe_errata(none))
    EXPECT_TRUE(!e.contains("vector") || e["vector"].is_null()) << e;
  const Scratch empty;
  EXPECT_EQ(Evidence(empty.path(""), kNowhere).crosschecks_of(relu).vectors, 0);
}

TEST(CrossChecks, OfAFileThatIsNoneAreRefused) {
  const Scratch scratch;
  for (const std::string& file : {scratch.path("missing"), scratch.write("list", "[]"),
           scratch.write("cut", "{"), scratch.write("sum", R"({"sum": 1})")})
    EXPECT_THROW(Evidence(kNowhere, file), UsageError) << file;
  const std::string nothing = scratch.write("nothing", "");
  EXPECT_EQ(words_of<UsageError>([&] { Evidence(kNowhere, nothing); }),
      "'" + nothing + "' is no JSON object of lists");
  scratch.write("relu.json", "{}");
  EXPECT_THROW(Evidence(scratch.path(""), kNowhere), UsageError);
}

// ---- differences ----

using Differences = std::vector<std::string>;

TEST(Differences, AreNamed) {
  const ordered_json before = describe_specification(evidence());
  const auto conv2d = [](ordered_json& j) -> ordered_json& {
    for (ordered_json& op : j["operators"])
      if (op["name"] == "conv2d") return op;
    throw std::logic_error("no conv2d");
  };
  using Edit = std::pair<std::string, std::function<void(ordered_json&)>>;
  const std::vector<Edit> edits = {
      {"operators/relu: removed",
          [](ordered_json& j) {
            std::erase_if(j["operators"].get_ref<ordered_json::array_t&>(),
                [](const ordered_json& op) { return op["name"] == "relu"; });
          }},
      {"operators/gelu: added",
          [](ordered_json& j) {
            j["operators"].push_back({{"name", "gelu"}});
          }},
      {"operators/conv2d/rules/conv2d.window/text: \"the dilated kernel fits the padded image\" is "
       "now \"it fits\"",
          [&](ordered_json& j) { conv2d(j)["rules"][3]["text"] = "it fits"; }},
      {"operators/conv2d/attributes/padding/range: [0,4096] is now [0,8192]",
          [&](ordered_json& j) { conv2d(j)["attributes"][3]["range"][1] = 8192; }},
      {"operators/conv2d/rules: in another order",
          [&](ordered_json& j) { std::swap(conv2d(j)["rules"][0], conv2d(j)["rules"][1]); }},
      {"operators/conv2d/gas: removed", [&](ordered_json& j) { conv2d(j).erase("gas"); }},
      {"labels/op.unknown/typed: false is now true",
          [](ordered_json& j) { j["labels"][0]["typed"] = true; }},
      {"version: \"0.1\" is now \"9.9\"", [](ordered_json& j) { j["version"] = "9.9"; }},
      {"novelty: added", [](ordered_json& j) { j["novelty"] = 1; }},
  };
  for (const auto& [says, make] : edits) {
    ordered_json after = before;
    make(after);
    EXPECT_EQ(specification_differences(before, after), Differences{says});
  }
  EXPECT_EQ(specification_differences(before, before), Differences{});
}

TEST(Differences, OfEvidenceAreNone) {
  EXPECT_EQ(specification_differences(
                describe_specification(evidence()), describe_specification({kNowhere, kNowhere})),
      Differences{});
}

// ---- pages ----

TEST(Page, HasEverySectionInOrderAndFitsItsWidth) {
  const std::vector<std::string> sections = {"NAME", "SYNOPSIS", "DESCRIPTION", "FORMULA", "INPUTS",
      "OUTPUTS", "ATTRIBUTES", "SHAPE", "PRECISION", "RULES", "LAWS", "GAS", "IN PLACE", "ERRATA",
      "EXAMPLES", "SEE ALSO"};
  for (const OpInfo* op : operators()) {
    std::set<std::string> cases;
    for (int i = 0; i < op->example_count; ++i) cases.insert(case_id(example_case(*op, i)));
    for (int width : {kMinPageWidth, kMaxPageWidth}) {
      std::vector<std::string> headings;
      for (const std::string& line : lines_of(operator_page(*op, evidence(), {width, false}))) {
        if (!line.empty() && line[0] != ' ') headings.push_back(line);
        // A word that is longer than a line, such as a case, has a line of its own.
        const std::string word = line.substr(std::min(line.find_first_not_of(' '), line.size()));
        EXPECT_TRUE(static_cast<int>(line.size()) <= width || word.find(' ') == std::string::npos)
            << line;
        EXPECT_EQ(line.find_first_of("\033\t"), std::string::npos) << line;
        cases.erase(word);
      }
      EXPECT_EQ(headings, sections) << op->name;
      EXPECT_TRUE(cases.empty()) << op->name << " " << *cases.begin();
    }
  }
}

// The words of a page, however its lines are broken.
std::string in_one_line(const std::string& page) {
  std::string words = filled_text(page, 0, static_cast<int>(page.size() + 1));
  words.pop_back();
  return words;
}

TEST(Page, SaysEverythingTheHeaderSays) {
  for (const OpInfo* op : operators()) {
    const std::string page = in_one_line(operator_page(*op, evidence(), {}));
    const auto says = [&](string_view text) {
      expect_contains(page, in_one_line(std::string(text)));
    };
    says(op->summary);
    for (const Port& p : op->inputs) says(p.text);
    for (const Port& p : op->outputs) says(p.text);
    for (const AttrInfo& f : op->attrs) says(f.text);
    for (const OwnLabel& l : own_labels(*op)) {
      says(l.label);
      says(l.text);
    }
    for (const LawInfo& l : op->laws) {
      says(l.label);
      says(l.text);
    }
    for (const Erratum& e : op->errata) {
      says(e.text);
      says(e.reason);
    }
    for (int i = 0; i < op->example_count; ++i) says(op->example(i).text);
    says(op->gas_text);
  }
}

TEST(Page, IsBoldOnlyWhereItShouldBe) {
  const OpInfo& sum = *find_operator("sum");
  std::string bold = operator_page(sum, evidence(), {kMinPageWidth, true});
  expect_contains(bold, "\033[1mNAME\033[0m\n");
  for (const char* code : {"\033[1m", "\033[0m"})
    for (std::size_t at; (at = bold.find(code)) != std::string::npos;) bold.erase(at, 4);
  EXPECT_EQ(bold, operator_page(sum, evidence(), {kMinPageWidth, false}));
}

// ---- the program ----

TEST(SpecVerb, PrintsTheSameAsShowAndTheLibrary) {
  const Evidence installed(
      (build_directory() / "share/lockstep/vectors").string(), crosscheck_file());
  EXPECT_EQ(
      lockstep_says({"spec", "--json"}).out, describe_specification(installed).dump(1) + "\n");
  EXPECT_EQ(
      lockstep_says({"spec", "errata", "--json"}).out, describe_errata(installed).dump(1) + "\n");
  for (const char* op : {"conv2d", "slice"}) {
    const std::string page = lockstep_says({"spec", "show", op}).out;
    EXPECT_EQ(page, operator_page(*find_operator(op), installed, {}));
    EXPECT_EQ(page, lockstep_says({"show", op}).out);
  }
  for (const char* wrong : {"spec show nonesuch", "spec nonesuch", "spec --json show relu"})
    expect_end(words_in(wrong), 2);
  expect_end(words_in("spec show relu --json"), 0);
}

TEST(SpecVerb, HasARowForEachOperatorAndForEachErratum) {
  const std::string table = lockstep_says({"spec"}).out;
  for (const OpInfo* op : operators()) expect_contains(table, "\n" + std::string(op->name) + " ");
  const std::string errata = in_one_line(lockstep_says({"spec", "errata"}).out);
  for (const ordered_json& e : describe_errata(evidence())) expect_contains(errata, e["text"]);
  expect_contains(lockstep_says({"spec", "--vectors", ""}).out, "? is not installed");
}

TEST(SpecVerb, DiffEndsWithOneWhereThereIsADifference) {
  const Scratch scratch;
  ordered_json spec = describe_specification(evidence());
  const std::string before = scratch.write("old.json", spec.dump());
  spec["operators"][0]["profile"] = "OTHER";
  const std::string after = scratch.write("new.json", spec.dump());
  expect_end({"spec", "diff", before, before}, 0);
  EXPECT_EQ(expect_end({"spec", "diff", before, after}, 1).out,
      "operators/sum/profile: \"REDUCE\" is now \"OTHER\"\n1 differences\nexit 1 (fail)\n");
  for (const std::string& wrong : {scratch.path("missing"), scratch.write("text", "no JSON"),
           scratch.write("other.json", "{}")})
    expect_end({"spec", "diff", before, wrong}, 2);
}

}  // namespace
}  // namespace lockstep::judge
