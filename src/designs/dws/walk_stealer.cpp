#include "designs/dws/walk_stealer.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/schema.h"

namespace nearfar {

void DwsSpec::describe(Section& section) {
  section.choice<DwsMode>(
      "mode", mode, {{"strict", DwsMode::Strict}, {"dws", DwsMode::Dws}, {"dws++", DwsMode::DwsPlusPlus}},
      "Whose page walks a walker performs: strict is those of its owner alone, dws lets idle walkers steal, and dws++ "
      "also those whose owner has few requests while another tenant has far more.");
  section.integer("owner_pending_max", owner_pending_max, {0, 1U << 20}, "requests",
                  "With mode dws++, the most requests that a walker's owner may have waiting when the walker steals.");
  section.integer("imbalance_min", imbalance_min, {0, 1U << 20}, "requests",
                  "With mode dws++, how many more requests than the owner another tenant must have waiting before a "
                  "walker steals.");
}

void TenantStats::describe(StatVisitor& visitor, const std::string& suffix) {
  const std::string whose = suffix.empty() ? "." : ", for one tenant.";
  visitor.counter("own" + suffix, "walks", "Page walks performed by a walker that their tenant owns" + whose, own);
  visitor.counter("steals" + suffix, "walks", "Page walks performed by a walker that another tenant owns" + whose,
                  steals);
}

WalkStealer::WalkStealer(WalkUnit& walkers, std::uint32_t queue, const DwsSpec& spec, unsigned tenants)
    : walkers_(walkers),
      spec_(spec),
      share_(std::max(1U, queue / tenants)),
      tenants_(tenants),
      stole_early_(walkers.walkers(), false) {
  // The lowest-numbered tenants own the walkers that are left over.
  for (unsigned t = 0; t < tenants; ++t) {
    const std::uint32_t count = walkers.walkers() / tenants + (t < walkers.walkers() % tenants ? 1 : 0);
    owners_.insert(owners_.end(), count, t);
    tenants_[t].queue.reserve(queue);
  }
  walkers.set_order(*this);
}

void WalkStealer::describe(StatVisitor& visitor) {
  TenantStats all = total();
  all.describe(visitor, "");
  if (tenants_.size() == 1) return;
  for (std::size_t t = 0; t < tenants_.size(); ++t) tenants_[t].stats.describe(visitor, fmt::format(".pid{}", t));
}

TenantStats WalkStealer::total() const {
  TenantStats all;
  for (const Tenant& tenant : tenants_) {
    all.own += tenant.stats.own;
    all.steals += tenant.stats.steals;
  }
  return all;
}

bool WalkStealer::has_room(const Walk& walk) const { return tenants_[walk.page.pid()].queue.size() < share_; }

void WalkStealer::entered(Walk& walk) { tenants_[walk.page.pid()].queue.push_back(&walk); }

void WalkStealer::withdrawn(Walk& walk) { std::erase(tenants_[walk.page.pid()].queue, &walk); }

/// The oldest request of a tenant that may start.
Walk* WalkStealer::oldest(const Tenant& tenant) const {
  const auto found = std::ranges::find_if(tenant.queue, [&](const Walk* walk) { return walkers_.may_start(*walk); });
  return found == tenant.queue.end() ? nullptr : *found;
}

/// The tenant with most requests waiting of which one may start, the lowest-numbered of several; -1: none.
int WalkStealer::longest(unsigned except) const {
  int best = -1;
  for (unsigned t = 0; t < tenants_.size(); ++t) {
    if (t == except || oldest(tenants_[t]) == nullptr) continue;
    if (best < 0 || tenants_[t].queue.size() > tenants_[static_cast<unsigned>(best)].queue.size()) {
      best = static_cast<int>(t);
    }
  }
  return best;
}

WalkOrder::Choice WalkStealer::take(unsigned tenant, Walk& walk, std::uint16_t walker) {
  Tenant& from = tenants_[tenant];
  ++(owners_[walker] == tenant ? from.stats.own : from.stats.steals);
  stole_early_[walker] = false;
  std::erase(from.queue, &walk);
  return {&walk, walker};
}

/// dws++: a walker whose owner has little to do helps one that has much, but not twice in a row.
WalkOrder::Choice WalkStealer::steal_early(std::span<const std::uint16_t> free) {
  for (const std::uint16_t walker : free) {
    const std::size_t own = tenants_[owners_[walker]].queue.size();
    if (own == 0 || own > spec_.owner_pending_max || stole_early_[walker]) continue;
    const int from = longest(owners_[walker]);
    if (from < 0) continue;
    const Tenant& tenant = tenants_[static_cast<unsigned>(from)];
    if (tenant.queue.size() < own + spec_.imbalance_min) continue;
    const Choice choice = take(static_cast<unsigned>(from), *oldest(tenant), walker);
    stole_early_[walker] = true;
    return choice;
  }
  return {};
}

WalkOrder::Choice WalkStealer::choose(std::span<const std::uint16_t> free) {
  if (spec_.mode == DwsMode::DwsPlusPlus) {
    const Choice choice = steal_early(free);
    if (choice.walk != nullptr) return choice;
  }
  for (const std::uint16_t walker : free) {
    Walk* own = oldest(tenants_[owners_[walker]]);
    if (own != nullptr) return take(owners_[walker], *own, walker);
  }
  if (spec_.mode == DwsMode::Strict) return {};
  const std::uint16_t walker = free.front();
  const int from = longest(owners_[walker]);
  if (from < 0) return {};
  return take(static_cast<unsigned>(from), *oldest(tenants_[static_cast<unsigned>(from)]), walker);
}

}  // namespace nearfar
