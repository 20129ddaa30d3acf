// What memory delivers and what it costs to simulate: for each standard, streaming and random loads as a fraction of
// the configured peak, events and host time for an access. The host time holds the load's own and the event queue's,
// which are most of what the model `fixed` shows.
#include <fmt/format.h>

#include <ctime>
#include <memory>
#include <pcg_random.hpp>
#include <string>
#include <utility>

#include "memory/dram/dram.h"
#include "sim/partition.h"

namespace nearfar {
namespace {

constexpr std::uint64_t kLineBytes = 64;

struct Pattern {
  const char* name;
  bool random;
  unsigned writes_percent;
  unsigned outstanding;  ///< reads on their way, per channel
};

/// Keeps a number of reads on their way, with writes strewn in, until a number of accesses is done.
class Load : public DramClient {
 public:
  Load(const DramSpec& spec, const Pattern& pattern, std::uint64_t clock_hertz, std::uint64_t accesses)
      : partition_(DeviceId{0}, 1),
        dram_(make_dram(partition_, spec, kLineBytes, clock_hertz, *this)),
        pattern_(pattern),
        lines_(spec.capacity / kLineBytes),
        left_(accesses),
        done_(partition_.add_handler<&Load::on_done>(this)) {
    for (unsigned i = 0; i < pattern.outstanding * spec.channels; ++i) issue(partition_.pool().allocate<Event>());
  }

  void run() { partition_.run(kNever); }
  void dram_has_room() override {
    std::uint32_t before = stalled_.size() + 1;
    while (!stalled_.empty() && stalled_.size() < before) {
      before = stalled_.size();
      issue(stalled_.pop());
    }
  }

  Partition& partition() { return partition_; }
  const DramStats& stats() { return dram_->stats(); }
  Cycle end() const { return end_; }

 private:
  struct Access {
    PhysLine line;
    bool write;
  };

  Access draw() {
    const std::uint64_t number =
        pattern_.random ? (std::uint64_t{rng_()} << 8 ^ rng_()) % lines_ : position_++ % lines_;
    return {PhysLine(PhysPage(DeviceId{0}, number >> kLineIndexBits), static_cast<unsigned>(number % 64)),
            rng_(100) < pattern_.writes_percent};
  }

  /// Writes go out at once, up to the next read; where one is refused, what comes behind it waits.
  void issue(Event* t) {
    while (left_ != 0) {
      if (next_.write && !dram_->can_write(next_.line)) {
        stalled_.push(t);
        return;
      }
      const Access access = std::exchange(next_, draw());
      --left_;
      if (!access.write) {
        dram_->read(access.line, t, done_, 0);
        return;
      }
      dram_->write(access.line);
    }
    partition_.pool().release(t);
  }

  void on_done(Event* t) {
    end_ = partition_.now();
    issue(t);
  }

  Partition partition_;
  std::unique_ptr<Dram> dram_;
  Pattern pattern_;
  std::uint64_t lines_;
  std::uint64_t left_;
  HandlerId done_;
  pcg32_fast rng_{7};
  std::uint64_t position_ = 0;
  Access next_ = draw();
  EventQueue stalled_;
  Cycle end_ = 0;
};

void measure(const std::string& name, const DramSpec& spec, const Pattern& pattern, Frequency clock) {
  constexpr std::uint64_t kAccesses = 2'000'000;
  Load load(spec, pattern, clock.hertz, kAccesses);
  const std::clock_t begin = std::clock();
  load.run();
  const double nanoseconds = static_cast<double>(std::clock() - begin) * (1e9 / CLOCKS_PER_SEC);
  const DramStats& stats = load.stats();
  const double seconds = static_cast<double>(load.end()) / static_cast<double>(clock.hertz);
  const double peak = static_cast<double>(spec.channel_bandwidth.bytes_per_second) * spec.channels * seconds;
  const auto bursts = static_cast<double>(stats.row_hits + stats.row_closed + stats.row_conflicts);
  const auto reads = static_cast<double>(stats.reads);
  const auto cycles = static_cast<double>(stats.read_wait_cycles + stats.read_service_cycles);
  fmt::print("{:<10} {:<22} {:>8.4f} {:>9.3f} {:>11.1f} {:>9.3f} {:>9.3f} {:>8.1f}\n", name, pattern.name,
             static_cast<double>(stats.read_bytes + stats.write_bytes) / peak,
             bursts == 0 ? 0 : static_cast<double>(stats.row_hits) / bursts, cycles / reads,
             static_cast<double>(load.partition().events()) / static_cast<double>(kAccesses),
             (static_cast<double>(load.partition().events()) - reads) / static_cast<double>(kAccesses),
             nanoseconds / static_cast<double>(kAccesses));
}

}  // namespace
}  // namespace nearfar

int main() {
  using namespace nearfar;
  constexpr Frequency kClock = 1000_MHz;
  constexpr Pattern kPatterns[] = {
      {"stream", false, 0, 96},
      {"random", true, 0, 96},
      {"stream, 1/3 writes", false, 33, 96},
      {"random, 1/3 writes", true, 33, 96},
      {"random, light", true, 0, 1},
      {"random, light, 1/3 w", true, 33, 1},
  };
  constexpr struct {
    const char* name;
    DramStandard standard;
  } kStandards[] = {{"hbm", DramStandard::Hbm},
                    {"gddr5", DramStandard::Gddr5},
                    {"ddr3-1600", DramStandard::Ddr3_1600},
                    {"ddr4-2400", DramStandard::Ddr4_2400}};
  fmt::print("{:<10} {:<22} {:>8} {:>9} {:>11} {:>9} {:>9} {:>8}\n", "memory", "load", "of peak", "row hits",
             "read cycles", "events", "decisions", "ns");
  for (const auto& standard : kStandards) {
    DramSpec spec;
    spec.set_standard(standard.standard, kClock);
    for (const Pattern& pattern : kPatterns) measure(standard.name, spec, pattern, kClock);
  }
  DramSpec fixed;
  fixed.model = DramModel::Fixed;
  for (const Pattern& pattern : kPatterns) measure("fixed", fixed, pattern, kClock);
  return 0;
}
