package storetest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// ContentSet checks an implementation of crawl.ContentSet. open returns an empty set.
func ContentSet(t *testing.T, open func(t *testing.T) crawl.ContentSet) {
	for name, test := range map[string]func(*testing.T, contentSet){
		"the first is the original":                   firstIsOriginal,
		"links tell exact copies apart":               linksTellCopiesApart,
		"a repeated claim gets the same answer":       repeatedClaim,
		"every arrangement of bits is found":          everyArrangement,
		"one bit too far is another text":             oneBitTooFar,
		"the sketch has the last word":                sketchConfirms,
		"no test without sketch or distance":          noNearTest,
		"a copy's original is an original":            noChains,
		"a near copy's twin names the original":       twinOfNearCopy,
		"other content forgets the former":            otherContentForgets,
		"a copy that changes leaves its original":     copyChanges,
		"a copy outlives its original":                copyOutlives,
		"jobs do not mix":                             jobsApart,
		"a page that changed is no copy of itself":    changesALittle,
		"200 exact copies at once leave one original": exactRace,
		"200 near copies at once leave one original":  nearRace,
		"200 claims of one URL get one answer":        sameURLRace,
		"changing pages at once leave one original":   changingRace,
		"a cancelled claim is an error":               cancelledClaim,
	} {
		t.Run(name, func(t *testing.T) { test(t, contentSet{t, open(t)}) })
	}
}

const contentJob = "content"

// contentSet is a set under test.
type contentSet struct {
	t   *testing.T
	set crawl.ContentSet
}

// page is a fingerprint: url is a path, body what its digest is made of.
func page(url, body string, simhash uint64) crawl.Fingerprint {
	u, err := weburl.Parse("http://content.example/" + url)
	if err != nil {
		panic(err) // the paths are in this file
	}
	return crawl.Fingerprint{
		Job: contentJob, URL: u, Digest: sha256.Sum256([]byte(body)), Simhash: simhash, Sketch: []byte("sketch of " + body),
	}
}

func always(_, _ []byte) bool { return true }
func never(_, _ []byte) bool  { return false }

func (c contentSet) claim(fp crawl.Fingerprint, near int, confirm func(mine, theirs []byte) bool) crawl.Seen {
	c.t.Helper()
	foretold := c.peek(fp, near, confirm)
	seen, err := c.set.Claim(context.Background(), fp, near, confirm)
	if err != nil {
		c.t.Fatalf("claim %s: %v", fp.URL, err)
	}
	if foretold != nil && *foretold != seen {
		c.t.Errorf("%s: it was foretold to be %+v, and is %+v", fp.URL, *foretold, seen)
	}
	return seen
}

// peek asks what a claim would say, where the set can be asked: nil, it cannot.
func (c contentSet) peek(fp crawl.Fingerprint, near int, confirm func(mine, theirs []byte) bool) *crawl.Seen {
	set, ok := c.set.(interface {
		Peek(ctx context.Context, fp crawl.Fingerprint, near int, confirm func(mine, theirs []byte) bool) (crawl.Seen, error)
	})
	if !ok {
		return nil
	}
	seen, err := set.Peek(context.Background(), fp, near, confirm)
	if err != nil {
		c.t.Fatalf("peek %s: %v", fp.URL, err)
	}
	return &seen
}

func (c contentSet) wantOriginal(fp crawl.Fingerprint, near int) {
	c.t.Helper()
	if got := c.claim(fp, near, always); got != (crawl.Seen{}) {
		c.t.Errorf("%s: got %+v, want an original", fp.URL, got)
	}
}

func (c contentSet) wantExact(fp, of crawl.Fingerprint) {
	c.t.Helper()
	want := crawl.Seen{Sameness: crawl.ExactCopy, Of: of.URL, SameLinks: fp.LinkSum == of.LinkSum}
	if got := c.claim(fp, 3, always); got != want {
		c.t.Errorf("%s: got %+v, want %+v", fp.URL, got, want)
	}
}

func (c contentSet) wantNear(fp, of crawl.Fingerprint, near int) {
	c.t.Helper()
	want := crawl.Seen{Sameness: crawl.NearCopy, Of: of.URL, Distance: bits.OnesCount64(fp.Simhash ^ of.Simhash)}
	if got := c.claim(fp, near, always); got != want {
		c.t.Errorf("%s: got %+v, want %+v", fp.URL, got, want)
	}
}

func firstIsOriginal(_ *testing.T, c contentSet) {
	a := page("a", "text", 7)
	c.wantOriginal(a, 3)
	c.wantExact(page("b", "text", 7), a)
	c.wantExact(page("c", "text", 7), a)
	c.wantOriginal(page("d", "another", 1<<63-1), 3)
}

