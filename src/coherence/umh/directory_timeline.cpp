#include "coherence/umh/directory_timeline.h"

#include <algorithm>

namespace nearfar {
namespace {

const char* name_of_request(nmoesi::Kind kind) {
  switch (kind) {
    case nmoesi::Kind::Read: return "read";
    case nmoesi::Kind::ReadN: return "read for n-store";
    case nmoesi::Kind::Write: return "write";
    case nmoesi::Kind::Put: return "put";
    case nmoesi::Kind::Publish: return "publish";
    default: return nullptr;
  }
}

bool ends_request(const nmoesi::Message& message) {
  switch (message.kind) {
    case nmoesi::Kind::DataS:
    case nmoesi::Kind::DataE:
    case nmoesi::Kind::DataX:
    case nmoesi::Kind::PeerData:
    case nmoesi::Kind::PutAck: return true;
    default: return false;
  }
}

}  // namespace

void DirectoryTimeline::stack_sends(const nmoesi::Message& message) {
  if (map_.is_home(message.to)) begin(key_of(message, message.from), message.kind);
}

void DirectoryTimeline::stack_receives(const nmoesi::Message& message) {
  if (ends_request(message)) end(key_of(message, message.to), message.to % map_.slices(), partition_.now());
}

void DirectoryTimeline::home_receives(const nmoesi::Message& message) {
  const Key key = key_of(message, message.from);
  if (message.kind == nmoesi::Kind::Done) {
    end(key, message.to - map_.home(0), partition_.now());
  } else {
    begin(key, message.kind);
  }
}

/// What needs no notice of completion is over when it is answered.
void DirectoryTimeline::home_sends(const nmoesi::Message& message) {
  const bool over = message.kind == nmoesi::Kind::PutAck || (ends_request(message) && message.sent);
  if (!over) return;
  end(key_of(message, message.to), message.from - map_.home(0), std::max(partition_.now(), message.ready));
}

DirectoryTimeline::Key DirectoryTimeline::key_of(const nmoesi::Message& message, nmoesi::Agent requester) const {
  return {map_.geometry().line_of(message.block, message.whole_block() ? 0 : message.line), requester};
}

void DirectoryTimeline::begin(const Key& key, nmoesi::Kind kind) {
  if (const char* name = name_of_request(kind)) begun_.insert_or_assign(key, Begun{name, partition_.now()});
}

void DirectoryTimeline::end(const Key& key, unsigned directory, Cycle when) {
  const auto found = begun_.find(key);
  if (found == begun_.end()) return;
  const nmoesi::Geometry& geometry = map_.geometry();
  const std::uint64_t lines_in_page = kPageBytes / geometry.line_bytes;
  std::uint64_t mask = 0;
  if (!map_.is_smd(key.requester)) {
    mask = std::uint64_t{1} << key.first % lines_in_page;
  } else if (geometry.block_lines < lines_in_page) {
    mask = ((std::uint64_t{1} << geometry.block_lines) - 1) << key.first % lines_in_page;
  }
  TimelineEvent event;
  event.device = partition_.device().value;
  event.track = static_cast<std::uint16_t>(directory);
  event.name = found->second.name;
  event.start = found->second.start;
  event.end = when;
  event.unit = TimelineUnit::Directory;
  event.lines = partition_.timeline()->lines_of(PhysPage(host_, key.first / lines_in_page), mask);
  begun_.erase(found);
  partition_.timeline()->note_lines(event);
}

}  // namespace nearfar
