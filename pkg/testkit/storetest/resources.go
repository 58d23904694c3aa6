package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// OpenResources opens an empty store that keeps so many octets. again opens it once more, and may close the first.
type OpenResources func(t *testing.T, bound int64) (r crawl.Resources, again func() crawl.Resources)

// Resources checks the promises of crawl.Resources.
func Resources(t *testing.T, open OpenResources) {
	for name, test := range map[string]func(*testing.T, OpenResources){
		"a resource comes back whole, also to another program": resourceWhole,
		"jobs and URLs are apart":                              resourcesApart,
		"the last one put counts, until it expires":            resourceReplaced,
		"what is wanted is new once":                           wantOnce,
		"what was wanted and did not come is wanted again":     wantAgain,
		"of many that want at once one is new":                 wantAtOnce,
		"what came ends the wants":                             wantEnds,
		"a want outlasts the program":                          wantLasts,
		"the same body is kept once":                           resourcesShared,
		"the oldest use goes first":                            resourcesOldest,
		"wants and refusals are bounded, too":                  resourcesSmall,
		"what is too large for the store displaces nothing":    resourceTooLarge,
		"a job that is forgotten leaves the others":            resourcesForgotten,
		"many at once stay within the bound":                   resourcesAtOnce,
	} {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

const plenty = 64 << 20 // octets: more than a test stores

// resourceJob is a job that no other test knows: stores may share a database.
func resourceJob() crawl.JobID { return crawl.JobID(fmt.Sprintf("renders-%x", rand.Uint64())) }

// newResource is a resource whose body compresses badly; equal seeds make equal bodies.
func newResource(u weburl.URL, seed uint64, size int) crawl.Resource {
	body, from := make([]byte, size), rand.New(rand.NewPCG(seed, 1))
	for i := range body {
		body[i] = byte(from.Uint32())
	}
	return crawl.Resource{URL: u, Status: 200, Header: map[string][]string{"Content-Type": {"text/javascript"}},
		Body: body, At: aTime, Expires: aTime.Add(time.Hour)}
}

func putResource(t *testing.T, r crawl.Resources, job crawl.JobID, res crawl.Resource) {
	t.Helper()
	check(t, r.PutResource(context.Background(), job, res))
}

func hasResource(t *testing.T, r crawl.Resources, job crawl.JobID, u weburl.URL, now time.Time) bool {
	t.Helper()
	_, found, err := r.Resource(context.Background(), job, u, now)
	check(t, err)
	return found
}

func wantResources(t *testing.T, r crawl.Resources, job crawl.JobID, by string, now time.Time, u []weburl.URL,
	want ...crawl.Claimed) {
	t.Helper()
	got, err := r.Want(context.Background(), job, id(by), now, u)
	check(t, err)
	if !slices.Equal(got, want) {
		t.Fatalf("%s wants %v at %v: %v, want %v", by, u, now, got, want)
	}
}

func resourceWhole(t *testing.T, open OpenResources) {
	r, again := open(t, plenty)
	job, u := resourceJob(), manyURLs(t, 4, 2)
	full := newResource(u[0], 1, 5000)
	full.Refused = "why"
	full.Header = map[string][]string{"Content-Type": {"a", "b"}, "\xff\x00": {"\xe9\x00", ""}}
	empty := crawl.Resource{URL: u[1], Status: 204, At: aTime, Expires: aTime.Add(time.Hour)}
	refused := crawl.Resource{URL: u[2], Refused: "robots", At: aTime.Add(7), Expires: aTime.Add(time.Hour)}
	failed := newResource(u[3], 2, 1)
	failed.Status, failed.Header = 503, nil
	for _, want := range []crawl.Resource{full, empty, refused, failed} {
		putResource(t, r, job, want)
	}
	for _, next := range []func() crawl.Resources{func() crawl.Resources { return r }, again} {
		r := next()
		for _, want := range []crawl.Resource{full, empty, refused, failed} {
			got, found, err := r.Resource(context.Background(), job, want.URL, aTime)
			check(t, err)
			if !bytes.Equal(got.Body, want.Body) || !got.At.Equal(want.At) || !got.Expires.Equal(want.Expires) {
				t.Errorf("%s: %d octets, at %v, want %d at %v", want.URL, len(got.Body), got.At, len(want.Body), want.At)
			}
			want.Digest, got.Body, want.Body = sha256.Sum256(want.Body), nil, nil
			got.At, got.Expires, want.At, want.Expires = time.Time{}, time.Time{}, time.Time{}, time.Time{}
			if !found || !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v, found %v\nwant %+v", got, found, want)
			}
		}
	}
}

func resourcesApart(t *testing.T, open OpenResources) {
	r, _ := open(t, plenty)
	one, two, u := resourceJob(), resourceJob(), manyURLs(t, 2, 1)
	putResource(t, r, one, newResource(u[0], 1, 10))
	for _, tc := range []struct {
		job   crawl.JobID
		u     weburl.URL
		found bool
	}{{one, u[0], true}, {two, u[0], false}, {one, u[1], false}, {resourceJob(), u[0], false}} {
		if hasResource(t, r, tc.job, tc.u, aTime) != tc.found {
			t.Errorf("job %s, %s: found %v", tc.job, tc.u, !tc.found)
		}
	}
	wantResources(t, r, two, "a", aTime, u, claims(crawl.New, crawl.New)...)
	wantResources(t, r, one, "a", aTime, u, claims(crawl.Known, crawl.New)...)
}

func resourceReplaced(t *testing.T, open OpenResources) {
	r, _ := open(t, plenty)
	job, u := resourceJob(), manyURLs(t, 1, 1)
	for seed, after := range []time.Duration{0, time.Minute, time.Second, time.Second} {
		res := newResource(u[0], uint64(seed)/2, 100) // the last two have one body
		res.At = aTime.Add(after)
		putResource(t, r, job, res)
		got, found, err := r.Resource(context.Background(), job, u[0], aTime)
		check(t, err)
		if !found || !bytes.Equal(got.Body, res.Body) || !got.At.Equal(res.At) {
			t.Errorf("put %d: found %v, of %v", seed, found, got.At)
		}
	}
	for after, want := range map[time.Duration]bool{time.Hour - 1: true, time.Hour: false, 100 * time.Hour: false} {
		if hasResource(t, r, job, u[0], aTime.Add(after)) != want {
			t.Errorf("after %v: found %v", after, !want)
		}
	}
}

func wantOnce(t *testing.T, open OpenResources) {
	r, _ := open(t, plenty)
	job, u := resourceJob(), manyURLs(t, 3, 2)
	wantResources(t, r, job, "a", aTime, nil)
	wantResources(t, r, job, "a", aTime, u[:2], crawl.New, crawl.New)
	wantResources(t, r, job, "a", aTime.Add(time.Minute), u[:2], crawl.Repeat, crawl.Repeat)
	wantResources(t, r, job, "b", aTime, u, crawl.Known, crawl.Known, crawl.New)
	wantResources(t, r, job, "a", aTime, u, crawl.Repeat, crawl.Repeat, crawl.Known)
	wantResources(t, r, job, "b", aTime, []weburl.URL{u[2], u[0], u[2]}, crawl.Repeat, crawl.Known, crawl.Known)
	other := resourceJob()
	wantResources(t, r, other, "b", aTime, []weburl.URL{u[2], u[0], u[2]}, crawl.New, crawl.New, crawl.Known)
	if hasResource(t, r, job, u[0], aTime) {
		t.Error("what is only wanted was found")
	}
}

func wantAgain(t *testing.T, open OpenResources) {
	r, _ := open(t, plenty)
	job, u := resourceJob(), manyURLs(t, 1, 1)
	at := aTime.Add
	wantResources(t, r, job, "a", at(0), u, crawl.New)
	wantResources(t, r, job, "b", at(crawl.WantAgain-time.Second), u, crawl.Known)
	wantResources(t, r, job, "b", at(crawl.WantAgain), u, crawl.New)
	wantResources(t, r, job, "a", at(crawl.WantAgain), u, crawl.Known)
	wantResources(t, r, job, "b", at(crawl.WantAgain+time.Minute), u, crawl.Repeat)
	wantResources(t, r, job, "b", at(2*crawl.WantAgain), u, crawl.New)
}

func wantAtOnce(t *testing.T, open OpenResources) {
	r, _ := open(t, plenty)
	job, u := resourceJob(), manyURLs(t, 20, 3)
	var mu sync.Mutex
	var wg sync.WaitGroup
	fresh := make([]int, len(u))
	for w := range 8 {
		wg.Go(func() {
			got, err := r.Want(context.Background(), job, id(fmt.Sprint(w/2)), aTime, u) // each message twice
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for i, c := range got {
				if c == crawl.New {
					fresh[i]++
				}
			}
		})
	}
	wg.Wait()
	for i, n := range fresh {
		if n != 1 {
			t.Errorf("%s was new %d times", u[i], n)
		}
	}
}

func wantEnds(t *testing.T, open OpenResources) {
	r, _ := open(t, plenty)
	job, u := resourceJob(), manyURLs(t, 2, 1)
	wantResources(t, r, job, "a", aTime, u, crawl.New, crawl.New)
	putResource(t, r, job, newResource(u[0], 1, 10))
	putResource(t, r, job, crawl.Resource{URL: u[1], Refused: "robots", At: aTime, Expires: aTime.Add(time.Minute)})
	wantResources(t, r, job, "a", aTime, u, crawl.Known, crawl.Known)
	soon := aTime.Add(time.Minute) // within WantAgain
	wantResources(t, r, job, "a", soon, u, crawl.Known, crawl.New)
	wantResources(t, r, job, "a", soon, u, crawl.Known, crawl.Repeat)
	if !hasResource(t, r, job, u[0], soon) || hasResource(t, r, job, u[1], soon) {
		t.Error("the one that expired was found, or the other was not")
	}
}

func wantLasts(t *testing.T, open OpenResources) {
	r, again := open(t, plenty)
	job, u := resourceJob(), manyURLs(t, 2, 1)
	wantResources(t, r, job, "a", aTime, u[:1], crawl.New)
	r = again()
	wantResources(t, r, job, "a", aTime, u, crawl.Repeat, crawl.New)
	wantResources(t, r, job, "b", aTime, u[:1], crawl.Known)
}

func resourcesShared(t *testing.T, open OpenResources) {
	const bound = 1 << 20
	r, again := open(t, bound)
	one, two, u := resourceJob(), resourceJob(), manyURLs(t, 100, 5)
	for i, u := range u {
		putResource(t, r, []crawl.JobID{one, two}[i%2], newResource(u, 1, bound/10)) // ten times the bound
		putResource(t, r, one, newResource(u, 1, bound/10))
	}
	r = again()
	for i, u := range u {
		if !hasResource(t, r, one, u, aTime) || i%2 == 1 && !hasResource(t, r, two, u, aTime) {
			t.Fatalf("resource %d is gone", i)
		}
	}
	check(t, r.ForgetResources(context.Background(), one))
	if hasResource(t, r, one, u[1], aTime) || !hasResource(t, r, two, u[1], aTime) {
		t.Error("another job's resource is there no more, or one that was forgotten is")
	}
}

func resourcesOldest(t *testing.T, open OpenResources) {
	const bound, size, n = 1 << 20, 50_000, 60
	r, again := open(t, bound)
	job, u := resourceJob(), manyURLs(t, n, 5)
	for i := range n {
		res := newResource(u[i], uint64(i), size)
		res.At = aTime.Add(time.Duration(i) * time.Minute)
		res.Expires = aTime.Add(100 * time.Hour)
		putResource(t, r, job, res)
		if !hasResource(t, r, job, u[0], res.At) { // its use is noted
			t.Fatalf("after %d puts the one that is always used is gone", i)
		}
		if i == n/2 {
			r = again()
		}
	}
	kept := make([]byte, n)
	for i := range u {
		kept[i] = '0'
		if hasResource(t, r, job, u[i], aTime) {
			kept[i] = '1'
		}
	}
	held := strings.Count(string(kept), "1")
	if want := "1" + strings.Repeat("0", n-held) + strings.Repeat("1", held-1); string(kept) != want ||
		held*size > bound || held*size < bound*9/10 {
		t.Errorf("kept %s, %d octets of %d; the first and the last should be", kept, held*size, bound)
	}
}

func resourcesSmall(t *testing.T, open OpenResources) {
	const bound, n = 64 << 10, 1000
	r, _ := open(t, bound)
	job, u := resourceJob(), manyURLs(t, n, 5)
	at := func(i int) time.Time { return aTime.Add(time.Duration(i) * time.Second) }
	for i := range n {
		if i%2 == 0 {
			putResource(t, r, job, crawl.Resource{URL: u[i], Refused: "robots", At: at(i), Expires: at(2 * n)})
		} else {
			wantResources(t, r, job, "a", at(i), u[i:i+1], crawl.New)
		}
	}
	kept := 0
	for i := range n {
		if i%2 == 0 && hasResource(t, r, job, u[i], at(i)) {
			kept++
		}
	}
	if !hasResource(t, r, job, u[n-2], at(n)) || kept*100 > bound || kept < 50 {
		t.Errorf("%d rows are left of %d in %d octets", kept, n/2, bound)
	}
	wantResources(t, r, job, "a", at(n), u[n-1:], crawl.Repeat)
}

func resourceTooLarge(t *testing.T, open OpenResources) {
	const bound = 1 << 20
	r, _ := open(t, bound)
	job, u := resourceJob(), manyURLs(t, 2, 1)
	putResource(t, r, job, newResource(u[0], 1, 1000))
	wantResources(t, r, job, "a", aTime, u[1:], crawl.New)
	putResource(t, r, job, newResource(u[1], 2, 2*bound))
	if !hasResource(t, r, job, u[0], aTime) || hasResource(t, r, job, u[1], aTime) {
		t.Error("what was there is gone, or what is too large was kept")
	}
	wantResources(t, r, job, "a", aTime, u[1:], crawl.New)
}

func resourcesForgotten(t *testing.T, open OpenResources) {
	const bound, n = 1 << 20, 40
	r, _ := open(t, bound)
	ctx, one, two, u := context.Background(), resourceJob(), resourceJob(), manyURLs(t, n, 5)
	putResource(t, r, two, newResource(u[0], 0, bound/n*3/4)) // shares its body with the other job's
	wantResources(t, r, two, "a", aTime, u[1:2], crawl.New)
	for range 3 { // what was forgotten leaves room, every time
		for i := range n {
			putResource(t, r, one, newResource(u[i], uint64(i), bound/n*3/4))
		}
		for i := range n {
			if !hasResource(t, r, one, u[i], aTime) {
				t.Fatalf("resource %d of %d is gone below the bound", i, n)
			}
		}
		check(t, r.ForgetResources(ctx, one))
		check(t, r.ForgetResources(ctx, resourceJob()))
		wantResources(t, r, one, "a", aTime, u[:1], crawl.New)
		if hasResource(t, r, one, u[0], aTime) || !hasResource(t, r, two, u[0], aTime) {
			t.Fatal("what was forgotten is there, or what was not is gone")
		}
		wantResources(t, r, two, "a", aTime, u[1:2], crawl.Repeat)
		check(t, r.ForgetResources(ctx, one))
	}
}

func resourcesAtOnce(t *testing.T, open OpenResources) {
	const bound, size, workers = 256 << 10, 20_000, 6
	r, _ := open(t, bound)
	ctx, jobs, u := context.Background(), []crawl.JobID{resourceJob(), resourceJob()}, manyURLs(t, 30, 5)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { useResources(t, r, w, size, jobs, u) })
	}
	wg.Wait()
	bodies := map[crawl.Digest]bool{}
	for _, job := range jobs {
		for _, u := range u {
			if res, found, err := r.Resource(ctx, job, u, aTime); err != nil {
				t.Error(err)
			} else if found {
				bodies[res.Digest] = true
			}
		}
		check(t, r.ForgetResources(ctx, job))
	}
	if len(bodies) == 0 || len(bodies)*size > bound {
		t.Errorf("%d bodies are left, the bound is %d", len(bodies), bound/size)
	}
	fits := bound / size * 8 / 10
	for i := range fits { // it does fit: nothing is counted that is gone
		putResource(t, r, jobs[0], newResource(u[i], uint64(100+i), size))
	}
	for i := range fits {
		if !hasResource(t, r, jobs[0], u[i], aTime) {
			t.Errorf("resource %d is gone below the bound", i)
		}
	}
}

// useResources does what programs do with the resources of jobs, one of several at once.
func useResources(t *testing.T, r crawl.Resources, w, size int, jobs []crawl.JobID, u []weburl.URL) {
	ctx, from := context.Background(), rand.New(rand.NewPCG(uint64(w), 2))
	for i := range 60 {
		job, at := jobs[from.IntN(len(jobs))], from.IntN(len(u))
		res := newResource(u[at], uint64(from.IntN(30)), size)
		res.At = aTime.Add(time.Duration(i) * time.Second)
		err := r.PutResource(ctx, job, res)
		if err == nil {
			_, err = r.Want(ctx, job, id(fmt.Sprint(w)), res.At, u[at:])
		}
		if err == nil {
			_, _, err = r.Resource(ctx, job, u[from.IntN(len(u))], res.At)
		}
		if err == nil && i%20 == 10 {
			err = r.ForgetResources(ctx, job)
		}
		if err != nil {
			t.Error(err)
			return
		}
	}
}
