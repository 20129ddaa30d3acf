// The event queue against std::priority_queue under a hold model: every event taken out puts one in, at a distance
// drawn beforehand, the same for both. Both keep the strict order (time, source, sequence), which is compared.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <pcg_random.hpp>
#include <queue>
#include <vector>

#include "sim/wheel.h"

namespace nearfar {
namespace {

constexpr std::size_t kDistances = 1 << 16;
constexpr double kMeanDistance = 150;
constexpr unsigned kFarPercent = 1;
constexpr int kRounds = 5;

std::vector<std::uint32_t> draw_distances() {
  pcg32 rng(1);
  std::vector<std::uint32_t> distances(kDistances);
  for (std::uint32_t& distance : distances) {
    const double uniform = (rng() + 0.5) / 4294967296.0;
    distance = 1 + static_cast<std::uint32_t>(-std::log(uniform) * kMeanDistance);
    if (rng(100) < kFarPercent) distance = 5000 + rng(50'000);
  }
  return distances;
}

struct Outcome {
  double events_per_second = 0;
  std::uint64_t digest = 0;  ///< of the order in which events came
};

/// An event as large as those of a run.
struct alignas(kEventBytes) Numbered : IndexEvent {};

class WheelQueue {
 public:
  void put(Event* t, Cycle when) { wheel_.schedule(t, when); }
  Event* take() { return wheel_.pop(kNever); }

 private:
  Wheel wheel_;
};

class HeapQueue {
 public:
  void put(Event* t, Cycle when) {
    t->when = when;
    queue_.push({when, kLocalSource, sequence_++, t});
  }
  Event* take() {
    Event* t = queue_.top().event;
    queue_.pop();
    return t;
  }

 private:
  struct Entry {
    Cycle when;
    std::uint16_t source;
    std::uint64_t sequence;
    Event* event;

    bool operator<(const Entry& other) const {
      if (when != other.when) return when > other.when;
      if (source != other.source) return source > other.source;
      return sequence > other.sequence;
    }
  };

  std::priority_queue<Entry> queue_;
  std::uint64_t sequence_ = 0;
};

template <class Queue>
Outcome hold(std::size_t pending, std::size_t events, const std::vector<std::uint32_t>& distances) {
  auto payloads = std::make_unique<Numbered[]>(pending);
  Queue queue;
  std::size_t drawn = 0;
  const auto next_distance = [&] { return distances[drawn++ % kDistances]; };
  for (std::size_t i = 0; i < pending; ++i) {
    payloads[i].index = static_cast<std::uint32_t>(i);
    queue.put(&payloads[i], next_distance());
  }
  Outcome outcome;
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < events; ++i) {
    Event* t = queue.take();
    outcome.digest = outcome.digest * 31 + static_cast<Numbered*>(t)->index;
    queue.put(t, t->when + next_distance());
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  outcome.events_per_second = static_cast<double>(events) / took.count();
  return outcome;
}

}  // namespace
}  // namespace nearfar

int main() {
  using namespace nearfar;
  const std::vector<std::uint32_t> distances = draw_distances();
  fmt::print("{:>8} {:>16} {:>16} {:>7}\n", "pending", "wheel, M events/s", "heap, M events/s", "ratio");
  for (const std::size_t pending : {1'000, 10'000, 100'000}) {
    const std::size_t events = 3'000'000;
    Outcome wheel, heap;
    // The best of some rounds, taken in turns: what disturbs one disturbs the other.
    for (int round = 0; round < kRounds; ++round) {
      const Outcome w = hold<WheelQueue>(pending, events, distances);
      const Outcome h = hold<HeapQueue>(pending, events, distances);
      if (w.digest != h.digest) {
        fmt::print("the wheel and the heap disagree about the order\n");
        return EXIT_FAILURE;
      }
      if (w.events_per_second > wheel.events_per_second) wheel = w;
      if (h.events_per_second > heap.events_per_second) heap = h;
    }
    fmt::print("{:>8} {:>16.1f} {:>16.1f} {:>6.1f}×\n", pending, wheel.events_per_second / 1e6,
               heap.events_per_second / 1e6, wheel.events_per_second / heap.events_per_second);
  }
  return EXIT_SUCCESS;
}
