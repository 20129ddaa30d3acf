// Neighborhood-aware coalescing of page walks: beside the queue in front of the walkers and the walkers themselves.
//
// A line of the page table has eight entries, those of a neighborhood. When one comes for a walk, every queued request
// of the neighborhood takes its own entry from it: a leaf ends the request without a walker; an upper entry lets its
// walk begin further down. A request that an access in flight will serve waits for it rather than take a walker.
//
// Hardware: three fields for each queued request (PL: the lowest level whose entry is known, here Walk::known; PA: the
// node it points to, which is what the page table says; CL: it waits for an access) and a table of what each walker is
// reading (the page-walk state table, PWST).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "designs/neighborhood/neighborhood_spec.h"
#include "sim/partition.h"
#include "stats/stat.h"
#include "translation/design_component.h"
#include "translation/walk/walk_unit.h"

namespace nearfar {

struct CoalescerStats {
  std::uint64_t full = 0;
  std::array<std::uint64_t, 4> part{};  ///< levels 2 to 5
  std::uint64_t wait_cycles = 0;
  std::uint64_t cam_reads = 0;
  std::uint64_t cam_writes = 0;
  std::uint64_t energy_table = 0;
  std::uint64_t energy_cam = 0;

  void describe(StatVisitor& visitor);
};

class WalkCoalescer final : public WalkOrder, public DesignComponent {
 public:
  /// `checked`: the invariants are looked at after every step.
  WalkCoalescer(Partition& partition, WalkUnit& unit, const NeighborhoodSpec& spec, bool checked);

  void entered(Walk& walk) override;
  void withdrawn(Walk& walk) override;
  Choice choose(std::span<const std::uint16_t> free) override;
  void started(const Walk& walk) override;
  void line_arrived(const Walk& walk, unsigned level, bool ends, std::vector<Walk*>& served) override;
  void table_changed(const PageRange& range) override;
  bool chooses_late() const override { return true; }

  const char* name() const override { return "neighborhood"; }
  void describe(StatVisitor& visitor) override;

  CoalescerStats& stats() { return stats_; }
  /// Whether a queued request waits for an access in flight (CL).
  bool waits(const Walk& walk) const;

 private:
  /// A queued request, beside its page.
  struct Entry {
    Walk* walk = nullptr;
    Cycle void_before = 0;  ///< reads issued earlier are not for it
    std::uint32_t refused = 0;
    bool waits = false;   ///< CL
    bool served = false;  ///< about to leave
  };
  /// What a walker is reading.
  struct Reading {
    bool valid = false;
    bool writes = false;
    std::uint8_t level = 0;
    PageKey page;
    Cycle since = 0;
  };

  unsigned next_level(const Walk& walk) const;
  bool serves_others(const Reading& reading) const;
  bool is_useful(const Reading& reading, const Walk& walk) const;
  bool is_blocked(const Entry& entry, WaitRule rule) const;
  bool refresh(Entry& entry);
  void refresh_all();
  void look_at_cache();
  void refresh_neighbors(PageKey page, unsigned level);
  template <class Visit>
  void for_each_neighbor(PageKey page, unsigned level, Visit visit);

  bool refused_too_often(Entry& entry);
  bool behind_same_page(std::size_t at) const;
  void take_line(std::size_t at, unsigned level, Cycle issued, std::vector<Walk*>& served);
  void remove(std::size_t at);
  void remove_served();
  std::size_t place_of(const Walk& walk) const;
  void pass_time();
  void check() const override;

  Partition& partition_;
  WalkUnit& unit_;
  NeighborhoodSpec spec_;
  bool checked_;
  // In order of arrival. What a line's arrival is compared with stands apart, close together.
  std::vector<std::uint64_t> pages_;
  std::vector<Entry> entries_;
  std::vector<Reading> readings_;  ///< by walker: the PWST
  std::uint32_t busy_ = 0;         ///< walkers that are reading
  std::uint32_t waiting_ = 0;      ///< requests with CL set
  std::uint32_t writers_ = 0;      ///< queued requests that write their entry
  Cycle passed_ = 0;
  CoalescerStats stats_;
};

}  // namespace nearfar
