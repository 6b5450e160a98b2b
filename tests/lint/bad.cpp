// SPDX-License-Identifier: BSL-1.0
// Every line marked `lint: RULE` must be reported, under that rule, and no other line.
// clang-format off

#include "coroutine.hpp"

#include <array>

namespace snippet {

task<> conditions(bool flag) {
    if (co_await ready()) // lint: condition
        flag = false;
    if (!(co_await ready())) // lint: condition
        flag = false;
    while (co_await ready()) // lint: condition
        flag = false;
    do {
        flag = false;
    } while (co_await ready()); // lint: condition
    for (int i = 0; i < co_await number(); ++i) // lint: condition
        flag = false;
    switch (co_await number()) { // lint: condition
    default:
        flag = true;
    }
}

task<> short_circuit(bool flag) {
    bool both = flag && co_await ready();     // lint: short-circuit
    bool either = flag || (co_await ready()); // lint: short-circuit
    while (flag && co_await ready())          // lint: short-circuit condition
        flag = both != either;
}

template <class T>
task<> in_a_template(T flag) {
    if (co_await ready()) // lint: condition
        flag = T();
    flag = flag && co_await ready(); // lint: short-circuit
}
template task<> in_a_template<bool>(bool);

#define REQUIRE(expression)                                                                                  \
    do {                                                                                                     \
        (void)(expression);                                                                                  \
    } while (false && (expression))

task<> assertion() {
    int local = 0;
    REQUIRE(co_await number() == local); // lint: short-circuit condition
}

task<> aggregates(std::string text) {
    co_await take(aggregate{text, 1});                // lint: temporary
    co_await take({.text = text, .number = 1});       // lint: temporary
    co_await take(aggregate{});                       // lint: temporary
    co_await take_reference({text, 1});               // lint: temporary
    co_await take_both(aggregate{text, 1}, 2);        // lint: temporary
    co_await aggregate_awaiter{text};                 // lint: temporary
    co_await take_both({text, 1}, co_await number()); // lint: temporary
    int length = (co_await number()) + static_cast<int>(aggregate{text, 1}.text.size()); // lint: temporary
    std::array<std::string, 2> named{text, text};
    co_await call(std::array<std::string, 2>{text, text}); // lint: temporary
    co_await take(aggregate(text, length));                // lint: temporary
}

generator<aggregate> yields(std::string text) {
    co_yield aggregate{text, 1}; // lint: temporary
    co_yield {text, 1};          // lint: temporary
}

generator<std::variant<int, aggregate>> yields_variant(std::string text) {
    co_yield std::variant<int, aggregate>{aggregate{text, 1}}; // lint: temporary
}

task<> closures(std::string text) {
    co_await call([text] { return text.size(); });                               // lint: temporary
    co_await call([moved = std::move(text)] { return moved.size(); });           // lint: temporary
    co_await take_function([text] { return static_cast<int>(text.size()); });    // lint: temporary
    co_await [text]() -> task<> { co_return; }();                                // lint: temporary
    auto awaiting = [value = co_await word()] { return value; };                 // lint: capture
}

task<> choices(bool flag, std::string text) {
    co_await take(flag ? aggregate{text, 1} : aggregate{text, 2});     // lint: temporary choice
    co_await take_string(flag ? std::string("a") : std::string("b"));  // lint: choice
    std::string chosen = flag ? co_await word() : co_await word();     // lint: choice
}

task<aggregate> nested(std::string text) {
    aggregate filled{co_await word(), 1};              // lint: braces
    aggregate named{.text = co_await word()};          // lint: braces
    auto owned = new std::string(co_await word());     // lint: new-throw
    delete owned;
    if (text.empty())
        throw std::runtime_error(co_await word());     // lint: new-throw
    co_return aggregate{co_await word(), 1};           // lint: temporary braces
}

task<> lists() {
    co_await take_vector({1, 2, 3});                   // lint: list
    co_await take_vector(std::vector<int>{1, 2});      // lint: list
}

} // namespace snippet
