#include "designs/rec/rec_directory.h"

#include <bit>
#include <cstddef>

#include "coherence/invalidate.h"

namespace nearfar {

constexpr std::uint64_t kAddressBits = 48;

void RecDirectory::remote_read(PhysLine line, DeviceId reader, Invalidations& out) {
  ++stats_.remote_reads;
  const std::size_t vector = vector_of(find_or_allocate(blocks_.block_of(line), out), line);
  const Sharers before = sharers_.get(vector);
  stats_.remote_read_hits += before != 0;
  sharers_.set(vector, before | sharer(reader));
}

/// The writer keeps its copy, which it has updated, and so must stay tracked; all others lose theirs of this line.
void RecDirectory::remote_write(PhysLine line, DeviceId writer, Invalidations& out) {
  ++stats_.remote_writes;
  const std::size_t vector = vector_of(find_or_allocate(blocks_.block_of(line), out), line);
  const Sharers before = sharers_.get(vector);
  stats_.remote_write_hits += before != 0;
  sharers_.set(vector, sharer(writer));
  invalidate_written_line(line, before & ~sharer(writer), out);
}

void RecDirectory::local_write(PhysLine line, Invalidations& out) {
  ++stats_.local_writes;
  const Entry entry = array_.find(blocks_.block_of(line));
  if (entry == DirectoryArray::kNone) return;
  const Sharers before = sharers_.get(vector_of(entry, line));
  if (before == 0) return;
  ++stats_.local_write_hits;
  invalidate_written_line(line, before, out);
  sharers_.set(vector_of(entry, line), 0);
  if (!sharers_.any(std::size_t{entry} * vectors_, vectors_)) free(entry);
}

/// The addresses are put together again from base and offsets: a message for each line and sharer.
void RecDirectory::invalidate_entry(Entry entry, Invalidations& out) {
  const std::uint64_t block = array_.block(entry);
  std::uint64_t tracked = 0;
  for (std::uint32_t i = 0; i < vectors_; ++i) {
    const Sharers sharers = sharers_.get(std::size_t{entry} * vectors_ + i);
    tracked += sharers != 0;
    invalidate(sharers,
               {.page = blocks_.page_of(block),
                .lines = blocks_.line_mask(block, i),
                .written = 0,
                .to = {},
                .cause = InvalidationCause::Eviction},
               out);
  }
  stats_.lines_at_eviction.add(tracked);
}

Sharers RecDirectory::sharers(PhysLine line) const {
  const Entry entry = array_.find(blocks_.block_of(line));
  return entry == DirectoryArray::kNone ? 0 : sharers_.get(vector_of(entry, line));
}

std::uint64_t RecDirectory::entry_bits(std::uint32_t gpus, std::uint32_t positions, Bytes line) {
  const auto offset = static_cast<std::uint64_t>(std::countr_zero(positions * line));
  return (kAddressBits - offset) + positions + std::uint64_t{gpus - 1} * positions + 1;
}

std::vector<bool> RecDirectory::entry_image(PhysLine line) const {
  const std::uint64_t block = blocks_.block_of(line);
  const Entry entry = array_.find(block);
  if (entry == DirectoryArray::kNone) return {};
  std::vector<bool> image;
  for (std::uint32_t i = 0; i < vectors_; ++i) {
    const Sharers sharers = sharers_.get(std::size_t{entry} * vectors_ + i);
    image.push_back(sharers != 0);
    for (std::uint16_t gpu = 0; gpu < home_.gpus; ++gpu) {
      if (DeviceId{gpu} != home_.gpu) image.push_back((sharers & sharer(DeviceId{gpu})) != 0);
    }
  }
  const std::size_t bits = entry_bits(home_.gpus, vectors_, kPageBytes / home_.lines_per_page);
  for (unsigned bit = 0; image.size() + 1 < bits; ++bit) image.push_back((block >> bit & 1) != 0);
  image.push_back(true);
  return image;
}

}  // namespace nearfar
