// What is said of workloads whose closed forms are known.
#include "characterize/characterization.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "characterize/svg.h"
#include "workload/catalog.h"
#include "workload/expected.h"

namespace nearfar::characterization_test {
namespace {

Characterization look_at(std::string_view name, std::vector<ParameterSetting> settings = {}, unsigned gpus = 4,
                         unsigned resident = 256) {
  return characterize(*make_workload(name, SizeClass::Small, settings, 1), {.gpus = gpus, .resident = resident});
}

const Touched& of_buffer(const Characterization& result, std::string_view name) {
  return std::ranges::find(result.buffers, name, &BufferTouched::name)->touched;
}

TEST(Characterization, CountsWhatTheClosedFormsSay) {
  const Characterization fir = look_at("FIR", {{"n", 1 << 16}});
  EXPECT_EQ(fir.wavefronts, 1024U);
  EXPECT_EQ(fir.instructions, 1024U * 402);
  EXPECT_EQ(fir.loads, 1024U * 16);
  EXPECT_EQ(fir.stores, 1024U);
  EXPECT_EQ(fir.scalar_loads, 1024U * 16);
  EXPECT_EQ(fir.accesses(), 1024U * 83);
  EXPECT_EQ(fir.touched.lines_written, 1024U * 4);
  EXPECT_EQ(fir.lanes_writing, 1U << 16);
  EXPECT_EQ(fir.lines.least(), 4U);
  EXPECT_EQ(fir.lines.most(), 5U);
  EXPECT_NEAR(fir.lines.mean(), 83.0 / 17, 1e-9);
  EXPECT_EQ(fir.touched.pages, 64U + 64 + 1 + 1);
}

TEST(Characterization, IsTheSameWorkOnAnyNumberOfGpusAndTurns) {
  for (const char* name : {"PR", "BS"}) {
    const Characterization one = look_at(name, {}, 1);
    EXPECT_EQ(one.accesses(), expected(name, SizeClass::Small).accesses) << name;
    EXPECT_EQ(one.touched.pages_by, std::vector<std::uint64_t>{one.touched.pages}) << name;
    for (const auto& [gpus, resident] : {std::pair{1U, 1U}, {2U, 64U}, {4U, 5000U}}) {
      const Characterization other = look_at(name, {}, gpus, resident);
      EXPECT_EQ(other.accesses(), one.accesses()) << name;
      EXPECT_EQ(other.instructions, one.instructions) << name;
      EXPECT_EQ(other.touched.pages, one.touched.pages) << name;
      EXPECT_EQ(other.touched.lines, one.touched.lines) << name;
      EXPECT_EQ(other.strides.forward, one.strides.forward) << name;
      EXPECT_EQ(other.lines.times, one.lines.times) << name;
    }
  }
}

TEST(Characterization, FindsWhoSharesPages) {
  const Characterization mm = look_at("MM");
  EXPECT_EQ(of_buffer(mm, "B").pages_by, (std::vector<std::uint64_t>{0, 0, 0, 256}));
  EXPECT_EQ(of_buffer(mm, "B").written_pages_by, (std::vector<std::uint64_t>{0, 0, 0, 0}));
  EXPECT_EQ(of_buffer(mm, "C").pages_by, (std::vector<std::uint64_t>{256, 0, 0, 0}));
  EXPECT_EQ(of_buffer(mm, "C").written_pages_by, (std::vector<std::uint64_t>{256, 0, 0, 0}));
  EXPECT_EQ(mm.touched.pages_by, (std::vector<std::uint64_t>{512, 0, 0, 256}));
  const Characterization bs = look_at("BS");
  EXPECT_EQ(bs.touched.pages_by, (std::vector<std::uint64_t>{8, 16, 8, 0}));
  EXPECT_EQ(bs.touched.written_pages_by, bs.touched.pages_by);
}

TEST(Characterization, TellsAsManyGpusApartAsAMachineHas) {
  const Characterization pr = look_at("PR", {}, kMaxGpus);
  std::uint64_t pages = 0, most = 0;
  for (std::size_t i = 0; i < kMaxGpus; ++i) {
    pages += pr.touched.pages_by[i];
    if (pr.touched.pages_by[i] != 0) most = i + 1;
  }
  EXPECT_EQ(pages, look_at("PR", {}, 1).touched.pages_by[0]);
  EXPECT_GT(most, 32U) << "all GPUs that have work gather from all pages";
}

TEST(Characterization, LeavesPrivateCopiesOutOfSharing) {
  const Characterization fir = look_at("FIR", {{"n", 1 << 16}});
  const std::uint64_t shared =
      std::accumulate(fir.touched.pages_by.begin(), fir.touched.pages_by.end(), std::uint64_t{0});
  EXPECT_EQ(shared + of_buffer(fir, "coeff").pages, fir.touched.pages);
}

TEST(Characterization, FollowsReuseWithinAGpu) {
  // Each page of FFT is loaded and stored eight times by its wavefront, and then never again.
  const Characterization alone = look_at("FFT", {{"bytes", 1 << 20}}, 1, 1);
  EXPECT_EQ(alone.page_reuse.touches, 256U * 16);
  EXPECT_EQ(alone.page_reuse.first, 256U);
  EXPECT_EQ(alone.page_reuse.hits[0], 256U * 15);
  EXPECT_EQ(alone.line_reuse.first, 256U * 64);
  EXPECT_EQ(alone.line_reuse.hits[5], 0U);
  EXPECT_EQ(alone.line_reuse.hits[6], 256U * 64) << "64 lines lie between a line's load and its store";
  // When 64 take turns, the others' pages come between.
  const Characterization turns = look_at("FFT", {{"bytes", 1 << 20}}, 1, 64);
  EXPECT_EQ(turns.page_reuse.hits[5], 0U);
  EXPECT_EQ(turns.page_reuse.hits[6], 256U * 15);
}

TEST(Characterization, MeasuresStridesBetweenLanes) {
  const Characterization atax = look_at("ATAX", {{"nx", 64}, {"ny", 64}});
  // Along rows every lane is 256 bytes behind the last; down columns 4; and factors are the same for all.
  EXPECT_EQ(atax.strides.forward[9], 64U * 63);
  EXPECT_EQ(Strides::label(9), "to 256 B");
  EXPECT_EQ(atax.strides.forward[0], 2U * 64 * 63);
  EXPECT_EQ(atax.strides.backward, 0U);
}

TEST(Strides, FallIntoPowersOfTwo) {
  Strides strides;
  for (const std::uint64_t to : {100U, 101U, 102U, 103U, 104U, 105U, 99U}) strides.add(100, to);
  strides.add(0, std::uint64_t{1} << 40);
  EXPECT_EQ(strides.backward, 1U);
  EXPECT_EQ(strides.forward[0], 1U);
  EXPECT_EQ(strides.forward[1], 1U);
  EXPECT_EQ(strides.forward[2], 1U);
  EXPECT_EQ(strides.forward[3], 2U);
  EXPECT_EQ(strides.forward[4], 1U);
  EXPECT_EQ(strides.forward[Strides::kForward - 1], 1U);
  EXPECT_EQ(Strides::label(0), "0 B");
  EXPECT_EQ(Strides::label(3), "to 4 B");
  EXPECT_EQ(Strides::label(13), "to 4 KiB");
  EXPECT_EQ(Strides::label(Strides::kForward - 1), "more");
}

TEST(Svg, IsOnePageWithSixPlots) {
  const std::string svg = characterization_svg(look_at("MM", {{"n", 64}}), "MM <small> & co", "n=64");
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find("MM &lt;small&gt; &amp; co"), std::string::npos);
  const auto count = [&](std::string_view what) {
    std::size_t times = 0;
    for (std::size_t at = svg.find(what); at != std::string::npos; at = svg.find(what, at + 1)) ++times;
    return times;
  };
  EXPECT_EQ(count("font-size=\"14\""), 6U);
  EXPECT_EQ(count("<text"), count("</text>"));
  EXPECT_EQ(count("<polyline"), 2U);
  EXPECT_EQ(count("nan"), 0U);
}

}  // namespace
}  // namespace nearfar::characterization_test
