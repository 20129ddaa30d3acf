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
                              "Which line of a full set leaves.");
}

}  // namespace

void L1Spec::describe(Section& section) {
  section.bytes("size", size, {64_B, 16_MiB}, "Capacity.");
  section.integer("ways", ways, {1, 128}, "ways", "Lines in a set.");
  section.cycles("latency", latency, {1, 10'000}, "Lookup to data; also what a miss pays before it leaves.");
  section.integer("mshrs", mshrs, {1, 1024}, "lines", "Lines that may be pending; a miss to one of them merges.");
  section.integer("lines_per_cycle", lines_per_cycle, Limits::powers_of_two(1, 64), "lines",
                  "Lookups that its port takes in a cycle.");
  describe_index(section, "index", index,
                 "How a line number picks its set: the plain remainder, or with the upper bits folded in.");
  describe_replacement(section, replacement);
}

void L2Spec::describe(Section& section) {
  section.bytes("size", size, {64_B, 1_GiB}, "Capacity of all banks together.");
  section.integer("ways", ways, {1, 128}, "ways", "Lines in a set.");
  section.integer("banks", banks, Limits::powers_of_two(1, 64), "banks", "Banks; each takes one request a cycle.");
  section.cycles("tag_latency", tag_latency, {1, 10'000}, "Arrival at a bank to hit or miss known.");
  section.cycles("data_latency", data_latency, {0, 10'000}, "Hit known to data out.");
  section.integer("mshrs", mshrs, {1, 4096}, "lines", "Lines pending for the device's own requests, in each bank.");
  section.integer("remote_mshrs", remote_mshrs, {1, 4096}, "lines",
                  "Lines pending that are reserved for requests of other devices, in each bank.");
  section.integer("queue", queue, {1, 65'536}, "requests", "The device's own requests that may wait at a bank.");
  describe_index(section, "index", index,
                 "How a line number picks its set: the plain remainder, or with the upper bits folded in.");
  describe_index(section, "bank_index", bank_index, "How a line number picks its bank.");
  describe_replacement(section, replacement);
}

}  // namespace nearfar
