// SPDX-License-Identifier: Apache-2.0
// fmt's own code, compiled once: header-only it makes every file that formats a third slower to
// compile, and as a library it would be one more to install (and Debian has no static one).
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {
template FMT_API auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl<char>(locale_ref) -> char;
}  // namespace detail
FMT_END_NAMESPACE
