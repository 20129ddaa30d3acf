// Runs episodes of the random tester, each in a process of its own: one that crashes or hangs takes nothing with it,
// and what an episode does depends on nothing that ran before. A failure is cut down to the smallest episode that
// still fails.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "memory/cache/protocol_coverage.h"
#include "tester/episode.h"

namespace nearfar::tester {

struct SoakOptions {
  std::uint64_t seed = 1;                                         ///< of the first episode; the others follow
  std::uint64_t episodes = ~std::uint64_t{0};                     ///< how many at most
  std::uint64_t accesses = ~std::uint64_t{0};                     ///< no episode starts when so many have been made
  std::uint64_t stores = ~std::uint64_t{0};                       ///< nor when so many posted stores have been
  std::chrono::milliseconds time = std::chrono::hours(24 * 365);  ///< nor after this
  std::chrono::seconds episode_time{120};  ///< of the processor; an episode that takes longer hangs
  std::chrono::seconds shrink_time{60};    ///< for making a failure smaller
  std::chrono::seconds try_time{5};        ///< for one smaller episode
  unsigned jobs = 1;                       ///< episodes at a time
  bool go_on = false;                      ///< after a failure
  Cuts cuts;                               ///< for every episode
};

struct Failure {
  std::uint64_t seed = 0;
  std::string message;
  std::uint64_t accesses_before = 0;  ///< made by all episodes that had ended
  Cuts cuts;                          ///< with which it still fails
  std::string cut_message;            ///< how it fails then
};

struct SoakResult {
  std::uint64_t episodes = 0;
  std::uint64_t accesses = 0;
  std::uint64_t stores = 0;                        ///< posted
  std::map<std::string, std::uint64_t> stores_by;  ///< by design at the egress
  double seconds = 0;
  ProtocolCoverage coverage;
  std::vector<Failure> failures;
};

using Report = std::function<void(const SoakResult& so_far)>;

/// Runs episodes until one of the limits is reached or one fails. `report` is called now and then.
SoakResult soak(const SoakOptions& options, const Report& report = {});

/// One episode in a process of its own: how it failed, or nothing.
std::optional<std::string> failure_of(std::uint64_t seed, const Cuts& cuts, std::chrono::seconds at_most);

/// What a person needs to see the failure again.
std::string describe(const Failure& failure);

}  // namespace nearfar::tester
