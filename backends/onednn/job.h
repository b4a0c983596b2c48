/// @file
/// One call as a primitive of oneDNN, and the copies of its tensors.
#pragma once
#include <dnnl.hpp>
#include <memory>
#include <string_view>
#include <vector>

#include "backends/backend.hpp"

namespace lockstep::onednn {

using dnnl::memory;

/// The state that all primitives share. Scratch memory comes with each call, so that several
/// threads may run one plan at once.
struct Device {
  Device() { attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user); }
  /// Call this before any call of oneDNN, because each thread of the caller has its own setting.
  void use_threads() const;

  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::primitive_attr attributes;
  int threads = 0;  ///< 0: oneDNN's default
};

/// A tensor copied between the caller's int32 and the memory that a primitive chose. The copy
/// computes nothing; the values fit the type.
struct Carried {
  int argument = 0;    ///< DNNL_ARG_...
  memory::dims from;   ///< the caller's extents; 1 where `plain` has more: repeated
  memory::desc plain;  ///< row-major, of the primitive's type
  memory::desc own;    ///< the layout that the primitive requires
  bool moved() const { return plain != own; }
};

/// The extents of a tensor of the ABI.
memory::dims dims_of(const ls_tensor& t);

/// Row-major memory.
memory::desc rows(const memory::dims& dims, memory::data_type type);

/// Memory whose layout the primitive chooses.
memory::desc any(const memory::dims& dims, memory::data_type type);

class Job final : public backend::Plan {
 public:
  /// @param name of the kernel, as in the manifest
  Job(const Device& device, const char* name, const dnnl::primitive& primitive,
      const memory::desc& scratchpad, std::vector<Carried> in, Carried out);

  void run(const int32_t* const* in, int32_t* const* out, void* scratch) const override;
  const char* path() const override { return name_; }
  uint64_t scratch_bytes() const override { return bytes_; }

 private:
  // A piece of scratch memory.
  struct Piece {
    std::size_t at = 0;
    memory::desc desc;
  };
  Piece reserve(const memory::desc& desc);
  memory place(const Piece& piece, void* scratch) const;
  struct Way {
    Carried tensor;
    Piece plain, own, scratchpad;  // the last two where it is moved
    dnnl::reorder move;
  };
  Way way_of(Carried tensor, bool inwards);
  void move(const dnnl::stream& stream, const Way& way, void* scratch, bool inwards) const;

  const Device& device_;
  const char* name_;
  dnnl::primitive primitive_;
  std::size_t bytes_ = 0;
  Piece scratchpad_;
  std::vector<Way> in_;
  Way out_;
};

/// An operator, the primitive that computes it, and its claim.
struct Adaptation {
  std::string_view op;
  const char* primitive;   ///< the kernel's name in the manifest
  std::string_view claim;  ///< JSON of the manifest
  std::unique_ptr<backend::Plan> (*prepare)(const Device&, const backend::Call&, const Adaptation&);
};

/// All claimed operators.
std::span<const Adaptation> rows_of_operators();

}  // namespace lockstep::onednn
