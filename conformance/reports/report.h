/// @file
/// The forms of a report: for a person, for programs, for the pages of a CI system.
#pragma once
#include <string>
#include <vector>

#include "conformance/verdict/report.h"

namespace lockstep::judge {

/// The verdict and what it is about, in one line.
std::string verdict_line(const Report& r);

/// The size of a terminal; 0: it is none, and nothing has to fit.
struct Screen {
  int rows = 0, columns = 0;
};

/// What a person should know beside failures and verdict: what was left out or is missing, what is
/// stale, why the run is incomplete.
struct Remark {
  std::string kind, text;
};
/// At most so many of a kind, and then how many more there are.
std::vector<Remark> remarks(const Report& r, std::size_t most = SIZE_MAX);

/// What a person reads after a run: failures, each in at most twelve lines, then the verdict line.
/// On a screen as many as it has room for, at least one.
std::string summary(const Report& r, bool colour, Screen screen = {});

/// The report as JSON: stable order, no time, no address. report_schema() describes it.
std::string json_report(const Report& r);
std::string report_schema();

/// Reads a report. What follows from its other members is derived again and has to be the same.
/// @throws UsageError naming the place and what is wrong there.
Report read_report(const std::string& text);

/// The report for CI systems: a test suite per operator, a test case per property.
std::string junit_report(const Report& r);

/// The report for the page of a CI run.
std::string markdown_report(const Report& r);

/// SHA-256 over the outputs of every operator, the one number that two devices compare.
std::string digest_of(const Report& r);
/// How many calls that is over.
i64 digested(const Report& r);

/// The failures that seem to have one cause: a symptom, whatever the operator or property.
struct Cluster {
  std::string symptom;
  std::vector<const Failure*> failures;  ///< of the report, which has to outlive the cluster
  i64 count = 0;                         ///< failed judgements
};
/// Every failure in one cluster, the largest clusters first.
std::vector<Cluster> clusters(const Report& r);

/// How many of the listed mutants die of a run's first cases; empty where it judged all cases.
std::string power_of(const Report& r);

/// What the verdict is about: the whole claim, or a part of it.
std::string scope(const Report& r);

/// The sum of two counts, at most the largest that a document holds.
i64 capped_sum(i64 a, i64 b);

/// A number with its thousands apart, so that a denominator can be read.
std::string grouped(i64 n);

}  // namespace lockstep::judge
