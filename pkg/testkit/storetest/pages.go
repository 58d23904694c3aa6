package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// titlesOf returns the titles of all records that are stored of a URL.
type titlesOf func(u weburl.URL) []string

// Pages checks the promises of crawl.Pages.
func Pages(t *testing.T, open func(t *testing.T) (p crawl.Pages, titles func(u weburl.URL) []string)) {
	for name, test := range map[string]func(*testing.T, crawl.Pages, titlesOf){
		"a record that is stored stays as it is":           putTwice,
		"of 200 copies put at once one is stored":          putAtOnce,
		"a later visit replaces an earlier one":            replaceEarlier,
		"of 200 visits at once the last stands":            replaceAtOnce,
		"a record is amended, and stays where it is not":   amendStored,
		"what 50 add to a record at once all stands there": amendAtOnce,
	} {
		t.Run(name, func(t *testing.T) {
			p, titles := open(t)
			test(t, p, titles)
		})
	}
}

func titled(u weburl.URL, visit int, title string) *crawl.Record {
	return &crawl.Record{URL: u, FinalURL: u, Visit: visit, Title: title}
}

func putTwice(t *testing.T, p crawl.Pages, titles titlesOf) {
	ctx := context.Background()
	u := urls(t, "http://a.test/1", "http://a.test/2")
	check(t, p.Put(ctx, titled(u[0], 0, "first")))
	check(t, p.Put(ctx, titled(u[0], 0, "second")))
	if got := titles(u[0]); !slices.Equal(got, []string{"first"}) {
		t.Errorf("got the titles %q, want only the first", got)
	}
	if got := titles(u[1]); len(got) != 0 {
		t.Errorf("a URL never put has the titles %q", got)
	}
}

func putAtOnce(t *testing.T, p crawl.Pages, titles titlesOf) {
	u := manyURLs(t, 10, 3)
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			if err := p.Put(context.Background(), titled(u[i%10], 0, fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, u := range u {
		if got := titles(u); len(got) != 1 {
			t.Errorf("%s has the records %q, want one", u, got)
		}
	}
}

func replaceEarlier(t *testing.T, p crawl.Pages, titles titlesOf) {
	ctx := context.Background()
	u := urls(t, "http://a.test/1", "http://a.test/2", "http://a.test/3")
	check(t, p.Put(ctx, titled(u[2], 0, "other")))
	for i, step := range []struct {
		replace bool
		visit   int
		title   string
		want    string
	}{
		{false, 0, "first", "first"},
		{true, 0, "the first again", "first"},
		{true, 2, "third", "third"},
		{true, 2, "the third again", "third"},
		{true, 1, "the second, late", "third"},
		{false, 0, "the first, late", "third"},
		{true, 3, "fourth, which is longer", "fourth, which is longer"},
	} {
		put := p.Put
		if step.replace {
			put = p.Replace
		}
		check(t, put(ctx, titled(u[0], step.visit, step.title)))
		if got := titles(u[0]); !slices.Equal(got, []string{step.want}) {
			t.Fatalf("step %d: got the titles %q, want only %q", i, got, step.want)
		}
	}
	check(t, p.Replace(ctx, titled(u[1], 5, "as the first")))
	for i, want := range map[int]string{1: "as the first", 2: "other"} {
		if got := titles(u[i]); !slices.Equal(got, []string{want}) {
			t.Errorf("%s has the titles %q, want %q", u[i], got, want)
		}
	}
}

func replaceAtOnce(t *testing.T, p crawl.Pages, titles titlesOf) {
	u := manyURLs(t, 10, 3)
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			put := p.Replace
			if i < 10 {
				put = p.Put
			}
			if err := put(context.Background(), titled(u[i%10], i/10, fmt.Sprint(i/10))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, u := range u {
		if got := titles(u); !slices.Equal(got, []string{"19"}) {
			t.Errorf("%s has the records %q, want the last visit's", u, got)
		}
	}
}

func amendStored(t *testing.T, p crawl.Pages, titles titlesOf) {
	ctx := context.Background()
	u := urls(t, "http://a.test/1", "http://a.test/2")
	check(t, p.Put(ctx, titled(u[0], 0, "first")))
	check(t, p.Replace(ctx, titled(u[0], 1, "second")))
	for i, step := range []struct {
		u     weburl.URL
		visit int
		found bool
	}{{u[0], 1, true}, {u[0], 1, true}, {u[0], 0, false}, {u[0], 2, false}, {u[1], 0, false}} {
		found, err := p.Amend(ctx, job, step.u, step.visit, func(r *crawl.Record) {
			r.Title, r.URL, r.Visit = strings.TrimSuffix(r.Title, ", amended")+", amended", u[1], 9
		})
		check(t, err)
		if found != step.found {
			t.Errorf("step %d: found %v, want %v", i, found, step.found)
		}
		if got := titles(u[0]); !slices.Equal(got, []string{"second, amended"}) {
			t.Errorf("step %d: got the titles %q", i, got)
		}
	}
	if got := titles(u[1]); len(got) != 0 {
		t.Errorf("a URL never put has the titles %q", got)
	}
	for i, step := range []struct {
		u     weburl.URL
		visit int
		found bool
	}{{u[0], 1, true}, {u[0], 5, true}, {u[0], 0, false}, {u[1], 3, false}} {
		found, err := p.Mark(ctx, job, step.u, step.visit, func(r *crawl.Record) { r.Title, r.Visit = "second, marked", 7 })
		check(t, err)
		if got := titles(u[0]); found != step.found || !slices.Equal(got, []string{"second, marked"}) {
			t.Errorf("mark %d: found %v, want %v; titles %q", i, found, step.found, got)
		}
	}
	check(t, p.Replace(ctx, titled(u[0], 1, "the same visit")))
	check(t, p.Replace(ctx, titled(u[0], 2, "third")))
	if got := titles(u[0]); !slices.Equal(got, []string{"third"}) {
		t.Errorf("replaced: got the titles %q", got)
	}
}

func amendAtOnce(t *testing.T, p crawl.Pages, titles titlesOf) {
	const n = 50
	u := urls(t, "http://a.test/1")[0]
	check(t, p.Put(context.Background(), titled(u, 0, "")))
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			mark := fmt.Sprintf("<%d>", i)
			add := func(r *crawl.Record) {
				if !strings.Contains(r.Title, mark) {
					r.Title += mark
				}
			}
			for { // a store may give up where many write one record
				if found, err := p.Amend(context.Background(), job, u, 0, add); err == nil && found {
					return
				} else if !found && err == nil {
					t.Error("the record is not found")
					return
				}
			}
		})
	}
	wg.Wait()
	got := titles(u)
	if len(got) != 1 || strings.Count(got[0], "<") != n {
		t.Errorf("got the titles %q, want one with %d marks", got, n)
	}
}
