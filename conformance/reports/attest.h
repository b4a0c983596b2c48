/// @file
/// Evidence: a bundle of files about a run, which others can check without having seen the run.
#pragma once
#include <string>
#include <vector>

#include "conformance/reports/report.h"
#include "conformance/run/exhaust.h"
#include "conformance/run/judge.h"

namespace lockstep::judge {

/// The declared result of one executed case.
struct Declared {
  i64 number = 0;       ///< of the case in its set
  std::string outcome;  ///< passed failed crashed timed_out
  std::string outputs;  ///< hash of the backend's answer; empty: the call was not to be run
};

/// A run and all results that were declared of it.
struct Attestation {
  std::vector<JudgedFile> subject;  ///< what was judged
  Report report;
  std::vector<Declared> results;
  std::string values = {};  ///< the journal of lockstep exhaust; empty: none
};

/// Reads a journal of lockstep exhaust, which must be about this file or command.
/// @throws UsageError if the text is no journal, or about another backend.
ValueJournal values_of_subject(
    const std::string& journal, const std::string& file_hash, const std::string& backend);

/// The files of a bundle, by name: an in-toto statement, the report, the result of each case, and
/// the values that were put.
std::map<std::string, std::string> bundle_of(const Attestation& e);

/// Reads a bundle and checks the hashes by which its files name each other.
/// @throws UsageError naming the file, the place and what is wrong there.
Attestation read_bundle(const std::map<std::string, std::string>& files);

/// Notes the result of each case; for Conduct::record.
std::function<void(i64, const ItemResult&)> recorder(std::vector<Declared>& results);

/// The report's totals that disagree with its results, one sentence each. Needs the set's cases.
std::vector<std::string> contradictions(const Attestation& e, const std::vector<Item>& items);

/// A sample of `count` results, chosen by a seed. It leaves crashes out: whether a case crashed or
/// was quarantined depends on the other cases of a run.
std::vector<Declared> sample(const Attestation& e, i64 count, u64 seed);

/// The cases in which the backend did not repeat what was declared, one sentence each.
std::vector<std::string> refutations(const std::vector<Declared>& declared,
    const std::vector<Declared>& again, const std::vector<Item>& items);

/// Puts ranges of values to the backend again, `count` of those that were judged, chosen by a seed.
/// @return how many ranges; `found` receives a sentence for each that ended otherwise than declared
i64 put_again(const ValueJournal& declared, Subject& subject, i64 count, u64 seed,
    std::vector<std::string>& found);

}  // namespace lockstep::judge