func linksTellCopiesApart(_ *testing.T, c contentSet) {
	a, b, other := page("a", "text", 7), page("b", "text", 7), page("c", "text", 7)
	a.LinkSum, b.LinkSum, other.LinkSum = 1, 1, 2
	c.wantOriginal(a, 3)
	c.wantExact(b, a)
	c.wantExact(other, a)
}

func repeatedClaim(_ *testing.T, c contentSet) {
	a, exact, near := page("a", "text", 7), page("b", "text", 7), page("c", "text!", 5)
	for range 3 {
		c.wantOriginal(a, 3)
		c.wantExact(exact, a)
		c.wantNear(near, a, 3)
	}
	if got := c.claim(near, -1, never); got.Sameness != crawl.NearCopy {
		c.t.Errorf("the verdict of a repeated claim changed to %+v", got)
	}
}

func everyArrangement(_ *testing.T, c contentSet) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for near := range 8 {
		for i := range 40 {
			name := fmt.Sprintf("%d-%d", near, i)
			a := page("a"+name, "a"+name, rnd.Uint64())
			b := page("b"+name, "b"+name, a.Simhash^someBits(rnd, near))
			c.wantOriginal(a, near)
			c.wantNear(b, a, near)
		}
	}
}

// someBits returns a word with n bits set.
func someBits(rnd *rand.Rand, n int) (w uint64) {
	for bits.OnesCount64(w) < n {
		w |= 1 << rnd.IntN(64)
	}
	return w
}

func oneBitTooFar(_ *testing.T, c contentSet) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for near := range 8 {
		name := fmt.Sprint(near)
		a := page("a"+name, "a"+name, rnd.Uint64())
		c.wantOriginal(a, near)
		c.wantOriginal(page("b"+name, "b"+name, a.Simhash^someBits(rnd, near+1)), near)
	}
}

func sketchConfirms(t *testing.T, c contentSet) {
	a, b := page("a", "text", 7), page("b", "text!", 7)
	c.wantOriginal(a, 3)
	asked := false
	got := c.claim(b, 3, func(mine, theirs []byte) bool {
		asked = true
		if string(mine) != string(b.Sketch) || string(theirs) != string(a.Sketch) {
			t.Errorf("asked about %q and %q, want %q and %q", mine, theirs, b.Sketch, a.Sketch)
		}
		return false
	})
	if !asked || got != (crawl.Seen{}) {
		t.Errorf("asked %t, got %+v; want an original after asking", asked, got)
	}
}

func noNearTest(_ *testing.T, c contentSet) {
	short, long := page("short", "short", 7), page("long", "long", 7)
	short.Sketch = nil
	c.wantOriginal(short, 3)
	c.wantOriginal(long, 3)
	short = page("short2", "short2", 7)
	short.Sketch = nil
	c.wantOriginal(short, 3)
	c.wantOriginal(page("off", "off", 7), -1)
}

func noChains(_ *testing.T, c contentSet) {
	a, b, far := page("a", "a", 0), page("b", "b", 0b111), page("c", "c", 0b111111)
	c.wantOriginal(a, 3)
	c.wantNear(b, a, 3)
	c.wantOriginal(far, 3) // within 3 bits of b, but b is a copy
}

func twinOfNearCopy(_ *testing.T, c contentSet) {
	a := page("a", "text", 7)
	c.wantOriginal(a, 3)
	c.wantNear(page("b", "text!", 5), a, 3)
	c.wantNear(page("c", "text!", 5), a, 3)
}

func otherContentForgets(_ *testing.T, c contentSet) {
	before, after := page("a", "before", 7), page("a", "after", 1<<63-1)
	c.wantOriginal(before, 3)
	c.wantOriginal(after, 3)
	heir := page("b", "before", 7)
	c.wantOriginal(heir, 3)
	c.wantNear(page("c", "before!", 5), heir, 3)
	c.wantExact(page("d", "after", 1<<63-1), after)
	c.wantExact(before, heir) // changed back: now somebody else's
}

// A copy that is claimed again, as it was, is a copy as long as its original has what it was compared with.
func copyOutlives(_ *testing.T, c contentSet) {
	a, b, near := page("a", "text", 7), page("b", "text", 7), page("c", "text!", 5)
	c.wantOriginal(a, 3)
	c.wantExact(b, a)
	c.wantNear(near, a, 3)
	now := page("a", "something else", 1<<63-1)
	c.wantOriginal(now, 3)
	c.wantOriginal(b, 3)
	c.wantNear(near, b, 3)
	c.wantExact(a, b) // changed back

	c.wantOriginal(page("b", "b alone", 1<<62-1), 3)
	c.wantOriginal(near, 3)
}

