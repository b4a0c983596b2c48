/// @file
/// The report as one page that needs no network and no other file.
#pragma once
#include <map>
#include <optional>

#include "conformance/reports/power.h"
#include "conformance/reports/report.h"

namespace lockstep::judge {

/// The summary of `lockstep cover --json` on a page.
struct CoverSummary {
  std::string set_hash;
  struct Cells {
    i64 required = 0, covered = 0;
    std::map<i64, std::pair<i64, i64>> combinations;  ///< by strength: covered, required
    std::vector<std::string> empty;  ///< required cells and combinations without a case
  };
  std::map<std::string, Cells> operators;
};

/// @throws UsageError naming what is missing or wrong.
CoverSummary read_cover(const std::string& text);

/// Measurements beside the run. A page says which ones are missing.
struct Measured {
  std::optional<CoverSummary> cover;
  std::optional<Power> power;
};

std::string html_report(const Report& r, const Measured& measured);

/// A whole page around sections. A content security policy names its scripts and styles by hash, so
/// that a browser runs no script that a report contains.
std::string html_page(const std::string& title, const std::string& body);

}  // namespace lockstep::judge
