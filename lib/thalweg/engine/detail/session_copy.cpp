// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/detail/session_copy.hpp>

#include <thalweg/protocol/json.hpp>

#include <cerrno>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace thalweg::detail {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t flush_at = std::size_t(1) << 20; // bytes

auto done() {
    return BOOST_OUTCOME_V2_NAMESPACE::success();
}

auto cannot_write(const std::string& path, std::error_code why) {
    return failure(why, "trace " + path + " cannot be written: " + why.message());
}

/// A file of our own, closed in any case.
class new_file {
public:
    explicit new_file(const std::string& path)
        : descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) {}
    new_file(const new_file&) = delete;
    new_file& operator=(const new_file&) = delete;
    ~new_file() { close(); }

    [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
    [[nodiscard]] bool write(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t taken = ::write(descriptor_, bytes.data(), bytes.size());
            if (taken < 0 && errno == EINTR) continue;
            if (taken <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(taken));
        }
        return true;
    }
    bool close() { return descriptor_ < 0 || ::close(std::exchange(descriptor_, -1)) == 0; }

private:
    int descriptor_;
};

bool write_all(new_file& file, std::span<const message> records) {
    std::string lines;
    for (const message& m : records) {
        append_json(lines, m);
        lines += '\n';
        if (lines.size() < flush_at) continue;
        if (!file.write(lines)) return false;
        lines.clear();
    }
    return file.write(lines) && file.close();
}

} // namespace

session_copy::~session_copy() {
    for (; !made_.empty(); made_.pop_back()) {
        std::error_code ignored;
        fs::remove_all(made_.back(), ignored);
    }
}

result<void> session_copy::add(const trace::session_file& where, std::span<const message> records) {
    const std::string path = where.path();
    BOOST_OUTCOME_TRYV(make_folder(fs::path(path).parent_path()));
    new_file file(path);
    if (!file.is_open()) return cannot_write(path, {errno, std::generic_category()});
    made_.push_back(path);
    if (!write_all(file, records)) return cannot_write(path, {errno, std::generic_category()});
    return done();
}

result<void> session_copy::make_folder(const fs::path& folder) {
    std::error_code why;
    if (folder.empty() || fs::is_directory(folder, why)) return done();
    BOOST_OUTCOME_TRYV(make_folder(folder.parent_path()));
    if (fs::create_directory(folder, why)) made_.push_back(folder.string());
    if (why) return cannot_write(folder.string(), why);
    return done();
}

result<void> session_copy::add_folder(const std::string& from, const std::string& to) {
    std::error_code why;
    if (fs::exists(to, why)) {
        why = std::make_error_code(std::errc::file_exists);
    } else if (!why) {
        made_.push_back(to);
        fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks, why);
    }
    if (!why) return done();
    return failure(why, "the folder " + from + " cannot be copied to " + to + ": " + why.message());
}

message with_changed_payload(const message& m,
                             const std::function<void(std::string_view, std::string&)>& change) {
    const std::string line = to_json(m);
    const auto parsed = json::parse(line);
    if (!parsed) return m;
    std::string made = "{";
    const auto add = [&made](std::string_view key, std::string_view value) {
        if (made.back() != '{') made += ',';
        made.append(key).append(":").append(value);
    };
    for (const json::member& each : parsed.value().members()) {
        if (each.key != "payload") {
            add(each.key_raw, each.value.raw());
            continue;
        }
        add(each.key_raw, "{");
        for (const json::member& inner : each.value.members()) {
            std::string value(inner.value.raw());
            change(inner.key, value);
            if (!value.empty()) add(inner.key_raw, value);
        }
        made += '}';
    }
    auto changed = parse_message(made + "}", {.require_timestamp = false});
    return changed ? std::move(changed).value() : m;
}

void replace_in_string(std::string& json_string, std::string_view what, std::string_view with) {
    const auto parsed = json::parse(json_string);
    const auto content = parsed ? parsed.value().as_string() : std::nullopt;
    if (!content || what.empty()) return;
    std::string made;
    std::size_t from = 0;
    for (auto at = content->find(what); at != std::string::npos; at = content->find(what, from)) {
        made.append(*content, from, at - from).append(with);
        from = at + what.size();
    }
    made.append(*content, from);
    json_string.clear();
    json::append_string(json_string, made);
}

} // namespace thalweg::detail
