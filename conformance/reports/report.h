/// @file
/// The formats of a report: for a person, for programs, for the pages of a CI system. Reports of a
/// run's shards are merged, those of two runs compared.
#pragma once
#include <string>
#include <vector>

#include "conformance/verdict/report.h"

namespace lockstep::judge {

/// The verdict and its scope, in one line.
std::string verdict_line(const Report& r);

/// The size of a terminal; 0: standard output is no terminal, and nothing has to fit.
struct Screen {
  int rows = 0, columns = 0;
};

/// A remark beside failures and verdict: cases left out or missing, stale expectations, reasons why
/// the run is incomplete.
struct Remark {
  std::string kind, text;
};
/// At most `most` remarks of a kind, then how many more there are.
std::vector<Remark> remarks(const Report& r, std::size_t most = SIZE_MAX);

/// The text after a run: failures, each in at most twelve lines, then the verdict line. It shows as
/// many failures as fit on the screen, at least one.
std::string summary(const Report& r, bool colour, Screen screen = {});

/// The report as JSON: stable order, no time, no address. report_schema() describes it.
std::string json_report(const Report& r);
std::string report_schema();

/// Reads a report. Members that follow from others are derived again and must agree.
/// @throws UsageError naming the place and what is wrong there.
Report read_report(const std::string& text);

/// The report as JUnit XML: a test suite per operator, a test case per property.
std::string junit_report(const Report& r);

/// The report as Markdown for the page of a CI run.
std::string markdown_report(const Report& r);

/// SHA-256 over the outputs of every operator, by which devices are compared.
std::string digest_of(const Report& r);
/// How many calls the digest covers.
i64 digested(const Report& r);

/// The failures of an operator by a property, in the report's order.
std::vector<const Failure*> failures_of(
    const Report& r, const std::string& op, const std::string& property);

/// What the cases of a failure have in common, in words; empty if nothing is known.
std::string cause_text(const Failure& f);

/// How a failure shows, in words that do not depend on the case: the kind of answer, or how values
/// are wrong, and what the cases have in common.
std::string way_of(const Failure& f);

/// Failures with one symptom, which seem to have one cause, across operators and properties.
struct Cluster {
  std::string symptom;
  std::vector<const Failure*> failures;  ///< of the report, which has to outlive the cluster
  i64 count = 0;                         ///< failed judgements
};
/// Every failure in one cluster, the largest clusters first.
std::vector<Cluster> clusters(const Report& r);

/// The mutation score of the cases within a run's budget, in words; empty without a budget.
std::string prefix_score_text(const Report& r);

/// The scope of the verdict: the whole claim, or a part of it.
std::string scope(const Report& r);

/// The sum of two counts, at most the largest that a document holds.
i64 capped_sum(i64 a, i64 b);

/// A number with its thousands separated.
std::string grouped(i64 n);

/// A report and the file that it was read from.
struct Named {
  std::string file;
  Report report;
};

/// The report of the whole run.
/// @throws UsageError if a part is missing, is given twice, or belongs to another run.
Report merged(const std::vector<Named>& parts);

/// A difference between two runs.
struct Change {
  bool result;  ///< of results; else of backend or machine, which may differ
  std::string text;
};

/// All differences between two reports, results first.
std::vector<Change> changes(const Report& before, const Report& after);

/// The operators for which two runs computed different outputs or different calls.
std::vector<std::string> differing_outputs(const Report& a, const Report& b);

/// Number of calls, case set and digest of all outputs, in one line for comparing devices.
std::string digest_line(const Report& r);

}  // namespace lockstep::judge
