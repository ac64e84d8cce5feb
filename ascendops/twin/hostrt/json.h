// A writer of JSON text.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace ascendops_host {
class Json {
public:
    Json &Open(char bracket) { return Separate(), text_ += bracket, first_ = true, *this; }
    Json &Close(char bracket) { return text_ += bracket, first_ = false, *this; }
    Json &Key(const char *key) { return Value(key), text_ += ':', first_ = true, *this; }
    Json &Value(const std::string &value) {
        Separate();
        text_ += '"';
        for (char c : value) {
            Escape(c);
        }
        text_ += '"';
        return *this;
    }
    Json &Value(const char *value) { return Value(std::string(value)); }
    Json &Value(bool value) { return Raw(value ? "true" : "false"); }
    Json &Value(double value) { return Number(value, [value](const char *text) { return strtod(text, nullptr) == value; }); }
    Json &Value(float value) { return Number(value, [value](const char *text) { return strtof(text, nullptr) == value; }); }
    Json &Value(int64_t value) { return Raw(std::to_string(value).c_str()); }
    Json &Value(uint64_t value) { return Raw(std::to_string(value).c_str()); }
    Json &Value(int value) { return Value(static_cast<int64_t>(value)); }
    Json &Value(uint32_t value) { return Value(static_cast<uint64_t>(value)); }
    Json &Null() { return Raw("null"); }
    template <typename T>
    Json &List(const T &values) {
        Open('[');
        for (const auto &value : values) {
            Value(value);
        }
        return Close(']');
    }
    template <typename T>
    Json &Field(const char *key, const T &value) {
        return Key(key).Value(value);
    }
    const std::string &Text() const { return text_; }

private:
    void Separate() {
        if (!first_) {
            text_ += ',';
        }
        first_ = false;
    }
    // The shortest text that reads back as the same value.
    template <typename Same>
    Json &Number(double value, Same same) {
        char buffer[40];
        if (std::isnan(value)) {
            return Raw("NaN");
        }
        if (std::isinf(value)) {
            return Raw(value < 0 ? "-Infinity" : "Infinity");
        }
        for (int digits = 6; digits <= 17; ++digits) {
            (void)snprintf(buffer, sizeof(buffer), "%.*g", digits, value);
            if (same(buffer)) {
                break;
            }
        }
        return Raw(buffer);
    }
    Json &Raw(const char *text) { return Separate(), text_ += text, *this; }
    void Escape(char c) {
        const unsigned char code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            text_ += '\\';
            text_ += c;
        } else if (code < 0x20) {
            char buffer[8];
            (void)snprintf(buffer, sizeof(buffer), "\\u%04x", code);
            text_ += buffer;
        } else {
            text_ += c;
        }
    }

    std::string text_;
    bool first_ = true;
};
}  // namespace ascendops_host
