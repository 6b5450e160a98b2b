// SPDX-License-Identifier: BSL-1.0

#include <thalweg/trace/detail/byte_source.hpp>
#include <thalweg/trace/reader.hpp>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace thalweg::trace {

namespace {

constexpr std::size_t read_size = std::size_t(64) << 10;

bool is_blank(std::string_view line) noexcept {
    return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

} // namespace

// The buffer holds what was read and not consumed: [begin, end) of `bytes`.
struct reader::state {
    struct line {
        std::size_t number = 0;
        std::uint64_t offset = 0;
        std::string_view text;    // valid until the next line is taken
        std::uint64_t length = 0; // also where the text was too long to keep
    };

    std::unique_ptr<detail::byte_source> source;
    std::size_t limit;
    std::string bytes;
    std::size_t begin = 0;
    std::size_t end = 0;
    bool at_end = false;
    std::optional<error> broken; // a read that failed
    std::size_t line_number = 0;
    std::uint64_t offset = 0;   // of bytes[begin] in the file
    std::optional<entry> fault; // an unreadable line, until it is known whether it is the last
    std::optional<entry> held;  // what was read to find that out

    void fill();
    std::optional<line> take_line();
    line take(std::size_t count, bool has_end);
    std::optional<line> skip_long_line();
    entry read(const line& from) const;
};

// More bytes behind `end`. Grows to one line of the limit at most, because longer ones are not kept.
void reader::state::fill() {
    if (begin > 0 && bytes.size() - end < read_size) {
        std::memmove(bytes.data(), bytes.data() + begin, end - begin);
        end -= std::exchange(begin, 0);
    }
    if (bytes.size() - end < read_size) bytes.resize(end < read_size ? 2 * read_size : 2 * end);
    auto got = source->read(bytes.data() + end, read_size);
    if (!got) broken = std::move(got).error();
    at_end = !got || got.value() == 0;
    if (got) end += got.value();
}

reader::state::line reader::state::take(std::size_t count, bool has_end) {
    const line taken{.number = ++line_number,
                     .offset = offset,
                     .text = std::string_view(bytes).substr(begin, count),
                     .length = count};
    begin += count + (has_end ? 1 : 0);
    offset += count + (has_end ? 1 : 0);
    return taken;
}

std::optional<reader::state::line> reader::state::take_line() {
    std::size_t searched = 0;
    for (;;) {
        const std::string_view unread = std::string_view(bytes).substr(begin, end - begin);
        const auto found = unread.find('\n', searched);
        if (found != std::string_view::npos && found <= limit) return take(found, true);
        if (found != std::string_view::npos || unread.size() > limit) return skip_long_line();
        if (at_end) return unread.empty() ? std::nullopt : std::optional(take(unread.size(), false));
        searched = unread.size();
        fill();
    }
}

std::optional<reader::state::line> reader::state::skip_long_line() {
    line skipped{.number = ++line_number, .offset = offset, .text = {}, .length = 0};
    for (;;) {
        const std::string_view unread = std::string_view(bytes).substr(begin, end - begin);
        const auto found = unread.find('\n');
        const std::size_t count = found == std::string_view::npos ? unread.size() : found;
        const std::size_t used = found == std::string_view::npos ? count : count + 1;
        skipped.length += count;
        begin += used;
        offset += used;
        if (found != std::string_view::npos || at_end) return skipped;
        fill();
    }
}

entry reader::state::read(const line& from) const {
    const auto unreadable = [&](errc why, std::string sentence) {
        sentence += " (the line begins at byte " + std::to_string(from.offset) + " of the file)";
        return entry{
            .line = from.number, .offset = from.offset, .content = failure(why, std::move(sentence))};
    };
    if (from.length > limit) {
        return unreadable(errc::too_long, "a line of " + std::to_string(from.length) +
                                              " bytes, which is more than " + std::to_string(limit));
    }
    auto parsed = parse_message(from.text);
    if (!parsed) return unreadable(errc::malformed, parsed.error().message());
    return {.line = from.number, .offset = from.offset, .content = std::move(parsed)};
}

reader::reader(std::unique_ptr<detail::byte_source> source, std::size_t limit)
    : state_(std::make_unique<state>()) {
    state_->source = std::move(source);
    state_->limit = limit;
}

reader::reader(reader&&) noexcept = default;
reader& reader::operator=(reader&&) noexcept = default;
reader::~reader() = default;

result<reader> reader::open(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat seen{};
    int number = descriptor < 0 ? errno : 0;
    if (descriptor >= 0 && ::fstat(descriptor, &seen) == 0 && S_ISDIR(seen.st_mode)) {
        ::close(descriptor);
        number = EISDIR;
    }
    if (number != 0) {
        const std::error_code why(number, std::generic_category());
        return failure(why, "trace " + path + " cannot be opened: " + why.message() +
                                "; name a file that can be read");
    }
    return reader(detail::read_descriptor(descriptor, true, path));
}

reader reader::of_descriptor(int descriptor, std::string name) {
    return reader(detail::read_descriptor(descriptor, false, std::move(name)));
}

reader reader::of_text(std::string bytes) {
    return reader(detail::read_text(std::move(bytes)));
}

std::optional<entry> reader::next() {
    state& s = *state_;
    if (s.held) return std::exchange(s.held, std::nullopt);
    while (const auto line = s.take_line()) {
        if (line->length <= s.limit && is_blank(line->text)) continue;
        entry now = s.read(*line);
        if (now.content) {
            if (!s.fault) return now;
            s.held = std::move(now);
            return std::exchange(s.fault, std::nullopt);
        }
        if (s.fault) return std::exchange(s.fault, std::optional(std::move(now)));
        s.fault = std::move(now);
    }
    if (s.broken) {
        s.held = entry{
            .line = 0, .offset = s.offset, .content = failure(s.broken->code(), s.broken->message())};
        s.broken.reset();
        if (s.fault) return std::exchange(s.fault, std::nullopt);
        return std::exchange(s.held, std::nullopt);
    }
    if (!s.fault) return std::nullopt;
    auto last = std::exchange(s.fault, std::nullopt);
    if (last->content.error().code() == errc::malformed)
        last->content = failure(errc::torn_tail, last->content.error().message());
    return last;
}

contents read_all(reader& from) {
    contents all;
    while (auto e = from.next()) {
        if (e->content) {
            all.records.push_back({e->line, e->offset, std::move(e->content).value()});
        } else if (++all.damage_count <= contents::max_kept) {
            all.damages.push_back({e->line, e->offset, std::move(e->content).error()});
        }
    }
    return all;
}

} // namespace thalweg::trace
