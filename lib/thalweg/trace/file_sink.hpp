// SPDX-License-Identifier: BSL-1.0

#pragma once

// The trace on disk: one JSON record a line, in the order of the stream. Records that come together go out
// with one write call, so nobody ever sees a record that a crash could still lose; none lies in two writes.
//
// What may go wrong stays small: a failed write is the error of that call and nothing else. If it left half a
// record behind, the next one starts on a line of its own; a reader skips the half (R-TRC-13, 14, 15).
//
// Writes on the loop's thread, at once, without suspending. Thread rule: loop thread.

#include <thalweg/trace/errors.hpp>
#include <thalweg/trace/session_files.hpp>
#include <thalweg/trace/sink.hpp>

#include <memory>
#include <string>
#include <vector>

namespace thalweg::trace {

namespace detail {
class file_ops;
}

struct file_sink_options {
    /// session_meta and tool_list_ready as far as they are known already, i.e. when a session goes on. Later
    /// ones are learned from what is written. A file that is begun by rotation starts with them (R-TRC-38).
    std::vector<message> head = {};
    detail::file_ops* system = nullptr; ///< for tests of faults; outlives the sink
};

class file_sink final : public sink {
public:
    /// The trace of a session. Makes the folder `where.traces`; the file itself appears with the first write
    /// (R-TRC-04) and is appended to if it exists. The session is this object's alone until it is destroyed.
    /// Errors: errc::locked names the process that has it (R-TRC-17); errc::bad_name; what the system says
    /// about a folder that cannot be written.
    [[nodiscard]] static result<std::unique_ptr<file_sink>> open(session_file where,
                                                                 file_sink_options options = {});

    /// The same in one file of any name; rotation goes on in `NAME_002.EXTENSION`. Its lock is `PATH.lock`.
    [[nodiscard]] static result<std::unique_ptr<file_sink>> open(std::string path,
                                                                 file_sink_options options = {});

    ~file_sink() override; ///< closes the file and gives the session free, whatever state the disk is in

    /// Writes before it returns, so calls are in order whether or not their tasks are awaited in order
    /// (R-TRC-12); `messages` need not outlive the call. A record without time gets that of the write.
    ///
    /// Errors: what the system says about the file, which the sentence names with the number of records that
    /// are missing; errc::short_write. errc::changed is a warning: the records of this call are written, but
    /// somebody took away or changed what was there before. That is noticed with the first write that comes a
    /// tenth of a second later.
    [[nodiscard]] task<result<void>> write(std::span<const message> messages) override;

    void rotate() override;

    /// Reads all files of the session, those of earlier processes included.
    [[nodiscard]] result<std::vector<message>> read_back() const override;

    /// The same as file_sink_options::head, for records that could only be read once the session was this
    /// object's.
    void learn_head(std::span<const message> known);

    /// The file that the next write goes to; valid until rotate().
    [[nodiscard]] std::string_view path() const noexcept override;

private:
    struct state;
    explicit file_sink(std::unique_ptr<state> made) noexcept;

    std::unique_ptr<state> state_;
};

} // namespace thalweg::trace
