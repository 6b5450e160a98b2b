// SPDX-License-Identifier: BSL-1.0

#pragma once

// What the tests of this room share: a folder that goes away, files as strings, a run's messages, a sink
// driven without ceremony, and system calls that fail on command.

#include "support/catch.hpp"

#include <thalweg/testing/virtual_loop.hpp>
#include <thalweg/trace/detail/append_file.hpp>
#include <thalweg/trace/detail/file_ops.hpp>
#include <thalweg/trace/file_sink.hpp>

#include <cerrno>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <unistd.h>

namespace thalweg::testing {

class temporary_folder {
public:
    temporary_folder() {
        std::string form = (std::filesystem::temp_directory_path() / "thalweg-trace-XXXXXX").string();
        if (::mkdtemp(form.data()) == nullptr) FAIL("no temporary folder");
        path_ = form;
    }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    ~temporary_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] std::string file(std::string_view name) const {
        return (std::filesystem::path(path_) / name).string();
    }

private:
    std::string path_;
};

inline std::string bytes_of(std::string_view path) {
    std::ifstream in(std::string(path), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_bytes(std::string_view path, std::string_view bytes) {
    std::ofstream out(std::string(path), std::ios::binary | std::ios::trunc);
    out << bytes;
}

inline result<void> write(trace::sink& to, std::span<const message> messages) {
    virtual_loop on;
    return on.run(to.write(messages));
}

inline result<void> write(trace::sink& to, std::initializer_list<message> messages) {
    return write(to, std::span(messages.begin(), messages.size()));
}

inline message note(std::string_view body) {
    return message::user_text(text(body)).with_timestamp(1);
}

inline std::string line(const message& m) {
    return to_json(m) + "\n";
}

inline std::string lines(std::span<const message> messages) {
    std::string all;
    for (const message& m : messages)
        if (m.is_recordable()) all += line(m);
    return all;
}

inline message sample_meta(std::string_view id = "s1") {
    struct session_meta meta;
    meta.session_id = text(id);
    meta.provider = "scripted";
    meta.model_id = "m";
    meta.agent_state = "/state";
    meta.workspace = "/work";
    return message::session_meta(std::move(meta)).with_timestamp(1);
}

inline message sample_tools() {
    return message::event(tool_list_ready()).with_timestamp(1);
}

/// A run of one request with one call, as it stands on a stream: frames and a child's message among the rest.
inline std::vector<message> sample_run(std::string_view call_id = "c1") {
    const text id(call_id);
    token_usage usage;
    usage.session.total = usage.request.total = 7;
    std::vector<message> made{
        message::request_begin(),
        message::partial_tool_call(frame::start, id, "t"),
        message::partial_tool_call(frame::delta, id, {}, "{}"),
        message::partial_tool_call(frame::stop, id),
        message::tool_call("t", "{}", id),
        message::approval_decision(decision::allow, id),
        message::assistant_text("of a child").with_origin_prefix("child"),
        message::event(usage),
        message::event(request_end()),
        message::partial_tool_call_output(frame::start, id),
        message::partial_tool_call_output(frame::delta, id, "done"),
        message::partial_tool_call_output(frame::stop, id),
        message::tool_call_output("done", id),
    };
    for (message& m : made)
        m.stamp(1);
    return made;
}

/// The real system calls, counted, with faults in front of them.
class faulty_ops final : public trace::detail::file_ops {
public:
    struct fault {
        int number = 0;        ///< errno; 0: none
        std::size_t taken = 0; ///< of a write without errno: how many bytes are really written
    };

    /// What the next calls of that name do instead, in order: open, write, read, state.
    std::map<std::string, std::deque<fault>> faults;
    /// What every write does when no other fault is due, once set.
    std::optional<fault> every_write;
    std::vector<std::string> written; ///< the bytes of each write call that reached the file
    std::size_t write_calls = 0;

    int open_append(const char* path) override { return fails("open") ? -1 : file_ops::open_append(path); }

    ssize_t write(int descriptor, const void* bytes, std::size_t count) override {
        ++write_calls;
        std::optional<fault> now = take("write");
        if (!now) now = every_write;
        if (now && now->number != 0) {
            errno = now->number;
            return -1;
        }
        if (now) count = std::min(count, now->taken);
        written.emplace_back(static_cast<const char*>(bytes), count);
        return count == 0 ? 0 : file_ops::write(descriptor, bytes, count);
    }

    ssize_t read_at(int descriptor, void* bytes, std::size_t count, std::uint64_t offset) override {
        return fails("read") ? -1 : file_ops::read_at(descriptor, bytes, count, offset);
    }

    /// Time in which nobody would notice that the file was taken away.
    bool stands_still = false;
    std::int64_t now_ms() noexcept override {
        now_ms_ += stands_still ? 0 : trace::detail::append_file::look_every_ms;
        return now_ms_;
    }

    int state(const char* path, trace::detail::file_state& found) override {
        return fails("state") ? -1 : file_ops::state(path, found);
    }

private:
    std::int64_t now_ms_ = 0;

    std::optional<fault> take(const std::string& call) {
        auto& queue = faults[call];
        if (queue.empty()) return std::nullopt;
        const fault first = queue.front();
        queue.pop_front();
        return first;
    }
    bool fails(const std::string& call) {
        const auto now = take(call);
        if (!now || now->number == 0) return false;
        errno = now->number;
        return true;
    }
};

inline std::unique_ptr<trace::file_sink> open_sink(const std::string& path,
                                                   trace::file_sink_options options = {}) {
    auto opened = trace::file_sink::open(path, std::move(options));
    if (!opened) FAIL(opened.error().message());
    return std::move(opened).value();
}

inline std::unique_ptr<trace::file_sink> open_sink(const std::string& path, faulty_ops& system) {
    return open_sink(path, trace::file_sink_options{.head = {}, .system = &system});
}

} // namespace thalweg::testing
