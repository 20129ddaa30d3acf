#include "translation/uvm/uvm_stats.h"

namespace nearfar {

void UvmStats::describe(StatVisitor& visitor) {
  visitor.counter("faults", "faults", "Far faults that reached the driver.", faults);
  visitor.counter("batches", "batches", "Batches in which it took them.", batches);
  visitor.histogram("batch_size", "faults", "Faults in a batch.", batch_size);
  visitor.counter("parked", "faults", "Faults that waited since their page was moving.", parked);
  visitor.counter("migration.count", "pages", "Pages moved to a GPU, from the host or from another GPU.", migrations);
  visitor.counter("migration.first_touches", "pages", "Those among them that came from the host.", first_touches);
  visitor.counter("migration.evictions", "pages", "Pages moved back to the host since a GPU's memory was full.",
                  evictions);
  visitor.counter("migration.remote_mappings", "faults", "Faults answered with a mapping to another device.",
                  remote_mappings);
  visitor.counter("migration.replications", "pages", "Copies made for readers.", replications);
  visitor.counter("migration.write_upgrades", "pages", "Copies made the only one for a writer.", write_upgrades);
  visitor.counter(
      "migration.requests_dropped", "messages",
      "Requests of access counters that were refused: the page moves, has moved or stays, or there is no room.",
      requests_dropped);
  visitor.counter("migration.wait", "cycles", "Time from a migration's lock until all old mappings were void, summed.",
                  wait);
  visitor.counter("migration.total", "cycles", "Time from a migration's lock to its end, summed.", total);
  visitor.histogram("migration.wait_histogram", "cycles", "Distribution of that wait.", wait_histogram);
  visitor.histogram("migration.total_histogram", "cycles", "Distribution of that time.", total_histogram);
  visitor.counter("invalidation.sent", "messages", "Invalidations sent to GPUs.", invalidations_sent);
}

}  // namespace nearfar
