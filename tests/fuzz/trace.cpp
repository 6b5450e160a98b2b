// SPDX-License-Identifier: BSL-1.0

// Any bytes, read in any pieces: the same lines in the same order, each with the line number and offset that
// counting gives, and nothing lost or told twice. The first two input bytes choose the pieces and the limit
// of a line.

#include <thalweg/trace/check.hpp>
#include <thalweg/trace/detail/byte_source.hpp>
#include <thalweg/trace/reader.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace thalweg;

class pieces final : public trace::detail::byte_source {
public:
    pieces(std::string_view bytes, std::size_t piece) : bytes_(bytes), piece_(piece) {}

    result<std::size_t> read(char* into, std::size_t count) override {
        const std::size_t given = std::min({count, piece_, bytes_.size()});
        std::copy_n(bytes_.data(), given, into);
        bytes_.remove_prefix(given);
        return given;
    }

private:
    std::string_view bytes_;
    std::size_t piece_;
};

struct place {
    std::size_t line;
    std::uint64_t offset;
    std::string_view text;
};

// The lines that are not blank, counted in the plain way. A blank one beyond the limit is too long like any
// other.
std::vector<place> places_in(std::string_view bytes, std::size_t limit) {
    std::vector<place> found;
    std::size_t line = 0;
    for (std::size_t at = 0; at < bytes.size();) {
        const std::string_view text = bytes.substr(at, bytes.find('\n', at) - at);
        ++line;
        const bool is_blank = text.find_first_not_of(" \t\r") == std::string_view::npos;
        if (!is_blank || text.size() > limit) found.push_back({line, at, text});
        at += text.size() + 1;
    }
    return found;
}

void require(bool holds) {
    if (!holds) std::abort();
}

void check_entry(const trace::entry& e, const place& expected, bool is_last, std::size_t limit) {
    require(e.line == expected.line && e.offset == expected.offset);
    if (expected.text.size() > limit) {
        require(!e.content && e.content.error().code() == trace::errc::too_long);
        return;
    }
    const auto parsed = parse_message(expected.text);
    require(e.content.has_value() == parsed.has_value());
    if (parsed)
        require(to_json(parsed.value()) == to_json(e.content.value()));
    else
        require(e.content.error().code() == (is_last ? trace::errc::torn_tail : trace::errc::malformed));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
    if (size < 2) return 0;
    const std::size_t piece = input[0] + std::size_t(1);
    const std::size_t limit = input[1] < 128 ? input[1] : trace::max_line;
    const std::string_view bytes{reinterpret_cast<const char*>(input) + 2, size - 2};

    const auto expected = places_in(bytes, limit);
    trace::reader from(std::make_unique<pieces>(bytes, piece), limit);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const auto e = from.next();
        require(e.has_value());
        check_entry(*e, expected[i], i + 1 == expected.size(), limit);
    }
    require(!from.next());

    for (const auto how : {trace::check_as::detect, trace::check_as::trace, trace::check_as::stream}) {
        auto again = trace::reader::of_text(std::string(bytes));
        const auto report = trace::check(again, "fuzz", how);
        for (const auto& f : report.findings)
            require(!trace::describe(report, f).empty());
    }
    return 0;
}
