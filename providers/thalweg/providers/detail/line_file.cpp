// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/detail/line_file.hpp>

#include <cerrno>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace thalweg::providers::detail {

namespace {

/// Keeps other writers of this class out of the file.
class locked {
public:
    explicit locked(int descriptor) noexcept : descriptor_(descriptor) {
        while (::flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {}
    }
    locked(const locked&) = delete;
    ~locked() { ::flock(descriptor_, LOCK_UN); }

private:
    int descriptor_;
};

} // namespace

line_file::~line_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

error line_file::says(std::string_view what, int code) const {
    const std::error_code why(code, std::generic_category());
    return error(why, path_ + " cannot be " + std::string(what) + ": " + why.message());
}

result<void> line_file::open() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1)); // could not be emptied the last time
    const auto folder = std::filesystem::path(path_).parent_path();
    std::error_code why;
    if (!folder.empty()) std::filesystem::create_directories(folder, why);
    if (why) {
        return failure(why, "the folder " + folder.string() + " cannot be made: " + why.message() +
                                "; choose one that can be written");
    }
    // What people say to a model is nobody else's to read.
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor_ < 0) return says("opened for writing", errno);
    if (how_ == start::anew) {
        const locked alone(descriptor_);
        if (::ftruncate(descriptor_, 0) != 0 && errno != EINVAL)
            return says("emptied", errno); // EINVAL: a pipe
    }
    how_ = start::append;
    return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<void> line_file::append(std::string_view line) {
    if (descriptor_ < 0 || how_ == start::anew) {
        BOOST_OUTCOME_TRYV(open());
    }
    std::string bytes;
    bytes.reserve(line.size() + 2);
    const locked alone(descriptor_);
    struct ::stat now{};
    char last = '\n';
    if (::fstat(descriptor_, &now) == 0 && S_ISREG(now.st_mode) && now.st_size > 0) {
        const ssize_t got = ::pread(descriptor_, &last, 1, now.st_size - 1);
        if (got != 1) last = '\n';
    }
    if (last != '\n') bytes += '\n'; // somebody ended within a line
    bytes += line;
    bytes += '\n';
    auto done = write_at_end(bytes);
    if (!done && S_ISREG(now.st_mode)) {
        // If this fails, too, the half stays alone on its line.
        const int taken_back = ::ftruncate(descriptor_, now.st_size);
        static_cast<void>(taken_back);
    }
    return done;
}

result<void> line_file::write_at_end(std::string_view bytes) const {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
        if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
        if (written < 0 && errno != EINTR) return says("written", errno);
        if (written == 0) return says("written", EIO);
    }
    return BOOST_OUTCOME_V2_NAMESPACE::success();
}

} // namespace thalweg::providers::detail
