#include "translation/gmmu/gmmu_stats.h"

namespace nearfar {

void GmmuStats::describe(StatVisitor& visitor) {
  visitor.counter("far_faults", "faults",
                  "Far faults: page walks of a GMMU that found no valid entry and asked the host.", far_faults);
  visitor.counter("protection_faults", "faults",
                  "Protection faults: page walks of stores that found a read-only entry and asked the host.",
                  protection_faults);
  visitor.counter("reissues", "faults",
                  "Far faults that a GMMU sent again since their answer was older than an invalidation.", reissues);
  visitor.counter("duplicates", "messages",
                  "Answers to far faults that a GMMU dropped since another answer had come first.", duplicates);
  visitor.counter("invalidation.received", "messages",
                  "Invalidations of page mappings that a GMMU received from the host.", invalidations);
  visitor.counter("invalidation.necessary", "messages",
                  "Invalidations from the host that found a valid entry in the local page table.", necessary);
  visitor.counter("invalidation.unnecessary", "messages",
                  "Invalidations from the host that found no valid entry in the local page table.", unnecessary);
  visitor.counter("invalidation.latency", "cycles",
                  "Time from the arrival of an invalidation at a GMMU to the write of its page-table entry, summed "
                  "over invalidations.",
                  invalidation_cycles);
  visitor.counter("downgrades", "messages", "Mappings of local page tables that the host made read-only.", downgrades);
  visitor.counter("updates_cancelled", "walks",
                  "Page walks to write a mapping that were cancelled in the queue since an invalidation overtook them.",
                  updates_cancelled);
  visitor.counter("ingress.stopped", "messages",
                  "Messages to a GMMU that waited on the link since their ingress buffer was full.", stopped);
  visitor.counter(
      "ingress.stopped_cycles", "cycles",
      "Time that messages to a GMMU waited on the link since their ingress buffer was full, summed over messages.",
      stopped_cycles);
  visitor.counter("migration_requests", "messages",
                  "Requests of a GPU's access counters to migrate a page to that GPU.", move_requests);
}

}  // namespace nearfar
