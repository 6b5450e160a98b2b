// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/detail/codec.hpp>
#include <thalweg/protocol/json_schema.hpp>

#ifndef VALIJSON_USE_EXCEPTIONS
#define VALIJSON_USE_EXCEPTIONS 1 // otherwise a schema it does not like ends the program
#endif

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <unordered_map>

namespace thalweg {

namespace {

namespace bj = boost::json;

bj::value tree_of(std::string_view checked) {
    bj::parse_options options;
    options.max_depth = json::max_depth;
    return bj::parse({checked.data(), checked.size()}, {}, options);
}

/// JSON Schema counts 1.0 and 1e30 as integers; the adapter knows integers only as int64.
void count_as_integers(bj::value& at) {
    constexpr double limit = 9223372036854775808.0; // 2^63
    using integer = std::numeric_limits<std::int64_t>;
    if (auto* object = at.if_object()) {
        for (auto& member : *object)
            count_as_integers(member.value());
    } else if (auto* array = at.if_array()) {
        for (auto& element : *array)
            count_as_integers(element);
    } else if (at.is_uint64()) {
        at = integer::max();
    } else if (const double* number = at.if_double(); number && std::trunc(*number) == *number) {
        if (*number >= limit)
            at = integer::max();
        else if (*number < -limit)
            at = integer::min();
        else
            at = static_cast<std::int64_t>(*number);
    }
}

bool holds_named_schemas(std::string_view key) {
    return key == "properties" || key == "definitions" || key == "$defs" || key == "dependencies" ||
           key == "dependentSchemas";
}

bool holds_data(std::string_view key) {
    return key == "enum" || key == "const" || key == "default" || key == "examples";
}

/// Takes out what would be given to std::regex (see the header).
void drop_patterns(bj::value& schema) {
    if (auto* list = schema.if_array()) { // allOf, items, ...
        for (auto& each : *list)
            drop_patterns(each);
        return;
    }
    auto* object = schema.if_object();
    if (!object) return;
    object->erase("pattern");
    object->erase("format");
    if (object->erase("patternProperties") > 0) object->erase("additionalProperties"); // says "all others"
    for (auto& member : *object) {
        const std::string_view key(member.key().data(), member.key().size());
        if (holds_data(key)) continue;
        if (auto* named = holds_named_schemas(key) ? member.value().if_object() : nullptr) {
            for (auto& each : *named)
                drop_patterns(each.value());
        } else {
            drop_patterns(member.value());
        }
    }
}

/// Refuses references that leave the document, and schemas that lead back to themselves without going into
/// the value: valijson would follow those until the stack ends.
class reference_check {
public:
    explicit reference_check(const bj::value& root) : root_(root) {}

    void everywhere(const bj::value& schema) {
        if (const auto* list = schema.if_array())
            for (const auto& each : *list)
                everywhere(each);
        const auto* object = schema.if_object();
        if (!object) return;
        in_place(schema);
        for (const auto& member : *object) {
            const std::string_view key(member.key().data(), member.key().size());
            if (holds_data(key)) continue;
            const auto* named = holds_named_schemas(key) ? member.value().if_object() : nullptr;
            if (!named)
                everywhere(member.value());
            else
                for (const auto& each : *named)
                    everywhere(each.value());
        }
    }

private:
    /// Follows what applies to the same value.
    void in_place(const bj::value& schema) {
        const auto* object = schema.if_object();
        if (!object) return;
        const auto [place, is_new] = done_.try_emplace(&schema, false);
        if (!is_new) {
            if (place->second) return;
            throw std::runtime_error("it refers to itself without end");
        }
        if (const auto* reference = object->if_contains("$ref"); reference && reference->is_string())
            in_place(target(*reference));
        for (const char* key : {"not", "if", "then", "else"})
            if (const auto* inner = object->if_contains(key)) in_place(*inner);
        for (const char* key : {"allOf", "anyOf", "oneOf"}) {
            const auto* inner = object->if_contains(key);
            if (const auto* list = inner ? inner->if_array() : nullptr)
                for (const auto& each : *list)
                    in_place(each);
        }
        for (const char* key : {"dependencies", "dependentSchemas"}) {
            const auto* inner = object->if_contains(key);
            if (const auto* named = inner ? inner->if_object() : nullptr)
                for (const auto& each : *named)
                    in_place(each.value());
        }
        done_[&schema] = true;
    }

