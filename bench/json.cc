#include "bench/row.h"
#include "conformance/base/form.h"

namespace lockstep::bench {

using judge::form::Like;

template <class F> void times(F& form, Like<Timing> auto& t, bool there) {
  form.when(there, "ns", t.median_ns, {.text = "median of the repetitions", .decimals = 1});
  form.when(there, "ns_min", t.min_ns, {.decimals = 1});
  form.when(there, "ns_max", t.max_ns, {.decimals = 1});
  form.when(there, "repetitions", t.repetitions);
}

template <class F> void fields(F& form, Like<PeerTime> auto& p) {
  form("name", p.name);
  form("layout", p.layout, {.text = "of its tensors"});
  form("implementation", p.implementation, {.text = "what the peer chose"});
  form.optional("trouble", p.trouble);
  const bool timed = p.trouble.empty();
  times(form, p.time, timed);
  form.when(timed, "different", p.different, {.text = "elements unlike the reference's"});
  form.when(timed, "compared", p.compared);
  form.when(timed, "ratio", p.ratio,
      {.text = "its time over ours: above 1, ours is faster", .decimals = 3});
}

template <class F> void fields(F& form, Like<OperatorTime> auto& o) {
  form("op", o.op);
  form("ns", o.ns, {.decimals = 1});
}

template <class F> void fields(F& form, Like<Measurement> auto& r) {
  form("op", r.op,
      {.text = "an operator, limit, graph, network, judge, array, pool, params or build"});
  form("workload", r.workload);
  form("family", r.family, {.text = "of the operator, or layouts; empty for other work"});
  form("case", r.call, {.text = "the call as verbs accept it, or a command"});
  form("backend", r.backend);
  form("isa", r.isa, {.text = "the instruction set asked for; empty: the backend's choice"});
  form("path", r.path, {.text = "the kernel that ran"});
  form("threads", r.threads);
  form("unit", r.unit, {.words = {"byte", "mac", "call", "case", "build"}});
  form("units", r.units, {.text = "of one call"});
  form.optional("bytes", r.bytes, {.text = "that one call reads or writes"});
  form.optional("trouble", r.trouble, {.text = "why there are no times"});
  const bool timed = r.trouble.empty();
  form.when(!timed, "failed", r.failed, {.text = "whether the trouble fails the run"});
  form.when(timed, "compared", r.compared, {.text = "elements found right before timing"});
  times(form, r.time, timed);
  form.optional("peak_bytes", r.peak_bytes, {.text = "memory of all processes, at most"});
  form.optional("scratch_bytes", r.scratch_bytes, {.text = "of a compiled graph"});
  form.optional("operators", r.operators, {.text = "of a graph that runs call by call"});
  form.optional_object("limit", timed && !r.limit.empty(), [&](auto& limit) {
    limit("name", r.limit);
    limit("ns", r.limit_ns, {.text = "the time in which it does the same work", .decimals = 1});
    limit.derived("percent", 100 * r.limit_ns / r.time.median_ns, {.decimals = 1});
  });
  form.when(timed, "peers", r.peers);
}

template <class F> void fields(F& form, Like<Mean> auto& m) {
  form("family", m.family);
  form("backend", m.backend);
  form("isa", m.isa);
  form("threads", m.threads);
  form("against", m.against, {.text = "a peer, the fastest exact one, or limit"});
  form("rows", m.rows);
  form("ratio", m.ratio, {.text = "its time over ours, the geometric mean", .decimals = 3});
}

template <class F> void fields(F& form, Like<Results> auto& r) {
  form.constant("schema", 2);
  form("date", r.date, {.text = "UTC, when the run began"});
  form.object("machine", [&](auto& machine) {
    machine("processor", r.processor);
    machine("processors", r.processors);
    machine("load", r.load, {.text = "when the run began; above 1, others worked", .decimals = 1});
    machine("compiler", r.compiler);
    machine("peer_libraries", r.peer_libraries);
  });
  form("rows", r.rows);
  form("means", r.means);
}

std::string json_of(const Results& results) {
  Results all = results;
  for (Measurement& r : all.rows)
    for (PeerTime& p : r.peers) p.ratio = p.time.median_ns / r.time.median_ns;
  all.means = means_of(all.rows);
  return judge::form::written(all).dump(1) + "\n";
}

std::string results_schema() {
  return judge::form::schema<Results>(
      "Results of lockstep_bench: times in nanoseconds, of one call");
}

Results results_of(const std::string& json) {
  try {
    return judge::form::loaded<Results>(judge::form::json_of(json));
  } catch (const judge::UsageError& e) {
    throw std::logic_error(std::string("no result of lockstep_bench: ") + e.what());
  }
}

}  // namespace lockstep::bench
