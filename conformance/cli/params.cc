#include "conformance/cli/params.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "conformance/base/places.h"
#include "containers/params/npz.h"
#include "spec/text.h"

namespace lockstep::judge {
namespace {

struct FileOptions {
  std::vector<std::string> files;
  bool lenient = false, as_json = false;
};

constexpr const char* kJsonHelp = "as JSON (its schema: lockstep params schema)";

bool is_archive(const std::string& path) { return path.ends_with(".npz"); }

/// A progress line on a terminal, removed when the work is done.
class ProgressLine {
 public:
  explicit ProgressLine(std::string what) : what_(std::move(what)) {}
  ~ProgressLine() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  params::Progress progress() {
    if (!isatty(STDERR_FILENO)) return {};
    return [this](std::uint64_t done, std::uint64_t all) { show(done, all); };
  }

 private:
  using Clock = std::chrono::steady_clock;

  void show(std::uint64_t done, std::uint64_t all) {
    constexpr std::chrono::milliseconds kPause{100};
    if (Clock::now() - last_ < kPause) return;
    last_ = Clock::now();
    shown_ = true;
    constexpr std::uint64_t kMegabyte = 1'000'000;
    fmt::print(stderr, "\r\033[K{}: {} of {} MB", what_, done / kMegabyte, all / kMegabyte);
    std::fflush(stderr);
  }

  std::string what_;
  Clock::time_point last_ = Clock::now();
  bool shown_ = false;
};

Exit list(const FileOptions& o) {
  const auto [tensors, trailing] = read_params(o.files[0], o.lenient);
  const std::uint64_t data = params::data_size(tensors);
  const std::uint64_t size = is_archive(o.files[0]) ? std::filesystem::file_size(o.files[0])
                                                    : params::file_size(tensors) + trailing;
  if (o.as_json) {
    documents::Listing all{{}, data, size, trailing};
    for (const auto& [name, tensor] : tensors)
      all.tensors.push_back({name, documents::Head(tensor), tensor.bytes.size()});
    print_json(all);
    return Exit::pass;
  }
  for (const auto& [name, tensor] : tensors)
    fmt::print("{:<32} {:<8} {:<20} {:>12}\n", params::printable(name),
        params::dtype_name(tensor.dtype), shape_text(tensor.shape), tensor.bytes.size());
  fmt::print("{} tensors, {} bytes of data in {} bytes\n", tensors.size(), data, size);
  if (trailing) fmt::print("{} trailing bytes ignored\n", trailing);
  return Exit::pass;
}

std::string text_of(const documents::FileVerdict& v) {
  if (v.error) {
    const params::Error& e = *v.error;
    const std::string tensor = e.tensor() ? " in tensor " + shown_name(*e.tensor()) : "";
    return fmt::format("rejected, {} at byte {}{}\n  {}", e.label(), e.offset(), tensor, e.what());
  }
  if (!v.amount) return "not read: " + v.not_read;
  const auto& [tensors, data, trailing] = *v.amount;
  std::string text = fmt::format("valid, {} tensors, {} bytes of data", tensors, data);
  if (trailing) text += fmt::format(", {} trailing bytes ignored", trailing);
  return text;
}

Exit judge_file(documents::FileVerdict& v, bool lenient) {
  try {
    v.amount = documents::Amount(read_params(v.file, lenient));
    return Exit::pass;
  } catch (const params::Error& e) {
    v.error = e;
    return Exit::fail;
  } catch (const utils::ValueVerifyFatal& e) {
    v.not_read = e.what();
    return Exit::usage;
  } catch (const utils::OutOfMemory& e) {
    v.not_read = e.what();
    return Exit::usage;
  } catch (const std::runtime_error& e) {
    v.not_read = e.what();
    return Exit::judge_broke;
  }
}

// Verifies every file, even after another one failed.
Exit verify(const FileOptions& o) {
  documents::Verification all;
  Exit exit = Exit::pass;
  for (const std::string& file : o.files) {
    documents::FileVerdict v{.file = file};
    exit = std::max(exit, judge_file(v, o.lenient));
    if (!o.as_json) fmt::print("{}: {}\n", params::printable(file, file.size()), text_of(v));
    all.valid += v.amount.has_value();
    all.files.push_back(v);
  }
  if (o.as_json)
    print_json(all);
  else
    fmt::print("{} of {} files valid\n{}\n", all.valid, o.files.size(), exit_text(exit));
  return exit;
}

struct ConvertOptions {
  std::string from, to;
  bool lenient = false, as_json = false;
};

Exit convert(const ConvertOptions& o) {
  const params::Params contents = read_params(o.from, o.lenient);
  write_params(o.to, contents);
  const auto& [tensors, trailing] = contents;
  const std::uint64_t data = params::data_size(tensors);
  if (o.as_json) {
    print_json(documents::Conversion{o.from, o.to, documents::Amount(contents)});
    return Exit::pass;
  }
  fmt::print("{} tensors, {} bytes of data written to {}\n", tensors.size(), data, o.to);
  if (trailing) fmt::print("{} trailing bytes left out\n", trailing);
  return Exit::pass;
}

// Lists every label with its meaning: those of parameter files, then those of archives only.
void list_labels(bool as_json) {
  documents::Labels all;
  const auto add = [&](std::span<const params::Reject> table, const char* of) {
    for (const params::Reject& r : table) {
      all.labels.push_back({r.id, of, r.text});
      if (!as_json) fmt::print("{:<26} {}\n", r.id, r.text);
    }
  };
  add(params::kRejects, "file");
  add(params::npz::kRejects, "archive");
  if (as_json) print_json(all);
}

void add_params_convert(CLI::App& group, Session& session) {
  auto o = std::make_shared<ConvertOptions>();
  CLI::App* verb = add_params_verb(group, "convert",
      "Write the tensors of a file to another, canonically: to and from .npz", o->as_json,
      o->lenient);
  verb->add_option("from", o->from, "a file")->required();
  verb->add_option("to", o->to, "the file to write")->required();
  verb->callback([o, &session] { session.exit = static_cast<int>(convert(*o)); });
}

void add_params_labels(CLI::App& group) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* verb = group.add_subcommand("labels", "List every reason to reject a file");
  verb->add_flag("--json", *as_json, kJsonHelp);
  verb->callback([as_json] { list_labels(*as_json); });
}

void add_params_schema(CLI::App& group) {
  group.add_subcommand("schema", "Print the JSON Schema of what the verbs print with --json")
      ->callback([] { fmt::print("{}", documents::schema()); });
}

}  // namespace