    const bj::value& target(const bj::value& reference) const {
        const std::string pointer(reference.get_string().c_str());
        if (pointer.rfind('#', 0) != 0)
            throw std::runtime_error("a $ref must stay inside the schema, not " + pointer);
        bj::error_code code;
        const bj::value* found = root_.find_pointer(pointer.substr(1), code);
        if (!found) throw std::runtime_error("there is nothing at the $ref " + pointer);
        return *found;
    }

    const bj::value& root_;
    std::unordered_map<const bj::value*, bool> done_;
};

/// What a validation error says, in our form: `path[1].lat: value type not permitted ..., got "north"`.
std::string sentence_of(const valijson::ValidationResults::Error& found, json::view value) {
    std::string path;
    std::optional<json::view> at = value;
    for (std::size_t i = 1; i < found.context.size();
         ++i) { // the first is "<root>", the others "[lat]" or "[0]"
        const std::string& step = found.context[i];
        const std::string inner = step.size() > 2 ? step.substr(1, step.size() - 2) : std::string();
        if (at && at->is_array()) {
            path += step;
            std::size_t left = std::stoul(inner);
            std::optional<json::view> element;
            for (json::view each : at->elements())
                if (left-- == 0) {
                    element = each;
                    break;
                }
            at = element;
        } else {
            if (!path.empty()) path += '.';
            path += inner;
            if (at) at = at->find(inner);
        }
    }
    std::string says = found.description;
    if (!says.empty() && says.back() == '.') says.pop_back();
    if (!says.empty() && says.front() >= 'A' && says.front() <= 'Z') says.front() += 'a' - 'A';
    if (!path.empty()) path += ": ";
    return path + says + (at && !at->is_object() ? ", got " + thalweg::detail::shown(*at) : "");
}

/// Gives values the types that a schema wants, where a neighboring type was written.
class conversion {
public:
    explicit conversion(const bj::value& root) : root_(root) {}

    /// True if something was changed.
    bool convert(const bj::value& schema, bj::value& value) {
        const auto* object = schema.if_object();
        if (!object) return false;
        if (const auto* reference = object->if_contains("$ref"); reference && reference->is_string()) {
            bj::error_code code;
            const bj::value* target = root_.find_pointer(reference->get_string().subview(1), code);
            return target != nullptr && convert(*target, value); // it ends: see reference_check
        }
        bool changed = false;
        if (const auto* type = object->if_contains("type")) changed = fit(*type, value);
        if (auto* members = value.if_object()) changed = convert_members(*object, *members) || changed;
        const auto* items = object->if_contains("items");
        if (auto* elements = value.if_array(); elements && items) {
            for (auto& each : *elements)
                changed = convert(*items, each) || changed;
        }
        return changed;
    }

private:
    bool convert_members(const bj::object& schema, bj::object& members) {
        const auto* properties = schema.if_contains("properties");
        const auto* wanted = properties ? properties->if_object() : nullptr;
        if (!wanted) return false;
        bool changed = false;
        for (const auto& each : *wanted) {
            auto* given = members.if_contains(each.key());
            if (!given) continue;
            if (given->is_null() && !is_required(schema, each.key()) && !takes(each.value(), "null")) {
                members.erase(each.key());
                changed = true;
            } else {
                changed = convert(each.value(), *given) || changed;
            }
        }
        return changed;
    }

    static bool is_required(const bj::object& schema, bj::string_view name) {
        const auto* required = schema.if_contains("required");
        const auto* names = required ? required->if_array() : nullptr;
        if (!names) return false;
        return std::any_of(names->begin(), names->end(),
                           [&](const bj::value& n) { return n.is_string() && n.get_string() == name; });
    }
    /// A schema without a type takes everything.
    static bool takes(const bj::value& schema, bj::string_view type) {
        const auto* object = schema.if_object();
        const auto* types = object ? object->if_contains("type") : nullptr;
        if (!types) return true;
        if (types->is_string()) return types->get_string() == type;
        const auto* list = types->if_array();
        return list && std::any_of(list->begin(), list->end(), [&](const bj::value& t) {
                   return t.is_string() && t.get_string() == type;
               });
    }

