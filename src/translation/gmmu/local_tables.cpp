#include "translation/gmmu/local_tables.h"

#include <utility>

namespace nearfar {

void LocalTables::set(Pid pid, std::unique_ptr<PageTable> table) {
  if (tables_.size() <= pid) tables_.resize(pid + std::size_t{1});
  tables_[pid] = std::move(table);
}

bool LocalTables::announce(PageKey page) {
  if (observer_ == nullptr || read(page).valid()) return false;
  observer_->maps(page);
  return true;
}

void LocalTables::grant(PageKey page, const Mapping& mapping) {
  write(page, Pte::leaf(mapping, size_.bits != 0));
  tracker_.map(page, mapping.page, mapping.epoch);
  if (oracle_ != nullptr) oracle_->granted(gpu_, page, mapping);
}

void LocalTables::invalidate(PageKey page) {
  count_necessary(page);
  Pte entry = read(page);
  if (!entry.valid()) return;
  entry.invalidate();
  write(page, entry);
  if (observer_ != nullptr) observer_->unmapped(page);
}

void LocalTables::make_read_only(PageKey page) {
  Pte entry = read(page);
  if (!entry.valid()) return;
  entry.set_writable(false);
  write(page, entry);
}

}  // namespace nearfar
