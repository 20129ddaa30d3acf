#include "trace/csv_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>

#include "config/error.h"
#include "config/nearest.h"
#include "config/words.h"
#include "trace/assembler.h"
#include "trace/line_reader.h"
#include "trace/stream_code.h"
#include "trace/touched_regions.h"

namespace nearfar {
namespace {

/// The columns that mean something; the others are passed over.
enum class CsvColumn : std::uint8_t {
  Kind,
  Address,
  Bytes,
  Mask,
  Count,
  Lane,
  Instruction,
  Launch,
  Group,
  Wave,
  Gpu,
  Unit,
  Time,
  Where
};
constexpr std::size_t kCsvColumns = 14;

struct CsvColumnName {
  CsvColumn column;
  std::string_view name;
};
constexpr std::array kCsvNames{CsvColumnName{CsvColumn::Kind, "kind"},
                               CsvColumnName{CsvColumn::Kind, "type"},
                               CsvColumnName{CsvColumn::Kind, "what"},
                               CsvColumnName{CsvColumn::Kind, "op"},
                               CsvColumnName{CsvColumn::Address, "address"},
                               CsvColumnName{CsvColumn::Address, "addr"},
                               CsvColumnName{CsvColumn::Address, "vaddr"},
                               CsvColumnName{CsvColumn::Bytes, "bytes"},
                               CsvColumnName{CsvColumn::Bytes, "size"},
                               CsvColumnName{CsvColumn::Bytes, "byte_size"},
                               CsvColumnName{CsvColumn::Mask, "mask"},
                               CsvColumnName{CsvColumn::Mask, "byte_mask"},
                               CsvColumnName{CsvColumn::Count, "count"},
                               CsvColumnName{CsvColumn::Lane, "lane"},
                               CsvColumnName{CsvColumn::Instruction, "instruction"},
                               CsvColumnName{CsvColumn::Instruction, "inst"},
                               CsvColumnName{CsvColumn::Launch, "launch"},
                               CsvColumnName{CsvColumn::Launch, "kernel"},
                               CsvColumnName{CsvColumn::Group, "workgroup"},
                               CsvColumnName{CsvColumn::Group, "wg"},
                               CsvColumnName{CsvColumn::Wave, "wavefront"},
                               CsvColumnName{CsvColumn::Wave, "wf"},
                               CsvColumnName{CsvColumn::Gpu, "gpu"},
                               CsvColumnName{CsvColumn::Unit, "cu"},
                               CsvColumnName{CsvColumn::Time, "time"},
                               CsvColumnName{CsvColumn::Time, "start_time"},
                               CsvColumnName{CsvColumn::Where, "where"},
                               CsvColumnName{CsvColumn::Where, "location"}};

struct CsvKind {
  std::string_view name;
  OpKind kind;
};
constexpr std::array kCsvKinds{
    CsvKind{"load", OpKind::Load},      CsvKind{"read", OpKind::Load},        CsvKind{"r", OpKind::Load},
    CsvKind{"store", OpKind::Store},    CsvKind{"write", OpKind::Store},      CsvKind{"w", OpKind::Store},
    CsvKind{"atomic", OpKind::Atomic},  CsvKind{"sload", OpKind::ScalarLoad}, CsvKind{"valu", OpKind::VectorAlu},
    CsvKind{"salu", OpKind::ScalarAlu}, CsvKind{"local", OpKind::Local},      CsvKind{"barrier", OpKind::Barrier},
    CsvKind{"wait", OpKind::Wait},      CsvKind{"fence", OpKind::Fence}};

std::string lower_case_of(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool has_lanes(OpKind kind) { return kind == OpKind::Load || kind == OpKind::Store || kind == OpKind::Atomic; }

/// One row, understood.
struct CsvRow {
  OpKind kind = OpKind::Load;
  std::uint64_t address = 0, bytes = 4;
  std::optional<std::uint64_t> mask, lane, instruction;
  std::uint64_t count = 1;
  std::string launch;
  std::uint64_t group = 0, wave = 0;
  std::optional<std::uint64_t> gpu, unit, time;

  bool touches() const { return has_lanes(kind) || kind == OpKind::ScalarLoad; }
};

/// Reads the table row by row.
class CsvReader {
 public:
  explicit CsvReader(const std::string& path) : in_(path) {
    std::string_view line;
    if (!in_.next(line)) in_.fail("the names of the columns were expected in the first line; the file is empty");
    split_cells(line);
    std::size_t at = 0;
    for (const std::string_view cell : cells_) {
      const std::string name = lower_case_of(cell);
      const auto found = std::ranges::find(kCsvNames, name, &CsvColumnName::name);
      if (found != kCsvNames.end()) place_of(found->column) = at;
      ++at;
    }
    width_ = at;
    if (!place_of(CsvColumn::Kind) || !place_of(CsvColumn::Address)) {
      in_.fail("a column `kind` and a column `address` were expected in the first line");
    }
  }

  bool has(CsvColumn column) const { return places_[static_cast<std::size_t>(column)].has_value(); }
  const LineReader& lines() const { return in_; }

  bool next(CsvRow& row) {
    std::string_view line;
    do {
      if (!in_.next(line)) return false;
    } while (line.empty() || line.front() == '#');
    split_cells(line);
    if (cells_.size() != width_) in_.fail(fmt::format("{} cells, but {} columns", cells_.size(), width_));
    row = {};
    row.kind = kind();
    if (row.touches()) {
      row.address = need(CsvColumn::Address, kTraceAddresses - (std::uint64_t{1} << 20));
      row.bytes = value(CsvColumn::Bytes, 1 << 16).value_or(4);
      if (row.bytes == 0) in_.fail("an access has no bytes");
    }
    row.mask = value(CsvColumn::Mask, ~std::uint64_t{0}, 16);
    row.lane = value(CsvColumn::Lane, kMaxLanes - 1);
    row.instruction = value(CsvColumn::Instruction, ~std::uint64_t{0});
    row.count = value(CsvColumn::Count, 0xffff).value_or(1);
    row.launch = std::string(cell(CsvColumn::Launch));
    row.gpu = value(CsvColumn::Gpu, kMaxGpus - 1);
    row.unit = value(CsvColumn::Unit, 0xffff);
    if (has(CsvColumn::Where)) take_where(row);
    row.group = value(CsvColumn::Group, (std::uint64_t{1} << 32) - 1).value_or(row.group);
    row.wave = value(CsvColumn::Wave, 1023).value_or(0);
    row.time = time();
    return true;
  }

 private:
  std::optional<std::size_t>& place_of(CsvColumn column) { return places_[static_cast<std::size_t>(column)]; }

  void split_cells(std::string_view line) {
    cells_.clear();
    for (std::size_t begin = 0; begin <= line.size();) {
      const std::size_t end = std::min(line.find(',', begin), line.size());
      std::string_view text = line.substr(begin, end - begin);
      while (!text.empty() && (text.front() == ' ' || text.front() == '"')) text.remove_prefix(1);
      while (!text.empty() && (text.back() == ' ' || text.back() == '"')) text.remove_suffix(1);
      cells_.push_back(text);
      begin = end + 1;
    }
  }

  std::string_view cell(CsvColumn column) const {
    const auto& place = places_[static_cast<std::size_t>(column)];
    return place ? cells_[*place] : std::string_view();
  }
  std::optional<std::uint64_t> value(CsvColumn column, std::uint64_t most, int base = 10) const {
    std::string_view text = cell(column);
    if (text.empty()) return std::nullopt;
    const std::string_view whole = text;
    if (text.starts_with("0x")) {
      text.remove_prefix(2);
      base = 16;
    }
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (error != std::errc{} || end != text.data() + text.size() || number > most) {
      in_.fail(fmt::format("a whole number up to {} was expected, not `{}`", most, whole));
    }
    return number;
  }
  std::uint64_t need(CsvColumn column, std::uint64_t most) const {
    const auto number = value(column, most);
    if (!number) in_.fail("an access has no address");
    return *number;
  }

  OpKind kind() const {
    const std::string name = lower_case_of(cell(CsvColumn::Kind));
    const auto found = std::ranges::find(kCsvKinds, name, &CsvKind::name);
    if (found == kCsvKinds.end()) {
      std::vector<std::string> names;
      for (const CsvKind& each : kCsvKinds) names.emplace_back(each.name);
      in_.fail(fmt::format("`{}` is no kind of access; those are {}", name, join(names, ", ")));
    }
    return found->kind;
  }

  /// Whole numbers are cycles, others seconds at 1 GHz.
  std::optional<std::uint64_t> time() const {
    const std::string_view text = cell(CsvColumn::Time);
    if (text.empty()) return std::nullopt;
    if (text.find_first_of(".eE") == std::string_view::npos) return value(CsvColumn::Time, std::uint64_t{1} << 40);
    double seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc{} || end != text.data() + text.size() || !(seconds >= 0 && seconds <= 1000)) {
      in_.fail(fmt::format("a time in cycles, or in seconds up to 1000, was expected, not `{}`", text));
    }
    return static_cast<std::uint64_t>(std::llround(seconds * 1e9));
  }

  /// "GPU[1].SA[2].CU[3]": a unit by its path, whose GPUs count from 1. Each is a workgroup of its own.
  void take_where(CsvRow& row) {
    const std::string where(cell(CsvColumn::Where));
    row.group = units_.try_emplace(where, units_.size()).first->second;
    const std::size_t gpu = where.find("GPU[");
    unsigned number = 0;
    if (gpu == std::string::npos) return;
    const char* begin = where.data() + gpu + 4;
    if (std::from_chars(begin, where.data() + where.size(), number).ec == std::errc{} && number >= 1 &&
        number <= kMaxGpus) {
      row.gpu = row.gpu.value_or(number - 1);
    }
  }

  LineReader in_;
  std::array<std::optional<std::size_t>, kCsvColumns> places_{};
  std::size_t width_ = 0;
  std::vector<std::string_view> cells_;
  std::map<std::string, std::uint64_t> units_;
};

/// What the first pass finds out.
struct CsvLaunch {
  std::string name;
  std::uint64_t groups = 0, waves = 0;
  std::map<std::uint64_t, std::pair<std::uint16_t, std::uint16_t>> places;  ///< of workgroups: GPU and compute unit
};

struct CsvShape {
  std::vector<CsvLaunch> launches;
  std::map<std::string, std::size_t> by_name;
  TouchedRegions regions;
  bool has_places = false, has_units = false;
};

CsvShape find_shape(const std::string& path) {
  CsvShape shape;
  CsvReader reader(path);
  CsvRow row;
  while (reader.next(row)) {
    const auto [found, is_new] = shape.by_name.try_emplace(row.launch, shape.launches.size());
    if (is_new) shape.launches.push_back({row.launch.empty() ? "kernel" : row.launch, 0, 0, {}});
    CsvLaunch& launch = shape.launches[found->second];
    launch.groups = std::max(launch.groups, row.group + 1);
    launch.waves = std::max(launch.waves, row.wave + 1);
    if (row.touches()) shape.regions.touch(row.address, row.mask ? 64 : row.bytes);
    if (!row.gpu) continue;
    shape.has_places = true;
    shape.has_units = shape.has_units || row.unit.has_value();
    launch.places.try_emplace(row.group, static_cast<std::uint16_t>(*row.gpu),
                              static_cast<std::uint16_t>(row.unit.value_or(0)));
  }
  if (shape.launches.empty()) reader.lines().fail("the table has no rows");
  shape.regions.settle();
  return shape;
}

/// Joins rows to instructions, and keeps the streams of all wavefronts until the table ends: its rows may come in the
/// order of time.
class CsvStreams {
 public:
  CsvStreams(const CsvShape& shape, std::uint32_t lanes) : shape_(shape), lanes_(lanes) {}

