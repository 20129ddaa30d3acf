#include "designs/disaggregated_page_table/spec.h"

#include "config/schema.h"
#include "translation/walk/page_table.h"

namespace nearfar {

void DptSpec::describe(Section& section) {
  section.choice<TableHome>("home", home, {{"first-touch", TableHome::FirstTouch}, {"hash", TableHome::Hash}},
                            "Home GPU of a leaf table: first-touch is the GPU of the first page mapped in it, hash "
                            "follows from its address.");
  section.flag("migrate", migrate, "If true, leaf tables migrate to the GPU that reads them most.");
  section.integer("threshold", threshold, {0, 1U << 24}, "reads",
                  "A leaf table migrates to a GPU that has read it this many times more often than its home has, "
                  "since it came there.");
  section.integer("access_bits", access_bits, {1, Pte::kAccessBits}, "bits",
                  "Access bits of a page-table entry, which name the GPUs that have read it by their number modulo "
                  "`access_bits`.");
}

}  // namespace nearfar
