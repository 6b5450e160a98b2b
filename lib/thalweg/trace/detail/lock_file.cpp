// SPDX-License-Identifier: BSL-1.0

#include <thalweg/trace/detail/lock_file.hpp>
#include <thalweg/trace/errors.hpp>

#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace thalweg::trace::detail {

namespace {

auto cannot_lock(const std::string& path, int number) {
    const std::error_code why(number, std::generic_category());
    return failure(why, "trace: the lock file " + path + " cannot be made: " + why.message() +
                            "; choose a folder that can be written");
}

auto refuse(int descriptor, const std::string& path, const std::string& what) {
    std::array<char, 16> written{};
    const ssize_t size = ::pread(descriptor, written.data(), written.size(), 0);
    long holder = 0;
    if (size > 0) std::from_chars(written.data(), written.data() + size, holder);
    std::string who = "another process";
    if (holder == ::getpid())
        who = "this process itself (" + std::to_string(holder) + ")";
    else if (holder > 0)
        who = "process " + std::to_string(holder);
    return failure(errc::locked, "trace: " + what + " is being written by " + who + ", which holds " + path +
                                     "; a session has one writer at a time");
}

// Whoever held the lock before may have removed the file between our opening and our locking it.
bool is_still_there(int descriptor, const std::string& path) {
    struct stat ours{};
    struct stat named{};
    return ::fstat(descriptor, &ours) == 0 && ::stat(path.c_str(), &named) == 0 &&
           ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

// The name is a help for people; the lock holds without it.
void write_holder(int descriptor) {
    const std::string line = std::to_string(::getpid()) + "\n";
    if (::ftruncate(descriptor, 0) == 0) static_cast<void>(::pwrite(descriptor, line.data(), line.size(), 0));
}

} // namespace

result<lock_file> lock_file::acquire(std::string path, const std::string& what) {
    for (;;) {
        const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (descriptor < 0) return cannot_lock(path, errno);
        if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
            const int number = errno;
            if (number == EWOULDBLOCK) {
                auto refused = refuse(descriptor, path, what);
                ::close(descriptor);
                return refused;
            }
            ::close(descriptor);
            if (number == EINTR) continue;
            return cannot_lock(path, number);
        }
        if (is_still_there(descriptor, path)) {
            write_holder(descriptor);
            return lock_file(std::move(path), descriptor);
        }
        ::close(descriptor);
    }
}

lock_file::~lock_file() {
    if (descriptor_ < 0) return;
    ::unlink(path_.c_str());
    ::close(descriptor_);
}

} // namespace thalweg::trace::detail
