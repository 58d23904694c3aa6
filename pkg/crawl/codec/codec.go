// Package codec reads and writes numbers and texts in compact binary form. A Reader never reads past its input and
// never panics. After the first bad byte it reports failure for good. The package knows nothing of what the numbers
// mean.
package codec

import "encoding/binary"

// Reader takes values off B. Bad is set once one is not there or out of bounds; every value read after that is zero.
type Reader struct {
	B   []byte
	Bad bool
}

func (r *Reader) fail() { r.Bad, r.B = true, nil }

// Uvarint reads a number of at most limit.
func (r *Reader) Uvarint(limit uint64) uint64 {
	v, n := binary.Uvarint(r.B)
	if n <= 0 || v > limit {
		r.fail()
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Varint reads a signed number.
func (r *Reader) Varint() int64 {
	v, n := binary.Varint(r.B)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Bytes reads bytes with their length before them. They are part of B.
func (r *Reader) Bytes() []byte {
	n := r.Uvarint(uint64(len(r.B)))
	if n > uint64(len(r.B)) {
		r.fail()
		return nil
	}
	b := r.B[:n:n]
	r.B = r.B[n:]
	return b
}

// Text reads a text with its length before it.
func (r *Reader) Text() string { return string(r.Bytes()) }

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if len(r.B) == 0 {
		r.fail()
		return 0
	}
	c := r.B[0]
	r.B = r.B[1:]
	return c
}

// Done reports whether all values were there and nothing is left.
func (r *Reader) Done() bool { return !r.Bad && len(r.B) == 0 }

// AppendText appends s with its length before it, as Text reads it.
func AppendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// AppendBytes appends b with its length before it, as Bytes reads it.
func AppendBytes(to, b []byte) []byte {
	return append(binary.AppendUvarint(to, uint64(len(b))), b...)
}
