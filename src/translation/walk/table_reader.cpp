#include "translation/walk/table_reader.h"

namespace nearfar {

void TableReader::read(PhysLine line, Event* event, HandlerId done, Cycle delay) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint16_t>(reads_.size()));
    reads_.emplace_back();
  }
  auto* read = partition_.pool().allocate<LoadRequest>();
  read->unit = free_.back();
  free_.pop_back();
  reads_[read->unit] = {event, done};
  read->kind = RequestKind::TableRead;
  read->line = line;
  read->mask = std::uint64_t{1} << line.index();
  read->origin = partition_.device().value;
  l2_.reserve_always(line);
  partition_.schedule(read, issue_handler_, partition_.now() + delay);
}

void TableReader::served(LineRequest* read) {
  const Read waiting = reads_[read->unit];
  free_.push_back(read->unit);
  partition_.pool().release(read);
  partition_.schedule(waiting.event, waiting.done, partition_.now());
}

}  // namespace nearfar
