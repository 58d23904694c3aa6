package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// quotaOf asks for the quota of whoever has a key.
func (w *world) quotaOf(key string) (q AccountQuota) {
	w.t.Helper()
	got := w.ask("GET", base+"/me/quota", "", "Authorization: Bearer "+key)
	if err := json.Unmarshal([]byte(got.body), &q); err != nil || got.status != http.StatusOK {
		w.t.Fatalf("%d %s: %v", got.status, got.body, err)
	}
	return q
}

func (w *world) setQuota(of, quota string, status int) string {
	w.t.Helper()
	got := w.ask("PUT", base+"/quotas/"+of, quota)
	if got.status != status {
		w.t.Errorf("PUT %s %s: %d %s, want %d", of, quota, got.status, got.body, status)
	}
	return got.body
}

func TestQuotasOfRolesAndAccounts(t *testing.T) {
	w := newWorld(t)
	w.s.Usage = func(_ context.Context, account string) (workflow.Usage, error) {
		return workflow.Usage{Running: len(account), Since: "2026-11-27"}, nil
	}
	user, operator, admin := w.keyOf(User), w.keyOf(Operator), w.keyOf(Admin)
	for key, want := range map[string]int{user: 2, operator: 5, admin: 0} {
		if q := w.quotaOf(key); q.Quota.Running != want || q.Own || !strings.HasPrefix(q.Of, "key:") ||
			q.Usage.Running != len(q.Of) {
			t.Errorf("%+v, want %d running", q, want)
		}
	}
	w.setQuota("role:user", `{"running":7,"min_delay":"3s","pages_per_day":1000}`, http.StatusOK)
	q := w.quotaOf(user)
	if q.Quota.Running != 7 || q.Quota.MinDelay != crawl.Duration(3*time.Second) || q.Own {
		t.Errorf("after the role's quota was set: %+v", q)
	}
	w.setQuota(q.Of, `{"running":1}`, http.StatusOK)
	if q := w.quotaOf(user); q.Quota.Running != 1 || !q.Own || q.Quota.MinDelay != 0 {
		t.Errorf("one of its own: %+v", q)
	}
	var l workflow.List[AccountQuota]
	if got := w.ask("GET", base+"/quotas", ""); json.Unmarshal([]byte(got.body), &l) != nil || len(l.Items) != 4 ||
		l.Items[0].Of != "role:user" ||
		!l.Items[0].Own || l.Items[1].Own || l.Items[3].Of != q.Of || l.Items[3].Name != "key:user" {
		t.Errorf("%d %s", got.status, got.body)
	}
	for of, status := range map[string]int{"role:nobody": http.StatusNotFound, "u_none": http.StatusNotFound,
		"key:none":    http.StatusNotFound,
		"role:viewer": http.StatusUnprocessableEntity} {
		w.setQuota(of, `{"running":1}`, status)
	}
	for _, wrong := range []string{`{"running":-1}`, `{"min_delay":"soon"}`, `{"min_delay":"-1s"}`, `{"walking":1}`} {
		w.setQuota("role:user", wrong, http.StatusUnprocessableEntity)
	}
	for _, of := range []string{"role:user", q.Of} {
		if got := w.ask("DELETE", base+"/quotas/"+of, ""); got.status != http.StatusNoContent {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	if q := w.quotaOf(user); q.Quota.Running != 2 || q.Own {
		t.Errorf("after all were taken back: %+v", q)
	}
}

// Keys that somebody makes count for the maker: they are no way round a quota. An admin's key of a lower role has an
// account of its own.
func TestKeysCountForTheirMaker(t *testing.T) {
	w := newWorld(t)
	made := func(by, body string) string {
		t.Helper()
		var k Key
		got := w.ask("POST", base+"/api-keys", body, "Authorization: Bearer "+by)
		if err := json.Unmarshal([]byte(got.body), &k); err != nil || k.Key == "" {
			t.Fatalf("%d %s", got.status, got.body)
		}
		return k.Key
	}
	first := w.keyOf(Operator)
	account := w.quotaOf(first).Of
	second := made(first, `{"name":"second","role":"user"}`)
	third := made(second, `{"name":"third"}`)
	for _, key := range []string{second, third} {
		if q := w.quotaOf(key); q.Of != account || q.Quota.Running != 5 {
			t.Errorf("%+v, want the account %s", q, account)
		}
	}
	lower := made(w.key, `{"name":"ci","role":"user"}`)
	if q := w.quotaOf(lower); !strings.HasPrefix(q.Of, "key:") || q.Quota.Running != 2 {
		t.Errorf("an admin's key of a lower role: %+v", q)
	}
	if q := w.quotaOf(made(lower, `{"name":"more"}`)); q.Of != w.quotaOf(lower).Of {
		t.Errorf("made by it: %+v", q)
	}
	if q := w.quotaOf(made(w.key, `{"name":"all","role":"admin"}`)); q.Of != "role:admin" || q.Quota.Running != 0 {
		t.Errorf("an admin's key: %+v", q)
	}
}

// A person's quota is that of the person's role now, or the person's own; sessions and keys share it.
func TestQuotasOfPeople(t *testing.T) {
	w := newWorld(t)
	p, err := w.s.people().change(t.Context(), "u_ada", func(*Person) (*Person, error) {
		return &Person{ID: "u_ada", Email: "ada@example.org", Auto: "user"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	k, err := w.s.addKey(t.Context(), apiKey{Person: p.ID, Known: Key{Name: "login", Role: "user"}})
	if err != nil {
		t.Fatal(err)
	}
	if q := w.quotaOf(k.Key); q.Of != "u_ada" || q.Name != "ada@example.org" || q.Quota.Running != 2 {
		t.Errorf("%+v", q)
	}
	w.setQuota("u_ada", `{"running":9}`, http.StatusOK)
	c, err := w.s.guard.open(t.Context(), User, p)
	if err != nil {
		t.Fatal(err)
	}
	got := w.ask("GET", base+"/me/quota", "", "Authorization:", "Cookie: "+c.Name+"="+c.Value)
	if !strings.Contains(got.body, `"running":9`) {
		t.Errorf("by a session: %s", got.body)
	}
	if got := w.ask("DELETE", base+"/quotas/u_ada", ""); got.status != http.StatusNoContent {
		t.Errorf("%d %s", got.status, got.body)
	}
	if _, err := w.s.setPerson(t.Context(), "admin", "u_ada", 0, PersonChange{Manual: new("operator")}); err != nil {
		t.Fatal(err)
	}
	if q, err := (Quotas{w.s.Vault}).Of(t.Context(), "u_ada"); err != nil || q.Running != 5 {
		t.Errorf("after a promotion: %+v, %v", q, err)
	}
	if q, err := (Quotas{w.s.Vault}).Of(t.Context(), "u_gone"); err != nil || q.Running != 2 {
		t.Errorf("of somebody who is gone: %+v, %v", q, err)
	}
}

// What a quota forbids is a 403 of a type of its own, with the bound and the figure, and is in the audit log.
func TestWhatAQuotaForbids(t *testing.T) {
	w := newWorld(t)
	w.service.refuse = &workflow.OverQuota{Quota: workflow.QuotaRunning, Limit: 2, Have: 3,
		Text: "wait for the end of one"}
	got := w.ask("POST", base+"/workflows/w:run", "{}", "Authorization: Bearer "+w.keyOf(User))
	for _, want := range []string{`"type":"` + problemBase + `quota"`, `"location":"quota.running"`, `the bound is 2`,
		`"value":3`, "wait for the end of one"} {
		if got.status != http.StatusForbidden || !strings.Contains(got.body, want) {
			t.Errorf("%d %s, want %s", got.status, got.body, want)
		}
	}
	log := w.audits.list()
	if last := log[len(log)-1]; !last.Refused() || last.Action != "runWorkflow" || last.Actor != "key:user" {
		t.Errorf("the audit log says %+v", last)
	}
}

// A revision and a dry run may not have what a definition may not.
func TestEditsAndDryRunsAreBounded(t *testing.T) {
	w := newWorld(t)
	by := context.WithValue(t.Context(), keyIdentity, Identity{Role: Operator, account: "role:operator"})
	job := crawl.DefaultJob()
	change := func(ignores bool) (*crawl.Job, error) {
		return w.s.permitted(by, func(job *crawl.Job) (*crawl.Job, error) {
			next := *job
			next.IgnoreRobots, next.MaxPages = ignores, 7
			return &next, nil
		})(&job)
	}
	if _, err := change(true); overQuota(err) == nil {
		t.Errorf("an operator's edit may ignore robots.txt: %v", err)
	}
	if _, err := change(false); err != nil {
		t.Error(err)
	}
	job.IgnoreRobots = true
	if _, err := change(true); err != nil {
		t.Errorf("an edit of what an admin permitted: %v", err)
	}
}

// A change of a quota that another changed since it was read is refused.
func TestAQuotaThatWasChangedMeanwhile(t *testing.T) {
	w := newWorld(t)
	quota := base + "/quotas/role:user"
	read := func() string {
		t.Helper()
		got := w.ask("GET", quota, "")
		if got.status != http.StatusOK || got.header.Get("ETag") == "" {
			t.Fatalf("%d %s, headers %v", got.status, got.body, got.header)
		}
		return got.header.Get("ETag")
	}
	change := func(method, condition, quotaBody string, want int) {
		t.Helper()
		if got := w.ask(method, quota, quotaBody, "If-Match: "+condition); got.status != want {
			t.Errorf("%s with If-Match %s: %d %s, want %d", method, condition, got.status, got.body, want)
		}
	}
	unset := read()
	change("PUT", unset, `{"running":3}`, http.StatusOK)
	three := read()
	change("PUT", unset, `{"running":4}`, http.StatusPreconditionFailed)
	change("DELETE", unset, "", http.StatusPreconditionFailed)
	change("PUT", `"0"`, `{"running":4}`, http.StatusPreconditionFailed)
	if now := read(); now != three || now == unset {
		t.Errorf("ETag %s, want %s", now, three)
	}
	change("PUT", "*", `{"running":5}`, http.StatusOK)
	change("DELETE", three, "", http.StatusPreconditionFailed)
	change("DELETE", read(), "", http.StatusNoContent)
	if now := read(); now != unset {
		t.Errorf("ETag %s after it was taken back, want %s", now, unset)
	}
}
