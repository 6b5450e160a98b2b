// SPDX-License-Identifier: BSL-1.0

#pragma once

// C++ callables as tools.
//
//     auto tools = environments::functions(
//         tool("forecast", "Weather forecast for a city", forecast),
//         tool("grep", "Searches the notes", blocking(grep)).label("Search"));
//
// A callable takes, each optional and in this order, its arguments (a described struct, see
// protocol/describe.hpp, by value, const& or &&), a `tool_context` and, if it is blocking, a std::stop_token.
// It is a function, a lambda or a function object with one call operator, and returns
//
// - T: runs on the loop's thread, so it must be quick; blocking(f) moves it to a thread pool
// - task<T>: a coroutine
// - stream<chunk, tool_result> or stream<chunk>: a coroutine whose output is seen as it comes
//
// where T is void, anything that converts to std::string_view, a described struct or another type with a form
// in JSON (which is what the model then reads), tool_result, or result<> of these, whose error becomes a
// failed call. An exception is contained and becomes a failed call, too. Anything else stops the build with a
// sentence.
//
// Arguments that do not fit the struct never reach the callable: the model gets the sentence instead.
//
// The callable is moved in once and stays in place as long as a call runs, even when the environment is gone:
// captures by value are safe, also in coroutine lambdas (H-54). What it captures by reference must outlive
// all calls. Calls of one tool run interleaved on the loop, those of a blocking tool at the same time on
// several threads.

#include <thalweg/environments/detail/tool_body.hpp>

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace thalweg {

/// Marks a plain function that blocks (files, databases, computing): it runs on a pool of one thread per
/// processor and at least four. When the run is interrupted, a call that no thread has begun is withdrawn;
/// one that runs is told by its std::stop_token, if it takes one. A call that is dropped goes on in its
/// thread and nobody listens, so capture by value what it uses. The program ends only after the last of them.
template <class F>
[[nodiscard]] auto blocking(F&& callable) {
    return environments::detail::blocking_callable<std::decay_t<F>>(std::forward<F>(callable));
}

/// One tool: its definition and the callable. Copies share the callable.
class tool {
public:
    /// `name`: `[A-Za-z0-9_-]{1,64}`; `description` is for the model. Parameters come from the callable's
    /// first one.
    template <class F>
    tool(text name, text description, F callable);

    /// A name for people (D-13); the tool's name unless set.
    [[nodiscard]] tool label(text for_people) &&;

    [[nodiscard]] const tool_definition& definition() const noexcept { return definition_; }
    /// Why this tool cannot be used (its name, its schema), or empty.
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

    /// Runs one call. The stream owns all it needs, so the tool may go first.
    [[nodiscard]] stream<chunk, tool_result> execute(tool_call call, tool_context context) const;

private:
    template <class F>
    friend tool raw_tool(text name, text description, text schema, F callable);
    tool(text name, text description);

    void take_schema(text schema);
    template <environments::detail::argument_style Style, class F>
    void put(F callable);

    tool_definition definition_;
    std::shared_ptr<const json_schema> schema_; // raw tools only
    std::shared_ptr<environments::detail::tool_body> body_;
    std::string fault_;
};

/// A tool whose JSON Schema is written by hand: `schema` describes an object, as JSON text. Arguments are
/// checked against it (but for `pattern` and `format`) and reach the callable as text, std::string,
/// std::string_view or json::view; the last two point into the call and live as long as it.
template <class F>
[[nodiscard]] tool raw_tool(text name, text description, text schema, F callable);

namespace environments {

/// An environment of tools. Cheap to copy; copies share the callables.
class functions {
public:
    functions() = default;
    /// Faulty tools (a name that is no name or is used twice, a schema that is none) are a mistake in the
    /// program: the program ends with a sentence on standard error. For lists that come from outside there is
    /// make().
    template <std::same_as<tool>... Tools>
    explicit functions(tool first, Tools... more) : functions(listed(std::move(first), std::move(more)...)) {}
    explicit functions(std::vector<tool> tools);

    /// Anything else stops the build with a sentence.
    template <class... Other>
        requires(sizeof...(Other) > 0 && !(std::same_as<std::remove_cvref_t<Other>, tool> && ...) &&
                 !(std::convertible_to<Other, std::vector<tool>> && ...) &&
                 !(std::derived_from<std::remove_cvref_t<Other>, functions> && ...))
    explicit functions(Other&&...) {
        static_assert(
            (std::same_as<std::remove_cvref_t<Other>, tool> && ...),
            "thalweg: functions takes tools: `functions(tool(\"name\", \"what it does\", callable))`");
    }

    /// The same, with the fault as an error.
    [[nodiscard]] static result<functions> make(std::vector<tool> tools);

    [[nodiscard]] std::vector<tool_definition> tools() const;
    [[nodiscard]] stream<chunk, tool_result> execute(tool_call call, tool_context context) const;

private:
    template <class... Tools>
    static std::vector<tool> listed(Tools... tools) {
        std::vector<tool> list;
        list.reserve(sizeof...(tools));
        (list.push_back(std::move(tools)), ...);
        return list;
    }

    std::vector<tool> tools_;
};
static_assert(is_environment<functions>);

} // namespace environments

// Implementation
// ---------------------------------------------------------------------------------------------

template <environments::detail::argument_style Style, class F>
void tool::put(F callable) {
    namespace d = environments::detail;
    using marked = d::marked_blocking<F>;
    using inner = typename marked::callable;
    constexpr bool fits = d::check_callable<inner, Style, marked::value>();
    if constexpr (fits) {
        using body = d::running_body<inner, Style, marked::value>;
        if constexpr (Style == d::argument_style::described && !std::is_void_v<typename body::declared>)
            definition_.parameters = schema<typename body::plain>();
        body_ = std::make_shared<body>(marked::take(std::move(callable)), schema_);
    }
}

template <class F>
tool::tool(text name, text description, F callable) : tool(std::move(name), std::move(description)) {
    put<environments::detail::argument_style::described>(std::move(callable));
}

template <class F>
tool raw_tool(text name, text description, text schema, F callable) {
    tool made(std::move(name), std::move(description));
    made.take_schema(std::move(schema));
    made.template put<environments::detail::argument_style::raw>(std::move(callable));
    return made;
}

} // namespace thalweg