    static bool is_of(bj::string_view type, const bj::value& value) {
        if (type == "string") return value.is_string();
        if (type == "boolean") return value.is_bool();
        if (type == "null") return value.is_null();
        if (type == "array") return value.is_array();
        if (type == "object") return value.is_object();
        if (type == "number") return value.is_number();
        if (const double* number = value.if_double()) return std::trunc(*number) == *number;
        return type == "integer" && value.is_number();
    }

    static bool fit(const bj::value& types, bj::value& value) {
        bj::array one;
        if (types.is_string()) one.push_back(types);
        const bj::array& list = types.is_array() ? types.get_array() : one;
        for (const auto& type : list)
            if (type.is_string() && is_of(type.get_string(), value)) return false;
        return std::any_of(list.begin(), list.end(), [&value](const bj::value& type) {
            return type.is_string() && become(type.get_string(), value);
        });
    }

    static bool become(bj::string_view type, bj::value& value) {
        if (type == "string" && (value.is_number() || value.is_bool())) {
            value = bj::serialize(value);
            return true;
        }
        if (type == "boolean" && value.is_string()) {
            const auto& word = value.get_string();
            if (word != "true" && word != "false") return false;
            value = word == "true";
            return true;
        }
        if (type == "boolean" && value.is_int64()) {
            const auto number = value.get_int64();
            if (number != 0 && number != 1) return false;
            value = number == 1;
            return true;
        }
        if ((type != "number" && type != "integer") || !value.is_string()) return false;
        bj::error_code code;
        const bj::value read = bj::parse(value.get_string(), code);
        if (code || !read.is_number() || !is_of(type, read)) return false;
        value = read;
        return true;
    }

    const bj::value& root_;
};

} // namespace

struct json_schema::parts {
    valijson::Schema schema;
    bj::value tree; // the same, as JSON
};

json_schema::json_schema(std::unique_ptr<parts> p) noexcept : parts_(std::move(p)) {}
json_schema::~json_schema() = default;

result<std::shared_ptr<const json_schema>> json_schema::compile(std::string_view schema) {
    auto parsed = json::parse(schema);
    if (!parsed) return parsed.error();
    if (!parsed.value().is_object())
        return error(json::errc::shape, "a JSON Schema of an object is an object itself");
    auto made = std::make_unique<parts>();
    try {
        bj::value tree = tree_of(parsed.value().raw());
        drop_patterns(tree);
        count_as_integers(tree);
        reference_check(tree).everywhere(tree);
        valijson::SchemaParser(valijson::SchemaParser::kDraft7)
            .populateSchema(valijson::adapters::BoostJsonAdapter(tree), made->schema);
        made->tree = std::move(tree);
    } catch (const std::exception& thrown) {
        return error(json::errc::shape, thrown.what());
    }
    return std::shared_ptr<const json_schema>(new json_schema(std::move(made)));
}

std::string json_schema::converted(json::view value) const {
    try {
        bj::value tree = tree_of(value.raw());
        conversion work(parts_->tree);
        if (!work.convert(parts_->tree, tree)) return std::string(value.raw());
        return bj::serialize(tree);
    } catch (const std::exception&) {
        return std::string(value.raw()); // fault() says what is wrong with it
    }
}

std::optional<std::string> json_schema::fault(json::view value) const {
    try {
        bj::value tree = tree_of(value.raw());
        count_as_integers(tree);
        valijson::Validator validator;
        valijson::ValidationResults results;
        if (validator.validate(parts_->schema, valijson::adapters::BoostJsonAdapter(tree), &results))
            return {};
        valijson::ValidationResults::Error first; // the innermost; the later ones repeat it from further out
        if (!results.popError(first)) return "does not fit the schema";
        return sentence_of(first, value);
    } catch (const std::exception& thrown) {
        return thrown.what();
    }
}

} // namespace thalweg
