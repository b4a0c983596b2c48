#include "containers/params/params.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "bench/run.h"
#include "containers/array/dictionary.h"
#include "containers/logging.h"
#include "reference/graph/load.h"
#include "reference/graph/zoo/architectures.h"
#include "reference/graph/zoo/builder.h"

namespace lockstep::bench {
namespace {

using Buffer = std::vector<std::byte>;

constexpr std::size_t kTensors = 200, kTensorBytes = 500'000;
constexpr std::size_t kBytes = kTensors * kTensorBytes;
constexpr const char* kLoadModel = "load_model_100MB";

/// A file in memory if the system offers that, so that no disk is timed; otherwise a cached file.
/// The destructor removes it.
class StoredFile {
 public:
  StoredFile() {
    const char* memory = "/dev/shm";
    const bool offered = ::access(memory, W_OK) == 0;
    directory_ = offered ? memory : std::filesystem::temp_directory_path().string();
    path_ = directory_ + "/lockstep_bench_XXXXXX";
    const int fd = ::mkstemp(path_.data());
    CHECK_GE(fd, 0) << path_ << ": " << std::strerror(errno);
    ::close(fd);
  }
  ~StoredFile() { ::unlink(path_.c_str()); }
  StoredFile(const StoredFile&) = delete;
  StoredFile& operator=(const StoredFile&) = delete;
  const std::string& path() const { return path_; }
  const std::string& directory() const { return directory_; }

 private:
  std::string path_, directory_;
};

std::vector<params::NamedTensor> tensors_to_store() {
  std::vector<params::NamedTensor> tensors;
  for (std::size_t i = 0; i < kTensors; ++i) {
    const Buffer bytes(kTensorBytes, static_cast<std::byte>(i));
    tensors.push_back({"layer" + std::to_string(i) + "_weight",
        {{0, 8}, {kTensorBytes}, params::Bytes::copy(bytes)}});
  }
  return tensors;
}

/// Calls `transfer(fd, bytes, size)`, which is ::read or ::write, until all bytes are done.
template <class Transfer, class Bytes>
void transfer_all(const std::string& path, int flags, Transfer transfer, Bytes& bytes) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
  CHECK_GE(fd, 0) << path << ": " << std::strerror(errno);
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t some = transfer(fd, bytes.data() + done, bytes.size() - done);
    CHECK_GT(some, 0) << path << ": " << std::strerror(errno);
    done += static_cast<std::size_t>(some);
  }
  CHECK_EQ(::close(fd), 0) << path << ": " << std::strerror(errno);
}

/// The machine's time for as many bytes: a transfer between file and memory, and a copy.
class Limit {
 public:
  Limit() : near_(kBytes, std::byte{1}), far_(kBytes, std::byte{2}) {}
  void load(const std::string& path) {
    transfer_all(path, O_RDONLY, ::read, near_);
    copy(near_, far_);
  }
  void save(const std::string& path) {
    copy(far_, near_);
    transfer_all(path, O_WRONLY | O_CREAT | O_TRUNC, ::write, near_);
  }

 private:
  static void copy(const Buffer& from, Buffer& to) {
    std::memcpy(to.data(), from.data(), from.size());
    __asm__ volatile("" : : "r"(to.data()) : "memory");
  }
  Buffer near_, far_;
};

/// The directory of a model, in memory if the system offers that. The destructor removes it.
class StoredModel {
 public:
  explicit StoredModel(const graph::zoo::Network& network) {
    std::filesystem::create_directory(path());
    std::ofstream(path() + "/symbol.json") << graph::zoo::write_symbol(network.symbol);
    params::write_file(params_path(), network.parameters);
  }
  ~StoredModel() { std::filesystem::remove_all(path()); }
  StoredModel(const StoredModel&) = delete;
  StoredModel& operator=(const StoredModel&) = delete;
  std::string path() const { return place_.path() + ".model"; }
  std::string params_path() const { return path() + "/params"; }

 private:
  StoredFile place_;
};

/// Dense layers with a million weights each.
graph::zoo::Network dense_layers() {
  constexpr i64 kUnits = 1000;
  constexpr int kLayers = 100;
  graph::zoo::Builder net(graph::zoo::kSeed, {1, kUnits});
  graph::zoo::Value y = net.data();
  for (int k = 0; k < kLayers; ++k) y = net.dense(y, kUnits);
  return std::move(net).finish({y}, "");
}

