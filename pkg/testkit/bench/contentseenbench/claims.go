package contentseenbench

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/contentseen"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

const (
	crowd      = 200   // copies claimed at once
	sample     = 2_000 // claims that are timed
	fillers    = 64    // goroutines that fill the set: claims at once share a write
	sketchSize = contentseen.SketchSize
)

// claims measures the content set of one machine in a directory of its own.
func claims(r *report, sizes []uint64) (err error) {
	dir, err := os.MkdirTemp("", "contentseenbench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	store, err := local.Open(dir, local.Default())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	b := claimBench{set: store.ContentSet(), rnd: rand.New(rand.NewPCG(3, 0))}
	n, err := b.crowd()
	if err != nil {
		return err
	}
	r.line("%d copies claimed at once: %d original", crowd, n)
	r.line("%10s %24s %24s %24s", "originals", "claim of an original", "of a near copy", "of an exact copy")
	for _, size := range sizes {
		if err := b.fill(size); err != nil {
			return err
		}
		if err := b.measure(r); err != nil {
			return err
		}
	}
	return r.err
}

type claimBench struct {
	set  crawl.ContentSet
	rnd  *rand.Rand
	next uint64 // originals that fill made
}

// fingerprint is that of page number n with a text of its own.
func fingerprint(n, simhash uint64) crawl.Fingerprint {
	u, err := weburl.Parse(fmt.Sprintf("http://h%d.example/a/path/of/some/length/%d.html", n%1000, n))
	if err != nil {
		panic(err) // built from numbers
	}
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, n))
	sketch := make([]byte, 0, sketchSize)
	for len(sketch) < sketchSize {
		sketch = append(sketch, sum[:]...)
	}
	return crawl.Fingerprint{Job: "bench", URL: u, Digest: sum, Simhash: simhash, Sketch: sketch}
}

func (b *claimBench) claim(fp crawl.Fingerprint) (crawl.Seen, error) {
	return b.set.Claim(context.Background(), fp, near, func(_, _ []byte) bool { return true })
}

// crowd claims the same content under many URLs at once and returns how many originals there were.
func (b *claimBench) crowd() (originals int, err error) {
	var n atomic.Int64
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range uint64(crowd) {
		fp := fingerprint(1<<40+i, 1<<(i%64)) // two bits apart at most
		wg.Go(func() {
			<-start
			got, err := b.claim(fp)
			if err != nil {
				failed.Store(&err)
			} else if got.Sameness == crawl.Original {
				n.Add(1)
			}
		})
	}
	close(start)
	wg.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return int(n.Load()), nil
}

// fill claims originals until there are size of them.
func (b *claimBench) fill(size uint64) error {
	var wg sync.WaitGroup
	var next atomic.Uint64
	next.Store(b.next)
	errs := make([]error, fillers)
	for i := range errs {
		rnd := rand.New(rand.NewPCG(4, b.next<<8+uint64(i)))
		wg.Go(func() {
			for n := next.Add(1); n <= size && errs[i] == nil; n = next.Add(1) {
				_, errs[i] = b.claim(fingerprint(n, rnd.Uint64()))
			}
		})
	}
	wg.Wait()
	b.next = size
	return errors.Join(errs...)
}

// measure times claims of each kind, one after the other.
func (b *claimBench) measure(r *report) error {
	size := b.next
	originals := make([]crawl.Fingerprint, sample)
	nears, exacts := make([]crawl.Fingerprint, sample), make([]crawl.Fingerprint, sample)
	for i := range originals {
		n := 1<<50 + size<<20 + uint64(i)
		originals[i] = fingerprint(n, b.rnd.Uint64())
		nears[i] = fingerprint(n+1<<19, originals[i].Simhash^1<<(i%64)^1<<(i/64%64))
		exacts[i] = fingerprint(n+1<<18, originals[i].Simhash)
		exacts[i].Digest = originals[i].Digest
	}
	var cells []any
	for grade, list := range [][]crawl.Fingerprint{originals, nears, exacts} {
		cell, err := b.time(list, []crawl.Sameness{crawl.Original, crawl.NearCopy, crawl.ExactCopy}[grade])
		if err != nil {
			return err
		}
		cells = append(cells, cell)
	}
	r.line("%10d %24s %24s %24s", append([]any{size}, cells...)...)
	return r.err
}

func (b *claimBench) time(list []crawl.Fingerprint, want crawl.Sameness) (string, error) {
	start, cpu := time.Now(), cpuTime()
	for _, fp := range list {
		got, err := b.claim(fp)
		if err != nil {
			return "", err
		}
		if got.Sameness != want {
			return "", fmt.Errorf("claim of %s: got %+v, want sameness %d", fp.URL, got, want)
		}
	}
	n := float64(len(list))
	return fmt.Sprintf("%.0f µs, CPU %.0f µs", float64(time.Since(start).Microseconds())/n,
		float64((cpuTime()-cpu).Microseconds())/n), nil
}

// cpuTime is what all threads of this process used. On a machine with other work it says more than the clock does.
func cpuTime() time.Duration {
	used, _ := system.ProcessorTime()
	return used
}
