package jsonpointer

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Find returns the value that a pointer points at, as it is in doc; nil: there is none. doc is valid JSON (ask
// json.Valid once). Of two members of one name the first is meant. The time is that of reading doc once.
func (p Pointer) Find(doc []byte) []byte {
	value := trim(doc)
	for _, token := range p {
		switch {
		case len(value) == 0:
			return nil
		case value[0] == '{':
			value = member(value, token)
		case value[0] == '[':
			value = item(value, token)
		default:
			return nil
		}
	}
	if len(value) == 0 {
		return nil
	}
	return value[:len(value)-len(skip(value))]
}

// Items calls yield for each item of an array, or once for another value, until yield returns false. value is valid
// JSON.
func Items(value []byte, yield func(item []byte) bool) {
	value = trim(value)
	if len(value) == 0 || value[0] != '[' {
		yield(value)
		return
	}
	for rest := trim(value[1:]); len(rest) > 0 && rest[0] != ']'; {
		after := skip(rest)
		if !yield(rest[:len(rest)-len(after)]) {
			return
		}
		rest = next(after)
	}
}

// member returns what follows the name in an object; nil: it has no such member.
func member(object []byte, name string) []byte {
	for rest := trim(object[1:]); len(rest) > 0 && rest[0] == '"'; {
		after := skip(rest)
		key := rest[:len(rest)-len(after)]
		value := trim(trim(after)[1:]) // behind the colon
		if isName(key, name) {
			return value
		}
		rest = next(skip(value))
	}
	return nil
}

// item returns what begins with the item of a number; nil: there is none.
func item(array []byte, token string) []byte {
	n, err := strconv.Atoi(token)
	if err != nil || n < 0 || strconv.Itoa(n) != token {
		return nil
	}
	for rest := trim(array[1:]); len(rest) > 0 && rest[0] != ']'; n-- {
		if n == 0 {
			return rest
		}
		rest = next(skip(rest))
	}
	return nil
}

// next returns what follows a comma, or the end of an object or array.
func next(rest []byte) []byte {
	rest = trim(rest)
	if len(rest) > 0 && rest[0] == ',' {
		return trim(rest[1:])
	}
	return nil
}

// isName reports whether a string as it is in a document is the name.
func isName(quoted []byte, name string) bool {
	plain := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(plain, '\\') < 0 {
		return string(plain) == name
	}
	var s string
	return json.Unmarshal(quoted, &s) == nil && s == name
}

// skip returns what follows the value with which valid JSON begins.
func skip(doc []byte) []byte {
	depth := 0
	for i := 0; i < len(doc); i++ {
		switch c := doc[i]; c {
		case '"':
			i = endOfString(doc, i)
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ' ', '\t', '\n', '\r', ',', ':':
			continue
		default:
			i = endOfScalar(doc, i)
		}
		if depth == 0 {
			return doc[i+1:]
		}
	}
	return nil
}

// endOfString returns where the string ends that begins at i.
func endOfString(doc []byte, i int) int {
	for i++; i < len(doc) && doc[i] != '"'; i++ {
		if doc[i] == '\\' {
			i++
		}
	}
	return min(i, len(doc)-1)
}

// endOfScalar returns where the number or word ends that has a byte at i.
func endOfScalar(doc []byte, i int) int {
	for i+1 < len(doc) && bytes.IndexByte([]byte(" \t\n\r,:]}"), doc[i+1]) < 0 {
		i++
	}
	return i
}

func trim(b []byte) []byte { return bytes.TrimLeft(b, " \t\n\r") }
