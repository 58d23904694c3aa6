package warc_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
)

// articles are pages of about 40 KB that compress like HTML does, to a quarter or so.
func articles(tb testing.TB, n int) (xs []*crawl.Exchange, size int64) {
	rnd := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 3_000)
	for i := range words {
		b := make([]byte, 3+rnd.IntN(8))
		for j := range b {
			b[j] = "etaoinshrdlucmfwypvbgkjqxz"[min(rnd.IntN(26), rnd.IntN(26))]
		}
		words[i] = string(b)
	}
	for i := range n {
		var b strings.Builder
		for b.Len() < 40_000 {
			fmt.Fprintf(&b, "<div class=\"article-body\"><p><a href=\"/articles/%d\">", rnd.IntN(1e6))
			for range 40 {
				b.WriteString(words[int(float64(len(words))*rnd.Float64()*rnd.Float64())] + " ")
			}
			b.WriteString("</a></p></div>\n")
		}
		x := page(tb, i)
		x.Body = []byte(b.String())
		x.Digest = sha256.Sum256(x.Body)
		xs = append(xs, x)
		size += int64(len(x.Body))
	}
	return xs, size / int64(n)
}

// BenchmarkWrite reports MB/s of bodies, and the share that is left of them.
func BenchmarkWrite(b *testing.B) {
	xs, size := articles(b, 64)
	for _, level := range []int{1, 2, 3, 6} {
		b.Run(fmt.Sprintf("level=%d", level), func(b *testing.B) {
			dir := b.TempDir()
			w := open(b, dir, warc.Options{Level: level, Remember: -1})
			b.SetBytes(size)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if err := w.Write(b.Context(), xs[i%len(xs)]); err != nil {
					b.Fatal(err)
				}
				i++
			}
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(len(only(b, dir)))/float64(int64(i)*size), "ratio")
		})
	}
	b.Run("parallel", func(b *testing.B) {
		w := open(b, b.TempDir(), warc.Options{Remember: -1})
		b.SetBytes(size)
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				if err := w.Write(b.Context(), xs[i%len(xs)]); err != nil {
					b.Error(err)
				}
			}
		})
	})
}

// BenchmarkValidate reports MB/s of the compressed file.
func BenchmarkValidate(b *testing.B) {
	xs, _ := articles(b, 64)
	file := only(b, write(b, warc.Options{}, xs...))
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		sum, err := warc.Validate(bytes.NewReader(file), func(f warc.Fault) { b.Fatalf("%+v", f) })
		if err != nil || sum.Records != 193 {
			b.Fatal(sum, err)
		}
	}
}
