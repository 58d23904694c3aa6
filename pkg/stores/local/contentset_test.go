package local

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func TestContentSet(t *testing.T) {
	storetest.ContentSet(t, func(t *testing.T) crawl.ContentSet { return openStore(t, t.TempDir()).ContentSet() })
}

func fingerprintOf(t testing.TB, n uint64, simhash uint64) crawl.Fingerprint {
	t.Helper()
	u, err := weburl.Parse(fmt.Sprintf("http://www.example.org/a/path/of/ordinary/length/%d.html", n))
	if err != nil {
		t.Fatal(err)
	}
	d := sha256.Sum256(binary.BigEndian.AppendUint64(nil, n))
	return crawl.Fingerprint{Job: "content", URL: u, Digest: d, Simhash: simhash, Sketch: make([]byte, 128)}
}

func yes(_, _ []byte) bool { return true }
func no(_, _ []byte) bool  { return false }

func mustClaim(t testing.TB, c *ContentSet, fp crawl.Fingerprint, near int, confirm func(_, _ []byte) bool) crawl.Seen {
	t.Helper()
	seen, err := c.Claim(context.Background(), fp, near, confirm)
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

// The index is on disk, the filter in front of it is not: it must be whole again after reopening, before the first
// look-up.
func TestContentSetFindsNearCopiesAfterReopening(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Default())
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	var pages []crawl.Fingerprint
	for n := range uint64(300) {
		fp := fingerprintOf(t, n, rnd.Uint64())
		pages = append(pages, fp)
		if got := mustClaim(t, s.ContentSet(), fp, 3, yes); got.Sameness != crawl.Original {
			t.Fatalf("page %d: %+v", n, got)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c := openStore(t, dir).ContentSet()
	for i, fp := range pages {
		got := mustClaim(t, c, fingerprintOf(t, 1000+uint64(i), fp.Simhash^1<<(i%64)), 3, yes)
		if want := (crawl.Seen{Sameness: crawl.NearCopy, Of: fp.URL, Distance: 1}); got != want {
			t.Errorf("near copy of page %d: got %+v, want %+v", i, got, want)
		}
		if got := mustClaim(t, c, fp, 3, yes); got != (crawl.Seen{}) {
			t.Errorf("page %d asked again: %+v, want an original", i, got)
		}
	}
}

// Pages made from one template share simhashes without being copies. Their claims must stay cheap.
func TestContentSetBoundsConfirmationsAmongTemplatePages(t *testing.T) {
	c := openStore(t, t.TempDir()).ContentSet()
	asked := 0
	count := func(_, _ []byte) bool { asked++; return false }
	for n := range uint64(3 * maxConfirmed) {
		asked = 0
		if got := mustClaim(t, c, fingerprintOf(t, n, 42), 3, count); got.Sameness != crawl.Original {
			t.Fatalf("page %d: %+v", n, got)
		}
		if want := min(int(n), maxConfirmed); asked != want {
			t.Fatalf("page %d was compared with %d sketches, want %d", n, asked, want)
		}
	}
}

func TestFlipsYieldEachWordOfFewBitsOnce(t *testing.T) {
	for radius, want := range []int{1, 1 + 32, 1 + 32 + 496, 1 + 32 + 496 + 4960} {
		words, last := map[uint32]bool{}, 0
		for w := range flips(radius) {
			if n := bits.OnesCount32(w); n > radius || n < last {
				t.Errorf("radius %d: %#x after words of %d bits", radius, w, last)
			} else {
				last = n
			}
			words[w] = true
		}
		if len(words) != want {
			t.Errorf("radius %d: %d words, want %d", radius, len(words), want)
		}
	}
}

func FuzzContentRecords(f *testing.F) {
	f.Add((&contentDoc{}).encode())
	f.Add((&contentOriginal{sketch: make([]byte, 128)}).encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		var d contentDoc
		if d.decode(data) == nil {
			var again contentDoc
			if err := again.decode(d.encode()); err != nil || again != d {
				t.Errorf("%+v became %+v, %v", d, again, err)
			}
		}
		var o contentOriginal
		_ = o.decode(data)
		_, _, _ = readSimhashKey(data)
	})
}

// BenchmarkContentSetOriginal claims originals with a set of the size that b.N asks for; localbench measures large
// ones.
func BenchmarkContentSetOriginal(b *testing.B) {
	c := openStore(b, b.TempDir()).ContentSet()
	rnd := rand.New(rand.NewPCG(1, 1))
	n := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		n++
		mustClaim(b, c, fingerprintOf(b, n, rnd.Uint64()), 3, no)
	}
}

// BenchmarkNearLookup looks random simhashes up, for distance 3, among so many others: what a new page costs besides
// its claim.
func BenchmarkNearLookup(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := openStore(b, b.TempDir())
			rnd := rand.New(rand.NewPCG(1, 2))
			var o originalKey
			for done := 0; done < n; done += 1000 {
				must(b, s.do(context.Background(), func(batch *pebble.Batch) {
					for i := range 1000 {
						binary.BigEndian.PutUint64(o[contentPrefixSize:], uint64(done+i))
						entry := contentOriginal{key: o, simhash: rnd.Uint64(), sketch: []byte{1}}
						for _, k := range entry.entries() {
							_ = batch.Set(k[:], nil, nil)
						}
					}
				}))
			}
			must(b, s.db.Flush())
			must(b, s.content.index.load(context.Background()))
			for b.Loop() {
				var r contentReader
				r.s = s
				if _, err := s.content.index.find(context.Background(), &r, 0, rnd.Uint64(), 3); err != nil {
					b.Fatal(err)
				}
				must(b, r.close())
			}
		})
	}
}
