package selector

import "strings"

// foldedAttributes are those whose values selectors compare without case in HTML (HTML Standard, 4.16.2).
var foldedAttributes = map[string]bool{"accept": true, "accept-charset": true, "align": true, "alink": true,
	"axis": true, "bgcolor": true,
	"charset": true, "checked": true, "clear": true, "codetype": true, "color": true, "compact": true,
	"declare": true, "defer": true, "dir": true, "direction": true, "disabled": true, "enctype": true, "face": true,
	"frame": true, "hreflang": true, "http-equiv": true, "lang": true, "language": true, "link": true, "media": true,
	"method": true, "multiple": true, "nohref": true, "noresize": true, "noshade": true, "nowrap": true, "readonly": true,
	"rel": true, "rev": true, "rules": true, "scope": true, "scrolling": true, "selected": true, "shape": true,
	"target": true, "text": true, "type": true, "valign": true, "valuetype": true, "vlink": true}

const space = " \t\r\n\f"

// attribute reads a test of an attribute that begins s, and writes it with the flag i where the value's case does not
// matter, and without the flag s, which the library does not know. What is no such test is left as it is.
func attribute(s string) (n int, text string) {
	body := s[1:]
	end := strings.IndexAny(body, "=~|^$*]")
	if end < 0 {
		return 1, "["
	}
	name := strings.ToLower(strings.Trim(body[:end], space))
	operator := strings.TrimLeft(body[end:], "~|^$*")
	if len(body)-end-len(operator) > 1 || !strings.HasPrefix(operator, "=") {
		return 1, "["
	}
	value := strings.TrimLeft(operator[1:], space)
	length := strings.IndexAny(value, space+"]")
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		length = quoted(value)
	}
	if length <= 0 {
		return 1, "["
	}
	tail := strings.TrimLeft(value[length:], space)
	flag := ""
	if tail != "" && strings.IndexByte("iIsS", tail[0]) >= 0 {
		flag, tail = strings.ToLower(tail[:1]), strings.TrimLeft(tail[1:], space)
	}
	if !strings.HasPrefix(tail, "]") || strings.Contains(value[:length], `\`) {
		return 1, "["
	}
	head := s[:len(s)-len(value)+length]
	if flag == "i" || flag == "" && foldedAttributes[name] {
		head += " i"
	}
	return len(s) - len(tail) + 1, head + "]"
}
