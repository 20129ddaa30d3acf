// Publications: that each is whole, and that everything that names one names one that is there.
#include "config/bibliography.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "config/error.h"
#include "designs/design.h"
#include "machine/system_file.h"
#include "workload/catalog.h"
#include "workload/suites.h"

namespace nearfar::bibliography_test {
namespace {

using ::testing::HasSubstr;

TEST(Bibliography, EveryPublicationHasAllOfItsParts) {
  ASSERT_GT(bibliography().size(), 20U);
  for (const Publication& publication : bibliography()) {
    EXPECT_FALSE(publication.authors.empty() || publication.title.empty() || publication.venue.empty())
        << publication.key;
    // A kit of sample programs has no year.
    EXPECT_TRUE(publication.year >= 1980 || publication.key == "amd-app-sdk") << publication.key;
  }
}

TEST(Bibliography, CitesInFullAndForTables) {
  EXPECT_EQ(citation("asap"),
            "A. Margaritov, D. Ustiugov, E. Bugnion and B. Grot, \"Prefetched Address Translation\", MICRO 2019");
  EXPECT_EQ(short_citation("asap"), "Margaritov et al., MICRO 2019");
  EXPECT_EQ(short_citation("sequential-prefetching"), "Smith, ACM Computing Surveys 14(3) 1982");
  EXPECT_EQ(short_citation("nvls"), "NVIDIA, white paper 2022");
  EXPECT_EQ(short_citation("amd-app-sdk"), "Advanced Micro Devices, sample programs");
  EXPECT_EQ(citation(""), "");
  EXPECT_EQ(citation("A. Author, \"A title\", ISCA 2030"), "A. Author, \"A title\", ISCA 2030");
}

TEST(Bibliography, AKeyThatIsUnknownIsAnErrorThatNamesTheNearest) {
  try {
    citation("idyl");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("There is no publication `idyl` in the bibliography. Did you mean `idyll`?"));
  }
  EXPECT_THROW(load_system_text("base: ideal-4gpu\ndescription: One.\npaper: idyl\n", "one.yaml", {}), InputError);
  EXPECT_NO_THROW(load_system_text("base: ideal-4gpu\ndescription: One.\npaper: idyll\n", "one.yaml", {}));
}

/// Designs that are this project's own, or common to the field.
constexpr std::array<std::string_view, 6> kOwnDesigns = {"access-counter", "first-touch", "mig-packing",
                                                         "mig-static",     "on-touch",    "replication"};

TEST(Bibliography, DesignsNameTheirPapers) {
  for (const Design& design : all_designs()) {
    const bool own = std::ranges::find(kOwnDesigns, design.name) != kOwnDesigns.end();
    EXPECT_EQ(design.paper.empty(), own || design.name == "write-combining") << design.name;
  }
}

TEST(Bibliography, SuitesOfWorkloadsNameTheirPapers) {
  for (const WorkloadInfo& info : catalog()) {
    EXPECT_EQ(suite_paper(info.suite).empty(), info.suite == "collectives") << info.suite;
    EXPECT_NO_THROW(citation(suite_paper(info.suite))) << info.suite;
  }
}

}  // namespace
}  // namespace nearfar::bibliography_test
