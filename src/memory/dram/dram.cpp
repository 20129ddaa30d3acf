// What the two models of memory share: their counters, and the choice between them.
#include "memory/dram/dram.h"

#include "memory/dram/banked_dram.h"
#include "memory/dram/fixed_dram.h"

namespace nearfar {

void DramStats::describe(StatVisitor& visitor) {
  visitor.counter("reads", "lines", "Lines read from memory.", reads);
  visitor.counter("writes", "lines", "Lines written to memory.", writes);
  visitor.counter("row_hits", "lines", "Reads and writes that found their row open.", row_hits);
  visitor.counter("row_closed", "lines", "Reads and writes that found no row open in their bank.", row_closed);
  visitor.counter("row_conflicts", "lines", "Reads and writes that had another row closed first.", row_conflicts);
  visitor.counter("read_bytes", "bytes", "Bytes read from memory.", read_bytes);
  visitor.counter("write_bytes", "bytes", "Bytes written to memory.", write_bytes);
  visitor.counter("read_wait_cycles", "cycles", "Arrival of a read to its first command, summed over all reads.",
                  read_wait_cycles);
  visitor.counter("read_service_cycles", "cycles", "First command of a read to its data, summed over all reads.",
                  read_service_cycles);
  visitor.counter("bus_busy_cycles", "cycles",
                  "Cycles in which data were on a channel's bus, summed over the channels.", bus_busy_cycles);
  visitor.counter("write_drains", "drains", "Times a channel turned from reads to writes.", write_drains);
  visitor.counter("refreshes", "refreshes", "Refreshes of a rank.", refreshes);
}

std::unique_ptr<Dram> make_dram(Partition& partition, const DramSpec& spec, std::uint64_t line_bytes,
                                std::uint64_t clock_hertz, DramClient& client) {
  if (spec.model == DramModel::Fixed) {
    return std::make_unique<FixedDram>(partition, spec, line_bytes, clock_hertz, client);
  }
  return std::make_unique<BankedDram>(partition, spec, line_bytes, clock_hertz, client);
}

}  // namespace nearfar
