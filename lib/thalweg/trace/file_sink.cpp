// SPDX-License-Identifier: BSL-1.0

#include <thalweg/trace/detail/append_file.hpp>
#include <thalweg/trace/detail/head_records.hpp>
#include <thalweg/trace/detail/lock_file.hpp>
#include <thalweg/trace/detail/success.hpp>
#include <thalweg/trace/file_sink.hpp>
#include <thalweg/trace/reader.hpp>

#include <chrono>
#include <filesystem>
#include <utility>

namespace thalweg::trace {

namespace {

constexpr std::size_t kept_buffer = std::size_t(1) << 20; // bytes; a larger one is for one huge record

task<result<void>> resolved(result<void> done) {
    co_return std::move(done);
}

std::int64_t wall_ms() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

// Where the files of one writer lie.
class naming {
public:
    explicit naming(session_file of) : session_(std::move(of)) {}
    explicit naming(std::string path) : single_(std::move(path)) {}

    [[nodiscard]] std::string path() const { return path(session_.index); }
    [[nodiscard]] std::string path(int index) const {
        if (single_.empty()) {
            session_file other = session_;
            other.index = index;
            return other.path();
        }
        if (index == 1) return single_;
        const std::filesystem::path first(single_);
        std::string number = std::to_string(index);
        number.insert(0, number.size() < 3 ? 3 - number.size() : 0, '0');
        auto name = first.stem();
        name += "_" + number;
        name += first.extension();
        return (first.parent_path() / name).string();
    }
    [[nodiscard]] std::string lock_path() const {
        return single_.empty() ? session_.lock_path() : single_ + ".lock";
    }
    [[nodiscard]] std::string subject() const {
        return single_.empty() ? "session " + session_.session_id : "the file " + single_;
    }
    [[nodiscard]] int index() const noexcept { return session_.index; }
    void advance() { ++session_.index; }

private:
    session_file session_;
    std::string single_;
};

result<void> make_folder(const std::filesystem::path& folder) {
    std::error_code why;
    if (!folder.empty()) std::filesystem::create_directories(folder, why);
    if (!why) return detail::success();
    return failure(why, "trace folder " + folder.string() + " cannot be made: " + why.message() +
                            "; choose a folder that can be written");
}

} // namespace

struct file_sink::state {
    naming names;
    detail::lock_file lock; // let go after the file is closed
    detail::append_file file;
    detail::head_records head;
    bool needs_head = false; // if the file turns out to be empty
    std::string lines;
    std::vector<std::size_t> line_ends;

    static result<std::unique_ptr<file_sink>> open(naming names, const file_sink_options& options) {
        std::string lock_path = names.lock_path();
        BOOST_OUTCOME_TRYV(make_folder(std::filesystem::path(lock_path).parent_path()));
        BOOST_OUTCOME_TRY(auto lock, detail::lock_file::acquire(std::move(lock_path), names.subject()));
        auto& system = options.system != nullptr ? *options.system : detail::file_ops::system();
        std::string path = names.path();
        auto made = std::unique_ptr<state>(new state{.names = std::move(names),
                                                     .lock = std::move(lock),
                                                     .file = {std::move(path), system},
                                                     .head = detail::head_records(options.head)});
        return std::unique_ptr<file_sink>(new file_sink(std::move(made)));
    }

    result<void> append(std::span<const message> messages) {
        std::size_t records = 0;
        for (const message& m : messages) {
            records += m.is_recordable() ? 1 : 0;
            head.learn(m);
        }
        if (records == 0) return detail::success();
        auto done = write_records(messages, records);
        needs_head = !done && done.error().code() != errc::changed;
        return done;
    }

    result<void> write_records(std::span<const message> messages, std::size_t records) {
        auto ready = file.prepare();
        if (!ready) {
            return failure(ready.error().code(), ready.error().message() + "; " + std::to_string(records) +
                                                     " records are not in the file");
        }
        const bool begins_file = ready.value().is_empty && (needs_head || !ready.value().changed.empty());
        lines.assign(1, '\n');
        line_ends.clear();
        if (begins_file) {
            for (const message& m : head.before(messages))
                render(m);
        }
        for (const message& m : messages) {
            if (m.is_recordable()) render(m);
        }
        auto done = file.append(lines, line_ends);
        if (lines.capacity() > kept_buffer) lines = std::string();
        if (done && !ready.value().changed.empty()) {
            return failure(errc::changed, "trace " + file.path() + " " + ready.value().changed);
        }
        return done;
    }

    void render(const message& m) {
        if (m.has_timestamp())
            append_json(lines, m);
        else
            append_json(lines, message(m).with_timestamp(wall_ms()));
        lines += '\n';
        line_ends.push_back(lines.size());
    }
};

file_sink::file_sink(std::unique_ptr<state> made) noexcept : state_(std::move(made)) {}
file_sink::~file_sink() = default;

result<std::unique_ptr<file_sink>> file_sink::open(session_file where, file_sink_options options) {
    if (!is_safe_session_id(where.session_id)) {
        return failure(errc::bad_name,
                       "trace: \"" + where.session_id +
                           "\" cannot be a session id: letters, digits, '-', '_' and '.' can");
    }
    return state::open(naming(std::move(where)), options);
}

result<std::unique_ptr<file_sink>> file_sink::open(std::string path, file_sink_options options) {
    return state::open(naming(std::move(path)), options);
}

task<result<void>> file_sink::write(std::span<const message> messages) {
    return resolved(state_->append(messages));
}

void file_sink::rotate() {
    state_->names.advance();
    state_->file.move_to(state_->names.path());
    state_->needs_head = true;
}

result<std::vector<message>> file_sink::read_back() const {
    std::vector<message> all;
    for (int index = 1; index <= state_->names.index(); ++index) {
        auto opened = reader::open(state_->names.path(index));
        if (!opened) {
            // Rotation makes the next file with its first record; an earlier one may have been cleared away.
            if (opened.error().code() == std::errc::no_such_file_or_directory) continue;
            return failure(opened.error().code(), opened.error().message());
        }
        contents file = read_all(opened.value());
        for (record& each : file.records)
            all.push_back(std::move(each.content));
    }
    return all;
}

void file_sink::learn_head(std::span<const message> known) {
    for (const message& m : known)
        state_->head.learn(m);
}

std::string_view file_sink::path() const noexcept {
    return state_->file.path();
}

} // namespace thalweg::trace
