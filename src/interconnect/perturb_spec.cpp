// The parameters of perturbations.
#include "interconnect/perturb_spec.h"

#include "config/schema.h"

namespace nearfar {

void PerturbSpec::describe(Section& section) {
  section.integer(
      "draw", draw, {0, 1'000'000}, "",
      "Which perturbation of the run is drawn from its seed, where 0 is none and --repeat N runs draws 0 to N-1.");
  section.cycles("message_jitter", message_jitter, {0, 64},
                 "The most by which a message from one device to another takes longer, in draws above 0.");
  section.cycles("start_jitter", start_jitter, {0, 64},
                 "The most by which a workgroup starts later, in draws above 0.");
}

}  // namespace nearfar
