// Package jsonpointer finds values in JSON documents by JSON pointers (RFC 6901). It reads the bytes and builds no
// tree: a document of strangers takes no memory besides its own.
package jsonpointer

import (
	"errors"
	"net/url"
	"strings"
)

// Pointer is a parsed JSON pointer: the names or numbers on the way to a value.
type Pointer []string

// maxTokens is more than a document is deep.
const maxTokens = 1000

// The errors of Parse.
var (
	errSlash  = errors.New(`is no JSON pointer: it begins with "/", or with "#" for the whole document`)
	errEscape = errors.New(`is no JSON pointer: "~" stands before 0 (for "~") or 1 (for "/")`)
	errDeep   = errors.New("is too deep for a JSON pointer")
)

// Parse parses a pointer. "" is the whole document. A pointer that begins with "#" is in the form of a URL's fragment
// (RFC 6901, section 6); "#" alone is the whole document too.
func Parse(text string) (Pointer, error) {
	if fragment, ok := strings.CutPrefix(text, "#"); ok {
		plain, err := url.PathUnescape(fragment)
		if err != nil {
			return nil, errors.New("is no JSON pointer: its percent-encoding is wrong")
		}
		text = plain
	}
	if text == "" {
		return nil, nil
	}
	rest, ok := strings.CutPrefix(text, "/")
	if !ok {
		return nil, errSlash
	}
	tokens := strings.Split(rest, "/")
	if len(tokens) > maxTokens {
		return nil, errDeep
	}
	for i, t := range tokens {
		if !escaped(t) {
			return nil, errEscape
		}
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(t)
	}
	return tokens, nil
}

// escaped reports whether each "~" in a token has a 0 or 1 behind it.
func escaped(token string) bool {
	for i := range len(token) {
		if token[i] == '~' && (i+1 == len(token) || token[i+1] != '0' && token[i+1] != '1') {
			return false
		}
	}
	return true
}
