#include "conformance/mutator/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include "conformance/base/read_file.h"
#include "conformance/base/text.h"
#include "conformance/base/write_file.h"
#include "conformance/cases/case.h"
#include "conformance/mutator/snapshot.h"
#include "conformance/subjects/process.h"

namespace lockstep::judge {
namespace {

namespace fs = std::filesystem;

// A mutant may loop forever. The limits are generous, because other work on the machine slows the
// measurement on the unchanged sources.
constexpr double kPatience = 5, kPatienceSeconds = 30, kBuildSeconds = 3600;

void write(const fs::path& file, const std::string& text) { write_file(file.string(), text); }

bool is_source(const fs::path& p) { return p.extension() == ".cc" || p.extension() == ".h"; }

/// The copy of the tree, its build, and a snapshot of the build before any mutation.
class Workshop {
 public:
  Workshop(const MutantRoom& room, const Campaign& campaign)
      : room_(room), tree_(fs::path(campaign.work) / "tree"), log_(campaign.work + "/log.txt") {
    build_ = (fs::path(campaign.work) / "build").string();
    copy(campaign.tree);
    edits_ = possible_edits(campaign.files);
    std::vector<std::string> configure = {"cmake", "-S", tree_.string(), "-B", build_};
    configure.insert(configure.end(), room.configure.begin(), room.configure.end());
    must_pass("configuring", configure);
    for (const MutantStage& stage : room.stages) {
      must_pass("building", build_command(stage));
      stages_.push_back({build_command(stage), timed(stage)});
    }
    snapshot_.emplace(build_, fs::path(campaign.work) / "unchanged");
  }

  const std::vector<Edit>& edits() const { return edits_; }

  SourceFate judge(const Edit& edit) {
    const fs::path file = tree_ / edit.file;
    const std::string text = read_file(file), mutant = edited(text, edit);
    const fs::file_time_type time = fs::last_write_time(file);
    SourceFate fate{edit, SourceFate::dead, line_of(text, edit), line_of(mutant, edit), {}, {}};
    write(file, mutant);
    try {
      put_to_tests(fate);
    } catch (...) {
      write(file, text);
      throw;
    }
    // Restore the build first: after an interrupt, sources newer than their objects are harmless.
    snapshot_->restore();
    write(file, text);
    fs::last_write_time(file, time);
    return fate;
  }

 private:
  bool wanted(const fs::path& file, const std::vector<std::string>& globs) const {
    const std::string name = fs::relative(file, tree_).string();
    return globs.empty() || std::any_of(globs.begin(), globs.end(), [&](const std::string& g) {
      return glob(g, name);
    });
  }
  std::vector<Edit> possible_edits(const std::vector<std::string>& globs) const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(tree_ / room_.path)) {
      const fs::path relative = fs::relative(entry.path(), tree_ / room_.path);
      const bool test = std::find(relative.begin(), relative.end(), "tests") != relative.end();
      if (entry.is_regular_file() && !test && is_source(entry.path()) &&
          wanted(entry.path(), globs))
        files.push_back(entry.path());
    }
    if (files.empty()) throw UsageError(room_.path + " has no such files to mutate");
    std::sort(files.begin(), files.end());
    std::vector<Edit> all;
    for (const fs::path& file : files) {
      std::vector<Edit> more = edits_of(fs::relative(file, tree_).string(), read_file(file));
      std::move(more.begin(), more.end(), std::back_inserter(all));
    }
    return all;
  }

  struct TimedTest {
    MutantTest test;
    double seconds;
  };
  struct Stage {
    std::vector<std::string> build;
    std::vector<TimedTest> tests;
  };

  void copy(const fs::path& from) {
    if (!fs::is_directory(from / room_.path) || !fs::exists(from / "CMakeLists.txt"))
      throw UsageError("'" + from.string() + "' has no " + room_.path + " to mutate");
    fs::create_directories(tree_);
    for (const auto& entry : fs::directory_iterator(from)) {
      const std::string name = entry.path().filename();
      if (name == ".git" || name == "build") continue;
      sync(entry.path(), tree_ / name);
    }
  }

