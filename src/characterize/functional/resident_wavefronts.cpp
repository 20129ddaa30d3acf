#include "characterize/functional/resident_wavefronts.h"

#include <algorithm>
#include <bit>

#include "sim/prefetch.h"

namespace nearfar {
namespace {

/// Lines of the host's cache that are fetched of a stream's frame before its turn.
constexpr std::size_t kFrameLines = 4;

std::uint64_t low_bits(unsigned count) { return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1; }

}  // namespace

ResidentWavefronts::ResidentWavefronts(const SystemSpec& system, const Workload& workload,
                                       std::vector<FunctionalGpu>& gpus)
    : workload_(workload),
      gpus_(gpus),
      policy_(system.dispatch),
      cus_(system.gpu.cus()),
      lanes_(system.gpu.wavefront),
      next_cu_(gpus.size()) {
  const unsigned slots = system.gpu.cu.simds * system.gpu.cu.waves_per_simd;
  waves_.resize(std::size_t{slots} * cus_ * gpus.size());
  ready_.resize((waves_.size() + 63) / 64);
  units_.resize(std::size_t{cus_} * gpus.size());
  for (Unit& unit : units_) {
    unit.free_slots = low_bits(slots);
    unit.free_local_bytes = system.gpu.cu.local_memory;
    unit.groups.resize(slots);
  }
  for (unsigned slot = 0; slot < slots; ++slot) {
    for (unsigned cu = 0; cu < cus_; ++cu) {
      for (unsigned gpu = 0; gpu < gpus.size(); ++gpu) {
        Wave& wave = waves_[turn_of(gpu, cu, slot)];
        wave.gpu = static_cast<std::uint16_t>(gpu);
        wave.cu = static_cast<std::uint16_t>(cu);
        wave.slot = static_cast<std::uint8_t>(slot);
      }
    }
  }
}

void ResidentWavefronts::run(std::size_t launch, const std::function<void()>& after_round) {
  const auto gpus = static_cast<unsigned>(gpus_.size());
  launch_ = &workload_.launches()[launch];
  launch_index_ = launch;
  const Split split = effective_split(launch_->split, policy_, gpus);
  shares_.clear();
  for (unsigned g = 0; split != Split::Greedy && g < gpus; ++g) shares_.emplace_back(*launch_, split, g, gpus, cus_);
  next_greedy_ = 0;
  for (unsigned g = 0; g < gpus; ++g) start_groups(g);
  while (running_groups_ != 0) {
    sweep();
    after_round();
  }
}

/// A turn for every wavefront that is ready when its place comes.
void ResidentWavefronts::sweep() {
  for (std::size_t word = 0; word < ready_.size(); ++word) {
    std::uint64_t ahead = ~std::uint64_t{0};
    while (const std::uint64_t left = ready_[word] & ahead) {
      const auto bit = static_cast<unsigned>(std::countr_zero(left));
      ahead = bit == 63 ? 0 : ~std::uint64_t{0} << (bit + 1);
      if (const std::uint64_t later = left & ahead) {
        const Wave& next = waves_[word * 64 + static_cast<unsigned>(std::countr_zero(later))];
        prefetch_lines(next.stream.frame(), kFrameLines);
      }
      take_turn(word * 64 + bit);
    }
  }
}

void ResidentWavefronts::take_turn(std::size_t turn) {
  Wave& wave = waves_[turn];
  switch (gpus_[wave.gpu].run(wave.stream, wave.cu)) {
    case TurnEnd::Memory: break;
    case TurnEnd::Barrier:
      clear_ready(turn);
      meet_barrier(wave);
      break;
    case TurnEnd::End:
      clear_ready(turn);
      end(wave);
      break;
  }
}

void ResidentWavefronts::meet_barrier(Wave& wave) {
  Group& group = unit_of(wave).groups[wave.group];
  group.at_barrier |= std::uint64_t{1} << wave.slot;
  if (group.at_barrier == group.waves) pass_barrier(wave, group);
}

void ResidentWavefronts::pass_barrier(const Wave& wave, Group& group) {
  for (; group.at_barrier != 0; group.at_barrier &= group.at_barrier - 1) {
    set_ready(turn_of(wave.gpu, wave.cu, static_cast<unsigned>(std::countr_zero(group.at_barrier))));
  }
}

void ResidentWavefronts::end(Wave& wave) {
  Unit& unit = unit_of(wave);
  Group& group = unit.groups[wave.group];
  wave.stream = Stream{};
  unit.free_slots |= std::uint64_t{1} << wave.slot;
  group.waves &= ~(std::uint64_t{1} << wave.slot);
  if (group.waves != 0) {
    // Those that remain may all be waiting at the barrier that this one will not reach.
    if (group.at_barrier == group.waves) pass_barrier(wave, group);
    return;
  }
  unit.free_local_bytes += launch_->local_bytes;
  --running_groups_;
  ++groups_done_;
  while (start_one(wave.gpu, wave.cu)) {
  }
}

// -------------------------------------------------------------------------------------------------------- dispatching

bool ResidentWavefronts::has_room(const Unit& unit) const {
  return static_cast<unsigned>(std::popcount(unit.free_slots)) >= launch_->waves(lanes_) &&
         unit.free_local_bytes >= launch_->local_bytes;
}

/// Workgroups in flattened order go to whoever has room first, or each GPU has its own.
std::optional<std::uint64_t> ResidentWavefronts::next_group(unsigned gpu, unsigned cu) {
  if (shares_.empty()) {
    if (next_greedy_ == launch_->groups()) return std::nullopt;
    return next_greedy_++;
  }
  return shares_[gpu].take(cu);
}

bool ResidentWavefronts::start_one(unsigned gpu, unsigned cu) {
  Unit& unit = units_[gpu * cus_ + cu];
  if (!has_room(unit)) return false;
  const std::optional<std::uint64_t> number = next_group(gpu, cu);
  if (!number) return false;
  const auto place = std::ranges::find(unit.groups, std::uint64_t{0}, &Group::waves);
  const std::uint32_t waves = launch_->waves(lanes_);
  for (std::uint32_t w = 0; w < waves; ++w) {
    const auto slot = static_cast<unsigned>(std::countr_zero(unit.free_slots));
    unit.free_slots &= unit.free_slots - 1;
    place->waves |= std::uint64_t{1} << slot;
    Wave& wave = waves_[turn_of(gpu, cu, slot)];
    wave.stream = workload_.wavefront(launch_index_, launch_->wave(*number, w, lanes_));
    wave.group = static_cast<std::uint8_t>(place - unit.groups.begin());
    set_ready(turn_of(gpu, cu, slot));
  }
  unit.free_local_bytes -= launch_->local_bytes;
  ComputeUnitStats& stats = gpus_[gpu].stats();
  ++stats.groups;
  stats.waves += waves;
  ++running_groups_;
  return true;
}

/// Round robin over the compute units until none has room or none is left; the next launch goes on from there.
void ResidentWavefronts::start_groups(unsigned gpu) {
  for (unsigned refused = 0; refused < cus_;) {
    const unsigned cu = next_cu_[gpu];
    next_cu_[gpu] = (next_cu_[gpu] + 1) % cus_;
    refused = start_one(gpu, cu) ? 0 : refused + 1;
  }
}

}  // namespace nearfar
