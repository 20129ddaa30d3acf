#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/result_csv.h"
#include "cli/result_json.h"
#include "cli/summary.h"

namespace nearfar::result_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

StatValue count(const char* name, std::uint64_t value) { return {name, false, value, 0}; }

Report report_of(std::vector<std::string> names) {
  Report report;
  report.machine.system = "two, \"quoted\"";
  report.machine.loaded.spec.gpus = 2;
  EffectiveParameter parameter;
  parameter.path = "gpu.l2.size";
  parameter.value = "4MiB";
  parameter.origin = "--set";
  report.machine.loaded.parameters = {parameter};
  for (const std::string& name : names) {
    report.workload += (report.workload.empty() ? "" : "+") + name;
    report.applications.push_back({name, {{"width", 64}}, nullptr});
  }
  report.result.cycles = 1000;
  report.result.instructions = 2000;
  report.result.accesses = (std::uint64_t{1} << 53) + 1;
  report.result.host_seconds = 0.5;
  report.result.peak_rss_bytes = 1 << 20;
  report.result.launches = {
      {.kernel = "k", .application = 0, .start = 1, .end = 999, .instructions = 5, .accesses = 6}};
  report.result.statistics = {count("gpus.l1v.load_hits", 30),
                              count("gpus.l1v.load_lines", 40),
                              {"ratio", true, 0, 0.25},
                              {"ratio.of_nothing", true, 0, std::nan("")}};
  return report;
}

