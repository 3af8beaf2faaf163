// SPDX-License-Identifier: Apache-2.0
// What brings datasets: sums of files, and pickles, whole and damaged.
#include <gtest/gtest.h>

#include "warren/core/error.hpp"

#include "learn/pickle.hpp"
#include "learn/sha256.hpp"

namespace warren::learn {
namespace {

std::string sum_of(std::string_view text) {
  Sha256 sum;
  sum.add(text);
  return sum.digest();
}

TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ(sum_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sum_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sum_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  const std::string million(1000000, 'a');
  const std::string expected = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
  EXPECT_EQ(sum_of(million), expected);
  // In parts of every length around a block's.
  for (std::size_t part = 1; part < 130; part += 7) {
    Sha256 sum;
    for (std::size_t at = 0; at < million.size(); at += part)
      sum.add(std::string_view(million).substr(at, part));
    EXPECT_EQ(sum.digest(), expected) << part;
  }
}

/// An int32 array [[1, 2], [3, 4]] and a dictionary {"a": [it, 70000, -3, 1.5, None, True]}, as
/// Python 2 pickles them.
std::string sample() {
  using namespace std::string_literals;
  const std::string elements = "\x01\0\0\0\x02\0\0\0\x03\0\0\0\x04\0\0\0"s;
  const std::string array =
      "cnumpy.core.multiarray\n_reconstruct\nq\x01"s
      "cnumpy\nndarray\nK\0\x85U\x01"s
      "b\x87Rq\x02(K\x01K\x02K\x02\x86"s
      "cnumpy\ndtype\nU\x02i4K\0K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb\x89"s
      "U\x10"s +
      elements + "tb"s;
  return "\x80\x02}q\0U\x01"s + "a]q\x05("s + array +
         "J\x70\x11\x01\0\x8a\x01\xfdG\x3f\xf8\0\0\0\0\0\0N\x88h\x02"s + "es."s;
}

TEST(Pickle, IsReadAsData) {
  Pickle pickle(sample(), "sample");
  const PickleNode* list = pickle.root().find("a");
  ASSERT_NE(list, nullptr);
  ASSERT_EQ(list->items.size(), 7u);
  const auto array = pickle.array(list->items[0], "it");
  EXPECT_EQ(array.type(), "i4");
  EXPECT_EQ(array.shape, (std::vector<std::uint64_t>{2, 2}));
  for (std::uint64_t i = 0; i < 4; ++i)
    EXPECT_EQ(array.at<std::int32_t>(i), static_cast<std::int32_t>(i + 1));
  EXPECT_EQ(list->items[1]->integer, 70000);
  EXPECT_EQ(list->items[2]->integer, -3);
  EXPECT_EQ(list->items[3]->real, 1.5);
  EXPECT_EQ(list->items[4]->kind, PickleNode::Kind::none);
  EXPECT_EQ(list->items[5]->integer, 1);
  EXPECT_EQ(list->items[6], list->items[0]);
  EXPECT_EQ(pickle.root().find("b"), nullptr);
  EXPECT_THROW((void)pickle.array(list->items[1], "a number"), InputError);
  EXPECT_THROW((void)pickle.array(nullptr, "nothing"), InputError);
}

TEST(Pickle, CutOffIsRefusedAtEveryByte) {
  const std::string whole = sample();
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    // In memory of its own, so that reading past the end is seen.
    const std::vector<char> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut));
    EXPECT_THROW(Pickle({part.data(), part.size()}, "cut"), InputError) << cut;
  }
}

TEST(Pickle, DamagedIsReadOrRefused) {
  const std::string whole = sample();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::vector<char> changed(whole.begin(), whole.end());
      changed[at] = static_cast<char>(value);
      try {
        Pickle pickle({changed.data(), changed.size()}, "changed");
        const PickleNode* list = pickle.root().find("a");
        if (list == nullptr) continue;
        for (const PickleNode* item : list->items) (void)pickle.array(item, "it");
      } catch (const InputError&) {
      }
    }
  }
}

}  // namespace
}  // namespace warren::learn
