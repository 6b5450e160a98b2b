// SPDX-License-Identifier: BSL-1.0

// Reading traces, whole ones and damaged ones: every readable record is read, every other line is told with
// its place, however the bytes arrive, and the file stays as it is.

#include "trace_support.hpp"

#include <thalweg/trace/detail/byte_source.hpp>
#include <thalweg/trace/reader.hpp>

#include <algorithm>
#include <memory>

using namespace thalweg;
using namespace thalweg::testing;

namespace {

// Gives at most `piece` bytes a read, and fails where it is told to.
class pieces final : public trace::detail::byte_source {
public:
    pieces(std::string bytes, std::size_t piece, bool fails = false)
        : bytes_(std::move(bytes)), piece_(piece), fails_(fails) {}

    result<std::size_t> read(char* into, std::size_t count) override {
        const std::size_t given = std::min({count, piece_, bytes_.size() - at_});
        if (given == 0 && fails_)
            return failure(std::make_error_code(std::errc::io_error), "the disk is broken");
        std::copy_n(bytes_.data() + at_, given, into);
        at_ += given;
        return given;
    }

private:
    std::string bytes_;
    std::size_t piece_;
    bool fails_;
    std::size_t at_ = 0;
};

trace::contents read(std::string bytes) {
    auto from = trace::reader::of_text(std::move(bytes));
    return trace::read_all(from);
}

// Everything that a reader gives, as one comparable text.
std::string transcript(trace::reader& from) {
    std::string made;
    while (const auto e = from.next()) {
        made += std::to_string(e->line) + "@" + std::to_string(e->offset) + " ";
        made += e->content ? to_json(e->content.value()) : e->content.error().message();
        made += "\n";
    }
    return made;
}

std::vector<std::string> texts(const trace::contents& of) {
    std::vector<std::string> found;
    for (const auto& r : of.records)
        found.push_back(r.content.content().str());
    return found;
}

const std::string one = line(note("one"));
const std::string two = line(note("two"));
const std::string three = line(note("three"));

} // namespace

TEST_CASE("records come with their line and offset, blank lines counted") {
    const auto all = read("\n" + one + " \t\r\n" + two + "  " + three);
    REQUIRE(texts(all) == std::vector<std::string>{"one", "two", "three"});
    REQUIRE(all.damage_count == 0);
    REQUIRE(all.records[0].line == 2);
    REQUIRE(all.records[0].offset == 1);
    REQUIRE(all.records[1].line == 4);
    REQUIRE(all.records[2].line == 5);
    REQUIRE(all.records[2].offset == 1 + one.size() + 4 + two.size());
}

TEST_CASE("nothing is read from nothing") {
    for (const char* empty : {"", "\n", "\n\n  \n", " "}) {
        const auto all = read(empty);
        REQUIRE(all.records.empty());
        REQUIRE(all.damage_count == 0);
    }
}

TEST_CASE("lines may end in CR LF, and the last one without any") {
    auto crlf = one;
    crlf.insert(crlf.size() - 1, "\r");
    REQUIRE(texts(read(crlf + two.substr(0, two.size() - 1))) == std::vector<std::string>{"one", "two"});
}

TEST_CASE("a bad line in the middle is told with line, offset and what was expected; the rest is read") {
    const auto all = read(one + "{\"timestamp\":\n" + two + "[1]\n" + three);
    REQUIRE(texts(all) == std::vector<std::string>{"one", "two", "three"});
    REQUIRE(all.damages.size() == 2);
    REQUIRE(all.damages[0].line == 2);
    REQUIRE(all.damages[0].offset == one.size());
    REQUIRE(all.damages[0].why.code() == trace::errc::malformed);
    REQUIRE(all.damages[0].why.message().find("expected") != std::string::npos);
    REQUIRE(all.damages[0].why.message().find("byte 13") != std::string::npos);
    REQUIRE(all.damages[1].line == 4);
}

TEST_CASE("only the last line that is not blank can be a torn tail") {
    for (const char* behind : {"", "\n", "\n\n  \n"}) {
        INFO("behind: '" << behind << "'");
        const auto all = read(one + "x\n" + two.substr(0, 30) + behind);
        REQUIRE(texts(all) == std::vector<std::string>{"one"});
        REQUIRE(all.damages.size() == 2);
        REQUIRE(all.damages[0].why.code() == trace::errc::malformed);
        REQUIRE(all.damages[1].why.code() == trace::errc::torn_tail);
        REQUIRE(all.damages[1].line == 3);
    }
}

TEST_CASE("a trace cut at any byte loses its last record at most") {
    const std::string whole = one + two + three;
    for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
        INFO("cut after " << cut << " bytes");
        const auto all = read(whole.substr(0, cut));
        const std::size_t complete = (cut + 1 >= one.size()) + (cut + 1 >= one.size() + two.size()) +
                                     (cut + 1 >= whole.size());
        REQUIRE(all.records.size() == complete);
        REQUIRE(all.damage_count <= 1);
        if (all.damage_count == 1) REQUIRE(all.damages[0].why.code() == trace::errc::torn_tail);
    }
}

TEST_CASE("one overwritten byte costs one line, and reading goes on behind it") {
    const std::string whole = one + two + three;
    const std::size_t begin = one.size();
    for (std::size_t at = begin; at + 1 < begin + two.size(); ++at) {
        INFO("byte " << at);
        std::string damaged = whole;
        damaged[at] = '\0';
        const auto all = read(damaged);
        REQUIRE(texts(all) == std::vector<std::string>{"one", "three"});
        REQUIRE(all.damages.at(0).line == 2);
        REQUIRE(all.damages[0].offset == begin);
    }
}

