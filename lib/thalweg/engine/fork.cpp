// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/fork.hpp>

#include <thalweg/engine/detail/session_copy.hpp>
#include <thalweg/engine/resume.hpp>
#include <thalweg/trace/file_sink.hpp>
#include <thalweg/trace/reader.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace thalweg {

namespace {

using trace::errc;
using trace::session_file;
using records = std::vector<message>;

auto done() {
    return BOOST_OUTCOME_V2_NAMESPACE::success();
}

/// The readable records. Errors of the disk are errors here; `strict`: damaged lines too, but for a torn end.
result<records> read_file(const std::string& path, bool strict) {
    BOOST_OUTCOME_TRY(auto from, trace::reader::open(path));
    records all;
    while (auto e = from.next()) {
        if (e->content) {
            all.push_back(std::move(e->content).value());
            continue;
        }
        const error& why = e->content.error();
        const bool is_line = why.code() == errc::malformed || why.code() == errc::too_long;
        if (why.code() == errc::torn_tail || (is_line && !strict)) continue;
        return failure(why.code(), path + ":" + std::to_string(e->line) + ": " + why.message());
    }
    return all;
}

bool is_answer_text(const message& m) {
    return m.kind() == kind::text && m.role() == role::assistant;
}

bool is_input(const message& m) {
    return m.is_complete() && m.role() == role::user && m.kind() != kind::tool_call_output &&
           m.kind() != kind::other_model;
}

/// The answer before `at` asked for tools, so its task is not over.
bool is_owed_before(std::span<const message> all, std::size_t at) {
    while (at > 0 && all[at - 1].kind() != kind::request_begin) {
        if (all[--at].kind() == kind::tool_call) return true;
    }
    return false;
}

/// A prompt, and not what joins a task that is under way: steering, a notice among outputs (R-TRC-41).
bool starts_task(std::span<const message> all, std::size_t at) {
    const message& m = all[at];
    if (!is_input(m) || (at > 0 && is_input(all[at - 1]))) return false;
    if (m.content().view().starts_with("[user_steering]\n")) return false;
    return m.sender() != "harness" || !is_owed_before(all, at);
}

class cut {
public:
    cut(std::span<const message> all, fork_point at) : all_(all), at_(at) {}

    /// How many records stay (R-TRC-40, R-TRC-41).
    [[nodiscard]] result<std::size_t> find() const {
        if (at_.ordinal >= all_.size())
            return refuse("there are only " + std::to_string(all_.size()) + " records");
        const message& answer = all_[at_.ordinal];
        if (!is_answer_text(answer)) return refuse("that is no text of the assistant");
        if (is_in_compaction())
            return refuse("that is the work of a compaction; choose an answer of the conversation");
        std::size_t end = at_.ordinal + 1;
        bool is_committed = false;
        for (; end < all_.size(); ++end) {
            const message& m = all_[end];
            if (m.kind() == kind::compaction_begin || starts_task(all_, end)) break;
            if (is_answer_text(m)) return refuse("the same task says more behind it; choose its last text");
            const auto* request = m.event_if<request_end>();
            if (request == nullptr) continue;
            if (request->status != stop_reason::completed) {
                return refuse("a request behind it was " + std::string(to_string(request->status)));
            }
            is_committed = true;
        }
        if (!is_committed) return refuse("its request was not completed");
        BOOST_OUTCOME_TRYV(check_resume(resume(all_.first(end)), answer));
        return end;
    }

private:
    [[nodiscard]] error refuse(const std::string& why) const {
        return {errc::not_a_fork_point, "the session cannot be forked at record " +
                                            std::to_string(at_.ordinal) + " of its file " +
                                            std::to_string(at_.file) + ": " + why};
    }

    [[nodiscard]] bool is_in_compaction() const {
        bool is_open = false;
        for (const message& m : all_.first(at_.ordinal)) {
            if (m.kind() == kind::compaction_begin) is_open = true;
            if (m.kind() == kind::compaction_end) is_open = false;
        }
        return is_open;
    }

    [[nodiscard]] result<void> check_resume(const resumed_state& state, const message& answer) const {
        if (state.context_closed) return refuse("a compaction closes the file there");
        if (!state.carry_over.empty()) return refuse("something is still owed to the model there");
        const std::string line = to_json(answer);
        const auto is_it = [&line](const message& m) { return is_answer_text(m) && to_json(m) == line; };
        if (std::none_of(state.history.begin(), state.history.end(), is_it))
            return refuse("it is no part of the conversation");
        return done();
    }