func copyChanges(_ *testing.T, c contentSet) {
	a := page("a", "text", 7)
	c.wantOriginal(a, 3)
	c.wantExact(page("b", "text", 7), a)
	c.wantOriginal(page("b", "something else", 1<<63-1), 3)
	c.wantExact(page("c", "text", 7), a)
	c.wantNear(page("d", "text!", 7), a, 3)
}

func changesALittle(_ *testing.T, c contentSet) {
	c.wantOriginal(page("a", "text", 7), 3)
	c.wantOriginal(page("a", "text!", 5), 3)
	c.wantNear(page("b", "text?", 4), page("a", "text!", 5), 3)
}

func jobsApart(_ *testing.T, c contentSet) {
	mine, theirs := page("a", "text", 7), page("b", "text", 7)
	theirs.Job = "another"
	c.wantOriginal(mine, 3)
	c.wantOriginal(theirs, 3)
	near := page("c", "text!", 5)
	near.Job = theirs.Job
	c.wantNear(near, theirs, 3)
}

// atOnce claims every page in its own goroutine, starting together, and returns the answers.
func (c contentSet) atOnce(pages []crawl.Fingerprint) []crawl.Seen {
	answers := make([]crawl.Seen, len(pages))
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i, fp := range pages {
		wg.Go(func() {
			<-start
			var err error
			if answers[i], err = c.set.Claim(context.Background(), fp, 3, always); err != nil {
				c.t.Errorf("claim %s: %v", fp.URL, err)
			}
		})
	}
	close(start)
	wg.Wait()
	return answers
}

// oneOriginal checks that one of the pages is the original and that all others name it.
func (c contentSet) oneOriginal(pages []crawl.Fingerprint, answers []crawl.Seen, copies crawl.Sameness) {
	c.t.Helper()
	var originals []string
	of := map[weburl.URL]int{}
	for i, a := range answers {
		switch a.Sameness {
		case crawl.Original:
			originals = append(originals, pages[i].URL.String())
		case copies:
			of[a.Of]++
		default:
			c.t.Fatalf("%s: got %+v", pages[i].URL, a)
		}
	}
	if len(originals) != 1 || len(of) > 1 {
		c.t.Fatalf("%d originals (%s), copies of %v; want one", len(originals), strings.Join(originals, " "), of)
	}
	for u, n := range of {
		if u.String() != originals[0] || n != len(pages)-1 {
			c.t.Errorf("%d pages name %s, want %d that name %s", n, u, len(pages)-1, originals[0])
		}
	}
}

const crowd = 200

// base is a simhash far from those of other rounds.
func base(round int) uint64 { return rand.New(rand.NewPCG(9, uint64(round))).Uint64() }

func exactRace(_ *testing.T, c contentSet) {
	for round := range 5 {
		pages := make([]crawl.Fingerprint, crowd)
		for i := range pages {
			pages[i] = page(fmt.Sprintf("%d/%d", round, i), fmt.Sprint("round", round), base(round))
		}
		c.oneOriginal(pages, c.atOnce(pages), crawl.ExactCopy)
	}
}

func nearRace(_ *testing.T, c contentSet) {
	for round := range 5 {
		pages := make([]crawl.Fingerprint, crowd)
		for i := range pages {
			name := fmt.Sprintf("%d/%d", round, i)
			pages[i] = page(name, name, base(round)^1<<(i%64)) // 2 bits apart at most
		}
		c.oneOriginal(pages, c.atOnce(pages), crawl.NearCopy)
	}
}

func sameURLRace(t *testing.T, c contentSet) {
	pages := make([]crawl.Fingerprint, crowd)
	for i := range pages {
		pages[i] = page("one", "text", 7)
	}
	for i, a := range c.atOnce(pages) {
		if a != (crawl.Seen{}) {
			t.Fatalf("answer %d of one URL is %+v, want an original", i, a)
		}
	}
}

// changingRace lets pages that held one text change to another while newcomers claim both.
func changingRace(_ *testing.T, c contentSet) {
	before := make([]crawl.Fingerprint, crowd)
	for i := range before {
		before[i] = page(fmt.Sprint(i), "before", 7)
	}
	c.oneOriginal(before, c.atOnce(before), crawl.ExactCopy)
	after := make([]crawl.Fingerprint, crowd)
	for i := range after {
		after[i] = page(fmt.Sprint(i), "after", 1<<63-1)
	}
	c.oneOriginal(after, c.atOnce(after), crawl.ExactCopy)
	c.wantOriginal(page("newcomer", "before", 7), 3)
}

func cancelledClaim(t *testing.T, c contentSet) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if seen, err := c.set.Claim(ctx, page("a", "text", 7), 3, always); err == nil {
		t.Errorf("got %+v, want an error", seen)
	}
	c.wantOriginal(page("b", "text", 7), 3)
}
