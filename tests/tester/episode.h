// One episode of the random tester: a tiny machine and a program for it, both drawn from a seed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/system_spec.h"
#include "memory/cache/protocol_coverage.h"
#include "tester/random_program.h"

namespace nearfar::tester {

struct Episode {
  std::uint64_t seed = 0;
  std::vector<std::string> settings;  ///< path=value, over a shipped system
  std::vector<std::string> designs;
  unsigned gpus = 1;
  ProgramShape program;
};

/// What an episode is cut down to, to find the smallest that fails.
struct Cuts {
  std::optional<unsigned> gpus;
  std::optional<unsigned> launches;
  std::optional<unsigned> groups;
  std::optional<unsigned> waves;
  std::optional<unsigned> operations;
  std::vector<std::string> without;   ///< actions of the program
  std::vector<std::string> set;       ///< further settings, which win
  std::optional<std::string> design;  ///< in the place of those that were drawn; "baseline" is none
  /// Machines that post their stores, each design at the egress or the switch in turn; programs of stores.
  bool posted = false;
  bool hosted = false;  ///< machines whose pages stay, under every management of memory; programs with work of the host

  /// As the options of the program.
  std::string text() const;
};

Episode draw_episode(std::uint64_t seed, const Cuts& cuts = {});

/// The machine and the program, a line each.
std::string describe(const Episode& episode);

/// What stores may leave a GPU by: "baseline", and the designs that have queues for them.
std::vector<std::string> egress_designs();

/// Runs an episode under the oracles and answers how many lines were accessed. Throws what the run throws.
std::uint64_t run_episode(const Episode& episode, ProtocolCoverage& coverage);
struct Counts {
  std::uint64_t accesses = 0;
  std::uint64_t stores = 0;  ///< that left GPUs, posted
};
Counts count_episode(const Episode& episode, ProtocolCoverage& coverage);

}  // namespace nearfar::tester
