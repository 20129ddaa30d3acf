// Way partitioning of the L3 TLB that GPU instances share: each process has a share of the ways of every set. A process
// that has more ways of a set than its share loses one first; within a process, and without shares, the least recently
// used entry leaves. A share is no reservation: ways that nobody has filled are anyone's, and nothing is flushed when
// shares change.
//
// Static shares follow the sizes of the instances. Dynamic shares are given out anew every epoch, way by way, to whom
// the next way would have brought the most hits in the last epoch, as shadow tags tell; each process keeps one at
// least.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "designs/mig_tlb/shadow_tags.h"
#include "sim/partition.h"
#include "stats/stat.h"
#include "translation/design_component.h"
#include "translation/mig_spec.h"
#include "translation/tlb/replacement.h"

namespace nearfar {

class Section;

enum class WayShares : std::uint8_t { None, Static, Dynamic };

struct WayPartitionSpec {
  WayShares shares = WayShares::Dynamic;  // mig.partition
  Cycle epoch = 100'000;
  std::uint32_t sample = 32;  // shadow_sample

  void describe(Section& section);
};

struct WayPartitionStats {
  std::uint64_t epochs = 0;
  std::uint64_t changes = 0;
  std::uint64_t own_victims = 0;
  std::uint64_t other_victims = 0;
  std::vector<std::uint64_t> ways;  ///< by process

  void describe(StatVisitor& visitor);
};

/// The ways of a set, given out in proportion to the compute slices of instances, at least one each.
std::vector<std::uint32_t> shares_by_size(const InstanceLayout& instances, std::uint32_t ways);

/// The same by what each further way would have brought: `gain(process, ways)` for one more than `ways`.
template <class Gain>
std::vector<std::uint32_t> shares_by_gain(std::size_t processes, std::uint32_t ways, Gain gain) {
  std::vector<std::uint32_t> shares(processes, 1);
  for (auto given = static_cast<std::uint32_t>(processes); given < ways; ++given) {
    std::size_t best = 0;
    for (std::size_t p = 1; p < processes; ++p) {
      const std::uint64_t here = gain(p, shares[p]);
      const std::uint64_t there = gain(best, shares[best]);
      if (here > there || (here == there && shares[p] < shares[best])) best = p;
    }
    ++shares[best];
  }
  return shares;
}

class WayPartition final : public DesignComponent {
 public:
  WayPartition(Partition& partition, const WayPartitionSpec& spec, const MigSpec& mig);

  const char* name() const override { return "l3_partition"; }
  void describe(StatVisitor& visitor) override;

  /// What the L3 TLB asks, as it is its replacement.
  std::unique_ptr<TlbReplacement> replacement();
  std::span<const std::uint32_t> shares() const { return shares_; }

 private:
  class Policy;
  struct Way {
    std::uint64_t used = 0;
    Pid owner = 0;
  };

  void used(std::uint64_t set, std::uint32_t way, PageKey page);
  void filled(std::uint64_t set, std::uint32_t way, PageKey page);
  std::uint32_t victim(std::uint64_t set, PageKey page);
  void note_access(std::uint64_t set, PageKey page);
  void end_epochs();

  Partition& partition_;
  WayPartitionSpec spec_;
  std::uint32_t ways_;
  unsigned sub_entry_bits_;
  std::uint64_t clock_ = 0;
  std::vector<Way> held_;  ///< by set and way
  std::vector<std::uint32_t> shares_;
  std::vector<std::uint32_t> owned_;  ///< of the set that is looked at, by process
  std::vector<ShadowTags> shadows_;   ///< dynamic: by process
  Cycle epoch_end_;
  WayPartitionStats stats_;
};

}  // namespace nearfar
