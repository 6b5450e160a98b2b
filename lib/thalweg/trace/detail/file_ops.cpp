// SPDX-License-Identifier: BSL-1.0

#include <thalweg/trace/detail/file_ops.hpp>

#include <fcntl.h>
#include <sys/stat.h>
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

int file_ops::state(const char* path, file_state& found) {
    struct stat seen{};
    if (::stat(path, &seen) != 0) return -1;
    found = {.device = seen.st_dev,
             .number = seen.st_ino,
             .is_regular = S_ISREG(seen.st_mode),
             .size = static_cast<std::uint64_t>(seen.st_size)};
    return 0;
}

int file_ops::close(int descriptor) {
    return ::close(descriptor);
}

file_ops& file_ops::system() noexcept {
    static file_ops real;
    return real;
}

} // namespace thalweg::trace::detail
