/// @file
/// The frozen tiers: which cases every operator has in a tier, and what their outputs are.
///
/// A mistake in the code that draws cases, fills tensors, orders a set or asks about a case weakens
/// the judge, and no backend would show it. So `lockstep cover --freeze` writes down once what a
/// version of the program puts to backends, and each run of `check` is held to that.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conformance/selection/select.h"
#include "conformance/verdict/outputs.h"

namespace lockstep::judge {

struct Report;

/// What does not change within one version of the program.
struct Frozen {
  /// The cases of one operator in a tier, vectors among them.
  struct OperatorTier {
    std::string set;        ///< SHA-256 of their sorted lines: id, purpose, label, gas
    std::string questions;  ///< questions_hash() of some of them
    Outputs outputs;        ///< the right ones of the calls that run
  };
  struct Tier {
    std::string order;  ///< order_hash() of the whole tier
    std::map<std::string, OperatorTier> operators;
  };
  std::string judge;      ///< the version of the program
  std::string manifests;  ///< manifests_hash()
  std::string rare;       ///< questions_hash() of rare_cases()
  std::string words;      ///< words_hash()
  std::vector<Tier> tiers;
};

/// Calls that are asked about as few cases of a tier are: large ones, and one whose graph has a
/// network.
std::vector<Item> rare_cases();

/// Tiers 0 and 1 of seed 1, computed by the reference on several threads.
Frozen freeze(int threads);

std::string frozen_json(const Frozen& f);
/// @throws UsageError naming the place and what is wrong there.
Frozen read_frozen(const std::string& text);
/// The frozen tiers that are installed with the program; nothing if there are none, or those of
/// another version.
std::optional<Frozen> installed_frozen();

/// Requires that the cases of a selection are what their ids say, and the frozen ones, and that the
/// questions about them are the frozen ones. An operator that is not frozen, and a selection that
/// is no frozen tier or has other vectors, are held to their ids alone.
/// @param threads to rehearse questions with
/// @throws std::runtime_error if there is a difference: the program is not what was tested; also
/// if the frozen tiers are not installed.
void hold_cases(const std::optional<Frozen>& f, const Selection& s, const std::vector<Item>& items,
    int threads = 1);

/// Requires that the outputs of a run in which every case passed are the frozen ones.
/// @throws std::runtime_error if there is a difference.
void hold_outputs(const std::optional<Frozen>& f, const Selection& s, const Report& r);

}  // namespace lockstep::judge
