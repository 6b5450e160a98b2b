// SPDX-License-Identifier: BSL-1.0

#include "trace_target.hpp"

#include <thalweg/trace/session_files.hpp>

#include <cstdio>
#include <filesystem>
#include <unistd.h>

namespace cli {

using namespace thalweg;

namespace {

std::vector<std::string> none(const std::string& sentence) {
    std::fprintf(stderr, "error: %s\n", sentence.c_str());
    return {};
}

bool is_folder(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_directory(path, ignored);
}

result<std::string> id_of(const trace_target& target) {
    if (target.session.empty()) return std::string();
    if (target.session != "latest") {
        BOOST_OUTCOME_TRY(auto found, trace::newest_file(target.path, target.session));
        return std::move(found.session_id);
    }
    BOOST_OUTCOME_TRY(auto found, trace::latest_session(target.path));
    if (found) return std::move(found->session_id);
    return thalweg::failure(trace::errc::not_found, target.path + " holds no session that has said anything");
}

} // namespace

std::vector<std::string> files_of(const trace_target& target) {
    if (!is_folder(target.path)) {
        if (target.session.empty()) return {target.path};
        return none(target.path + " is no directory, so it has no session " + target.session +
                    "; name the folder that was given with --trace");
    }
    const auto id = id_of(target);
    if (!id) return none(id.error().message());
    const auto all = trace::list_files(target.path);
    if (!all) return none(all.error().message());
    std::vector<std::string> files;
    for (const trace::session_file& each : all.value()) {
        if (id.value().empty() || each.session_id == id.value()) files.push_back(each.path());
    }
    if (!files.empty()) return files;
    return none(target.path +
                " is a directory that holds no session; name the folder that was given with --trace, or a "
                "file");
}

std::optional<trace::reader> open_trace(const std::string& file) {
    if (file == "-") return trace::reader::of_descriptor(STDIN_FILENO, "standard input");
    auto opened = trace::reader::open(file);
    if (!opened) {
        std::fprintf(stderr, "error: %s\n", opened.error().message().c_str());
        return std::nullopt;
    }
    return std::move(opened.value());
}

void report_damage(const std::string& file, const trace::entry& unreadable) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s:%zu: %s\n", file.c_str(), unreadable.line,
                 unreadable.content.error().message().c_str());
}

} // namespace cli
