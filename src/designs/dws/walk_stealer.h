// Dynamic walk stealing (DWS): each tenant owns some of the walkers of a pool, and a part of the queue in front of
// them. A walker without work of its owner's takes the oldest request of the tenant that has most of them waiting, but
// serves its owner first again when that walk has ended.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stats/stat.h"
#include "translation/design_component.h"
#include "translation/walk/walk_order.h"
#include "translation/walk/walk_unit.h"

namespace nearfar {

class Section;

enum class DwsMode : std::uint8_t {
  Strict,      ///< no stealing
  Dws,         ///< idle walkers steal
  DwsPlusPlus  ///< walkers steal too while their owner has few requests and another far more
};

struct DwsSpec {
  DwsMode mode = DwsMode::Dws;
  std::uint32_t owner_pending_max = 2;  // dws++
  std::uint32_t imbalance_min = 8;      // dws++

  void describe(Section& section);
};

struct TenantStats {
  std::uint64_t own = 0;
  std::uint64_t steals = 0;

  /// Names end in `suffix`: nothing for the sum over all tenants, .pid<p> for one.
  void describe(StatVisitor& visitor, const std::string& suffix);
};

class WalkStealer final : public DesignComponent, public WalkOrder {
 public:
  /// As many tenants as walkers at most.
  WalkStealer(WalkUnit& walkers, std::uint32_t queue, const DwsSpec& spec, unsigned tenants);

  std::uint32_t lanes() const override { return static_cast<std::uint32_t>(tenants_.size()); }
  std::uint32_t lane(const Walk& walk) const override { return walk.page.pid(); }
  bool has_room(const Walk& walk) const override;
  void entered(Walk& walk) override;
  void withdrawn(Walk& walk) override;
  Choice choose(std::span<const std::uint16_t> free) override;

  const char* name() const override { return "dws"; }
  void describe(StatVisitor& visitor) override;

  unsigned owner(std::uint16_t walker) const { return owners_[walker]; }
  TenantStats total() const;
  const TenantStats& tenant(unsigned tenant) const { return tenants_[tenant].stats; }

 private:
  struct Tenant {
    std::vector<Walk*> queue;  ///< in order of arrival
    TenantStats stats;
  };

  Walk* oldest(const Tenant& tenant) const;
  Choice take(unsigned tenant, Walk& walk, std::uint16_t walker);
  Choice steal_early(std::span<const std::uint16_t> free);
  int longest(unsigned except) const;

  WalkUnit& walkers_;
  DwsSpec spec_;
  std::uint32_t share_;  ///< of the queue, for each tenant
  std::vector<Tenant> tenants_;
  std::vector<unsigned> owners_;   ///< by walker
  std::vector<bool> stole_early_;  ///< by walker: its last request, although its owner had some
};

}  // namespace nearfar
