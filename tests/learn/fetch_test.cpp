// SPDX-License-Identifier: Apache-2.0
// What brings datasets: sums of files, archives that are unpacked, and pickles, whole and damaged.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"

#include "dataset/new_folder.hpp"
#include "dataset/pickle.hpp"
#include "dataset/sha256.hpp"
#include "dataset/unpack.hpp"
#include "graph/io_support.hpp"

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
  const std::string bytes = sample();
  Pickle pickle(bytes, "sample");
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

// A file with holes, of stored members that take more than a disk has.
TEST(Unpack, MoreThanTheDiskHasIsRefusedBeforeAnythingIsWritten) {
  namespace fs = std::filesystem;
  constexpr std::uint32_t kBytes = 0xfffffff0, kAllOnes = 0xffffffff;
  constexpr std::uint16_t kMembers = 999;
  const graph::TemporaryFolder folder;
  fs::create_directory(folder.file("in"));
  if (fs::space(folder.file("in")).available / kMembers >= kBytes)
    GTEST_SKIP() << "the disk has more than 4 TiB free";
  {
    std::ofstream file(folder.file("a.zip"), std::ios::binary);
    const auto put = [&](auto... values) {
      const auto one = [&](auto value) {
        file.write(reinterpret_cast<const char*>(&value), sizeof(value));
      };
      (one(values), ...);
    };
    using U2 = std::uint16_t;
    using U4 = std::uint32_t;
    using U8 = std::uint64_t;
    const auto name = [](U2 i) { return fmt::format("{:03}", i); };
    const auto place = [](U2 i) { return U8{i} * (30 + 3 + U8{kBytes}); };
    for (U2 i = 0; i < kMembers; ++i) {
      file.seekp(static_cast<std::streamoff>(place(i)));
      put(U4{0x04034b50}, U2{20}, U2{0}, U2{0}, U4{0}, U4{0}, kBytes, kBytes, U2{3}, U2{0});
      file << name(i);
    }
    const U8 begin = place(kMembers);
    file.seekp(static_cast<std::streamoff>(begin));
    for (U2 i = 0; i < kMembers; ++i) {
      put(U4{0x02014b50}, U2{45}, U2{45}, U2{0}, U2{0}, U4{0}, U4{0}, kBytes, kBytes, U2{3}, U2{12},
          U2{0}, U2{0}, U2{0}, U4{0}, kAllOnes);
      file << name(i);
      put(U2{1}, U2{8}, place(i));
    }
    const auto end = static_cast<U8>(file.tellp());
    put(U4{0x06064b50}, U8{44}, U2{45}, U2{45}, U4{0}, U4{0}, U8{kMembers}, U8{kMembers},
        end - begin, begin);
    put(U4{0x07064b50}, U4{0}, end, U4{1});
    put(U4{0x06054b50}, U2{0}, U2{0}, U2{0xffff}, U2{0xffff}, kAllOnes, kAllOnes, U2{0});
    if (!file.flush()) GTEST_SKIP() << "the file system has no files of 4 TiB";
  }
  EXPECT_THAT([&] { unpack(folder.file("a.zip"), folder.file("in")); },
              testing::ThrowsMessage<InputError>(
                  testing::AllOf(testing::HasSubstr("a.zip"), testing::HasSubstr("free"))));
  EXPECT_TRUE(fs::is_empty(folder.file("in")));
}

TEST(NewFolder, TakesThePlaceOfAnother) {
  namespace fs = std::filesystem;
  const graph::TemporaryFolder root;
  const auto count = [&] {
    return std::distance(fs::directory_iterator(root.file("")), fs::directory_iterator());
  };
  for (const char* text : {"one", "two"}) {
    NewFolder folder(root.file(""), "set");
    NewFolder beside(root.file(""), "set");  // Of the same process, too.
    graph::write_bytes((folder.path() / "text").string(), text);
    folder.move_to(root.file("set"));
    std::string found;
    std::ifstream(root.file("set/text")) >> found;
    EXPECT_EQ(found, text);
  }
  EXPECT_EQ(count(), 1);
}

// 80 KB that would be 200,000,000 edges, or gigabytes of names.
TEST(Pickle, WhatIsTakenIsInProportionToTheBytes) {
  using namespace std::string_literals;
  std::string name = "\x80\x04X\x40\x9c\0\0"s + std::string(40000, 'a') + "q\0000"s;
  for (int i = 0; i < 10000; ++i) name += "h\0h\0\x93\060"s;
  EXPECT_THROW(Pickle(name + "}.", "names"), InputError);
  EXPECT_THROW(Pickle("\x80\x02K\x05K\x06"s + "a."s, "no list"), InputError);
  EXPECT_THROW(Pickle("\x80\x02]K\x05K\x06s."s, "no dictionary"), InputError);
}

}  // namespace
}  // namespace warren::learn
