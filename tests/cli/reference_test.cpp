// The reference: that everything there is stands in it, as it is declared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "cli/listed_statistics.h"
#include "cli/markdown.h"
#include "cli/process.h"
#include "cli/reference_pages.h"
#include "config/schema.h"
#include "config/system_spec.h"
#include "designs/design.h"
#include "machine/system_file.h"
#include "report/claims_file.h"
#include "study/study_file.h"
#include "workload/catalog.h"

namespace nearfar::reference_test {
namespace {

using ::testing::HasSubstr;
using testing::nearfar;
using testing::ScratchFolder;

const std::string& page(const std::string& name) {
  static const std::map<std::string, std::string> pages = [] {
    setenv("NEARFAR_SYSTEMS", NEARFAR_SOURCE_DIR "/systems", 1);
    setenv("NEARFAR_STUDIES", NEARFAR_SOURCE_DIR "/studies", 1);
    setenv("NEARFAR_CLAIMS", NEARFAR_SOURCE_DIR "/claims", 1);
    std::map<std::string, std::string> out;
    for (const ReferencePage& made : reference_pages()) out[made.name] = made.text;
    return out;
  }();
  return pages.at(name);
}

bool has_row(const std::string& name, const std::string& what) {
  return page(name).find("| `" + what + "`") != std::string::npos ||
         page(name).find(", `" + what + "` |") != std::string::npos;
}

bool has_heading(const std::string& name, const std::string& what) {
  return page(name).find("\n## `" + what + "`\n") != std::string::npos;
}

TEST(Reference, HasEveryParameterOfSystems) {
  SystemSpec spec;
  const Schema schema(spec);
  ASSERT_GT(schema.parameters().size(), 100U);
  for (const Parameter& parameter : schema.parameters()) {
    EXPECT_TRUE(has_row("parameters.md", parameter.path)) << parameter.path;
  }
}

TEST(Reference, HasEveryStatistic) {
  for (const StatInfo& stat : statistics_of_runs_and_passes()) {
    EXPECT_TRUE(has_row("statistics.md", stat.name)) << stat.name;
  }
}

TEST(Reference, HasEveryDesignWithItsParameters) {
  for (const Design& design : all_designs()) {
    EXPECT_TRUE(has_heading("designs.md", design.name)) << design.name;
    EXPECT_THAT(page("designs.md"), HasSubstr(markdown::plain(design.sentence)));
  }
  EXPECT_TRUE(has_row("designs.md", "next_page.degree"));
  EXPECT_TRUE(has_row("designs.md", "gpus.next_page.useful"));
  EXPECT_THAT(page("designs.md"), HasSubstr("Paper: A. Jaleel, K. B. Theobald,"));
}

TEST(Reference, HasEverySystemWorkloadStudyAndClaim) {
  for (const SystemSummary& system : list_systems()) EXPECT_TRUE(has_heading("systems.md", system.name)) << system.name;
  for (const WorkloadInfo& info : catalog()) EXPECT_TRUE(has_heading("workloads.md", info.name)) << info.name;
  for (const StudySummary& study : list_studies()) EXPECT_TRUE(has_row("studies.md", study.name)) << study.name;
  for (const Paper& paper : read_papers()) {
    EXPECT_FALSE(paper.paper.empty()) << paper.id;
    for (const Claim& claim : paper.claims) EXPECT_TRUE(has_row("claims.md", claim.id)) << claim.id;
  }
  EXPECT_THAT(page("systems.md"), HasSubstr("| `gpus` | `8` | `4` | systems/ring-8gpu.yaml:"));
}

TEST(Reference, IsWrittenIntoAFolder) {
  const ScratchFolder scratch;
  const auto ran = nearfar("reference -o " + scratch.file("new/reference"));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(testing::read_file(scratch.file("new/reference/index.md")), HasSubstr("[Parameters](parameters.md)"));
  EXPECT_THAT(nearfar("reference").err, HasSubstr("`nearfar reference` needs a folder: -o FOLDER."));
  EXPECT_THAT(nearfar("reference -o /dev/null/x").err, HasSubstr("The folder `/dev/null/x` cannot be made"));
}

TEST(Markdown, TextStandsForItself) {
  EXPECT_EQ(markdown::plain("a|b <c> & d*e_f [g]"), "a\\|b &lt;c&gt; &amp; d\\*e\\_f \\[g\\]");
  EXPECT_EQ(markdown::code("a|b"), "`a\\|b`");
  EXPECT_EQ(markdown::table({"x", "y"}, {{"1", "2"}}), "| x | y |\n| --- | --- |\n| 1 | 2 |\n");
}

}  // namespace
}  // namespace nearfar::reference_test
