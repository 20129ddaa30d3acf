#include <fmt/format.h>

#include <array>
#include <bit>
#include <iterator>

#include "trace/stream_code.h"
#include "trace/text_form.h"

namespace nearfar {
namespace {

constexpr std::array kPlacementWords{"distribute", "interleave", "private", "host"};
constexpr std::array kSplitWords{"offset", "blocks", "round-robin", "greedy", "listed"};
constexpr std::array kDimWords{"x", "y", "z"};
constexpr std::array kScopeWords{"workgroup", "gpu", "system"};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// Collects text and hands it on in large pieces.
class TextExporter {
 public:
  TextExporter(const TraceFile& file, TraceSink& out) : file_(file), out_(out) {}

  void run() {
    header();
    program();
    for (const Step& step : file_.program().steps) {
      std::visit([this](const auto& what) { write_step(what); }, step);
    }
    flush();
  }

 private:
  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    text_ += '\n';
    if (text_.size() > (std::size_t{1} << 20)) flush();
  }
  void flush() {
    out_.write({reinterpret_cast<const std::uint8_t*>(text_.data()), text_.size()});
    text_.clear();
  }

  void header() {
    const TraceHeader& header = file_.header();
    line("nearfar-trace {}", kTraceVersion);
    line("source {}", quoted(header.source));
    line("lanes {}", header.lanes);
    line("line {}", header.line);
    line("page {}", header.page);
    line("seed {}", header.seed);
    if (header.times) line("times");
    for (const auto& [name, value] : header.parameters) line("parameter {} {}", quoted(name), quoted(value));
  }

  void program() {
    const TraceProgram& program = file_.program();
    if (program.gpus != 0) line("gpus {}", program.gpus);
    if (program.collective) line("collective {} {}", program.collective->bytes, program.collective->bus_factor);
    for (const Buffer& buffer : program.buffers) {
      line("buffer {} {:#x} {} {}{}", quoted(buffer.name), buffer.base.value, buffer.bytes,
           kPlacementWords[static_cast<std::size_t>(buffer.placement)], use_of(buffer.kernels));
    }
    for (const PageHome& home : program.homes) {
      const std::string device = home.device == PageHome::kHost ? "host" : fmt::format("{}", home.device);
      line("home {:#x} {} {}", home.first.value << kPageShift, home.pages, device);
    }
  }

  /// What kernels do with a buffer, where it is not the usual: reads, writes, overwrites, and the bytes in use.
  static std::string use_of(const KernelUse& kernels) {
    if (kernels.reads && kernels.writes && !kernels.overwrites && kernels.bytes == 0) return "";
    const std::string letters =
        fmt::format("{}{}{}", kernels.reads ? "r" : "", kernels.writes ? "w" : "", kernels.overwrites ? "o" : "");
    return fmt::format(" {} {}", letters.empty() ? "-" : letters, kernels.bytes);
  }

  void write_step(const Copy& copy) {
    const auto side = [](const std::optional<VirtAddr>& address) {
      return address ? fmt::format("{:#x}", address->value) : std::string("host");
    };
    line("copy {} {} {} {} {}{}", side(copy.from), side(copy.to), copy.bytes, copy.rows, copy.pitch,
         copy.wait ? "" : " async");
  }
  void write_step(const HostPhase& phase) { line("host {}", phase.cycles); }
  void write_step(const HostAccess& access) {
    line("{} {:#x} {}", access.writes ? "host-write" : "host-read", access.first.value, access.bytes);
  }
  void write_step(const Transfer&) {}  // never in a file
  void write_step(const Sync&) { line("sync"); }
  void write_step(const LaunchStep& step) {
    const Launch& launch = file_.program().launches[step.launch];
    line("launch {} {} {} {} {} {} {} {} {}", quoted(launch.kernel), launch.groups_x, launch.groups_y, launch.groups_z,
         launch.size_x, launch.size_y, launch.local_bytes, kSplitWords[static_cast<std::size_t>(launch.split)],
         kDimWords[static_cast<std::size_t>(launch.split_dim)]);
    if (launch.split == Split::Listed) places(*launch.places);
    const std::uint64_t waves = launch.waves(file_.header().lanes);
    const std::uint64_t first = file_.first_wavefronts()[step.launch];
    for (std::uint64_t wave = 0; wave < launch.groups() * waves; ++wave) {
      const auto stream = stream_of(first + wave);
      if (stream.empty()) continue;
      line("wave {} {}", wave / waves, wave % waves);
      operations(stream);
    }
  }