  // Copies only files that differ, so that a second campaign builds only what changed.
  static void sync(const fs::path& from, const fs::path& to) {
    if (fs::is_directory(from)) {
      fs::create_directories(to);
      for (const auto& entry : fs::directory_iterator(to))
        if (!fs::exists(from / entry.path().filename())) fs::remove_all(entry.path());
      for (const auto& entry : fs::directory_iterator(from))
        sync(entry.path(), to / entry.path().filename());
    } else if (!fs::exists(to) || read_file(from) != read_file(to)) {
      fs::copy_file(from, to, fs::copy_options::overwrite_existing);
    }
  }

  std::vector<std::string> build_command(const MutantStage& stage) const {
    std::vector<std::string> words = {"cmake", "--build", build_, "--target"};
    words.insert(words.end(), stage.targets.begin(), stage.targets.end());
    return words;
  }

  // Runs the tests on the unchanged sources, and gives each its time limit.
  std::vector<TimedTest> timed(const MutantStage& stage) const {
    std::vector<TimedTest> all;
    for (const MutantTest& t : stage.tests(build_)) {
      const auto begin = std::chrono::steady_clock::now();
      must_pass(t.name, t.command);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      all.push_back({t, kPatienceSeconds + kPatience * took.count()});
    }
    return all;
  }

  void must_pass(const std::string& what, const std::vector<std::string>& command) const {
    if (const auto failure = run_logged(command, kBuildSeconds, log_))
      throw std::runtime_error(
          fmt::format("{} the unchanged sources {}; see {}", what, *failure, log_));
  }

  // The compiler decides equivalence: a stage whose objects and programs equal those of the
  // unchanged sources would pass its tests again.
  void put_to_tests(SourceFate& fate) {
    bool is_equal = true;
    for (const Stage& stage : stages_) {
      if (run_logged(stage.build, kBuildSeconds, log_)) {
        fate.state = SourceFate::not_compiled;
        return;
      }
      is_equal = is_equal && snapshot_->holds();
      if (is_equal) continue;
      for (const TimedTest& t : stage.tests) {
        // A test must fail twice: on a busy machine it may fail once by chance.
        if (!run_logged(t.test.command, t.seconds, log_)) continue;
        if (const auto failure = run_logged(t.test.command, t.seconds, log_)) {
          fate.noticed_by = t.test.name;
          fate.detail = *failure;
          return;
        }
      }
    }
    fate.state = is_equal ? SourceFate::equivalent : SourceFate::survived;
    if (is_equal) fate.detail = "the same object code";
  }

  const MutantRoom& room_;
  fs::path tree_;
  std::string build_, log_;
  std::vector<Edit> edits_;
  std::vector<Stage> stages_;
  std::optional<Snapshot> snapshot_;
};

}  // namespace

string_view name_of(SourceFate::State s) {
  switch (s) {
    case SourceFate::dead: return "dead";
    case SourceFate::survived: return "SURVIVED";
    case SourceFate::equivalent: return "equivalent";
    case SourceFate::not_compiled: return "not compiled";
  }
  return {};
}

std::vector<SourceFate> run_campaign(const MutantRoom& room, const Campaign& campaign) {
  Workshop workshop(room, campaign);
  std::vector<Edit> edits = workshop.edits();
  for (std::size_t k = edits.size(); k > 1; --k)
    std::swap(edits[k - 1], edits[word(campaign.seed, 0, k) % k]);
  std::vector<SourceFate> fates;
  i64 judged = 0;
  for (const Edit& edit : edits) {
    if (judged == campaign.mutants) break;
    SourceFate fate = workshop.judge(edit);
    judged += fate.state == SourceFate::dead || fate.state == SourceFate::survived;
    if (campaign.told) campaign.told(fate);
    fates.push_back(std::move(fate));
  }
  return fates;
}

}  // namespace lockstep::judge
