// SPDX-License-Identifier: Apache-2.0
#include "warren/core/shared_library.hpp"

#include <gtest/gtest.h>

namespace warren {
namespace {

TEST(SharedLibrary, FindsFunctionsOfTheFirstThatThereIs) {
  SharedLibrary library({"libwarren-that-is-not-there.so.1", "libm.so.6"});
  EXPECT_EQ(library.reason(), "");
  double (*cosine)(double) = nullptr;
  library.find(cosine, "cos");
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0.0), 1.0);
  EXPECT_EQ(library.reason(), "");
}

TEST(SharedLibrary, SaysWhatIsMissing) {
  SharedLibrary library({"libm.so.6"});
  double (*function)(double) = nullptr;
  library.find(function, "warren_has_no_such_function");
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(library.reason(), "libm.so.6 has no warren_has_no_such_function");
}

TEST(SharedLibrary, SaysWhyItIsNotThere) {
  SharedLibrary library({"libwarren-that-is-not-there.so.1", "libwarren-nor-this.so"});
  EXPECT_NE(library.reason().find("libwarren-that-is-not-there.so.1"), std::string::npos)
      << library.reason();
  void (*function)() = nullptr;
  library.find(function, "anything");
  EXPECT_EQ(function, nullptr);
}

}  // namespace
}  // namespace warren
