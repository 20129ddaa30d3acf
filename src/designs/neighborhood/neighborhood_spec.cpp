#include "designs/neighborhood/neighborhood_spec.h"

#include "config/schema.h"

namespace nearfar {

void WalkEnergySpec::describe(Section& section) {
  // 8 nJ is 195 times the energy of a CAM read and 41 times that of a write: the published bounds are 200 and 40.
  section.integer("dram_access", dram_access, {0, 10'000'000}, "pJ",
                  "Energy of a read of a page-table line from memory.");
  section.integer("cam_read", cam_read, {0, 10'000'000}, "pJ",
                  "Energy of an associative search of the page-walk queue.");
  section.integer("cam_write", cam_write, {0, 10'000'000}, "pJ",
                  "Energy of a write to one entry of the page-walk queue.");
}

void NeighborhoodSpec::describe(Section& section) {
  if (!leaf_only) {
    section.choice<WaitRule>("wait_rule", rule, {{"useful", WaitRule::Useful}, {"literal", WaitRule::Literal}},
                             "Which accesses in its neighborhood a walk request waits for: useful is those that bring "
                             "it further, literal is all.");
    section.integer(
        "wait_limit", wait_limit, {1, 65'535}, "choices",
        "With wait_rule literal, how often a walk request is passed over for accesses that cannot bring it further.");
    section.flag("wait_considers_pwc", wait_considers_pwc,
                 "If true, a walk request does not wait for entries that the page-walk cache holds.");
    section.flag("fill_pwc_from_pa", fill_pwc_from_pa,
                 "If true, a walk that begins at an entry which another walk has read puts that entry into the "
                 "page-walk cache.");
  }
  section.child("energy", energy, "The energy of accesses.");
}

}  // namespace nearfar