  void add(const CsvRow& row, const LineReader& in) {
    Wavefront& wave = wavefront(row);
    const bool joins = wave.open && has_lanes(row.kind) && wave.kind == row.kind && row.instruction &&
                       wave.instruction == row.instruction && wave.bytes == row.bytes && !row.mask;
    if (!joins) {
      close(wave);
      if (row.time) {
        if (!wave.start) wave.start = *row.time;
        wave.last = std::max(wave.last, *row.time - std::min(*row.time, *wave.start));
        wave.encoder.time(wave.last);
      }
    }
    if (has_lanes(row.kind)) {
      add_lane(wave, row, in);
    } else if (row.kind == OpKind::ScalarLoad) {
      if (row.bytes > kMostLaneBytes) in.fail(fmt::format("a scalar load has at most {} bytes", kMostLaneBytes));
      wave.encoder.add(scalar_load(static_cast<unsigned>(row.bytes), VirtAddr{shape_.regions.address(row.address)}));
    } else if (row.kind == OpKind::Fence) {
      wave.encoder.add(fence(Scope::System));
    } else {
      wave.encoder.add(plain(row.kind, row.kind == OpKind::Barrier ? 1 : row.count));
    }
  }

  void write(TraceAssembler& out) {
    for (std::size_t l = 0; l < shape_.launches.size(); ++l) {
      out.begin_launch(launch_of(shape_.launches[l]));
      for (auto it = waves_.lower_bound({l, 0, 0}); it != waves_.end() && std::get<0>(it->first) == l; ++it) {
        close(it->second);
        out.add_stream(std::get<1>(it->first), static_cast<std::uint32_t>(std::get<2>(it->first)),
                       ByteVector(it->second.encoder.bytes()));
      }
    }
  }