  void places(const GroupPlaces& places) {
    for (std::size_t group = 0; group < places.gpu.size(); ++group) {
      if (places.cu.empty()) {
        line("place {} {}", group, places.gpu[group]);
      } else {
        line("place {} {} {}", group, places.gpu[group], places.cu[group]);
      }
    }
  }

  std::span<const std::uint8_t> stream_of(std::uint64_t wavefront) {
    const std::size_t frame = file_.frame_of(wavefront);
    if (frame != frame_) {
      streams_ = file_.read(frame);
      frame_ = frame;
    }
    return streams_.stream(wavefront - file_.frames()[frame].first);
  }

  void operations(std::span<const std::uint8_t> stream) {
    StreamDecoder decoder(stream.data(), stream.data() + stream.size(), file_.header().lanes);
    RecordedLanes lanes;
    std::uint64_t time = 0;
    while (!decoder.at_end()) {
      const Plain op = decoder.next(lanes);
      switch (kind_of(op)) {
        case OpKind::VectorAlu: line("valu {}", count_of(op)); break;
        case OpKind::ScalarAlu: line("salu {}", count_of(op)); break;
        case OpKind::Local: line("local {}", count_of(op)); break;
        case OpKind::Wait: line("wait {}", count_of(op)); break;
        case OpKind::Barrier: line("barrier"); break;
        case OpKind::Fence: line("fence {}", kScopeWords[count_of(op)]); break;
        case OpKind::ScalarLoad: line("sload {} {:#x}", bytes_of(op), address_of(op)); break;
        case OpKind::Load: memory("load", bytes_of(op), lanes); break;
        case OpKind::Store: memory("store", bytes_of(op), lanes); break;
        case OpKind::Atomic: memory("atomic", bytes_of(op), lanes); break;
        case OpKind::Pause:
          time += decoder.pause_cycles();
          line("time {}", time);
          break;
        case OpKind::End: break;
      }
    }
  }

  void memory(const char* what, unsigned bytes, const RecordedLanes& lanes) {
    switch (lanes.form) {
      case LaneForm::Row: return line("{} {} row {:#x}", what, bytes, lanes.first);
      case LaneForm::PartOfRow: return line("{} {} row {:#x} {} {}", what, bytes, lanes.first, lanes.lanes, lanes.lane);
      case LaneForm::Rows:
        return line("{} {} rows {:#x} {} {} {} {} {} {}", what, bytes, lanes.first, lanes.lanes, lanes.lane, lanes.rows,
                    lanes.width, lanes.step, static_cast<std::int64_t>(lanes.distance));
      case LaneForm::Strided:
      case LaneForm::MaskedStrided:
        return line("{} {} stride {:#x} {} {:#x}", what, bytes, lanes.first, static_cast<std::int64_t>(lanes.distance),
                    lanes.mask);
      case LaneForm::Idle: return line("{} {} idle", what, bytes);
      case LaneForm::Listed:
      case LaneForm::MaskedListed: break;
    }
    LaneAddresses addresses;
    lanes.fill(addresses);
    std::string list;
    for (std::uint64_t left = lanes.mask; left != 0; left &= left - 1) {
      list += fmt::format(" {:#x}", addresses.address[static_cast<unsigned>(std::countr_zero(left))]);
    }
    line("{} {} lanes {:#x}{}", what, bytes, lanes.mask, list);
  }

  const TraceFile& file_;
  TraceSink& out_;
  std::string text_;
  TraceStreams streams_;
  std::size_t frame_ = ~std::size_t{0};
};

}  // namespace

void export_text(const TraceFile& file, TraceSink& out) { TextExporter(file, out).run(); }

}  // namespace nearfar
