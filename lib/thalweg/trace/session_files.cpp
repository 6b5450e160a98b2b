// SPDX-License-Identifier: BSL-1.0

#include <thalweg/trace/reader.hpp>
#include <thalweg/trace/session_files.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>

namespace thalweg::trace {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view extension = ".jsonl";
constexpr std::size_t least_digits = 3;

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

bool is_date(std::string_view name) noexcept {
    constexpr std::string_view form = "dddd-dd-dd";
    return std::equal(name.begin(), name.end(), form.begin(), form.end(),
                      [](char c, char f) { return f == 'd' ? is_digit(c) : c == f; });
}

// The index at the end of `<session_id>_<index>.jsonl`, and the id in front of it.
std::optional<session_file> parse_name(std::string_view name) {
    if (!name.ends_with(extension)) return std::nullopt;
    name.remove_suffix(extension.size());
    const auto bar = name.rfind('_');
    if (bar == std::string_view::npos) return std::nullopt;
    const std::string_view digits = name.substr(bar + 1);
    if (digits.size() < least_digits || !std::all_of(digits.begin(), digits.end(), is_digit))
        return std::nullopt;
    session_file found;
    found.session_id = name.substr(0, bar);
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), found.index);
    if (parsed.ec != std::errc() || found.index < 1 || !is_safe_session_id(found.session_id))
        return std::nullopt;
    return found;
}

auto cannot_read(const std::string& folder, std::error_code why) {
    return failure(why, "trace folder " + folder + " cannot be read: " + why.message());
}

result<std::vector<std::string>> names_in(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code why;
    fs::directory_iterator at(folder, why);
    while (!why && at != fs::directory_iterator()) {
        names.push_back(at->path().filename().string());
        at.increment(why);
    }
    if (why) return cannot_read(folder, why);
    return names;
}

// The date folders, the newest first; none if `traces` does not exist.
result<std::vector<std::string>> dates_in(const std::string& traces) {
    auto names = names_in(traces);
    if (!names) {
        if (names.error().code() == std::errc::no_such_file_or_directory) return std::vector<std::string>();
        return names;
    }
    std::erase_if(names.value(), [](const std::string& name) { return !is_date(name); });
    std::sort(names.value().rbegin(), names.value().rend());
    return names;
}

// All trace files of one date, unordered.
result<std::vector<session_file>> files_of(const std::string& traces, const std::string& date) {
    BOOST_OUTCOME_TRY(const auto names, names_in((fs::path(traces) / date).string()));
    std::vector<session_file> files;
    for (const std::string& name : names) {
        auto file = parse_name(name);
        if (!file) continue;
        file->traces = traces;
        file->date = date;
        files.push_back(std::move(*file));
    }
    return files;
}

result<std::vector<session_file>> all_files(const std::string& traces) {
    BOOST_OUTCOME_TRY(const auto dates, dates_in(traces));
    std::vector<session_file> all;
    for (const std::string& date : dates) {
        BOOST_OUTCOME_TRY(auto files, files_of(traces, date));
        std::move(files.begin(), files.end(), std::back_inserter(all));
    }
    return all;
}

bool is_later(const session_file& a, const session_file& b) {
    return a.session_id != b.session_id ? a.session_id > b.session_id : a.index > b.index;
}

/// It has a whole line. A process may have ended between making a file and writing to it; the session goes on
/// in the file before then, as if this one were not there.
bool is_begun(const session_file& file) {
    std::ifstream in(file.path(), std::ios::binary);
    std::array<char, 4096> bytes{};
    while (in.read(bytes.data(), bytes.size()), in.gcount() > 0) {
        const auto end = bytes.begin() + in.gcount();
        if (std::find(bytes.begin(), end, '\n') != end) return true;
    }
    return false;
}

bool has_content(const session_file& file) {
    auto opened = reader::open(file.path());
    if (!opened) return false;
    while (const auto entry = opened.value().next()) {
        if (entry->content && entry->content.value().kind() != kind::session_meta) return true;
    }
    return false;
}

