#include "designs/rec/rec_spec.h"

#include "config/schema.h"

namespace nearfar {

void RecSpec::describe(Section& section) {
  section.bytes_or_auto("range", range, Limits::powers_of_two(64, 4096),
                        "Addresses that an entry of the coherence directory covers; auto is 16 lines: 1KiB of lines of "
                        "64 bytes, 2KiB of lines of 128.");
  section.choice<DirectoryReplacement>(
      "replacement", replacement, {{"lru", DirectoryReplacement::Lru}, {"fifo", DirectoryReplacement::Fifo}},
      "Which entry of its set a new range replaces in the coherence directory: `lru` is the one that another GPU's "
      "read or write used longest ago, `fifo` the one allocated longest ago.");
}

}  // namespace nearfar
