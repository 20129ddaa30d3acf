// Which pairs of state and event can occur, and why the others cannot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "memory/cache/protocol_coverage.h"

namespace nearfar::tester {

/// A pair of one of the tables.
struct Pair {
  std::string table;
  std::string state;
  std::string event;
  std::uint64_t count = 0;
  std::string impossible;  ///< why it cannot occur; "" if it can
};

/// All pairs of all tables, in a fixed order.
std::vector<Pair> all_pairs(const ProtocolCoverage& coverage);

/// The tables as a person reads them: a count, `never`, or `-` where a pair cannot occur.
std::string tables(const ProtocolCoverage& coverage);

/// Pairs that can occur and have not, and pairs that cannot and have, a line each; "" if there are none.
std::string never_seen(const ProtocolCoverage& coverage);
std::string should_not_be(const ProtocolCoverage& coverage);

}  // namespace nearfar::tester
