#include "designs/idyll/spec.h"

#include "config/schema.h"
#include "translation/walk/page_table.h"

namespace nearfar {

void InPteSpec::describe(Section& section) {
  section.integer("access_bits", access_bits, {1, Pte::kAccessBits}, "bits",
                  "Access bits of a host page-table entry, which name the GPUs with a mapping by their number modulo "
                  "`access_bits`.");
}

void IrmbSpec::describe(Section& section) {
  section.integer("bases", bases, {1, 4096}, "entries",
                  "Merged entries of the IRMB, each for the pages under one leaf table.");
  section.integer("offsets", offsets, {1, 512}, "pages", "Invalidations that one entry of the IRMB holds.");
  section.integer("writeback_buffers", writeback_buffers, {1, 64}, "entries",
                  "Entries of the IRMB that can be on their way to the page table.");
  section.cycles("latency", latency, {0, 10},
                 "Latency of a lookup of the IRMB, which runs beside that of the L2 TLB, or of an insertion.");
  section.flag("idle_writeback", idle_writeback, "If true, idle walkers write the oldest entry of the IRMB back.");
}

void VmCacheSpec::describe(Section& section) {
  section.integer("entries", entries, {1, 1U << 20}, "pages", "Entries of the VM-Table that the VM-Cache holds.");
  section.integer("ways", ways, {1, 256}, "ways", "Associativity of the VM-Cache, with true LRU in a set.");
  section.cycles("latency", latency, {0, 10'000}, "Latency of a lookup of the VM-Cache.");
  section.cycles("memory_cycles", memory, {0, 100'000}, "Time to read an entry of the VM-Table from memory.");
}

}  // namespace nearfar
