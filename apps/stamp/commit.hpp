// SPDX-License-Identifier: Apache-2.0
// The commit of this build, apart from all else: a new commit compiles one small file.
#pragma once

namespace warren::stamp {

/// "e1b7c18c1e05", with "-dirty" behind it where tracked files were changed; "unknown" for sources
/// that lie in no git checkout.
[[nodiscard]] const char* commit() noexcept;

}  // namespace warren::stamp
