// Package wasmtest makes small WASM modules of the interface whirlpool:1 by hand, without a compiler.
package wasmtest

import "encoding/binary"

// Module is what a module does at the point document: it returns constants.
type Module struct {
	ABI      int32  // version of the interface that it speaks; 0: 1
	Alloc    int32  // what wp_alloc returns; 0: 4096
	Answer   string // at address 1024
	At       int32  // where it says that the answer lies; 0: where it does
	Size     int32  // how long it says that it is; 0: as long as it is
	Without  string // an export that it lacks
	Imports  string // a module that it imports a function "f" from
	Endless  bool   // wp_document is an endless loop
	Traps    bool   // wp_document traps
	Hoards   bool   // wp_document takes all memory that it gets, a MiB at a time, and traps where there is no more
	NoResult bool   // wp_document has another type
}

func section(id byte, content []byte) []byte {
	return append(append([]byte{id}, uleb(uint64(len(content)))...), content...)
}

func vec(items ...[]byte) []byte {
	out := uleb(uint64(len(items)))
	for _, i := range items {
		out = append(out, i...)
	}
	return out
}

func uleb(n uint64) []byte { return binary.AppendUvarint(nil, n) }

func sleb(n int64) (out []byte) {
	for {
		b := byte(n & 0x7f)
		n >>= 7
		if n == 0 && b&0x40 == 0 || n == -1 && b&0x40 != 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}

func name(s string) []byte { return append(uleb(uint64(len(s))), s...) }

func code(body ...byte) []byte {
	return append(uleb(uint64(len(body)+2)), append([]byte{0}, append(body, 0x0b)...)...)
}

func i32(n int32) []byte { return append([]byte{0x41}, sleb(int64(n))...) }

func i64(n int64) []byte { return append([]byte{0x42}, sleb(n)...) }

// before is what wp_document does before it answers.
func (t Module) before() []byte {
	switch {
	case t.Endless:
		return []byte{0x03, 0x40, 0x0c, 0x00, 0x0b} // loop br 0 end
	case t.Traps:
		return []byte{0x00} // unreachable
	case t.Hoards: // loop: i32.const 16, memory.grow, i32.const -1, i32.ne, br_if 0, end; unreachable
		return []byte{0x03, 0x40, 0x41, 0x10, 0x40, 0x00, 0x41, 0x7f, 0x47, 0x0d, 0x00, 0x0b, 0x00}
	}
	return nil
}

// Bytes assembles the module.
func (t Module) Bytes() []byte {
	version, alloc, at, size := max(t.ABI, 1), t.Alloc, t.At, t.Size
	if alloc == 0 {
		alloc = 4096
	}
	if at == 0 {
		at = 1024
	}
	if size == 0 {
		size = int32(len(t.Answer))
	}
	answer := i64(int64(uint32(at))<<32 | int64(uint32(size)))
	answer = append(t.before(), answer...)
	document := byte(2)
	if t.NoResult {
		document, answer = 1, i32(0)
	}
	first := byte(0)
	var imports []byte
	if t.Imports != "" {
		first = 1
		imports = section(2, vec(append(append(name(t.Imports), name("f")...), 0x00, 0x00)))
	}
	exports := [][]byte{append(name("memory"), 0x02, 0x00)}
	for i, n := range []string{"whirlpool_abi", "wp_alloc", "wp_configure", "wp_document"} {
		if n != t.Without {
			exports = append(exports, append(name(n), 0x00, first+byte(i)))
		}
	}
	out := []byte("\x00asm\x01\x00\x00\x00")
	out = append(out, section(1, vec([]byte{0x60, 0, 1, 0x7f}, []byte{0x60, 1, 0x7f, 1, 0x7f},
		[]byte{0x60, 1, 0x7f, 1, 0x7e}))...)
	out = append(out, imports...)
	out = append(out, section(3, vec([]byte{0}, []byte{1}, []byte{2}, []byte{document}))...)
	out = append(out, section(5, vec([]byte{0x00, 1}))...)
	out = append(out, section(7, vec(exports...))...)
	out = append(out, section(10, vec(code(i32(version)...), code(i32(alloc)...), code(i64(0)...), code(answer...)))...)
	data := append(append([]byte{0x00}, i32(1024)...), 0x0b)
	return append(out, section(11, vec(append(data, name(t.Answer)...)))...)
}
