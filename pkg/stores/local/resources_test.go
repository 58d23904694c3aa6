package local

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

var aMoment = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func openBounded(t testing.TB, dir string, bound int64) *Store {
	t.Helper()
	opt := Default()
	opt.Resources = bound
	s, err := Open(dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

// openChecked is openBounded; what the test leaves must fit together.
func openChecked(t testing.TB, dir string, bound int64) *Store {
	t.Helper()
	s := openBounded(t, dir, bound)
	t.Cleanup(func() {
		if s.fault() == nil { // it is open
			checkResources(t, s)
		}
	})
	return s
}

// resourceFaults finds what does not fit together: each row has its key of use, each body the number of rows that refer
// to it, and what is held is the sum.
func resourceFaults(s *Store) (faults []string, rows int) {
	held, refs, uses := int64(0), map[crawl.Digest]uint64{}, map[string]bool{}
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	each := func(kind byte, use func(k, v []byte)) {
		if err := s.scan(context.Background(), []byte{kind}, func(k, v []byte) error { use(k, v); return nil }); err != nil {
			say("%v", err)
		}
	}
	each(kindResource, func(k, v []byte) {
		var row resourceRow
		if err := row.decode(v); err != nil {
			say("row %x: %v", k, err)
			return
		}
		rows++
		held += row.weight()
		uses[string(useKey(row.used, k))] = true
		if !row.digest.IsZero() {
			refs[row.digest]++
		}
	})
	each(kindUse, func(k, _ []byte) {
		if !uses[string(k)] {
			say("use %x belongs to nothing", k)
		}
		delete(uses, string(k))
	})
	if len(uses) > 0 {
		say("%d rows have no key of use", len(uses))
	}
	each(kindBodyRefs, func(k, v []byte) {
		var b bodyRefs
		d := crawl.Digest(k[1:])
		if err := b.decode(v); err != nil || b.refs != refs[d] || b.refs == 0 {
			say("body %s: %d refer to it, it says %d, %v", d, refs[d], b.refs, err)
		}
		held += b.weight()
		if found, err := s.get(digestKey(kindBody, d), func(v []byte) error {
			if uint64(len(v)) != b.size {
				say("body %s has %d octets, not %d", d, len(v), b.size)
			}
			return nil
		}); !found || err != nil {
			say("body %s is missing, %v", d, err)
		}
		delete(refs, d)
	})
	if len(refs) > 0 {
		say("%d bodies are missing", len(refs))
	}
	var said uint64
	each(kindHeld, func(_, v []byte) { r := codec.Reader{B: v}; said = r.Uvarint(1 << 62) })
	if int64(said) != held || s.resources.held != held {
		say("%d octets are held, the state says %d, and memory %d", held, said, s.resources.held)
	}
	return faults, rows
}

func checkResources(t testing.TB, s *Store) {
	t.Helper()
	if faults, _ := resourceFaults(s); len(faults) > 0 {
		t.Errorf("%s", strings.Join(faults, "\n"))
	}
}

func aResource(t testing.TB, host string, n int, body []byte) crawl.Resource {
	return crawl.Resource{URL: mustURL(t, fmt.Sprintf("http://%s/%d", host, n)), Status: 200, Body: body, At: aMoment,
		Expires: aMoment.Add(time.Hour)}
}

// The check of the other tests finds each thing that it is for.
func TestNegativeControlResources(t *testing.T) {
	for name, spoil := range map[string]func(b *pebble.Batch, row []byte, d crawl.Digest){
		"a row is gone": func(b *pebble.Batch, row []byte, _ crawl.Digest) { _ = b.Delete(row, nil) },
		"a use is gone": func(b *pebble.Batch, row []byte,
			_ crawl.Digest) {
			_ = b.Delete(useKey(micros(aMoment), row), nil)
		},
		"a use too many": func(b *pebble.Batch, row []byte, _ crawl.Digest) { _ = b.Set(useKey(7, row), nil, nil) },
		"a body is gone": func(b *pebble.Batch, _ []byte, d crawl.Digest) { _ = b.Delete(digestKey(kindBody, d), nil) },
		"a body too many": func(b *pebble.Batch, _ []byte, d crawl.Digest) {
			_ = b.Set(digestKey(kindBodyRefs, d), []byte{2, 9}, nil)
		},
		"the number is wrong": func(b *pebble.Batch, _ []byte,
			_ crawl.Digest) {
			_ = b.Set([]byte{kindHeld}, appendHeld(1), nil)
		},
		"the number is hidden": func(b *pebble.Batch, _ []byte, _ crawl.Digest) { _ = b.Delete([]byte{kindHeld}, nil) },
	} {
		s := openBounded(t, t.TempDir(), 1<<20)
		res := aResource(t, "a.test", 1, []byte("body"))
		must(t, s.Resources().PutResource(t.Context(), testJob, res))
		checkResources(t, s)
		num, _ := s.jobs.find(testJob)
		must(t, s.do(t.Context(), func(b *pebble.Batch) {
			spoil(b, makeResourceKey(num, res.URL.Key()),
				sha256.Sum256(res.Body))
		}))
		if faults, _ := resourceFaults(s); len(faults) == 0 {
			t.Errorf("%s: nothing was found", name)
		}
	}
}

// What is damaged is not found, is wanted anew, and comes again.
func TestADamagedResourceIsFetchedAgain(t *testing.T) {
	ctx := t.Context()
	for name, spoil := range map[string]func(b *pebble.Batch, row []byte, d crawl.Digest){
		"short row": func(b *pebble.Batch, row []byte, _ crawl.Digest) { _ = b.Set(row, []byte("x"), nil) },
		"rubbish in row": func(b *pebble.Batch, row []byte, _ crawl.Digest) {
			_ = b.Set(row, bytes.Repeat([]byte{0x7f}, 200), nil)
		},
		"no body": func(b *pebble.Batch, _ []byte, d crawl.Digest) { _ = b.Delete(digestKey(kindBody, d), nil) },
		"another body": func(b *pebble.Batch, _ []byte, d crawl.Digest) {
			packed, _ := codec.PackBody([]byte("other"))
			_ = b.Set(digestKey(kindBody, d), packed, nil)
		},
		"rubbish as body": func(b *pebble.Batch, _ []byte, d crawl.Digest) {
			_ = b.Set(digestKey(kindBody, d), []byte("rubbish"), nil)
		},
		"rubbish as number": func(b *pebble.Batch, _ []byte, d crawl.Digest) {
			_ = b.Set(digestKey(kindBodyRefs, d), []byte{0xff}, nil)
			_ = b.Delete(digestKey(kindBody, d), nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openBounded(t, t.TempDir(), 1<<20)
			r := s.Resources()
			one, two := aResource(t, "a.test", 1, []byte("body")), aResource(t, "a.test", 2, []byte("body"))
			must(t, r.PutResource(ctx, testJob, one))
			must(t, r.PutResource(ctx, testJob, two))
			num, _ := s.jobs.find(testJob)
			must(t, s.do(ctx, func(b *pebble.Batch) { spoil(b, makeResourceKey(num, one.URL.Key()), sha256.Sum256(one.Body)) }))
			if _, found, err := r.Resource(ctx, testJob, one.URL, aMoment); found || err != nil {
				t.Errorf("found %v, %v", found, err)
			}
			if got, err := r.Want(ctx, testJob, crawl.MessageID{1}, aMoment, []weburl.URL{one.URL}); err != nil ||
				got[0] != crawl.New {
				t.Errorf("wanted: %v, %v", got, err)
			}
			for _, res := range []crawl.Resource{one, two} {
				must(t, r.PutResource(ctx, testJob, res))
				if got, found, err := r.Resource(ctx, testJob, res.URL, aMoment); !found || err != nil ||
					string(got.Body) != "body" {
					t.Errorf("afterwards: %+v, found %v, %v", got, found, err)
				}
			}
			must(t, r.ForgetResources(ctx, testJob))
		})
	}
}

func FuzzDecodeResourceRow(f *testing.F) {
	f.Add((&resourceRow{used: 1, wanted: 2, by: crawl.MessageID{3}, expires: 4, digest: crawl.Digest{5},
		data: []byte{6}}).append(nil))
	f.Add((&resourceRow{}).append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var got, again resourceRow
		if got.decode(b) != nil {
			return
		}
		if err := again.decode(got.append(nil)); err != nil || !reflect.DeepEqual(got, again) {
			t.Errorf("%+v comes back as %+v, error %v", got, again, err)
		}
		var refs bodyRefs
		if refs.decode(b) == nil && !bytes.Equal(refs.append(nil), b) && len(b) < 3 {
			t.Errorf("%x comes back as %x", b, refs.append(nil))
		}
		var res crawl.Resource
		_ = crawl.DecodeValue(got.data, &res)
	})
}

// storer puts, wants, reads and forgets resources, many more than the bound allows, until it is killed.
func storer(s *Store, w int, say func(string, any)) error {
	ctx, r, id := context.Background(), s.Resources(), crawl.JobID(fmt.Sprint("job", w%3))
	for i := 0; ; i++ {
		body := bytes.Repeat([]byte(fmt.Sprint(rand.Uint64N(20), " ")), 5000)
		u, err := weburl.Parse(fmt.Sprintf("http://w%d.test/%d", w, rand.IntN(100)))
		if err != nil {
			return err
		}
		now := aMoment.Add(time.Duration(i) * time.Second)
		res := crawl.Resource{URL: u, Status: 200, Body: append(body, fmt.Sprint(rand.Uint64N(200))...), At: now,
			Expires: now.Add(time.Hour)}
		if _, err = r.Want(ctx, id, crawl.MessageID{byte(w), byte(i)}, now, []weburl.URL{u}); err == nil {
			err = r.PutResource(ctx, id, res)
		}
		if err == nil {
			say("resource", u)
			_, _, err = r.Resource(ctx, id, u, now.Add(2*time.Minute))
		}
		if err == nil && i%200 == 150 {
			err = r.ForgetResources(ctx, id)
		}
		if err != nil {
			return err
		}
	}
}

// Whenever a process is killed, rows, bodies and the number of octets fit together afterwards.
func TestResourcesFitTogetherAfterAKill(t *testing.T) {
	harness.Raceless(t)
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	dir, promised, most := t.TempDir(), map[string][]string{}, 0
	for round := range killRounds() {
		kill(t, dir, fmt.Sprint("resources", round), killAfter(), promised)
		s, err := Open(dir, Default())
		must(t, err)
		faults, rows := resourceFaults(s)
		if len(faults) > 0 {
			t.Errorf("round %d: %s", round, strings.Join(faults, "\n"))
		}
		most = max(most, rows)
		must(t, s.Close())
	}
	if most == 0 || len(promised["resource"]) == 0 {
		t.Fatal("nothing was stored: the test proved nothing")
	}
	t.Logf("%d resources were put, up to %d were there", len(promised["resource"]), most)
}

// A job that is discarded takes its resources along, and leaves those of others, also where a kill came between.
func TestADiscardedJobLeavesNoResources(t *testing.T) {
	for name, killed := range map[string]bool{"whole": false, "killed behind the note": true} {
		t.Run(name, func(t *testing.T) {
			dir, ctx := t.TempDir(), t.Context()
			s := openMany(t, dir)
			for i := range 20 {
				body := []byte(fmt.Sprint("body ", i))
				must(t, s.Resources().PutResource(ctx, "drop-1", aResource(t, "a.test", i, body)))
				if i%2 == 0 {
					must(t, s.Resources().PutResource(ctx, "keep-1", aResource(t, "a.test", i, body)))
				}
			}
			num, _ := s.jobs.find("drop-1")
			if killed {
				must(t, s.do(ctx, func(b *pebble.Batch) { _ = b.Set(discardKey(num), []byte("ddrop-1"), nil) }))
			} else {
				must(t, s.DiscardJob(ctx, "drop-1", false))
			}
			must(t, s.Close())
			s = openMany(t, dir)
			defer func() { must(t, s.Close()) }()
			checkResources(t, s)
			if _, rows := resourceFaults(s); rows != 10 {
				t.Errorf("%d resources are left, want 10", rows)
			}
			for i := range 20 {
				_, found, err := s.Resources().Resource(ctx, "keep-1", mustURL(t, fmt.Sprintf("http://a.test/%d", i)), aMoment)
				if err != nil || found != (i%2 == 0) {
					t.Errorf("resource %d of the other job: found %v, %v", i, found, err)
				}
			}
		})
	}
}

// A crawl that renders nothing stores nothing for renders.
func TestACrawlWithoutRendersHasNoKeysOfThem(t *testing.T) {
	s := openMany(t, t.TempDir())
	defer func() { must(t, s.Close()) }()
	storeFor(t, s, "job-1", 4)
	for k := range contents(t, s) {
		if strings.IndexByte(string([]byte{kindResource, kindUse, kindBodyRefs, kindBody, kindHeld, kindTemplate}),
			k[0]) >= 0 {
			t.Errorf("key %x", k)
		}
	}
}
