// SPDX-License-Identifier: BSL-1.0

#include <thalweg/trace/detail/file_ops.hpp>

#include <ctime>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace thalweg::trace::detail {

// What people say to an agent is nobody else's to read.
int file_ops::open_append(const char* path) {
    return ::open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

ssize_t file_ops::write(int descriptor, const void* bytes, std::size_t count) {
    return ::write(descriptor, bytes, count);
}

ssize_t file_ops::read_at(int descriptor, void* bytes, std::size_t count, std::uint64_t offset) {
    return ::pread(descriptor, bytes, count, static_cast<off_t>(offset));
}

// Asks for no times: after somebody looked at them, Linux has more to do in the next append.
int file_ops::state(const char* path, file_state& found) {
    struct statx seen{};
    if (::statx(AT_FDCWD, path, 0, STATX_TYPE | STATX_INO | STATX_SIZE, &seen) != 0) return -1;
    found = {.device = makedev(seen.stx_dev_major, seen.stx_dev_minor),
             .number = seen.stx_ino,
             .is_regular = S_ISREG(seen.stx_mode),
             .size = seen.stx_size};
    return 0;
}

int file_ops::close(int descriptor) {
    return ::close(descriptor);
}

std::int64_t file_ops::now_ms() noexcept {
    struct timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return std::int64_t(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

file_ops& file_ops::system() noexcept {
    static file_ops real;
    return real;
}

} // namespace thalweg::trace::detail
