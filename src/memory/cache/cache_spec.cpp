// The parameters of caches.
#include "memory/cache/cache_spec.h"

#include "config/schema.h"

namespace nearfar {
namespace {

void describe_index(Section& section, std::string_view key, IndexHash& field, std::string_view sentence) {
  section.choice<IndexHash>(key, field, {{"modulo", IndexHash::Modulo}, {"xor", IndexHash::Xor}}, sentence);
}

void describe_replacement(Section& section, Replacement& field) {
  section.choice<Replacement>("replacement", field,
                              {{"lru", Replacement::Lru}, {"fifo", Replacement::Fifo}, {"random", Replacement::Random}},
                              "Which line of a full set is replaced: lru is the least recently used, fifo the first "
                              "that came, and random any one, drawn alike in every run.");
}

void describe_victim(Section& section, VictimTime& field, std::string_view sentence) {
  section.choice<VictimTime>("victim", field, {{"at_fill", VictimTime::AtFill}, {"at_miss", VictimTime::AtMiss}},
                             sentence);
}

}  // namespace

void L1Spec::describe(Section& section) {
  section.bytes("size", size, {64_B, 16_MiB}, "Capacity of the cache.");
  section.integer("ways", ways, {1, 128}, "ways", "Associativity: the number of lines in a set of the cache.");
  section.cycles("latency", latency, {1, 10'000},
                 "Time from a lookup of the cache to its data, which a miss pays too before it leaves.");
  section.integer("mshrs", mshrs, {1, 1024}, "lines",
                  "MSHRs: lines that can be pending; a further miss to a pending line merges with it.");
  section.integer("lines_per_cycle", lines_per_cycle, Limits::powers_of_two(1, 64), "lines",
                  "Lookups that the port of the cache accepts in a cycle.");
  describe_index(section, "index", index,
                 "How a line number picks its set: modulo is the plain remainder, xor has the upper bits folded in.");
  describe_replacement(section, replacement);
  describe_victim(
      section, victim,
      "When a miss replaces a line: at_fill is when the missing line comes, at_miss is at once, and the way "
      "stays reserved until the line comes.");
}

void L2Spec::describe(Section& section) {
  section.bytes("size", size, {64_B, 1_GiB}, "Capacity of all banks of the cache together.");
  section.integer("ways", ways, {1, 128}, "ways", "Associativity: the number of lines in a set of the cache.");
  section.integer("banks", banks, Limits::powers_of_two(1, 64), "banks",
                  "Banks of the cache, each of which accepts one request a cycle.");
  section.cycles("tag_latency", tag_latency, {1, 10'000},
                 "Time from the arrival of a request at a bank until hit or miss is known.");
  section.cycles("data_latency", data_latency, {0, 10'000}, "Time from a known hit to its data.");
  section.flag("remote_lookup", remote_lookup,
               "If true, requests of other devices pay `tag_latency` too; if false, their lookup is hidden behind the "
               "memory access that follows it.");
  section.integer("mshrs", mshrs, {1, 4096}, "lines", "MSHRs of each bank for requests of the cache's own device.");
  section.integer("remote_mshrs", remote_mshrs, {1, 4096}, "lines",
                  "MSHRs of each bank that are reserved for requests of other devices.");
  section.integer("queue", queue, {1, 65'536}, "requests",
                  "Requests of the cache's own device that can wait at a bank.");
  describe_index(section, "index", index,
                 "How a line number picks its set: modulo is the plain remainder, xor has the upper bits folded in.");
  describe_index(section, "bank_index", bank_index,
                 "How a line number picks its bank: modulo is the plain remainder, xor has the upper bits folded in.");
  section.integer("interleave", interleave, Limits::powers_of_two(1, 32), "lines",
                  "Neighbouring lines that are in one bank of the cache, before those of the next bank follow.");
  describe_replacement(section, replacement);
  describe_victim(section, victim,
                  "When a miss to the device's own memory replaces a line: at_fill is when the missing line comes, "
                  "at_miss is at once, and the way stays reserved until the line comes.");
}

}  // namespace nearfar