 private:
  using Key = std::tuple<std::size_t, std::uint64_t, std::uint64_t>;
  struct Wavefront {
    explicit Wavefront(std::uint32_t width) : encoder(width) {}
    StreamEncoder encoder;
    bool open = false;  ///< an instruction whose lanes may not all have come
    OpKind kind = OpKind::Load;
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> instruction;
    LaneAddresses lanes;
    std::optional<std::uint64_t> start;
    std::uint64_t last = 0;
  };

  Wavefront& wavefront(const CsvRow& row) {
    const Key key{shape_.by_name.at(row.launch), row.group, row.wave};
    return waves_.try_emplace(key, lanes_).first->second;
  }

  void close(Wavefront& wave) {
    if (!wave.open) return;
    wave.encoder.add(wave.kind, static_cast<unsigned>(wave.bytes), wave.lanes);
    wave.open = false;
  }

  void add_lane(Wavefront& wave, const CsvRow& row, const LineReader& in) {
    const std::uint64_t address = shape_.regions.address(row.address);
    if (row.mask) return add_masked(wave, row, address);
    if (row.bytes > 16) return add_row(wave, row, address);
    if (!wave.open) {
      wave.open = true;
      wave.kind = row.kind;
      wave.bytes = row.bytes;
      wave.instruction = row.instruction;
      wave.lanes.active = 0;
      wave.lanes.rows = {};
    }
    const std::uint64_t lane = row.lane.value_or(static_cast<std::uint64_t>(std::bit_width(wave.lanes.active)));
    if (lane >= lanes_) in.fail(fmt::format("an instruction has more than {} lanes", lanes_));
    if ((wave.lanes.active >> lane & 1) != 0) in.fail(fmt::format("lane {} comes twice in one instruction", lane));
    wave.lanes.active |= std::uint64_t{1} << lane;
    wave.lanes.address[lane] = address;
    if (!row.instruction) close(wave);
  }

