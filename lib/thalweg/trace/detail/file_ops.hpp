// SPDX-License-Identifier: BSL-1.0

#pragma once

// The system calls that the writer makes, as an interface, so that a test can let each of them fail. They
// keep the form of the system: -1 and errno. For the sources and tests of this room only.

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

namespace thalweg::trace::detail {

/// What tells one file from another, and its length in bytes.
struct file_state {
    dev_t device = 0;
    ino_t number = 0;
    bool is_regular = false; ///< else it has no length and no bytes to look back at: a pipe, a device
    std::uint64_t size = 0;
};

class file_ops {
public:
    virtual ~file_ops() = default;

    /// Opens for appending and reading, creates the file if there is none; never inherited by child
    /// processes.
    virtual int open_append(const char* path);
    virtual ssize_t write(int descriptor, const void* bytes, std::size_t count);
    virtual ssize_t read_at(int descriptor, void* bytes, std::size_t count, std::uint64_t offset);
    /// The file of that name now, which need not be the one that is open.
    virtual int state(const char* path, file_state& found);
    virtual int close(int descriptor);
    /// Milliseconds of a clock that only goes forward; a few milliseconds coarse, so that reading it is
    /// cheap.
    virtual std::int64_t now_ms() noexcept;

    /// The real ones.
    static file_ops& system() noexcept;
};

} // namespace thalweg::trace::detail
