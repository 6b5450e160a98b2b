// SPDX-License-Identifier: BSL-1.0
// What to write instead: nothing here may be reported.

#include "coroutine.hpp"

namespace snippet {

task<> conditions(bool flag) {
    bool is_ready = co_await ready();
    if (is_ready) flag = false;
    if (bool again = co_await ready()) flag = again;
    while (auto received = co_await receive())
        flag = *received > 0;
    for (int i = co_await number(); i < 3; ++i)
        flag = !flag;
    bool both = flag;
    if (both) both = co_await ready();
    co_return;
}

template <class T>
task<> in_a_template(T flag) {
    T is_ready = co_await ready();
    if (is_ready) flag = T();
}
template task<> in_a_template<bool>(bool);

task<> arguments(std::string text) {
    aggregate named{text, 1};
    co_await take(std::move(named));
    co_await take(make_aggregate(1));
    co_await take_trivial({1, 2});
    co_await take_built(built(text, 1));
    co_await take_built({text, 1});
    co_await take_built(built::make(text));
    co_await take_string(text + "!" + text);
    std::vector<int> numbers{1, 2, 3};
    co_await take_vector(std::move(numbers));
    auto made = std::make_unique<std::string>(co_await word());
    auto [left, right] = std::pair(co_await number(), 1);
    int sum = co_await number() + co_await number() + left + right;
    std::optional<std::string> maybe{co_await word()};
    co_await take_string(sum > 0 ? *made : text);
}

generator<built> yields(std::string text) {
    co_yield built(text, 1);
    co_yield built::make(text);
}

task<> closures(std::string text) {
    auto measure = [text] { return text.size(); };
    co_await call(std::move(measure));
    int local = 1;
    co_await call([&local, pointer = &text] { return local + static_cast<int>(pointer->size()); });
    auto value = co_await word();
    auto awaiting = [value = std::move(value)] { return value; };
    co_await take_function([&local] { return local; });
    co_await [](std::string kept) -> task<> { co_await take_string(std::move(kept)); }(text);
}

task<aggregate> results(bool flag) {
    auto text = co_await word();
    aggregate filled{text, 1};
    if (flag) co_return filled;
    co_return aggregate{text, 1};
}

// What stands inside a lambda is no part of the expression around it.
#define CHECK(expression)                                                                                    \
    do {                                                                                                     \
        (void)(expression);                                                                                  \
    } while (false && (expression))

bool finished(task<>);
bool count(aggregate);
task<> lambdas(bool flag, std::string text) {
    CHECK(finished([]() -> task<> { co_await number(); }()));
    if (finished([]() -> task<> { co_await number(); }())) flag = false;
    co_await [](std::string kept, bool again) -> task<> {
        if (again || count(aggregate{kept, 1})) kept = again ? std::string("a") : std::string("b");
        std::vector<int> numbers{1, 2};
        co_await take_vector(std::move(numbers));
    }(text, flag);
}

// A lambda coroutine is a full expression of its own: temporaries of the statement around it are not at risk.
void run(task<>, aggregate = {});
void driver(std::string text) {
    run(
        [](std::string kept) -> task<> {
            auto inner = aggregate{kept, 1};
            co_await take(std::move(inner));
        }(text),
        aggregate{text, 1});
}

} // namespace snippet
