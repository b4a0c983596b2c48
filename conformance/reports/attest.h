/// @file
/// Evidence: a run as a bundle of files that others can check without having seen it.
#pragma once
#include <string>
#include <vector>

#include "conformance/reports/report.h"
#include "conformance/run/judge.h"

namespace lockstep::judge {

/// What a bundle declares of one executed case.
struct Declared {
  i64 number = 0;       ///< of the case in its set
  std::string outcome;  ///< passed failed crashed timed_out
  std::string outputs;  ///< hash of what the backend answered; empty: the call was not to run
};

/// A run and everything that was declared of it.
struct Attestation {
  std::string subject;       ///< name of the file that was judged
  std::string subject_hash;  ///< and its SHA-256
  Report report;
  std::vector<Declared> results;
};

/// The files of a bundle, by name: an in-toto statement, the report, and the result of each case.
std::map<std::string, std::string> bundle_of(const Attestation& e);

/// Reads a bundle, whose files have to fit together by their hashes.
/// @throws UsageError naming the file, the place and what is wrong there.
Attestation read_bundle(const std::map<std::string, std::string>& files);

/// Notes what comes of each case; for Conduct::record.
std::function<void(i64, const ItemResult&)> recorder(std::vector<Declared>& results);

/// What the report says in sum and the results do not, sentences. Needs the set's cases.
std::vector<std::string> contradictions(const Attestation& e, const std::vector<Item>& items);

/// So many of the results, chosen by a seed. Crashes are left out: how many of them there are until
/// the rest is left out depends on what else is run.
std::vector<Declared> sample(const Attestation& e, i64 count, u64 seed);

/// In which of these cases the backend did not do again what was declared, sentences.
std::vector<std::string> refutations(const std::vector<Declared>& declared,
                                     const std::vector<Declared>& again,
                                     const std::vector<Item>& items);

}  // namespace lockstep::judge
