// SPDX-License-Identifier: BSL-1.0

#pragma once

// The right to write a session, held as an advisory lock on a file that names the holder (R-TRC-17). The
// system drops the lock with the process, so what a dead process leaves behind is only a file.
//
// For the sources and tests of this room only.

#include <thalweg/protocol/result.hpp>

#include <string>
#include <utility>

namespace thalweg::trace::detail {

class lock_file {
public:
    /// Does not wait. `what` is what the lock protects, for the sentence.
    /// Errors: errc::locked with the holder's process id; what the system says.
    static result<lock_file> acquire(std::string path, const std::string& what);

    lock_file(lock_file&& other) noexcept
        : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
    lock_file& operator=(lock_file&&) = delete;
    ~lock_file(); ///< removes the file and lets go

private:
    lock_file(std::string path, int descriptor) noexcept : path_(std::move(path)), descriptor_(descriptor) {}

    std::string path_;
    int descriptor_;
};

} // namespace thalweg::trace::detail
