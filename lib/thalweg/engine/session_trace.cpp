// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/session_trace.hpp>

#include <thalweg/protocol/json.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace thalweg {

namespace {

using trace::errc;
using trace::session_file;

auto done() {
    return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<session_file> find_newest(const std::string& traces, std::string_view session) {
    if (session != "latest") return trace::newest_file(traces, session);
    BOOST_OUTCOME_TRY(auto latest, trace::latest_session(traces));
    if (latest) return std::move(*latest);
    return failure(errc::not_found,
                   "the trace folder " + traces + " holds no session that has said anything");
}

/// Of session_meta as it was read, for a member that this version has no name for.
result<void> check_version(const std::string& path, const message& meta) {
    const std::string line = to_json(meta);
    const auto parsed = json::parse(line);
    const auto payload = parsed ? parsed.value().find("payload") : std::nullopt;
    const auto found = payload ? payload->find("trace_version") : std::nullopt;
    if (!found || found->as_int().value_or(trace_version + 1) <= trace_version) return done();
    return failure(errc::newer, "trace " + path + " is of version " + std::string(found->raw()) +
                                    ", and this library knows " + std::to_string(trace_version) +
                                    "; go on with the version that wrote it, or a later one");
}

result<void> check_identity(const session_file& where, const session_meta& meta) {
    if (meta.session_id == where.session_id) return done();
    return failure(errc::foreign,
                   "trace " + where.path() + " is of the session \"" + meta.session_id.str() +
                       "\" by its session_meta, but named for another one; give the file its name back, or "
                       "import it as a session of its own");
}

result<void> check_workspace(const session_meta& meta) {
    const std::string path = meta.workspace.str();
    std::error_code why;
    if (path.empty() || std::filesystem::is_directory(path, why)) return done();
    return failure(errc::not_found, "the workspace " + path + " of session " + meta.session_id.str() +
                                        " is not there any more; put it back to go on with the session");
}

struct file_contents {
    std::vector<message> records;
    std::vector<session_damage> damages;
    std::size_t damage_count = 0;
};

bool is_of_the_line(const std::error_code& why) {
    return why == errc::malformed || why == errc::torn_tail || why == errc::too_long;
}

result<file_contents> read_file(const std::string& path) {
    BOOST_OUTCOME_TRY(auto from, trace::reader::open(path));
    file_contents all;
    while (auto e = from.next()) {
        if (e->content) {
            all.records.push_back(std::move(e->content).value());
            continue;
        }
        if (!is_of_the_line(e->content.error().code()))
            return std::move(e->content).error(); // the disk, not the line
        if (++all.damage_count <= stored_session::max_damages)
            all.damages.push_back({path, {e->line, e->offset, std::move(e->content).error()}});
    }
    if (all.records.empty() && all.damage_count > 0) {
        return failure(errc::foreign, "trace " + path + " is none: of its " +
                                          std::to_string(all.damage_count) + " lines not one is a record (" +
                                          to_string(all.damages.front()) + ")");
    }
    return all;
}

/// What earlier files know that the newest one need not.
struct earlier_files {
    std::vector<text> call_ids; // of the oldest file first
    std::optional<token_counts> usage;
    std::optional<message> meta;
};

void read_earlier(earlier_files& into, const std::string& path) {
    auto opened = trace::reader::open(path);
    if (!opened) return;
    while (const auto e = opened.value().next()) {
        if (!e->content) continue;
        const message& m = e->content.value();
        if (m.kind() == kind::tool_call) into.call_ids.push_back(m.tool_call_id());
        if (m.kind() == kind::session_meta) into.meta = m;
        if (const auto* used = m.event_if<token_usage>()) into.usage = used->session;
    }
}

earlier_files read_earlier(session_file where) {
    earlier_files all;
    const int newest = where.index;
    for (where.index = 1; where.index < newest; ++where.index)
        read_earlier(all, where.path());
    return all;
}

/// A rotation writes the head and the first record at once; a crash may still let only the head reach the
/// disk.
bool is_only_head(const std::vector<message>& records) {
    return std::all_of(records.begin(), records.end(), [](const message& m) {
        return m.kind() == kind::session_meta || m.kind() == kind::tool_list_ready ||
               m.kind() == kind::trace_fault;
    });
}

/// The summary that the file before the newest one ends with, where the newest one has not got it.
std::optional<message> summary_before(session_file where) {
    --where.index;
    const auto before = read_file(where.path());
    return before ? resume(before.value().records).pending_summary : std::nullopt;
}

void complete(resumed_state& state, const session_file& where, const std::vector<message>& records) {
    if (where.index == 1) return;
    state.came_from_compaction = true;
    earlier_files earlier = read_earlier(where);
    earlier.call_ids.insert(earlier.call_ids.end(), state.call_ids.begin(), state.call_ids.end());
    state.call_ids = std::move(earlier.call_ids);
    const bool has_usage = std::any_of(records.begin(), records.end(),
                                       [](const message& m) { return m.kind() == kind::token_usage; });
    if (!has_usage && earlier.usage) state.usage = *earlier.usage;
    if (!state.meta && earlier.meta) {
        state.meta = *earlier.meta->event_if<session_meta>();
        state.head.insert(state.head.begin(), *earlier.meta);
    }
    if (is_only_head(records)) state.pending_summary = summary_before(where);
}

result<stored_session> load(session_file where) {
    BOOST_OUTCOME_TRY(auto contents, read_file(where.path()));
    stored_session made;
    made.state = resume(contents.records);
    complete(made.state, where, contents.records);
    if (!made.state.meta) {
        return failure(errc::foreign,
                       "trace " + where.path() +
                           " has no session_meta, so nothing tells its model and its workspace; what it "
                           "holds can still be shown, but not gone on with");
    }
    BOOST_OUTCOME_TRYV(check_version(where.path(), made.state.head.front()));
    BOOST_OUTCOME_TRYV(check_identity(where, *made.state.meta));
    made.where = std::move(where);
    made.damages = std::move(contents.damages);
    made.damage_count = contents.damage_count;
    return made;
}

} // namespace

std::string to_string(const session_damage& of) {
    return of.file + ":" + std::to_string(of.what.line) + ": " + of.what.why.message();
}

result<stored_session> load_session(const std::string& traces, std::string_view session) {
    BOOST_OUTCOME_TRY(auto where, find_newest(traces, session));
    return load(std::move(where));
}

result<reopened_session> reopen_session(const std::string& traces, std::string_view session,
                                        reopen_options options) {
    BOOST_OUTCOME_TRY(auto where, find_newest(traces, session));
    for (;;) {
        BOOST_OUTCOME_TRY(auto sink, trace::file_sink::open(where));
        // Until now another process may have gone on with the session, in a further file.
        BOOST_OUTCOME_TRY(auto newest, trace::newest_file(traces, where.session_id));
        if (newest.index != where.index) {
            where = std::move(newest);
            continue;
        }
        BOOST_OUTCOME_TRY(auto stored, load(where));
        if (options.needs_workspace) {
            BOOST_OUTCOME_TRYV(check_workspace(*stored.state.meta));
        }
        sink->learn_head(stored.state.head);
        if (stored.state.context_closed) sink->rotate();
        return reopened_session{.stored = std::move(stored), .sink = std::move(sink)};
    }
}

} // namespace thalweg
