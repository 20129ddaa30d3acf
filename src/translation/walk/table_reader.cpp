#include "translation/walk/table_reader.h"

namespace nearfar {

void TableReader::read(PhysLine line, Transaction* walk, HandlerId done) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint16_t>(reads_.size()));
    reads_.emplace_back();
  }
  Transaction* read = partition_.pool().allocate();
  read->cu = free_.back();
  free_.pop_back();
  reads_[read->cu] = {walk, done};
  read->kind = TransactionKind::TableRead;
  read->reply = false;
  read->line = line;
  read->mask = std::uint64_t{1} << line.index();
  read->requester = partition_.device().value;
  home_.reserve_always(line);
  partition_.schedule(read, issue_handler_, partition_.now() + walk->user);
}

void TableReader::served(Transaction* read) {
  const Read waiting = reads_[read->cu];
  free_.push_back(read->cu);
  partition_.pool().release(read);
  partition_.schedule(waiting.walk, waiting.done, partition_.now());
}

}  // namespace nearfar