  /// More bytes than a lane has: as many lanes side by side as it takes.
  void add_row(Wavefront& wave, const CsvRow& row, std::uint64_t address) {
    const unsigned each = row.bytes % 4 == 0 ? 4 : 1;
    LaneAddresses lanes;
    for (std::uint64_t left = row.bytes / each; left != 0;) {
      const std::uint64_t now = std::min<std::uint64_t>(left, lanes_);
      lanes.rows = {.first = VirtAddr{address}, .lanes = static_cast<std::uint32_t>(now), .step = each};
      wave.encoder.add(row.kind, each, lanes);
      address += now * each;
      left -= now;
    }
  }

  /// Bytes by a mask: a lane for each.
  void add_masked(Wavefront& wave, const CsvRow& row, std::uint64_t address) {
    for (std::uint64_t mask = *row.mask, base = 0; mask != 0; mask = lanes_ == 64 ? 0 : mask >> 32, base += lanes_) {
      LaneAddresses lanes;
      lanes.active = lanes_ == 64 ? mask : mask & 0xffff'ffff;
      for (unsigned lane = 0; lane < lanes_; ++lane) lanes.address[lane] = address + base + lane;
      if (lanes.active != 0) wave.encoder.add(row.kind, 1, lanes);
    }
  }

  Launch launch_of(const CsvLaunch& found) const {
    Launch launch;
    launch.kernel = found.name;
    launch.groups_x = static_cast<std::uint32_t>(found.groups);
    launch.size_x = static_cast<std::uint32_t>(found.waves * lanes_);
    if (!shape_.has_places) return launch;
    launch.split = Split::Listed;
    auto places = std::make_shared<GroupPlaces>();
    places->gpu.assign(found.groups, 0);
    if (shape_.has_units) places->cu.assign(found.groups, 0);
    for (const auto& [group, place] : found.places) {
      places->gpu[group] = place.first;
      if (shape_.has_units) places->cu[group] = place.second;
    }
    launch.places = std::move(places);
    return launch;
  }

  const CsvShape& shape_;
  std::uint32_t lanes_;
  std::map<Key, Wavefront> waves_;
};

}  // namespace

void import_csv(const std::string& path, const CsvOptions& options, TraceSink& out) {
  const CsvShape shape = find_shape(path);
  CsvReader reader(path);
  TraceHeader header;
  header.source = "csv";
  header.lanes = options.lanes;
  header.times = reader.has(CsvColumn::Time);
  header.parameters.emplace_back("file", std::filesystem::path(path).filename().string());
  for (const CsvLaunch& launch : shape.launches) {
    if (launch.waves * options.lanes <= TraceLimits{}.group_items) continue;
    throw InputError(fmt::format("{}: a workgroup has {} wavefronts, and at most {} are possible.", path, launch.waves,
                                 TraceLimits{}.group_items / options.lanes));
  }
  CsvStreams streams(shape, options.lanes);
  CsvRow row;
  while (reader.next(row)) streams.add(row, reader.lines());
  TraceAssembler assembler(out, header, shape.regions.buffers());
  streams.write(assembler);
  assembler.finish();
}

}  // namespace nearfar
