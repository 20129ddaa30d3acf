#include "designs/idyll/spec.h"

#include "config/schema.h"
#include "translation/walk/page_table.h"

namespace nearfar {

void InPteSpec::describe(Section& section) {
  section.integer("access_bits", access_bits, {1, Pte::kAccessBits}, "bits",
                  "Of a host page-table entry that name the GPUs with a mapping, by their number modulo this.");
}

void IrmbSpec::describe(Section& section) {
  section.integer("bases", bases, {1, 4096}, "entries", "Merged entries, each for the pages under one leaf table.");
  section.integer("offsets", offsets, {1, 512}, "pages", "Invalidations that one entry holds.");
  section.integer("writeback_buffers", writeback_buffers, {1, 64}, "entries",
                  "Entries on their way to the page table.");
  section.cycles("latency", latency, {0, 10}, "Of a lookup or insertion; a lookup is beside that of the L2 TLB.");
  section.flag("idle_writeback", idle_writeback, "Walkers that have nothing to do write the oldest entry back.");
}

void VmCacheSpec::describe(Section& section) {
  section.integer("entries", entries, {1, 1U << 20}, "pages", "Entries of the VM-Table that it holds.");
  section.integer("ways", ways, {1, 256}, "ways", "Associativity; true LRU in a set.");
  section.cycles("latency", latency, {0, 10'000}, "Of a lookup.");
  section.cycles("memory_cycles", memory, {0, 100'000}, "Of reading an entry of the VM-Table from memory.");
}

}  // namespace nearfar
