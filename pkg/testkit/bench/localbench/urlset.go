// Package localbench measures the local store: how fast it claims URLs and moves tasks, how that changes as it grows,
// and how much memory it takes. It prints tables with the command that reproduces them.
//
// It never opens a directory that holds a crawl: every measurement creates a new one inside the given directory.
package localbench

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

const (
	job       = crawl.JobID("bench")
	batchSize = 500 // links that one message claims
)

// URLSet claims n URLs in batches of 500, each batch's URLs on one host of n/100, then as many on hosts drawn at random
// for every URL. One in ten was claimed before. It prints the rate of each decade.
func URLSet(ctx context.Context, dir string, n int64, w io.Writer) error {
	for _, random := range []bool{false, true} {
		name := "a host a batch"
		if random {
			name = "a host a URL"
		}
		if err := urlSet(ctx, dir, n, random, name, w); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "reproduce: whirlpool bench urlset --n %d\n", n)
	return err
}

func urlSet(ctx context.Context, dir string, n int64, random bool, name string, w io.Writer) error {
	return withStore(dir, func(s *local.Store) error {
		if _, err := fmt.Fprintf(w, "URL set, batches of %d, %s\n%12s %12s %12s %12s %10s\n", batchSize, name, "URLs",
			"claims/s", "CPU us/claim", "worst ms", "RSS MB"); err != nil {
			return err
		}
		gen := &urlMaker{rng: rand.New(rand.NewPCG(1, 2)), hosts: max(1, n/100), random: random}
		for from, to := int64(0), min(n, 10_000); from < n; from, to = to, min(n, to*10) {
			cpu := cpuTime()
			claimed, took, worst, err := claimUntil(ctx, s, gen, from, to)
			if err != nil {
				return err
			}
			rate, cpuEach := float64(claimed)/took.Seconds(), float64((cpuTime()-cpu).Nanoseconds())/1e3/float64(claimed)
			if _, err := fmt.Fprintf(w, "%12d %12.0f %12.2f %12.1f %10d\n", to, rate, cpuEach, worst.Seconds()*1e3,
				residentMB()); err != nil {
				return err
			}
		}
		return nil
	})
}

// claimUntil claims until the set holds to URLs. The time of making URLs is not counted.
func claimUntil(ctx context.Context, s *local.Store, gen *urlMaker, from,
	to int64) (n int64, took, worst time.Duration, err error) {
	batch := make([]weburl.Key, 0, batchSize)
	for from < to {
		batch = gen.fill(batch[:0])
		start := time.Now()
		answers, err := s.URLs().ClaimKeys(ctx, job, crawl.MessageID{}.Child("bench", int(from)), batch)
		d := time.Since(start)
		if err != nil {
			return n, took, worst, err
		}
		n, took, worst = n+int64(len(batch)), took+d, max(worst, d)
		for _, a := range answers {
			if a == crawl.New {
				from++
			}
		}
	}
	return n, took, worst, nil
}

// urlMaker makes the keys of URLs, a tenth of which it made before.
type urlMaker struct {
	rng    *rand.Rand
	hosts  int64
	random bool
	made   uint64
	recent [1 << 16]weburl.Key
}

func (g *urlMaker) fill(batch []weburl.Key) []weburl.Key {
	host := g.rng.Int64N(g.hosts)
	for len(batch) < cap(batch) {
		if g.made > 0 && g.rng.IntN(10) == 0 {
			batch = append(batch, g.recent[g.rng.Uint64N(min(g.made, uint64(len(g.recent))))])
			continue
		}
		if g.random {
			host = g.rng.Int64N(g.hosts)
		}
		k := key(uint64(host), g.made)
		g.recent[g.made%uint64(len(g.recent))] = k
		g.made++
		batch = append(batch, k)
	}
	return batch
}

// key is spread like the key of a real URL.
func key(host, url uint64) (k weburl.Key) {
	var in [8]byte
	binary.BigEndian.PutUint64(in[:], host)
	h := sha256.Sum256(in[:])
	binary.BigEndian.PutUint64(in[:], url)
	u := sha256.Sum256(in[:])
	copy(k[:8], h[:])
	copy(k[8:], u[:])
	return k
}

// withStore opens a new store in a new directory inside dir, and removes it after.
func withStore(dir string, use func(s *local.Store) error) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(dir, "bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	s, err := local.Open(tmp, local.Default())
	if err != nil {
		return err
	}
	return errors.Join(use(s), s.Close())
}
