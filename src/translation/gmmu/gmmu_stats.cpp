#include "translation/gmmu/gmmu_stats.h"

namespace nearfar {

void GmmuStats::describe(StatVisitor& visitor) {
  visitor.counter("far_faults", "faults", "Walks that found no valid entry and asked the host.", far_faults);
  visitor.counter("protection_faults", "faults", "Stores whose walk found a read-only entry and asked the host.",
                  protection_faults);
  visitor.counter("reissues", "faults", "Faults sent again since their answer was older than an invalidation.",
                  reissues);
  visitor.counter("duplicates", "messages", "Second answers to a fault, dropped.", duplicates);
  visitor.counter("invalidation.received", "messages", "Invalidations that came from the host.", invalidations);
  visitor.counter("invalidation.necessary", "messages", "Invalidations that found a valid entry.", necessary);
  visitor.counter("invalidation.unnecessary", "messages", "Invalidations that found none.", unnecessary);
  visitor.counter("invalidation.latency", "cycles", "Time from an invalidation's arrival to its entry's write, summed.",
                  invalidation_cycles);
  visitor.counter("downgrades", "messages", "Mappings made read-only.", downgrades);
  visitor.counter("updates_cancelled", "walks", "Queued writes of mappings that an invalidation overtook.",
                  updates_cancelled);
  visitor.counter("ingress.stopped", "messages", "Messages that waited on the link since their buffer was full.",
                  stopped);
  visitor.counter("ingress.stopped_cycles", "cycles", "Time that they did, summed.", stopped_cycles);
  visitor.counter("move_requests", "messages", "Requests to move a page here, from access counters.", move_requests);
}

}  // namespace nearfar
