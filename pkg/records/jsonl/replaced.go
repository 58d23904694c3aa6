package jsonl

import "bytes"

// The head of a record, and of one that was replaced by a later line. They have one length: a line is marked in place.
var replacedHead = []byte(`{"was":"`)

// IsReplaced reports whether a line is a record that a later line of its URL replaces.
func IsReplaced(line []byte) bool { return bytes.HasPrefix(line, replacedHead) }

// Mark returns what is written over the start of a record's line when it is replaced, and over what.
func Mark() (record, replaced []byte) { return recordHead, replacedHead }

// Unmarked appends the line of a replaced record as it was before.
func Unmarked(dst, line []byte) []byte {
	return append(append(dst, recordHead...), line[len(replacedHead):]...)
}
