#include "translation/uvm/uvm_stats.h"

namespace nearfar {

void UvmStats::describe(StatVisitor& visitor) {
  visitor.counter("faults", "faults", "Far faults that reached the UVM driver.", faults);
  visitor.counter("batches", "batches", "Batches of far faults that the UVM driver processed.", batches);
  visitor.histogram("batch_size", "faults", "Far faults in a batch of the UVM driver.", batch_size);
  visitor.counter("parked", "faults",
                  "Far faults that waited in the UVM driver since their page was migrating, or was retained.", parked);
  visitor.counter("migration.count", "pages", "Pages migrated to a GPU, from the host or from another GPU.",
                  migrations);
  visitor.counter("migration.first_touches", "pages", "Pages migrated to a GPU from the host.", first_touches);
  visitor.counter("migration.evictions", "pages", "Pages evicted to the host since the memory of a GPU was full.",
                  evictions);
  visitor.counter("migration.remote_mappings", "faults",
                  "Far faults answered with a mapping to the memory of another device.", remote_mappings);
  visitor.counter("migration.replications", "pages", "Copies of pages made for GPUs that read them.", replications);
  visitor.counter("migration.write_upgrades", "pages",
                  "Copies of replicated pages that became the only one, for a GPU that writes.", write_upgrades);
  visitor.counter("migration.requests_dropped", "messages",
                  "Requests of access counters that the UVM driver dropped since the page is migrating, has migrated "
                  "or must stay, or since the GPU has no free frame.",
                  requests_dropped);
  visitor.counter(
      "migration.wait", "cycles",
      "Time from the lock of a migrating page until all its old mappings were invalidated, summed over migrations.",
      wait);
  visitor.counter("migration.total", "cycles",
                  "Time from the lock of a migrating page to the end of its migration, summed over migrations.", total);
  visitor.histogram("migration.wait_histogram", "cycles",
                    "Time from the lock of a migrating page until all its old mappings were invalidated.",
                    wait_histogram);
  visitor.histogram("migration.total_histogram", "cycles",
                    "Time from the lock of a migrating page to the end of its migration.", total_histogram);
  visitor.counter("invalidation.sent", "messages", "Invalidations of page mappings that the UVM driver sent to GPUs.",
                  invalidations_sent);
}

}  // namespace nearfar