params::Params read_params(const std::string& path, bool lenient) {
  ProgressLine line("reading");
  try {
    if (is_archive(path)) return params::npz::read_file(path, line.progress());
    return params::read_file(path, {lenient, line.progress()});
  } catch (const std::logic_error&) {
    throw;
  } catch (const utils::OutOfMemory&) {
    throw;
  } catch (const std::exception& e) {
    // An error of the machine need not name the file.
    throw std::runtime_error("reading " + path + " failed: " + e.what());
  }
}

void write_params(const std::string& path, const params::Params& contents) {
  ProgressLine line("writing");
  if (is_archive(path)) {
    params::npz::write_file(path, contents.tensors, line.progress());
  } else {
    params::write_file(path, contents.tensors, line.progress());
  }
}

std::string shown_name(std::string_view name) { return "\"" + params::printable(name) + "\""; }

void print_json(const documents::Document& document) {
  using form::json;
  fmt::print("{}\n", form::written(document).dump(1, ' ', false, json::error_handler_t::replace));
}

std::string type_text(const params::Tensor& tensor) {
  return std::string(params::dtype_name(tensor.dtype)) + " " + shape_text(tensor.shape);
}

CLI::App* add_params_verb(
    CLI::App& group, const char* name, const char* text, bool& as_json, bool& lenient) {
  CLI::App* verb = group.add_subcommand(name, text);
  verb->add_flag("--json", as_json, kJsonHelp);
  verb->add_flag("--lenient", lenient,
      "ignore bytes after the last tensor of a parameter file, and count them");
  return verb;
}

void add_params(CLI::App& app, Session& session) {
  CLI::App* group = app.add_subcommand("params",
      "Look into parameter files, judge, compare and convert them.\n"
      "A FILE whose name ends in .npz is NumPy's archive, any other the parameter file.\n"
      "Exit codes: 0 valid or equal, 1 a file is faulty or they differ, 2 usage,\n"
      "4 reading or writing failed.");
  group->require_subcommand(1);

  auto listed = std::make_shared<FileOptions>();
  CLI::App* listing = add_params_verb(
      *group, "list", "List the tensors of a file", listed->as_json, listed->lenient);
  listing->add_option("file", listed->files, "a file")->required()->expected(1);
  listing->callback([listed, &session] { session.exit = static_cast<int>(list(*listed)); });

  auto judged = std::make_shared<FileOptions>();
  CLI::App* verifying = add_params_verb(*group, "verify", "Judge files by every rule of the format",
      judged->as_json, judged->lenient);
  verifying->add_option("files", judged->files, "one or more files")->required();
  verifying->callback([judged, &session] { session.exit = static_cast<int>(verify(*judged)); });

  add_params_dump(*group, session);
  add_params_diff(*group, session);

  add_params_convert(*group, session);
  add_params_labels(*group);
  add_params_schema(*group);
}

}  // namespace lockstep::judge
