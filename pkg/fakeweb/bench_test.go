package fakeweb

import "testing"

func BenchmarkPage(b *testing.B) {
	w := New(Plain(100, 100_000))
	buf := make([]byte, 0, 1<<20)
	n := 0
	for i := 0; b.Loop(); i++ {
		buf = w.appendPage(buf[:0], w.page(i*7919%100_000), edition{})
		n += len(buf)
	}
	b.SetBytes(int64(n / b.N))
}
