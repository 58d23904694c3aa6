package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func openBounded(t testing.TB, url string, bound int64) *postgres.Store {
	t.Helper()
	cfg := config(url)
	cfg.Resources = bound
	s, err := postgres.Open(context.Background(), cfg)
	check(t, err)
	t.Cleanup(s.Close)
	return s
}

// resourceFaultsSQL counts bodies whose number of references is wrong, rows without their bodies, and octets that are
// counted and not there.
const resourceFaultsSQL = `SELECT
	(SELECT count(*) FROM resource_bodies b WHERE b.refs <> (SELECT count(*) FROM resources r WHERE r.digest = b.digest) OR b.refs = 0)
	+ (SELECT count(*) FROM resources r WHERE r.digest IS NOT NULL AND NOT EXISTS (SELECT FROM resource_bodies b WHERE b.digest = r.digest))
	+ abs((SELECT coalesce(sum(octets), 0) FROM resources) + (SELECT coalesce(sum(octets), 0) FROM resource_bodies)
		- (SELECT coalesce(sum(octets), 0) FROM resource_octets))`

func resourceFaults(t testing.TB, url string) int64 {
	return ask[int64](t, url, resourceFaultsSQL+"::bigint")
}

func checkResources(t testing.TB, url string) {
	t.Helper()
	if n := resourceFaults(t, url); n != 0 {
		t.Errorf("rows, bodies and the number of octets do not fit together: %d", n)
	}
}

var aMoment = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func aResource(t testing.TB, n int, body string) crawl.Resource {
	return crawl.Resource{URL: mustParse(t, fmt.Sprintf("http://a.test/%d", n)), Status: 200, Body: []byte(body),
		At: aMoment, Expires: aMoment.Add(time.Hour)}
}

// The check of the other tests finds each thing that it is for.
func TestNegativeControlResources(t *testing.T) {
	url := sharedDatabase(t)
	for _, spoil := range []string{"DELETE FROM resources", "UPDATE resource_bodies SET refs = 2",
		"DELETE FROM resource_bodies", "UPDATE resource_octets SET octets = octets + 1", "DELETE FROM resource_octets"} {
		s := open(t)
		check(t, s.Resources().PutResource(context.Background(), "control", aResource(t, 1, "body")))
		checkResources(t, url)
		execute(t, url, spoil)
		if resourceFaults(t, url) == 0 {
			t.Errorf("%s: nothing was found", spoil)
		}
	}
	open(t)
}

// What is damaged is not found, is wanted anew, and comes again.
func TestADamagedResourceIsFetchedAgain(t *testing.T) {
	url, ctx := sharedDatabase(t), context.Background()
	for _, spoil := range []string{`UPDATE resources SET resource = '\x7f7f'`, `DELETE FROM resource_bodies`,
		`UPDATE resource_bodies SET body = '\x00'`, `UPDATE resources SET digest = 'x'`} {
		t.Run(spoil, func(t *testing.T) {
			s := open(t)
			r, one, two := s.Resources(), aResource(t, 1, "body"), aResource(t, 2, "body")
			check(t, r.PutResource(ctx, "damaged", one))
			check(t, r.PutResource(ctx, "damaged", two))
			execute(t, url, spoil)
			if _, found, err := r.Resource(ctx, "damaged", one.URL, aMoment); found || err != nil {
				t.Errorf("found %v, %v", found, err)
			}
			got, err := r.Want(ctx, "damaged", id("x"), aMoment, []weburl.URL{one.URL})
			if err != nil || got[0] != crawl.New {
				t.Errorf("wanted: %v, %v", got, err)
			}
			for _, res := range []crawl.Resource{one, two} {
				check(t, r.PutResource(ctx, "damaged", res))
				if got, found, err := r.Resource(ctx, "damaged", res.URL, aMoment); !found || err != nil ||
					string(got.Body) != "body" {
					t.Errorf("afterwards: %+v, found %v, %v", got, found, err)
				}
			}
		})
	}
	open(t)
}

// A job that is deleted takes its resources along, and leaves those of others.
func TestADeletedJobLeavesNoResources(t *testing.T) {
	url, ctx := sharedDatabase(t), context.Background()
	s := open(t)
	drop, keep := crawl.JobID("drops-renders"), crawl.JobID("keeps-renders")
	for _, job := range []crawl.JobID{drop, keep} {
		check(t, s.Jobs().Put(ctx, aJob(job)))
		for i := range 5 {
			check(t, s.Resources().PutResource(ctx, job, aResource(t, i, fmt.Sprint("body ", i%3))))
		}
		check(t, s.Resources().PutResource(ctx, job, aResource(t, 6, "of "+string(job))))
		_, err := s.RenderStats().ChangeTemplate(ctx, job, "a.test", 1, func(*crawl.RenderTemplate) bool { return true })
		check(t, err)
	}
	_, err := s.Jobs().BeginDelete(ctx, drop)
	check(t, err)
	erased, err := s.Jobs().Erase(ctx, drop)
	check(t, err)
	rows := map[string]int64{}
	for _, e := range erased {
		rows[e.Table] = e.Rows
	}
	if rows["resources"] != 6 || rows["renders"] != 1 {
		t.Errorf("erased %v", erased)
	}
	checkResources(t, url)
	if n := ask[int64](t, url, `SELECT count(*) FROM resource_bodies`); n != 4 {
		t.Errorf("%d bodies are left, want 4", n)
	}
	for i := range 5 {
		if _, found, err := s.Resources().Resource(ctx, keep, aResource(t, i, "").URL, aMoment); !found || err != nil {
			t.Errorf("resource %d of the other job: found %v, %v", i, found, err)
		}
	}
	if all, err := s.RenderStats().Templates(ctx, keep); err != nil || len(all) != 1 {
		t.Errorf("templates of the other job: %v, %v", all, err)
	}
}
