package storetest

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// OpenRenderStats opens an empty store. again opens it once more, and may close the first.
type OpenRenderStats func(t *testing.T) (r crawl.RenderStats, again func() crawl.RenderStats)

// RenderStats checks the promises of crawl.RenderStats.
func RenderStats(t *testing.T, open OpenRenderStats) {
	t.Run("a template comes back whole, also to another program", func(t *testing.T) { templateWhole(t, open) })
	t.Run("jobs, hosts and templates are apart, and in order", func(t *testing.T) { templatesApart(t, open) })
	t.Run("a change that is not wanted is not made", func(t *testing.T) { templateUnchanged(t, open) })
	t.Run("of many changes at once none is lost", func(t *testing.T) { templateAtOnce(t, open) })
	t.Run("a job that is forgotten leaves the others", func(t *testing.T) { templatesForgotten(t, open) })
}

func changeTemplate(t *testing.T, r crawl.RenderStats, job crawl.JobID, host string, template uint64,
	change func(*crawl.RenderTemplate)) {
	t.Helper()
	_, err := r.ChangeTemplate(context.Background(), job, host, template, func(t *crawl.RenderTemplate) bool {
		change(t)
		return true
	})
	check(t, err)
}

func fullTemplate() crawl.RenderTemplate {
	return crawl.RenderTemplate{Host: "a.test:81", Template: math.MaxUint64, Shape: "/p/N",
		Example: "http://a.test:81/p/1", State: "keep", Switch: "always", Since: aTime.UTC(), Pages: 1, Sent: 2, Renders: 3,
		Gained: 4, Failed: 5, Links: 6, Text: 7, CPU: 8, Wall: math.MaxInt64,
		Recent: []crawl.RenderSample{{By: math.MaxUint64, Gained: true}, {By: 1}},
		Asked:  []crawl.RenderAsked{{By: 2, Why: "w"}, {By: 3}}, Doubt: 0.305, Evidence: -1.792, Tested: 9}
}

func templateWhole(t *testing.T, open OpenRenderStats) {
	r, again := open(t)
	job, want := resourceJob(), fullTemplate()
	for v, i := reflect.ValueOf(want), 0; i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Fatalf("the sample leaves out %s: the store may, too", v.Type().Field(i).Name)
		}
	}
	got, found, err := r.Template(context.Background(), job, want.Host, want.Template)
	if err != nil || found || !reflect.DeepEqual(got, crawl.RenderTemplate{Host: want.Host, Template: want.Template}) {
		t.Errorf("one never stored: %+v, found %v, %v", got, found, err)
	}
	got, err = r.ChangeTemplate(context.Background(), job, want.Host, want.Template, func(now *crawl.RenderTemplate) bool {
		if now.Host != want.Host || now.Template != want.Template || now.Pages != 0 {
			t.Errorf("the first change is of %+v", now)
		}
		*now = want
		now.Host, now.Template = "another", 1 // they are its name
		return true
	})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("changed: %v\ngot  %+v\nwant %+v", err, got, want)
	}
	for _, next := range []func() crawl.RenderStats{func() crawl.RenderStats { return r }, again} {
		got, found, err := next().Template(context.Background(), job, want.Host, want.Template)
		if got.Since = got.Since.UTC(); err != nil || !found || !reflect.DeepEqual(got, want) {
			t.Errorf("found %v, %v\ngot  %+v\nwant %+v", found, err, got, want)
		}
	}
}

