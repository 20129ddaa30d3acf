#include "designs/mig_tlb/way_partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "config/schema.h"

namespace nearfar {

void WayPartitionSpec::describe(Section& section) {
  section.choice<WayShares>(
      "partition", shares, {{"none", WayShares::None}, {"static", WayShares::Static}, {"dynamic", WayShares::Dynamic}},
      "How the ways of the L3 TLB are divided among processes: none is not at all, static is by the sizes of their "
      "instances, and dynamic is by the hits that each further way would bring.");
  section.cycles("epoch", epoch, {1'000, 1'000'000'000},
                 "With mig.partition dynamic, the time after which the ways are divided anew.");
  section.integer("shadow_sample", sample, Limits::powers_of_two(1, 1024), "sets",
                  "With mig.partition dynamic, of how many sets of the L3 TLB one has shadow tags.");
}

void WayPartitionStats::describe(StatVisitor& visitor) {
  visitor.counter("epochs", "epochs", "Times that the ways of the L3 TLB were divided anew.", epochs);
  visitor.counter("changes", "epochs", "Times that a process then got another number of ways than before.", changes);
  visitor.counter("own_victims", "entries", "Evictions from the L3 TLB for a page of the process that had the entry.",
                  own_victims);
  visitor.counter("other_victims", "entries", "Evictions from the L3 TLB for a page of another process.",
                  other_victims);
  for (std::size_t p = 0; p < ways.size(); ++p) {
    visitor.counter(fmt::format("ways.pid{}", p), "ways",
                    "Ways of the L3 TLB that a process was given, summed over the times that they were divided.",
                    ways[p]);
  }
}

std::vector<std::uint32_t> shares_by_size(const InstanceLayout& instances, std::uint32_t ways) {
  // The next way goes to whoever has the fewest for its size: the largest compute slices over ways.
  std::vector<std::uint32_t> shares(instances.count(), 1);
  for (std::uint32_t given = instances.count(); given < ways; ++given) {
    const auto wants_more = [&](unsigned one, unsigned other) {
      return instances.compute_slices(one) * shares[other] > instances.compute_slices(other) * shares[one];
    };
    unsigned next = 0;
    for (unsigned i = 1; i < shares.size(); ++i) {
      if (wants_more(i, next)) next = i;
    }
    ++shares[next];
  }
  return shares;
}

class WayPartition::Policy final : public TlbReplacement {
 public:
  explicit Policy(WayPartition& ways) : ways_(ways) {}

  void used(std::uint64_t set, std::uint32_t way, PageKey page) override { ways_.used(set, way, page); }
  void filled(std::uint64_t set, std::uint32_t way, PageKey page) override { ways_.filled(set, way, page); }
  std::uint32_t victim(std::uint64_t set, PageKey page) override { return ways_.victim(set, page); }

 private:
  WayPartition& ways_;
};

WayPartition::WayPartition(Partition& partition, const WayPartitionSpec& spec, const MigSpec& mig)
    : partition_(partition),
      spec_(spec),
      ways_(mig.l3_tlb.ways),
      sub_entry_bits_(static_cast<unsigned>(std::countr_zero(mig.sub_entries))),
      held_(mig.l3_tlb.entries),
      shares_(shares_by_size(mig.instances, mig.l3_tlb.ways)),
      owned_(shares_.size()),
      epoch_end_(spec.epoch) {
  if (spec.shares != WayShares::Dynamic) return;
  const std::uint32_t sets = mig.l3_tlb.entries / ways_;
  shadows_.assign(shares_.size(), ShadowTags((sets + spec.sample - 1) / spec.sample, ways_));
  stats_.ways.resize(shares_.size());
}

std::unique_ptr<TlbReplacement> WayPartition::replacement() { return std::make_unique<Policy>(*this); }

void WayPartition::describe(StatVisitor& visitor) { stats_.describe(visitor); }

void WayPartition::used(std::uint64_t set, std::uint32_t way, PageKey page) {
  held_[set * ways_ + way].used = ++clock_;
  note_access(set, page);
}

void WayPartition::filled(std::uint64_t set, std::uint32_t way, PageKey page) {
  held_[set * ways_ + way] = {++clock_, page.pid()};
  note_access(set, page);
}

/// The least recently used entry of those whose process has more ways of the set than its share, when it has got one
/// for the new page. There is always one: the shares add up to the ways.
std::uint32_t WayPartition::victim(std::uint64_t set, PageKey page) {
  const Way* first = &held_[set * ways_];
  std::ranges::fill(owned_, 0U);
  for (std::uint32_t way = 0; way < ways_; ++way) ++owned_[first[way].owner];
  ++owned_[page.pid()];
  const auto may_leave = [&](const Way& way) {
    return spec_.shares == WayShares::None || owned_[way.owner] > shares_[way.owner];
  };
  std::uint32_t oldest = ways_;
  for (std::uint32_t way = 0; way < ways_; ++way) {
    if (may_leave(first[way]) && (oldest == ways_ || first[way].used < first[oldest].used)) oldest = way;
  }
  ++(first[oldest].owner == page.pid() ? stats_.own_victims : stats_.other_victims);
  return oldest;
}

void WayPartition::note_access(std::uint64_t set, PageKey page) {
  if (shadows_.empty()) return;
  end_epochs();
  if (set % spec_.sample != 0) return;
  const std::uint64_t sub_entry = page.number() & ((std::uint64_t{1} << sub_entry_bits_) - 1);
  shadows_[page.pid()].access(static_cast<std::uint32_t>(set / spec_.sample), page.number() >> sub_entry_bits_,
                              static_cast<std::uint32_t>(sub_entry));
}

/// Epochs end when the TLB is next used: until then nothing depends on the shares.
void WayPartition::end_epochs() {
  while (partition_.now() >= epoch_end_) {
    epoch_end_ += spec_.epoch;
    ++stats_.epochs;
    const bool any = std::ranges::any_of(shadows_, [&](const ShadowTags& shadow) {
      for (std::uint32_t place = 0; place < ways_; ++place) {
        if (shadow.hits(place) != 0) return true;
      }
      return false;
    });
    // An epoch without a hit says nothing of anyone's demand.
    if (any) {
      std::vector<std::uint32_t> shares = shares_by_gain(
          shares_.size(), ways_, [&](std::size_t process, std::uint32_t ways) { return shadows_[process].hits(ways); });
      if (shares != shares_) ++stats_.changes;
      shares_ = std::move(shares);
    }
    for (std::size_t p = 0; p < shares_.size(); ++p) stats_.ways[p] += shares_[p];
    for (ShadowTags& shadow : shadows_) shadow.forget_hits();
  }
}

}  // namespace nearfar
