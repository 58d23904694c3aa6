package codec_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
)

func TestValuesComeBackInOrder(t *testing.T) {
	b := binary.AppendUvarint(nil, 300)
	b = codec.AppendText(binary.AppendVarint(b, math.MinInt64), "text")
	r := codec.Reader{B: append(b, 7)}
	if n, v, s, c := r.Uvarint(300), r.Varint(), r.Text(), r.Byte(); n != 300 || v != math.MinInt64 || s != "text" ||
		c != 7 || !r.Done() {
		t.Errorf("got %d %d %q %d, done %v", n, v, s, c, r.Done())
	}
}

func TestAReaderGoesBadAndStaysSo(t *testing.T) {
	for name, read := range map[string]func(*codec.Reader){
		"a number above its limit": func(r *codec.Reader) { r.Uvarint(1) },
		"a text past the end":      func(r *codec.Reader) { r.Text() },
	} {
		r := codec.Reader{B: []byte{200, 1, 'x'}}
		read(&r)
		if !r.Bad || r.Byte() != 0 || r.Text() != "" || r.Varint() != 0 || r.Done() {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := (codec.Reader{}); r.Byte() != 0 || !r.Bad {
		t.Error("a byte out of nothing")
	}
	if r := (codec.Reader{B: []byte{1}}); r.Done() || r.Bad {
		t.Error("what is left goes unnoticed")
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte{3, 'a', 'b', 'c', 5, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := codec.Reader{B: b}
		text := r.Bytes()
		n := r.Uvarint(1 << 20)
		if n > 1<<20 || !r.Bad && !bytes.Contains(b, text) {
			t.Errorf("%q gives %q and %d", b, text, n)
		}
	})
}
