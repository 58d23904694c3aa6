package controlsql

import (
	"reflect"
	"strings"
	"unicode/utf8"
)

// unknown is where a text has what is none.
const unknown = "\uFFFD"

// plain are arguments that every database takes: PostgreSQL refuses the character U+0000, and bytes that are no UTF-8.
// What is stored or looked for with them has U+FFFD in their place. JSON has the character as an escape.
func plain(args []any) []any {
	out := args
	for i, a := range args {
		v := reflect.ValueOf(a)
		if !v.IsValid() || v.Kind() != reflect.String {
			continue
		}
		text := v.String()
		if utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 {
			continue
		}
		if &out[0] == &args[0] {
			out = append([]any(nil), args...) // they are the caller's
		}
		out[i] = strings.ReplaceAll(strings.ToValidUTF8(text, unknown), "\x00", unknown)
	}
	return out
}

// plainJSON is JSON without an escaped U+0000: PostgreSQL keeps that in a column of text, and fails with each query
// that looks into it.
func plainJSON(text string) string {
	const escape = `\u0000`
	if !strings.Contains(text, escape) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] != '\\':
			b.WriteByte(text[i])
		case strings.HasPrefix(text[i:], escape):
			b.WriteString(unknown)
			i += len(escape) - 1
		default: // it escapes the next character, which may be a backslash
			b.WriteString(text[i:min(i+2, len(text))])
			i++
		}
	}
	return b.String()
}
