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
  visitor.counter("row_conflicts", "lines",
                  "Reads and writes that found another row open in their bank and had to close it first.",
                  row_conflicts);
  visitor.counter("read_bytes", "bytes", "Bytes read from memory.", read_bytes);
  visitor.counter("write_bytes", "bytes", "Bytes written to memory.", write_bytes);
  visitor.counter("read_wait_cycles", "cycles",
                  "Time from the arrival of a read at memory to its first command, summed over reads.",
                  read_wait_cycles);
  visitor.counter("read_service_cycles", "cycles",
                  "Time from the first command of a read to its data, summed over reads.", read_service_cycles);
  visitor.counter("bus_busy_cycles", "cycles", "Time that the data bus of a channel was busy, summed over channels.",
                  bus_busy_cycles);
  visitor.counter("write_drains", "drains", "Number of times that a channel turned from reads to writes.",
                  write_drains);
  visitor.counter("refreshes", "refreshes", "Refreshes of ranks of the memory.", refreshes);
}

std::unique_ptr<Dram> make_dram(Partition& partition, const DramSpec& spec, std::uint64_t line_bytes,
                                std::uint64_t clock_hertz, DramClient& client) {
  if (spec.model == DramModel::Fixed) {
    return std::make_unique<FixedDram>(partition, spec, line_bytes, clock_hertz, client);
  }
  return std::make_unique<BankedDram>(partition, spec, line_bytes, clock_hertz, client);
}

}  // namespace nearfar
