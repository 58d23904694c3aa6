package structured

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// addJSONLD adds the nodes of a script.
func (d *Data) addJSONLD(raw []byte) {
	values, err := decode(raw)
	if err != nil {
		more, again := decode(repair(raw))
		if again != nil {
			d.Cut = true
		}
		if len(more) >= len(values) {
			values = more
		}
	}
	for _, v := range values {
		d.addNodes(v, 0)
	}
}

// decode reads the JSON values of a script, as a rule one; before the fault where there is one.
func decode(raw []byte) (values []any, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // numbers stay as they were written
	for {
		var v any
		switch err := dec.Decode(&v); {
		case errors.Is(err, io.EOF):
			return values, nil
		case err != nil:
			return values, err
		}
		values = append(values, v)
	}
}

// addNodes adds a node, those of a list, or those of a graph.
func (d *Data) addNodes(v any, depth int) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if depth < maxDepth {
				d.addNodes(item, depth+1)
			}
		}
	case map[string]any:
		graph, ok := v["@graph"].([]any)
		if one, isNode := v["@graph"].(map[string]any); isNode {
			graph, ok = []any{one}, true
		}
		if !ok || len(v) > 3 {
			if node, ok := d.bound(v, 0); ok {
				d.JSONLD = append(d.JSONLD, node)
			}
			return
		}
		for _, item := range graph {
			if depth < maxDepth {
				d.addNodes(item, depth+1)
			}
		}
	}
}

// bound copies a value as far as there is room for it.
func (d *Data) bound(v any, depth int) (out any, ok bool) {
	switch v := v.(type) {
	case string:
		v = d.text(v)
		if d.budget.take(len(v)) {
			return v, true
		}
	case json.Number:
		if len(v) < maxName && d.budget.take(len(v)) {
			return v, true
		}
	case nil, bool:
		if d.budget.take(4) {
			return v, true
		}
	case []any:
		if depth < maxDepth && d.budget.take(2) {
			return d.boundList(v, depth), true
		}
	case map[string]any:
		if depth < maxDepth && d.budget.take(2) {
			return d.boundMap(v, depth), true
		}
	}
	d.Cut = true
	return nil, false
}

func (d *Data) boundList(v []any, depth int) []any {
	out := make([]any, 0, min(len(v), 16))
	for _, item := range v {
		x, ok := d.bound(item, depth+1)
		if ok {
			out = append(out, x)
		} else if d.budget.values <= 0 {
			break
		}
	}
	return out
}

func (d *Data) boundMap(v map[string]any, depth int) map[string]any {
	out := make(map[string]any, min(len(v), 32))
	for _, key := range sortedKeys(v) { // in a fixed order: what there is room for must not change from run to run
		if len(key) > maxName || !d.budget.take(len(key)) {
			d.Cut = true
			continue
		}
		if x, ok := d.bound(v[key], depth+1); ok {
			out[strings.ToValidUTF8(key, "\uFFFD")] = x
		}
	}
	return out
}

// repair makes JSON of what people write in its place: comments, commas before a bracket, line breaks and escapes of
// other languages within strings, a semicolon at the end, spaces that are none, and wrappers of XML.
func repair(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			out, i = repairString(out, raw, i)
		case bytes.HasPrefix(raw[i:], []byte("/*")):
			i = past(raw, i, "*/")
		case bytes.HasPrefix(raw[i:], []byte("//<![CDATA[")), bytes.HasPrefix(raw[i:], []byte("//]]>")):
			i += len("//")
		case bytes.HasPrefix(raw[i:], []byte("\uFEFF")), bytes.HasPrefix(raw[i:], []byte("\u00A0")):
			_, n := utf8.DecodeRune(raw[i:])
			i += n
		case bytes.HasPrefix(raw[i:], []byte("//")):
			i = past(raw, i, "\n")
		case bytes.HasPrefix(raw[i:], []byte("<!--")), bytes.HasPrefix(raw[i:], []byte("-->")):
			i += 3
		case bytes.HasPrefix(raw[i:], []byte("<![CDATA[")):
			i += len("<![CDATA[")
		case bytes.HasPrefix(raw[i:], []byte("]]>")):
			i += len("]]>")
		case c == '}' || c == ']':
			out = append(bytes.TrimRight(out, ", \t\r\n"), c)
			i++
		case c == ';' || c == '-' && len(bytes.TrimSpace(out)) == 0:
			i++
		default:
			out = append(out, c)
			i++
		}
	}
	return out
}

// repairString copies the string that begins at i; control characters in it become spaces, and quotes that end nothing
// are taken for text. Where a new line begins with the next string, the comma between is put in.
func repairString(out, raw []byte, i int) (more []byte, next int) {
	out = append(out, '"')
	for i++; i < len(raw); i++ {
		c := raw[i]
		switch {
		case c == '\\' && i+1 < len(raw) && raw[i+1] >= ' ' && !escapes(raw[i+1:]):
			continue // the sign behind it stands for itself
		case c == '\\' && i+1 < len(raw) && raw[i+1] >= ' ':
			out = append(out, c, raw[i+1])
			i++
			continue
		case c < ' ' || c == '\\':
			c = ' '
		case c == '"' && endsString(raw[i+1:]):
			return append(out, c), i + 1
		case c == '"' && beforeString(raw[i+1:]):
			return append(out, c, ','), i + 1
		case c == '"':
			out = append(out, '\\')
		}
		out = append(out, c)
	}
	return out, i
}

// endsString says whether what follows a quote may follow a string.
func endsString(next []byte) bool {
	next = bytes.TrimLeftFunc(next, isSpace)
	if len(next) == 0 || next[0] != ',' {
		return len(next) == 0 || strings.IndexByte(":}]/;", next[0]) >= 0
	}
	next = bytes.TrimLeftFunc(next[1:], isSpace)
	for _, word := range [...]string{"true", "false", "null"} {
		if bytes.HasPrefix(next, []byte(word)) {
			return true
		}
	}
	return len(next) == 0 || strings.IndexByte(`"{[}]/,-0123456789`, next[0]) >= 0
}

// beforeString says whether what follows a quote is a new line that begins with a string.
func beforeString(next []byte) bool {
	rest := bytes.TrimLeftFunc(next, isSpace)
	return len(rest) > 0 && rest[0] == '"' && bytes.IndexByte(next[:len(next)-len(rest)], '\n') >= 0
}

func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' }

// escapes says whether what follows a backslash is an escape of JSON. People write \' as well.
func escapes(next []byte) bool {
	if next[0] != 'u' {
		return strings.IndexByte(`"\/bfnrt`, next[0]) >= 0
	}
	for i := 1; i <= 4; i++ {
		if i >= len(next) || !isHex(next[i]) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

// past returns the offset behind the next mark.
func past(raw []byte, i int, mark string) int {
	if n := bytes.Index(raw[i:], []byte(mark)); n >= 0 {
		return i + n + len(mark)
	}
	return len(raw)
}
