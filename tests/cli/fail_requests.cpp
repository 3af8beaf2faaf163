// SPDX-License-Identifier: Apache-2.0
// A library that is loaded before the program (LD_PRELOAD) and lets one request to the system fail:
// the WARREN_FAIL_AT-th of the kind WARREN_FAIL ("new", "malloc", which is all functions of C for
// memory, "map", "thread", "read", which is those at a place in a file), and with WARREN_FAIL_ON
// all after it. As the program ends, the count of requests is written to the descriptor
// WARREN_FAIL_COUNT. Programs that it starts do without the library.
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

// glibc's own names of what is replaced below.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* p, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
}

namespace {

enum class Kind { none, memory, c_memory, map, thread, read };

long number(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atol(text);
}

struct Plan {
  Plan() {
    const char* text = std::getenv("WARREN_FAIL");
    if (text == nullptr) return;
    kind = std::strcmp(text, "new") == 0      ? Kind::memory
           : std::strcmp(text, "malloc") == 0 ? Kind::c_memory
           : std::strcmp(text, "map") == 0    ? Kind::map
           : std::strcmp(text, "read") == 0   ? Kind::read
                                              : Kind::thread;
    at = number("WARREN_FAIL_AT");
    goes_on = number("WARREN_FAIL_ON") != 0;
  }
  Kind kind = Kind::none;
  long at = 0;
  bool goes_on = false;
};

std::atomic<long> count{0};

bool fails(Kind kind) {
  static const Plan plan;
  if (kind != plan.kind) return false;
  const long mine = ++count;
  return plan.at != 0 && (mine == plan.at || (plan.goes_on && mine > plan.at));
}

[[gnu::constructor]] void stay_here() { (void)unsetenv("LD_PRELOAD"); }

[[gnu::destructor]] void tell() {
  const long descriptor = number("WARREN_FAIL_COUNT");
  char text[32];
  const int length = std::snprintf(text, sizeof text, "%ld\n", count.load());
  if (descriptor > 2) (void)!write(static_cast<int>(descriptor), text, static_cast<size_t>(length));
}

template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

void* take(std::size_t bytes, std::size_t alignment) {
  if (fails(Kind::memory)) return nullptr;
  const std::size_t size = bytes == 0 ? 1 : bytes;
  return alignment == 0 ? __libc_malloc(size) : __libc_memalign(alignment, size);
}

template <class Take>
void* take_for_c(Take&& take_it) {
  if (!fails(Kind::c_memory)) return take_it();
  errno = ENOMEM;
  return nullptr;
}

void* take_or_throw(std::size_t bytes, std::size_t alignment = 0) {
  void* taken = take(bytes, alignment);
  if (taken == nullptr) throw std::bad_alloc();
  return taken;
}

}  // namespace

void* operator new(std::size_t bytes) { return take_or_throw(bytes); }
void* operator new[](std::size_t bytes) { return take_or_throw(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return take_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return take_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return take(bytes, 0); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return take(bytes, 0); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }

extern "C" {

void* malloc(size_t bytes) noexcept {
  return take_for_c([&] { return __libc_malloc(bytes); });
}
void* calloc(size_t count, size_t bytes) noexcept {
  return take_for_c([&] { return __libc_calloc(count, bytes); });
}
void* realloc(void* p, size_t bytes) noexcept {
  return take_for_c([&] { return __libc_realloc(p, bytes); });
}
void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  return take_for_c([&] { return __libc_memalign(alignment, bytes); });
}
int posix_memalign(void** p, size_t alignment, size_t bytes) noexcept {
  *p = take_for_c([&] { return __libc_memalign(alignment, bytes); });
  return *p == nullptr ? ENOMEM : 0;
}

void* mmap(void* address, size_t bytes, int protection, int flags, int file,
           off_t offset) noexcept {
  static auto* const system = next<decltype(mmap)>("mmap");
  if (fails(Kind::map)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return system(address, bytes, protection, flags, file, offset);
}

ssize_t pread(int file, void* buffer, size_t bytes, off_t offset) {
  static auto* const system = next<decltype(pread)>("pread");
  if (fails(Kind::read)) {
    errno = EIO;
    return -1;
  }
  return system(file, buffer, bytes, offset);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) noexcept {
  static auto* const system = next<decltype(pthread_create)>("pthread_create");
  return fails(Kind::thread) ? EAGAIN : system(thread, attributes, body, argument);
}
}
