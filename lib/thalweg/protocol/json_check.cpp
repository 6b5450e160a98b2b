// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/json.hpp>
#include <thalweg/protocol/utf8.hpp>

namespace thalweg::json {

namespace {

// Recursive descent over the whole text. Every function returns false once `error` is set.
class checker {
public:
    explicit checker(std::string_view text) noexcept
        : begin_(text.data()),
          at_(begin_),
          end_(begin_ + text.size()),
          utf8_end_(begin_ + utf8::valid_prefix(text)) {}

    std::optional<syntax_error> run() noexcept {
        skip_space();
        if (!value(0)) return error_;
        skip_space();
        if (at_ != end_) fail("end of input");
        return error_;
    }

private:
    bool fail(std::string_view expected) noexcept {
        const bool at_end = at_ == end_;
        error_ = syntax_error{static_cast<std::size_t>(at_ - begin_), expected, at_end};
        return false;
    }

    void skip_space() noexcept {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t'))
            ++at_;
    }

    bool next_is(char c) const noexcept { return at_ != end_ && *at_ == c; }
    bool next_is_digit() const noexcept { return at_ != end_ && *at_ >= '0' && *at_ <= '9'; }

    bool value(int depth) noexcept {
        if (at_ == end_) return fail("a value");
        switch (*at_) {
        case '{': return depth < max_depth ? object(depth + 1) : fail("no more than 256 levels of nesting");
        case '[': return depth < max_depth ? array(depth + 1) : fail("no more than 256 levels of nesting");
        case '"': return string();
        case 't': return word("true");
        case 'f': return word("false");
        case 'n': return word("null");
        case '-':
        case '0':
        case '1':
        case '2':
        case '3':
        case '4':
        case '5':
        case '6':
        case '7':
        case '8':
        case '9': return number();
        default: return fail("a value");
        }
    }

    bool object(int depth) noexcept {
        ++at_;
        skip_space();
        if (next_is('}')) return ++at_, true;
        if (!next_is('"')) return fail("a string or '}'");
        for (;;) {
            if (!string()) return false;
            skip_space();
            if (!next_is(':')) return fail("':'");
            ++at_;
            skip_space();
            if (!value(depth)) return false;
            skip_space();
            if (next_is('}')) return ++at_, true;
            if (!next_is(',')) return fail("',' or '}'");
            ++at_;
            skip_space();
            if (!next_is('"')) return fail("a string");
        }
    }

    bool array(int depth) noexcept {
        ++at_;
        skip_space();
        if (next_is(']')) return ++at_, true;
        if (at_ == end_) return fail("a value or ']'");
        for (;;) {
            if (!value(depth)) return false;
            skip_space();
            if (next_is(']')) return ++at_, true;
            if (!next_is(',')) return fail("',' or ']'");
            ++at_;
            skip_space();
        }
    }

    bool word(std::string_view expected) noexcept {
        for (const char c : expected) {
            if (!next_is(c)) return fail(expected);
            ++at_;
        }
        return true;
    }

    bool number() noexcept {
        if (next_is('-')) ++at_;
        if (next_is('0')) {
            ++at_;
        } else if (!digits()) {
            return false;
        }
        if (next_is('.')) {
            ++at_;
            if (!digits()) return false;
        }
        if (next_is('e') || next_is('E')) {
            ++at_;
            if (next_is('+') || next_is('-')) ++at_;
            if (!digits()) return false;
        }
        return true;
    }

    bool digits() noexcept {
        if (!next_is_digit()) return fail("a digit");
        while (next_is_digit())
            ++at_;
        return true;
    }

    bool string() noexcept {
        ++at_;
        for (;;) {
            if (at_ == end_) return fail("'\"' at the end of the string");
            const auto c = static_cast<unsigned char>(*at_);
            if (c == '"') return ++at_, true;
            if (c == '\\') {
                if (!escape()) return false;
            } else if (c < 0x20) {
                return fail("an escape for the control character");
            } else if (c >= 0x80 && at_ == utf8_end_) {
                return invalid_utf8();
            } else {
                ++at_;
            }
        }
    }

    bool escape() noexcept {
        ++at_;
        if (at_ == end_) return fail("the rest of the escape");
        switch (*at_) {
        case '"':
        case '\\':
        case '/':
        case 'b':
        case 'f':
        case 'n':
        case 'r':
        case 't': ++at_; return true;
        case 'u': ++at_; break;
        default: return fail("one of \"\\/bfnrtu behind '\\'");
        }
        for (int i = 0; i < 4; ++i) {
            const char c = at_ == end_ ? ' ' : *at_;
            const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
            if (!hex) return fail("four hexadecimal digits");
            ++at_;
        }
        return true;
    }

    bool invalid_utf8() noexcept {
        fail("valid UTF-8");
        error_->at_end = utf8::is_cut_short({at_, static_cast<std::size_t>(end_ - at_)});
        return false;
    }

    const char* begin_;
    const char* at_;
    const char* end_;
    const char* utf8_end_; // up to here the bytes are known to be UTF-8
    std::optional<syntax_error> error_;
};

class json_category final : public std::error_category {
public:
    const char* name() const noexcept override { return "thalweg.json"; }
    std::string message(int code) const override {
        switch (static_cast<errc>(code)) {
        case errc::syntax: return "the text is not JSON";
        case errc::shape: return "the JSON has another form than expected";
        }
        return "unknown JSON error";
    }
};

} // namespace

std::optional<syntax_error> check(std::string_view text) noexcept {
    return checker(text).run();
}

std::error_code make_error_code(errc e) noexcept {
    static const json_category category;
    return {static_cast<int>(e), category};
}

} // namespace thalweg::json