    std::span<const message> all_;
    fork_point at_;
};

/// Gives records of one session to another one.
class renaming {
public:
    renaming(std::string from, std::string to, const fork_options& options)
        : from_(std::move(from)),
          to_(std::move(to)),
          folder_(options.scratchpad),
          new_folder_(options.new_scratchpad) {}

    void apply(message& m) const {
        if (m.kind() == kind::session_meta) {
            m = detail::with_changed_payload(m, [this](std::string_view name, std::string& value) {
                if (name == "source") value.clear();
                if (name == "session_id" || name == "system_prompt")
                    detail::replace_in_string(value, from_, to_);
            });
        } else if (is_input(m) && !folder_.empty() &&
                   m.content().view().find(attached_) != std::string_view::npos) {
            m = detail::with_changed_payload(m, [this](std::string_view name, std::string& value) {
                if (name != "text") return;
                detail::replace_in_string(value, std::string(attached_) + folder_ + "/",
                                          std::string(attached_) + new_folder_ + "/");
            });
        }
    }

private:
    static constexpr std::string_view attached_ = "[attached file: ";

    std::string from_;
    std::string to_;
    std::string folder_; // for files of the session's own
    std::string new_folder_;
};

result<void> copy_file(detail::session_copy& into, session_file where, const std::string& new_id,
                       fork_point at, const renaming& rename) {
    BOOST_OUTCOME_TRY(auto all, read_file(where.path(), false));
    if (all.empty() || all.front().kind() != kind::session_meta) {
        return failure(errc::foreign, "trace " + where.path() +
                                          " does not begin with session_meta; a session is forked "
                                          "from whole files only");
    }
    if (where.index == at.file) {
        BOOST_OUTCOME_TRY(const std::size_t kept, cut(all, at).find());
        all.resize(kept);
    }
    for (message& m : all)
        rename.apply(m);
    where.session_id = new_id;
    return into.add(where, all);
}

bool exists(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

} // namespace

result<session_file> fork_session(const std::string& traces, std::string_view session_id, fork_point at,
                                  const fork_options& options) {
    BOOST_OUTCOME_TRY(session_file where, trace::newest_file(traces, session_id));
    std::unique_ptr<trace::file_sink> held; // nobody may write while we read
    if (!options.is_idle) {
        BOOST_OUTCOME_TRY(held, trace::file_sink::open(where));
    }
    const int newest = where.index;
    where.index = at.file;
    if (at.file < 1 || at.file > newest || !exists(where.path())) {
        return failure(errc::not_found, "session " + where.session_id + " has no file " +
                                            std::to_string(at.file) + "; its newest is " +
                                            std::to_string(newest));
    }
    session_file made = where;
    made.session_id = trace::make_session_id(options.now_ms);
    const renaming rename(where.session_id, made.session_id, options);
    detail::session_copy copy;
    for (; where.index >= 1; --where.index) {
        if (!exists(where.path())) continue; // somebody tidied up
        BOOST_OUTCOME_TRYV(copy_file(copy, where, made.session_id, at, rename));
    }
    if (!options.scratchpad.empty() && exists(options.scratchpad)) {
        BOOST_OUTCOME_TRYV(copy.add_folder(options.scratchpad, options.new_scratchpad));
    }
    copy.keep();
    return made;
}

result<session_file> import_trace(const std::string& file, const std::string& traces, std::int64_t now_ms) {
    BOOST_OUTCOME_TRY(const auto all, read_file(file, true));
    const auto* meta = all.empty() ? nullptr : all.front().event_if<session_meta>();
    if (meta == nullptr) {
        return failure(
            errc::foreign,
            file + " does not begin with session_meta, so it is no session's trace; a stream that was "
                   "saved as JSON lines cannot be imported");
    }
    session_file made{.traces = traces,
                      .date = trace::local_date(now_ms),
                      .session_id = meta->session_id.str(),
                      .index = 1};
    const auto known = trace::newest_file(traces, made.session_id);
    if (known) {
        return failure(errc::exists, "session " + made.session_id + " is in " + traces + " already, as " +
                                         known.value().path());
    }
    if (known.error().code() != errc::not_found) return known.error();
    detail::session_copy copy;
    BOOST_OUTCOME_TRYV(copy.add(made, all));
    copy.keep();
    return made;
}

} // namespace thalweg
