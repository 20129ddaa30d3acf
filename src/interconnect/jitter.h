// A few cycles more here and there: what a perturbed run adds to the latency of its messages and to the start of its
// workgroups. Every amount is a hash of what it is for, so there is no state, and threads and windows change nothing.
#pragma once

#include <algorithm>
#include <cstdint>

#include "interconnect/perturb_spec.h"
#include "sim/types.h"

namespace nearfar {

/// Amounts from 0 to a limit. Draw 0 and a limit of 0 add nothing.
class Jitter {
 public:
  Jitter() = default;
  /// `purpose` keeps the amounts of different uses apart.
  Jitter(const PerturbSpec& spec, Cycle limit, std::uint64_t purpose)
      : limit_(spec.draw == 0 ? 0 : limit), key_(mixed(mixed(mixed(purpose) ^ spec.seed) ^ spec.draw)) {}

  Cycle limit() const { return limit_; }
  Cycle amount(std::uint64_t what, std::uint64_t which) const {
    return limit_ == 0 ? 0 : mixed(mixed(key_ ^ what) ^ which) % (limit_ + 1);
  }

 private:
  /// The finalizer of SplitMix64: every bit of the result depends on every bit of `x`.
  static std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  Cycle limit_ = 0;
  std::uint64_t key_ = 0;
};

/// Arrivals of messages that leave one device, each stream to one destination in one class perturbed for itself.
///
/// Time becomes a staircase: who would arrive at t arrives at the latest of all t' + amount(t') with t' up to t. That
/// is never before t, at most the limit after it, and it never falls as t rises, so messages of a stream keep their
/// order whatever order they are asked about in; those that come to share a cycle are taken in the order sent.
class MessageJitter {
 public:
  MessageJitter() = default;
  MessageJitter(const PerturbSpec& spec, DeviceId source)
      : jitter_(spec, spec.message_jitter, kPurpose), source_(source.value) {}

  /// Whether anything is ever later.
  bool on() const { return jitter_.limit() != 0; }

  Cycle arrival(Cycle undisturbed, unsigned destination, unsigned traffic_class) const {
    Cycle latest = undisturbed;
    if (!on()) return latest;
    const std::uint64_t stream = (std::uint64_t{source_} << 32) | (destination << 8U) | traffic_class;
    // An earlier cycle than these cannot reach beyond `undisturbed`.
    const Cycle first = undisturbed - std::min(undisturbed, jitter_.limit());
    for (Cycle t = first; t <= undisturbed; ++t) latest = std::max(latest, t + jitter_.amount(stream, t));
    return latest;
  }

 private:
  static constexpr std::uint64_t kPurpose = 1;

  Jitter jitter_;
  std::uint64_t source_ = 0;
};

/// When workgroups start.
class StartJitter {
 public:
  StartJitter() = default;
  explicit StartJitter(const PerturbSpec& spec) : jitter_(spec, spec.start_jitter, kPurpose) {}

  Cycle start(Cycle undisturbed, std::uint64_t application, std::uint64_t launch, std::uint64_t group) const {
    return undisturbed + jitter_.amount((application << 32) | launch, group);
  }

 private:
  static constexpr std::uint64_t kPurpose = 2;

  Jitter jitter_;
};

}  // namespace nearfar
