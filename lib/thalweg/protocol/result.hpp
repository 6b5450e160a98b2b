// SPDX-License-Identifier: BSL-1.0

#pragma once

// Failures as values: result<T> holds a T or an error, an error is a code for programs and a sentence for
// people. No interface of this library lets an exception out; what user code throws is caught at the border.
//
// The sentence names the place (file, line, byte offset, member path) and what to do. It never holds a
// secret.

#include <boost/outcome/basic_result.hpp>
#include <boost/outcome/policy/base.hpp>
#include <boost/outcome/try.hpp>

#include <string>
#include <system_error>
#include <utility>

namespace thalweg {

/// Why something failed. `code` compares with the enums of the layer that made it; `message` is UTF-8.
class error {
public:
    error() = default;
    error(std::error_code code, std::string message) : code_(code), message_(std::move(message)) {}

    [[nodiscard]] std::error_code code() const noexcept { return code_; }
    [[nodiscard]] const std::string& message() const noexcept { return message_; }

private:
    std::error_code code_;
    std::string message_;
};

namespace detail {

/// Says on standard error why the value is not there (nullptr: there is no error to ask for) and ends the
/// program.
[[noreturn]] void die_of(const error* why) noexcept;

/// What Outcome asks before it hands out a value or an error.
struct explain_and_abort : BOOST_OUTCOME_V2_NAMESPACE::policy::base {
    template <class Impl>
    static constexpr void wide_value_check(Impl&& self) noexcept {
        if (!base::_has_value(self)) die_of(&base::_error(self));
    }
    template <class Impl>
    static constexpr void wide_error_check(Impl&& self) noexcept {
        if (!base::_has_error(self)) die_of(nullptr);
    }
    template <class Impl>
    static constexpr void wide_exception_check(Impl&&) noexcept {}
};

} // namespace detail

/// A T or an error. Ask `if (r)` first: `r.value()` on a failed result (and `r.error()` on a good one) ends
/// the program, because it is a mistake of the caller and not a condition; the error's own sentence is the
/// last thing it says, on standard error.
template <class T>
using result = BOOST_OUTCOME_V2_NAMESPACE::basic_result<T, error, detail::explain_and_abort>;

/// The failed result: `return failure(errc, "sentence");`
inline auto failure(std::error_code code, std::string message) {
    return BOOST_OUTCOME_V2_NAMESPACE::failure(error(code, std::move(message)));
}

} // namespace thalweg