func templatesApart(t *testing.T, open OpenRenderStats) {
	r, again := open(t)
	one, two := resourceJob(), resourceJob()
	type name struct {
		host     string
		template uint64
	}
	want := []name{{"a", 0}, {"a", 1 << 40}, {"a", 1 << 63}, {"a", math.MaxUint64}, {"a-b.test", 3}, {"a.test", 5},
		{"a.test:81", 1}, {"b", 1}}
	for i := range want {
		n := want[(i*5+3)%len(want)]
		changeTemplate(t, r, one, n.host, n.template, func(t *crawl.RenderTemplate) { t.Pages = int64(n.template % 1000) })
	}
	changeTemplate(t, r, two, "a", 0, func(t *crawl.RenderTemplate) { t.Pages = 77 })
	r = again()
	all, err := r.Templates(context.Background(), one)
	check(t, err)
	var got []name
	for _, tm := range all {
		got = append(got, name{tm.Host, tm.Template})
		if tm.Pages != int64(tm.Template%1000) {
			t.Errorf("%+v", tm)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	for id, n := range map[crawl.JobID]int{two: 1, resourceJob(): 0} {
		if all, err := r.Templates(context.Background(), id); err != nil || len(all) != n || n == 1 && all[0].Pages != 77 {
			t.Errorf("job %s: %+v, %v", id, all, err)
		}
	}
}

func templateUnchanged(t *testing.T, open OpenRenderStats) {
	r, _ := open(t)
	job, ctx := resourceJob(), context.Background()
	spoil := func(t *crawl.RenderTemplate) bool {
		t.Pages = 1000
		if len(t.Recent) > 0 {
			t.Recent[0].By = 1000
		}
		return false
	}
	got, err := r.ChangeTemplate(ctx, job, "a", 1, spoil)
	if err != nil || got.Host != "a" || got.Template != 1 || got.Pages != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, found, err := r.Template(ctx, job, "a", 1); found || err != nil {
		t.Errorf("it was stored: %v, %v", found, err)
	}
	changeTemplate(t, r, job, "a", 1,
		func(t *crawl.RenderTemplate) { t.Pages, t.Recent = 3, []crawl.RenderSample{{By: 4}} })
	got, err = r.ChangeTemplate(ctx, job, "a", 1, spoil)
	if err != nil || got.Pages != 3 || got.Recent[0].By != 4 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, _, err = r.Template(ctx, job, "a", 1); err != nil || got.Pages != 3 || got.Recent[0].By != 4 {
		t.Errorf("%+v, %v", got, err)
	}
}

func templateAtOnce(t *testing.T, open OpenRenderStats) {
	const writers, each = 8, 25
	r, _ := open(t)
	job, ctx := resourceJob(), context.Background()
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				by := uint64(w*each + i)
				got, err := r.ChangeTemplate(ctx, job, "a.test", 7, func(t *crawl.RenderTemplate) bool {
					t.Pages++
					t.Recent = append(t.Recent, crawl.RenderSample{By: by})
					return true
				})
				if n := len(got.Recent); err != nil || got.Pages < 1 || n != int(got.Pages) || got.Recent[n-1].By != by {
					t.Errorf("change %d: %+v, %v", by, got, err)
					return
				}
			}
		})
	}
	wg.Wait()
	got, _, err := r.Template(ctx, job, "a.test", 7)
	check(t, err)
	seen := map[uint64]bool{}
	for _, s := range got.Recent {
		seen[s.By] = true
	}
	if got.Pages != writers*each || len(seen) != writers*each {
		t.Errorf("%d changes of %d different ones are left, want %d", got.Pages, len(seen), writers*each)
	}
}

func templatesForgotten(t *testing.T, open OpenRenderStats) {
	r, _ := open(t)
	one, two, ctx := resourceJob(), resourceJob(), context.Background()
	for _, job := range []crawl.JobID{one, two} {
		for i := range 5 {
			changeTemplate(t, r, job, fmt.Sprint("host", i), 1, func(t *crawl.RenderTemplate) { t.Since = time.Unix(1, 0) })
		}
	}
	check(t, r.ForgetTemplates(ctx, one))
	check(t, r.ForgetTemplates(ctx, resourceJob()))
	for job, want := range map[crawl.JobID]int{one: 0, two: 5} {
		if all, err := r.Templates(ctx, job); err != nil || len(all) != want {
			t.Errorf("job %s has %d templates, %v; want %d", job, len(all), err, want)
		}
	}
	changeTemplate(t, r, one, "host1", 1, func(t *crawl.RenderTemplate) { t.Pages++ })
	if got, _, err := r.Template(ctx, one, "host1", 1); err != nil || got.Pages != 1 || !got.Since.IsZero() {
		t.Errorf("one that was forgotten begins with %+v, %v", got, err)
	}
}
