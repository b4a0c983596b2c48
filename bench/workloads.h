/// @file
/// The timed calls: those of workloads.txt, and for an operator without one a large call from its
/// domain.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "conformance/cases/case.h"

namespace lockstep::bench {

/// The unit of a call's speed.
enum class Unit {
  bytes,  ///< read or written, four to an element
  macs,   ///< multiply-adds; inputs after the first are constants, as weights are
  calls   ///< so small that the call itself is the cost
};

/// A call to time.
struct Workload {
  std::string name;  ///< of this call among its operator's
  judge::Case call;
  Unit unit = Unit::bytes;

  std::string id() const { return std::string(call.op->name) + "/" + name; }
  bool constants() const { return unit == Unit::macs; }
  Inferred outputs() const { return call.op->infer(call.attributes(), call.types()); }
  /// The number of units in one call.
  i64 units() const;
  /// The bytes that the call has to read and write: four for each element of its tensors. A tensor
  /// that an operator reads only in part, such as the source of a slice, counts with as many bytes
  /// as the operator writes.
  i64 bytes() const;
};

/// A named call, spelled out as every verb accepts it.
struct Named {
  std::string name, call;
  bool tiny = false;  ///< its speed is counted in calls
};

/// What workloads.txt says.
struct WorkloadTable {
  std::map<std::string, std::string, std::less<>> families;  ///< by operator
  /// Operators that read only parts of their inputs, and the inputs that they read whole.
  std::map<std::string, std::vector<std::size_t>, std::less<>> partly;
  std::vector<Named> calls;
};

/// The text of workloads.txt when this was built; its head explains it.
extern const char* const kWorkloadsText;

/// Reads such a text. @throws std::logic_error naming the line that is wrong.
WorkloadTable parse_workloads(const std::string& text);
/// The table of kWorkloadsText.
const WorkloadTable& workload_table();

/// The family of an operator in summaries; `other` if the table names none.
std::string family_of(const OpInfo& op);
/// The row of the summary in which a workload counts; empty for a tiny one. Calls whose tensors are
/// not row-major are a family of their own, whatever their operators.
std::string family_of(const Workload& w);

/// The workloads of an operator: those of the table, else the drawn one.
/// @throws std::logic_error if a named call is not legal or no large call can be drawn.
std::vector<Workload> workloads(const OpInfo& op);

/// The wanted number of elements of a drawn workload's largest tensor.
inline constexpr i64 kDrawnVolume = i64{1} << 20;

/// A call from an operator's domain, every extent doubled as long as the call stays legal. Its
/// outputs are not constant.
/// @throws std::logic_error if none of many draws grows large.
Workload drawn_workload(const OpInfo& op);

}  // namespace lockstep::bench
