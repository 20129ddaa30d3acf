#include "designs/neighborhood/neighborhood_spec.h"

#include "config/schema.h"

namespace nearfar {

void WalkEnergySpec::describe(Section& section) {
  // 8 nJ is 195 times the energy of a CAM read and 41 times that of a write: the published bounds are 200 and 40.
  section.integer("dram_access", dram_access, {0, 10'000'000}, "pJ", "Of a page-table line from memory.");
  section.integer("cam_read", cam_read, {0, 10'000'000}, "pJ", "Of a search of the queue.");
  section.integer("cam_write", cam_write, {0, 10'000'000}, "pJ", "Of a change of one entry.");
}

void NeighborhoodSpec::describe(Section& section) {
  if (!leaf_only) {
    section.choice<WaitRule>("wait_rule", rule, {{"useful", WaitRule::Useful}, {"literal", WaitRule::Literal}},
                             "A request waits for accesses in its neighborhood that bring it further, or for all.");
    section.integer("wait_limit", wait_limit, {1, 65'535}, "choices",
                    "literal: how often a request is passed over for accesses that cannot bring it further.");
    section.flag("wait_considers_pwc", wait_considers_pwc,
                 "A request does not wait for what the page-walk cache has for it.");
    section.flag("fill_pwc_from_pa", fill_pwc_from_pa,
                 "A walk that begins where another's access has led puts that entry into the page-walk cache.");
  }
  section.child("energy", energy, "What accesses cost.");
}

}  // namespace nearfar
