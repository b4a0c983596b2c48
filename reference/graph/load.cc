#include "reference/graph/load.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "containers/array/dictionary.h"
#include "containers/exceptions.h"
#include "containers/memory/pool.h"
#include "reference/graph/error.h"

namespace lockstep::graph {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw utils::ValueVerifyFatal("'" + path + "' cannot be opened: " + std::strerror(errno));
  std::error_code unknown;  // reading says why
  if (std::filesystem::is_directory(path, unknown))
    throw utils::ValueVerifyFatal("'" + path + "' is a directory");
  std::array<char, 65536> piece;
  std::string text;
  while (file.read(piece.data(), piece.size()), file.gcount() > 0)
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  if (file.bad()) throw utils::LogMessageFatal("'" + path + "' cannot be read");
  return text;
}

bool is_missing(const std::string& path) {
  std::error_code unknown;  // opening the file says why
  return std::filesystem::status(path, unknown).type() == std::filesystem::file_type::not_found;
}

// A model has one kind of error, so the fault of the file becomes one of the model.
template <class Read> Parameters by_name(const Read& read) {
  try {
    Parameters all;
    for (ndarray::NamedArray& a : read()) all[std::move(a.name)] = std::move(a.array);
    return all;
  } catch (const params::Error& e) {
    const std::string path = e.tensor() ? parameter_path(*e.tensor()) : "params";
    throw Error("model.params", path + ": " + e.what(), path);
  }
}

}  // namespace

Parameters read_parameters(std::span<const std::byte> file) {
  return by_name([&] { return ndarray::load(file); });
}

Graph graph_of(std::string_view json, const std::string& file) {
  return utils::naming_out_of_memory("reading", file, [&] {
    try {
      return Graph(json);
    } catch (const Error& e) {
      throw Error(e, file);
    }
  });
}

Graph load_graph(const std::string& directory) {
  const std::string file = directory + "/symbol.json";
  return utils::naming_out_of_memory(
      "reading", file, [&] { return graph_of(text_of(file), file); });
}

Model load_model(const std::string& directory) {
  return utils::naming_out_of_memory("loading", directory, [&] {
    Graph graph = load_graph(directory);
    const std::string file = directory + "/params";
    if (is_missing(file))
      throw Error("model.params", "params: there is no file '" + file + "'", "params");
    Model model = utils::naming_out_of_memory("reading", file,
        [&] { return Model(std::move(graph), by_name([&] { return ndarray::load_file(file); })); });
    // The pool would keep the memory of the file's bytes for another use, which never comes.
    ndarray::pool().trim();
    return model;
  });
}

}  // namespace lockstep::graph