TEST(ResultJson, HasEveryPromisedKey) {
  const Json json = Json::parse(run_json(report_of({"MT"})));
  for (const char* key :
       {"version",      "model",          "key",        "workload",   "size",          "system",
        "designs",      "seed",           "threads",    "cycles",     "instructions",  "accesses",
        "host_seconds", "peak_rss_bytes", "statistics", "parameters", "configuration", "configuration_origins",
        "launches",     "applications"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json.size(), 20U);
}

TEST(ResultJson, KeepsCountsExact) {
  const Json json = Json::parse(run_json(report_of({"MT"})));
  EXPECT_EQ(json["accesses"].get<std::uint64_t>(), (std::uint64_t{1} << 53) + 1);
  EXPECT_TRUE(json["statistics"]["gpus.l1v.load_hits"].is_number_unsigned());
  EXPECT_EQ(json["statistics"]["ratio"], 0.25);
}

TEST(ResultJson, HasOnlyNumbersAmongStatistics) {
  const Json json = Json::parse(run_json(report_of({"MT"})));
  for (const auto& [name, value] : json["statistics"].items()) EXPECT_TRUE(value.is_number()) << name;
  EXPECT_EQ(json["statistics"].size(), 3U);
}

TEST(ResultJson, SaysWhatEachValueWasAndWhereItCameFrom) {
  const Json json = Json::parse(run_json(report_of({"MT"})));
  EXPECT_EQ(json["system"], "two, \"quoted\"");
  EXPECT_EQ(json["configuration"]["gpu.l2.size"], "4MiB");
  EXPECT_EQ(json["configuration_origins"]["gpu.l2.size"], "--set");
  EXPECT_EQ(json["designs"], Json::array());
  EXPECT_EQ(json["launches"][0]["end"], 999);
}

TEST(ResultJson, OneApplicationRunsOnAllGpus) {
  const Json json = Json::parse(run_json(report_of({"MT"})));
  EXPECT_EQ(json["parameters"]["width"], 64);
  EXPECT_EQ(json["applications"][0]["gpus"], Json({0, 1}));
}

TEST(ResultJson, SeveralApplicationsHaveAGpuEach) {
  const Json json = Json::parse(run_json(report_of({"MT", "FIR"})));
  EXPECT_EQ(json["workload"], "MT+FIR");
  EXPECT_EQ(json["parameters"]["FIR.width"], 64);
  EXPECT_EQ(json["applications"][1]["workload"], "FIR");
  EXPECT_EQ(json["applications"][1]["gpus"], Json({1}));
}

TEST(ResultCsv, QuotesWhatNeedsIt) {
  const std::string csv = run_csv(report_of({"MT"}));
  EXPECT_THAT(csv, ::testing::StartsWith("name,value\nversion,"));
  EXPECT_THAT(csv, HasSubstr("\nsystem,\"two, \"\"quoted\"\"\"\n"));
  EXPECT_THAT(csv, HasSubstr("\ndesigns,baseline\n"));
  EXPECT_THAT(csv, HasSubstr("\ngpus.l1v.load_hits,30\ngpus.l1v.load_lines,40\nratio,0.25\n"));
  EXPECT_THAT(csv, Not(HasSubstr("of_nothing")));
}

TEST(Summary, LeavesOutWhatTheResultDoesNotHave) {
  const std::string text = summary(report_of({"MT"}), Terminal{});
  EXPECT_THAT(text, HasSubstr("cycles"));
  EXPECT_THAT(text, HasSubstr("1.00 µs at 1 GHz"));
  EXPECT_THAT(text, HasSubstr("75.0 %  of 40 lines"));
  EXPECT_THAT(text, Not(HasSubstr("L2")));
  EXPECT_THAT(text, Not(HasSubstr("latency")));
}

TEST(Summary, SaysWhatBoundsTheRun) {
  Report report = report_of({"MT"});
  report.machine.loaded.spec.gpu.dram.channels = 2;
  report.result.statistics = {count("gpu0.dram.bus_busy_cycles", 1800), count("gpu1.dram.bus_busy_cycles", 500),
                              count("gpu1.link.busy_cycles", 300)};
  const std::string text = summary(report, Terminal{});
  EXPECT_THAT(text, HasSubstr("  bound by     DRAM: DRAM of GPU 0 busy 90.0 % of the time\n"
                              "  utilization  DRAM of GPU 0 90.0 %, egress of GPU 1 30.0 %\n"));
  EXPECT_THAT(text, HasSubstr("wavefront instructions a cycle, 0.016 of a compute unit")) << "2 of 2 times 64";
}

/// Each application is measured against the time of its own first execution.
TEST(Summary, OfAMixHasALineForEachApplication) {
  Report report = report_of({"MT", "FIR"});
  report.machine.loaded.spec.gpu.dram.channels = 2;
  report.result.statistics = {count("app0.accesses", 10),
                              count("app0.cycles", 500),
                              count("app0.instructions", 1000),
                              count("app1.accesses", 20),
                              count("app1.cycles", 1000),
                              count("app1.instructions", 4000),
                              count("gpu0.dram.bus_busy_cycles", 600),
                              count("gpu0.l2_tlb.merges", 20),
                              count("gpu0.l2_tlb.misses", 50)};
  const std::string text = summary(report, Terminal{});
  EXPECT_THAT(text, ::testing::ContainsRegex("GPU 0: MT +500 +1,000 +2\\.00 +10 +30\\.00 +DRAM 60\\.0 %"));
  EXPECT_THAT(text, ::testing::ContainsRegex("GPU 1: FIR +1,000 +4,000 +4\\.00 +20"));
  EXPECT_THAT(text, Not(HasSubstr("bound by"))) << "each has bounds of its own";
}

TEST(Summary, NamesTheComponentsOfLatencyByTheFieldsWords) {
  Report report = report_of({"MT"});
  report.result.statistics = {count("latency.load.count", 10), count("latency.load.dram_cycles", 300),
                              count("latency.load.reply_link_cycles", 600), count("latency.load.total_cycles", 900)};
  const std::string text = summary(report, Terminal{});
  EXPECT_THAT(text, HasSubstr(": 90.0 cycles\n"
                              "    reply on the links  60.0  66.7 %  ██████████████████████████████\n"
                              "    DRAM                30.0  33.3 %  ███████████████\n"));
}

}  // namespace
}  // namespace nearfar::result_test