/// How many bytes of a loaded model are those of the network; 0 where one is not.
i64 equal_bytes(const graph::Model& model, const graph::zoo::Network& network) {
  i64 bytes = 0;
  for (const graph::Node& node : model.graph().nodes()) {
    const ndarray::NDArray& loaded = model.parameter(node.first_entry);
    if (!loaded) continue;
    const auto is_it = [&](const params::NamedTensor& t) { return t.name == node.name; };
    const auto stored = std::ranges::find_if(network.parameters, is_it);
    if (stored == network.parameters.end() || ndarray::to_params(loaded) != stored->tensor)
      return 0;
    bytes += static_cast<i64>(stored->tensor.bytes.size());
  }
  return bytes;
}

void time_beside(Measurement& row, const Contender& ours, const Contender& limit, std::string name,
    const Effort& effort) {
  const std::vector<Timing> times = measure({ours, limit}, effort);
  row.time = times[0];
  row.peers.push_back({.name = name, .time = times[1]});
  row.limit = std::move(name);
  row.limit_ns = times[1].median_ns;
}

Measurement row_of(const std::string& work, const StoredFile& file) {
  return {.op = "params",
      .workload = work,
      .call =
          work + " of " + std::to_string(kTensors) + " tensors, the file in " + file.directory(),
      .unit = "byte",
      .units = static_cast<i64>(kBytes),
      .compared = static_cast<i64>(kBytes)};
}

// Loads a model beside reading its parameters, into fresh memory as a load does.
void run_model(const BenchmarkOptions& wishes, const Take& take) {
  const graph::zoo::Network network = dense_layers();
  const StoredModel stored(network);
  const auto size = static_cast<std::size_t>(std::filesystem::file_size(stored.params_path()));
  Measurement row{.op = "params",
      .workload = kLoadModel,
      .call = "load_model of " + std::to_string(network.parameters.size()) + " parameters",
      .unit = "byte",
      .units = static_cast<i64>(size)};
  row.compared = equal_bytes(graph::load_model(stored.path()), network);
  if (row.compared == 0) {
    row.trouble = "WRONG, not timed: what was saved is not what is loaded";
    row.failed = true;
  } else {
    const auto load_ours = [&] { graph::load_model(stored.path()); };
    const auto load_raw = [&] {
      const auto memory = std::make_unique_for_overwrite<std::byte[]>(size);
      const std::span<std::byte> bytes(memory.get(), size);
      transfer_all(stored.params_path(), O_RDONLY, ::read, bytes);
    };
    time_beside(row, load_ours, load_raw, "read", wishes.effort);
  }
  take(std::move(row));
}

}  // namespace

void run_params(const BenchmarkOptions& wishes, const Take& take) {
  const std::string load = "load_100MB", save = "save_100MB";
  const bool want_load = wishes.want("params", load), want_save = wishes.want("params", save);
  const bool want_model = wishes.want("params", kLoadModel);
  if (!want_load && !want_save && !want_model) return;
  wishes.announce("params");
  if (want_model) run_model(wishes, take);
  if (!want_load && !want_save) return;
  const StoredFile ours, raw;
  const std::vector<params::NamedTensor> tensors = tensors_to_store();
  Limit limit;
  const auto save_ours = [&] { params::write_file(ours.path(), tensors); };
  const auto save_raw = [&] { limit.save(raw.path()); };
  save_ours();
  save_raw();
  Measurement load_row = row_of(load, ours), save_row = row_of(save, ours);
  // Loading the saved file and comparing it checks both rows.
  if (params::read_file(ours.path()).tensors != tensors) {
    load_row.trouble = save_row.trouble = "WRONG, not timed: what was saved is not what is loaded";
    load_row.failed = save_row.failed = true;
  } else {
    if (want_load) {
      const auto load_ours = [&] { params::read_file(ours.path()); };
      const auto load_raw = [&] { limit.load(raw.path()); };
      time_beside(load_row, load_ours, load_raw, "read and memcpy", wishes.effort);
    }
    if (want_save) time_beside(save_row, save_ours, save_raw, "memcpy and write", wishes.effort);
  }
  if (want_load) take(std::move(load_row));
  if (want_save) take(std::move(save_row));
}

}  // namespace lockstep::bench
