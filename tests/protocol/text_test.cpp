// SPDX-License-Identifier: BSL-1.0

#include "support/allocation_count.hpp"
#include "support/catch.hpp"

#include <thalweg/protocol/text.hpp>

#include <string>
#include <unordered_map>

using thalweg::text;
using thalweg::testing::allocations_of;

namespace {

const std::string fits(text::inline_capacity, 'x');
const std::string too_long(text::inline_capacity + 1, 'y');

} // namespace

TEST_CASE("text up to its inline capacity never touches the heap") {
    const auto count = allocations_of([] {
        text made{std::string_view(fits)};
        text copy = made;
        text moved = std::move(made);
        copy = moved;
        moved = std::move(copy);
        if (moved != fits) throw std::runtime_error("changed");
    });
    CHECK(count == 0);
}

TEST_CASE("longer text is allocated once, however often it is copied") {
    const auto count = allocations_of([] {
        text made{std::string_view(too_long)};
        text copy = made;
        text another = copy;
        made = std::move(another);
        if (made != too_long || copy != too_long) throw std::runtime_error("changed");
    });
    CHECK(count == (thalweg::testing::allocations_are_counted ? 1 : 0));
}

TEST_CASE("every length is kept, zero bytes included") {
    for (std::size_t size = 0; size < 100; ++size) {
        std::string bytes(size, 'a');
        if (size > 0) bytes[size / 2] = '\0';
        const text made(bytes);
        CHECK(made.size() == size);
        CHECK(made.empty() == (size == 0));
        CHECK(made.view() == bytes);
        CHECK(made.str() == bytes);
    }
}

TEST_CASE("a moved-from text is empty") {
    for (const std::string* bytes : {&fits, &too_long}) {
        text from(*bytes);
        const text to(std::move(from));
        CHECK(to == *bytes);
        CHECK(from.empty()); // NOLINT: that is what is tested
        from = *bytes;
        text other;
        other = std::move(from);
        CHECK(other == *bytes);
        CHECK(from.empty()); // NOLINT
    }
}

TEST_CASE("assignment of a text to itself changes nothing") {
    for (const std::string* bytes : {&fits, &too_long}) {
        text value(*bytes);
        text& same = value;
        value = same;
        CHECK(value == *bytes);
        value = std::move(same);
        CHECK(value == *bytes);
    }
}

TEST_CASE("texts compare by their bytes, whatever holds them") {
    const text a("a");
    CHECK(a == text("a"));
    CHECK(a == "a");
    CHECK(a == std::string("a"));
    CHECK(a == std::string_view("a"));
    CHECK(a != text(too_long));
    CHECK(a < text("b"));
    CHECK(text(too_long) > text(fits));
    std::unordered_map<text, int> keyed;
    keyed[text(too_long)] = 1;
    CHECK(keyed.at(text(too_long)) == 1);
}
