/// @file
/// The report as one page that needs nothing else: no network, no other file.
#pragma once
#include <map>
#include <optional>

#include "conformance/reports/power.h"
#include "conformance/reports/report.h"

namespace lockstep::judge {

/// What a page shows of the cells that `lockstep cover --json` lists.
struct CoverSummary {
  std::string set_hash;
  struct Cells {
    i64 required = 0, covered = 0;
    std::map<i64, std::pair<i64, i64>> tuples;  ///< of so many classes: covered, required
    std::vector<std::string> empty;             ///< required cells and tuples without a case
  };
  std::map<std::string, Cells> operators;
};

/// @throws UsageError naming what is missing or wrong.
CoverSummary read_cover(const std::string& text);

/// What was measured beside the run; a page says what was not.
struct Measured {
  std::optional<CoverSummary> cover;
  std::optional<Power> power;
};

std::string html_report(const Report& r, const Measured& measured);

/// A whole page around sections. Its scripts and styles are named by hash, so that a browser runs
/// no other, whatever a report holds.
std::string html_page(const std::string& title, const std::string& body);

}  // namespace lockstep::judge
