/// @file
/// The one list of properties.
#pragma once
#include "conformance/trial/properties/alignment.h"
#include "conformance/trial/properties/batch.h"
#include "conformance/trial/properties/closes.h"
#include "conformance/trial/properties/concurrent.h"
#include "conformance/trial/properties/constants.h"
#include "conformance/trial/properties/deterministic.h"
#include "conformance/trial/properties/graphs.h"
#include "conformance/trial/properties/infers.h"
#include "conformance/trial/properties/inputs_untouched.h"
#include "conformance/trial/properties/isa.h"
#include "conformance/trial/properties/laws.h"
#include "conformance/trial/properties/layout.h"
#include "conformance/trial/properties/matches_reference.h"
#include "conformance/trial/properties/matches_vectors.h"
#include "conformance/trial/properties/paths_covered.h"
#include "conformance/trial/properties/refuses_graphs.h"
#include "conformance/trial/properties/rejects.h"
#include "conformance/trial/properties/reuse.h"
#include "conformance/trial/properties/spellings.h"
#include "conformance/trial/properties/threads.h"
#include "conformance/trial/properties/writes_all.h"
#include "conformance/trial/properties/writes_in_bounds.h"

namespace lockstep::judge {

/// Every property, in the order of reports.
inline constexpr const Property* kProperties[] = {&kMatchesVectors, &kMatchesReference,
    &kDeterministic, &kWritesAll, &kWritesInBounds, &kInputsUntouched, &kAlignment, &kLayout,
    &kConstants, &kIsa, &kThreads, &kReuse, &kConcurrent, &kGraphs, &kBatch, &kSpellings, &kLaws,
    &kRejects, &kRefusesGraphs, &kInfers, &kPathsCovered, &kCloses};

}  // namespace lockstep::judge