template <std::size_t N>
std::string formatted(const char* form, const std::tm& time) {
    std::array<char, N> out{};
    return std::string(out.data(), std::strftime(out.data(), out.size(), form, &time));
}

} // namespace

std::string session_file::path() const {
    std::string number = std::to_string(index);
    if (number.size() < least_digits) number.insert(0, least_digits - number.size(), '0');
    std::string name = session_id + "_" + number;
    name += extension;
    return (fs::path(traces) / date / name).string();
}

std::string session_file::lock_path() const {
    return (fs::path(traces) / (session_id + ".lock")).string();
}

std::string make_session_id(std::int64_t now_ms) {
    const auto seconds = static_cast<std::time_t>(now_ms / 1000);
    std::tm time{};
    gmtime_r(&seconds, &time);
    std::array<char, 9> unique{};
    std::random_device entropy;
    std::snprintf(unique.data(), unique.size(), "%08x", entropy() & 0xffffffffU);
    return formatted<40>("session-%Y-%m-%d-%H-%M-%S-", time) + unique.data();
}

std::string local_date(std::int64_t now_ms) {
    const auto seconds = static_cast<std::time_t>(now_ms / 1000);
    std::tm time{};
    localtime_r(&seconds, &time);
    return formatted<16>("%Y-%m-%d", time);
}

session_file new_session_file(std::string traces, std::int64_t now_ms) {
    return {.traces = std::move(traces),
            .date = local_date(now_ms),
            .session_id = make_session_id(now_ms),
            .index = 1};
}

bool is_safe_session_id(std::string_view id) noexcept {
    const auto is_safe = [](char c) {
        return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
               c == '.';
    };
    return !id.empty() && id.size() <= 200 && id.front() != '.' && std::all_of(id.begin(), id.end(), is_safe);
}

result<session_file> newest_file(const std::string& traces, std::string_view session_id) {
    if (!is_safe_session_id(session_id)) {
        return failure(errc::bad_name, "\"" + std::string(session_id) +
                                           "\" is no session id: letters, digits, "
                                           "'-', '_' and '.' are");
    }
    BOOST_OUTCOME_TRY(auto files, all_files(traces));
    std::erase_if(files, [&](const session_file& each) { return each.session_id != session_id; });
    std::sort(files.begin(), files.end(), is_later);
    while (files.size() > 1 && !is_begun(files.front()))
        files.erase(files.begin());
    if (files.empty()) {
        return failure(errc::not_found, "session " + std::string(session_id) + " has no file in " + traces +
                                            "; is this the right trace folder?");
    }
    return std::move(files.front());
}

result<std::vector<session_file>> list_files(const std::string& traces) {
    BOOST_OUTCOME_TRY(auto files, all_files(traces));
    std::sort(files.begin(), files.end(), [](const session_file& a, const session_file& b) {
        return a.session_id != b.session_id ? a.session_id < b.session_id : a.index < b.index;
    });
    return files;
}

result<std::vector<session_file>> list_sessions(const std::string& traces) {
    BOOST_OUTCOME_TRY(auto files, all_files(traces));
    std::sort(files.begin(), files.end(), is_later);
    const auto same = [](const session_file& a, const session_file& b) {
        return a.session_id == b.session_id;
    };
    for (std::size_t at = 0; at + 1 < files.size();) {
        const bool is_void = same(files[at], files[at + 1]) && !is_begun(files[at]);
        if (is_void)
            files.erase(files.begin() + static_cast<std::ptrdiff_t>(at));
        else
            ++at;
    }
    files.erase(std::unique(files.begin(), files.end(), same), files.end());
    return files;
}

result<std::optional<session_file>> latest_session(const std::string& traces) {
    BOOST_OUTCOME_TRY(const auto dates, dates_in(traces));
    for (const std::string& date : dates) {
        BOOST_OUTCOME_TRY(auto files, files_of(traces, date));
        std::sort(files.begin(), files.end(), is_later);
        const auto latest = std::find_if(files.begin(), files.end(), has_content);
        if (latest != files.end()) return std::optional(std::move(*latest));
    }
    return std::optional<session_file>();
}

} // namespace thalweg::trace
