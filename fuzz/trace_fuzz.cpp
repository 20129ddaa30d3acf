// Fuzzing of what a trace may hold. The first byte chooses how deep it starts: checksums would keep a fuzzer out of
// everything behind them, so the parts inside the frames are also read as they are. Only an InputError or
// MalformedBytes with a message may come out; what passes the checks is replayed, and touches its buffers only.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <sstream>
#include <string>

#include "config/error.h"
#include "gpu/coalescer.h"
#include "trace/stream_code.h"
#include "trace/text_form.h"
#include "trace/trace_file.h"

namespace nearfar {
namespace {

using Input = std::span<const std::uint8_t>;

/// Small enough that what a hostile file asks for is seen as too much.
TraceLimits fuzz_limits() {
  TraceLimits limits;
  limits.header_bytes = limits.directory_bytes = 1 << 16;
  limits.frame_bytes = 1 << 20;
  limits.wavefronts = 1 << 10;
  return limits;
}

const std::vector<Buffer>& fuzz_buffers() {
  static const std::vector<Buffer> buffers{{"a", VirtAddr{0x1000}, 0x2000, Placement::Distribute},
                                           {"b", VirtAddr{0x10000}, 0x800, Placement::Distribute}};
  return buffers;
}

void must(bool holds) {
  if (!holds) std::abort();
}

/// Everything that a checked stream touches lies in the buffers, and what decodes is what was checked.
void decode(Input stream, unsigned lanes, const BufferMap& buffers) {
  StreamDecoder decoder(stream.data(), stream.data() + stream.size(), lanes);
  StreamEncoder encoder(lanes);
  RecordedLanes recorded;
  static LaneAddresses addresses;
  static Coalescer coalescer(64);
  encoder.begin();
  std::uint64_t time = 0;
  while (!decoder.at_end()) {
    const Plain op = decoder.next(recorded);
    if (kind_of(op) == OpKind::Pause) {
      encoder.time(time += decoder.pause_cycles());
      continue;
    }
    if (kind_of(op) != OpKind::Load && kind_of(op) != OpKind::Store && kind_of(op) != OpKind::Atomic) {
      encoder.add(op);
      continue;
    }
    recorded.fill(addresses);
    encoder.add(kind_of(op), bytes_of(op), addresses);
    for (const PageGroup& group : coalescer.loads(addresses, bytes_of(op))) {
      must(buffers.find_mapped(group.page.value << kPageShift) != nullptr);
    }
    coalescer.stores(addresses, bytes_of(op));
  }
  check_stream(encoder.bytes(), lanes, buffers);
}

void read_stream(Input data, unsigned lanes) {
  static const BufferMap buffers(fuzz_buffers());
  check_stream(data, lanes, buffers);
  decode(data, lanes, buffers);
}

void read_directory(Input data) {
  ByteReader in(data);
  const TraceProgram program = decode_program(in, {}, fuzz_limits());
  decode_frames(in, 0, fuzz_limits());
  ByteVector again;
  encode_program(program, again);
  ByteReader second(again);
  decode_program(second, {}, fuzz_limits());
  must(second.at_end());
}

void read_file(Input data) {
  const auto file = std::make_shared<const TraceFile>(trace_source(data), "fuzz", fuzz_limits());
  const BufferMap buffers(file->program().buffers);
  for (std::size_t frame = 0; frame < file->frames().size(); ++frame) {
    const TraceStreams streams = file->read(frame);
    for (std::size_t wave = 0; wave + 1 < streams.begin.size(); ++wave) {
      decode(streams.stream(wave), file->header().lanes, buffers);
    }
  }
  TraceBytes text;
  export_text(*file, text);
}

/// Text that can be read is a file that can be read, and its text gives the same file.
void read_text(Input data) {
  std::istringstream in(std::string(data.begin(), data.end()));
  TraceBytes first;
  import_text(in, "fuzz", first, fuzz_limits());
  const TraceFile file(trace_source(first.bytes), "fuzz");
  TraceBytes text, second;
  export_text(file, text);
  std::istringstream again(std::string(text.bytes.begin(), text.bytes.end()));
  import_text(again, "again", second, fuzz_limits());
  must(first.bytes == second.bytes);
}

}  // namespace
}  // namespace nearfar

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::uint8_t> rest(data + 1, size - 1);
  try {
    switch (data[0] % 8) {
      case 0: nearfar::read_file(rest); break;
      case 1: nearfar::read_directory(rest); break;
      case 2: {
        nearfar::ByteReader in(rest);
        nearfar::decode_header(in);
        break;
      }
      case 3: nearfar::read_text(rest); break;
      case 4:
      case 5: nearfar::read_stream(rest, 32); break;
      default: nearfar::read_stream(rest, 64); break;
    }
  } catch (const nearfar::InputError& error) {
    if (*error.what() == '\0') std::abort();
  } catch (const nearfar::MalformedBytes& error) {
    if (*error.what() == '\0') std::abort();
  }
  return 0;
}
