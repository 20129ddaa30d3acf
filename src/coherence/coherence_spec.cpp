#include "coherence/coherence_spec.h"

#include "config/schema.h"

namespace nearfar {

void DirectorySpec::describe(Section& section) {
  section.integer("entries", entries, {1, 16'777'216}, "entries",
                  "Entries of the coherence directory of each GPU, a multiple of its ways.");
  section.integer("scale", scale, {1, 64}, "times",
                  "By how much the coherence directory has more entries than `directory.entries` says.");
  section.integer("ways", ways, {1, 4096}, "entries", "Entries of the coherence directory in which a block may be.");
  section.choice<IndexHash>("index", index, {{"modulo", IndexHash::Modulo}, {"xor", IndexHash::Xor}},
                            "How the number of a line, block or range in its home's memory picks its set of the "
                            "coherence directory: modulo is the plain remainder, xor has the upper bits folded in.");
  section.choice<DirectoryReplacement>("replacement", replacement,
                                       {{"fifo", DirectoryReplacement::Fifo}, {"lru", DirectoryReplacement::Lru}},
                                       "Which entry of its set a new entry of the coherence directory replaces: `fifo` "
                                       "is the one allocated longest ago, "
                                       "`lru` the one that another GPU's read or write used longest ago.");
}

}  // namespace nearfar