TEST_CASE("what is inserted anywhere costs the line it is in and no other") {
    const std::string whole = one + two + three;
    for (std::size_t at = 0; at <= whole.size(); ++at) {
        for (const std::string_view garbage : {"\xff\xfe", "}", "\n\n", "null"}) {
            INFO("'" << garbage << "' at byte " << at);
            auto all = read(std::string(whole).insert(at, garbage));
            const auto still = texts(all);
            REQUIRE(still.size() >= 2);
            REQUIRE(std::is_sorted(still.begin(), still.end(), [](const auto& a, const auto& b) {
                return (a == "one" && b != "one") || (a == "two" && b == "three");
            }));
        }
    }
}

TEST_CASE("the result does not depend on where the reads end") {
    const std::string whole = one + "\n{bad\n" + two + std::string(3000, 'x') + "\n \n" + three + "torn";
    auto at_once = trace::reader::of_text(whole);
    const std::string expected = transcript(at_once);
    for (const std::size_t piece : {1, 2, 3, 7, 64, 1000}) {
        trace::reader from(std::make_unique<pieces>(whole, piece));
        REQUIRE(transcript(from) == expected);
    }
}

TEST_CASE("a line above the limit is skipped without being kept, wherever the reads end") {
    const std::size_t limit = 200;
    const std::string fits = line(note(std::string(limit - one.size() + 4, 'f'))); // limit bytes and the LF
    REQUIRE(fits.size() == limit + 1);
    const std::string whole = one + fits + std::string(limit + 1, 'x') + "\n" + two +
                              std::string(200'000, 'y') + "\n" + three + std::string(300, 'z');
    for (const std::size_t piece : {1, 13, 4096, 1 << 20}) {
        trace::reader from(std::make_unique<pieces>(whole, piece), limit);
        const auto all = trace::read_all(from);
        REQUIRE(all.records.size() == 4);
        REQUIRE(all.records[3].line == 6);
        REQUIRE(all.damages.size() == 3);
        for (const auto& d : all.damages)
            REQUIRE(d.why.code() == trace::errc::too_long);
        REQUIRE(all.damages[0].line == 3);
        REQUIRE(all.damages[1].why.message().find("200000 bytes") != std::string::npos);
        REQUIRE(all.damages[2].offset == whole.size() - 300);
    }
}

TEST_CASE("a read that fails ends the reading and is told last") {
    trace::reader from(std::make_unique<pieces>(one + "bad\n" + two, 10, true));
    const auto all = trace::read_all(from);
    REQUIRE(texts(all) == std::vector<std::string>{"one", "two"});
    REQUIRE(all.damages.size() == 2);
    REQUIRE(all.damages[1].line == 0);
    REQUIRE(all.damages[1].why.message() == "the disk is broken");
    REQUIRE_FALSE(from.next());
}

TEST_CASE("a file that cannot be opened is an error that names it") {
    const temporary_folder folder;
    const auto missing = trace::reader::open(folder.file("missing"));
    REQUIRE_FALSE(missing);
    REQUIRE(missing.error().message() ==
            "trace " + folder.file("missing") +
                " cannot be opened: No such file or directory; name a file that can be read");
    const auto directory = trace::reader::open(folder.path());
    REQUIRE_FALSE(directory);
    REQUIRE(directory.error().code() == std::errc::is_a_directory);
}

TEST_CASE("a descriptor is read to its end and stays open") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    REQUIRE(::write(ends[1], one.data(), one.size()) == static_cast<ssize_t>(one.size()));
    ::close(ends[1]);
    {
        auto from = trace::reader::of_descriptor(ends[0], "input");
        REQUIRE(trace::read_all(from).records.size() == 1);
    }
    REQUIRE(::close(ends[0]) == 0);
}

TEST_CASE("damage beyond what is kept is counted") {
    std::string bad;
    for (std::size_t i = 0; i < trace::contents::max_kept + 5; ++i)
        bad += "x\n";
    const auto all = read(bad);
    REQUIRE(all.damages.size() == trace::contents::max_kept);
    REQUIRE(all.damage_count == trace::contents::max_kept + 5);
}

TEST_CASE("a damaged trace is loaded, left alone, and gone on with so that every new line is readable") {
    const std::string whole = line(sample_meta()) + one + two + three;
    std::vector<std::string> damaged{
        whole.substr(0, whole.size() - 20),                         // cut
        std::string(whole).replace(one.size() + 200, 40, 40, '\0'), // overwritten
        std::string(whole).insert(300, "\xff garbage \n\n"),        // inserted
        "\x7f"
        "ELF garbage",                            // something else
        whole.substr(line(sample_meta()).size()), // no session_meta
        "",
    };
    for (const std::string& bytes : damaged) {
        const temporary_folder folder;
        const std::string path = folder.file("t.jsonl");
        write_bytes(path, bytes);
        const auto load = [&] {
            auto opened = trace::reader::open(path);
            if (!opened) FAIL(opened.error().message());
            return trace::read_all(opened.value());
        };
        const auto before = load();
        REQUIRE(bytes_of(path) == bytes);
        REQUIRE(write(*open_sink(path), {note("new")}));
        const auto after = load();
        REQUIRE(after.records.size() == before.records.size() + 1);
        REQUIRE(after.records.back().content.content() == "new");
        REQUIRE(after.damage_count == before.damage_count);
        REQUIRE(bytes_of(path).starts_with(bytes));
    }
}
