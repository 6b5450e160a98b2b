// SPDX-License-Identifier: BSL-1.0

#include "trace_list.hpp"

#include "exit_status.hpp"
#include "printable.hpp"
#include "table.hpp"
#include "trace_target.hpp"

#include <thalweg/engine/resume.hpp>
#include <thalweg/trace/session_files.hpp>

#include <cstdio>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

namespace cli {

using namespace thalweg;

namespace {

constexpr std::size_t prompt_columns = 48;

struct file_contents {
    std::vector<message> records;
    bool is_damaged = false; // but for a torn end, which every crash may leave
};

file_contents read(const std::string& path) {
    file_contents all;
    auto source = open_trace(path);
    all.is_damaged = !source.has_value();
    while (auto entry = source ? source->next() : std::nullopt) {
        if (entry->content)
            all.records.push_back(std::move(entry->content).value());
        else
            all.is_damaged = all.is_damaged || entry->content.error().code() != trace::errc::torn_tail;
    }
    return all;
}

/// The last run ended with `abort`, and nothing came after it.
bool ends_with_abort(std::span<const message> records) {
    bool is_last = false;
    for (const message& m : records) {
        if (m.kind() == kind::abort) is_last = true;
        if (m.kind() == kind::request_begin || (m.kind() == kind::text && m.role() == role::user))
            is_last = false;
    }
    return is_last;
}

std::string state_of(const file_contents& newest) {
    if (newest.is_damaged) return "damaged";
    const resumed_state state = resume(newest.records);
    if (state.context_closed) return "closed";
    if (ends_with_abort(newest.records)) return "interrupted";
    const bool is_done = state.carry_over.empty() && !state.dangling && !state.history.empty();
    return is_done ? "answered" : "open";
}

std::string prompt_of(std::span<const message> records) {
    for (const message& m : records) {
        if (m.kind() == kind::text && m.role() == role::user) return one_line(m.content(), prompt_columns);
    }
    return {};
}

/// `files`: those of one session, the first one first.
std::vector<std::string> row_of(std::span<const trace::session_file> files) {
    std::size_t records = 0;
    std::string model;
    std::string prompt;
    file_contents contents;
    for (const trace::session_file& each : files) {
        contents = read(each.path());
        records += contents.records.size();
        for (const message& m : contents.records) {
            if (const auto* meta = m.event_if<session_meta>()) model = one_line(meta->model_id, 32);
        }
        if (prompt.empty()) prompt = prompt_of(contents.records);
    }
    return {files.front().session_id,
            files.front().date,
            std::to_string(files.size()),
            std::to_string(records),
            state_of(contents),
            model,
            prompt};
}

} // namespace

int trace_list(const std::string& folder) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored)) {
        std::fprintf(stderr, "error: %s is no directory; name the folder that was given with --trace\n",
                     folder.c_str());
        return failure;
    }
    const auto listed = trace::list_files(folder);
    if (!listed) {
        std::fprintf(stderr, "error: %s\n", listed.error().message().c_str());
        return failure;
    }
    const std::vector<trace::session_file>& all = listed.value();
    if (all.empty()) {
        std::fprintf(stderr, "%s holds no session\n", folder.c_str());
        return ok;
    }
    table shown("llrrlll");
    shown.add({"SESSION", "DATE", "FILES", "RECORDS", "STATE", "MODEL", "FIRST PROMPT"});
    for (std::size_t end = all.size(); end > 0;) {
        std::size_t begin = end;
        while (begin > 0 && all[begin - 1].session_id == all[end - 1].session_id)
            --begin;
        shown.add(row_of(std::span(all).subspan(begin, end - begin)));
        end = begin;
    }
    std::fputs(shown.text().c_str(), stdout);
    return std::ferror(stdout) != 0 ? failure : ok;
}

} // namespace cli
