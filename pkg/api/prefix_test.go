package api

import (
	"net/http"
	"testing"
)

// under gives a server the path that a proxy has it under.
func (w *world) under(prefix string) {
	w.s.Access.URL += prefix
	w.s.handler = w.s.prefixed(w.s.handler)
}

// A proxy may have other things beside the server: some take the path off, others leave it.
func TestAServerUnderAPathOfAProxy(t *testing.T) {
	w := newWorld(t)
	w.under("/crawler")
	w.http.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for path, want := range map[string]int{base + "/me": 200, "/crawler" + base + "/me": 200, "/crawler/healthz": 200,
		"/crawler": 308, "/crawlers" + base + "/me": 404, "/crawler/crawler" + base + "/me": 404,
		"/crawler" + base + "/workflows/a%2Fb": 404, "/crawler//api/v1/me": 404} {
		if got := w.ask("GET", path, ""); got.status != want {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		} else if to := got.header.Get("Location"); want == 308 && to != "/crawler/" {
			t.Errorf("%s leads to %s", path, to)
		}
	}
	if got := w.ask("POST", "/crawler"+base+"/login-urls", `{"role":"viewer"}`); got.status != 201 {
		t.Errorf("a link: %d %s", got.status, got.body)
	}
}

func TestPeopleSignInUnderAPathOfAProxy(t *testing.T) {
	s := newSigning(t)
	s.under("/crawler")
	if resp := s.signIn("ann", "crawl-admins"); resp.Request.URL.Path != "/crawler/workflows" {
		t.Errorf("ended at %s: %d", resp.Request.URL, resp.StatusCode)
	}
	if me := s.me(); me.Role != "admin" {
		t.Errorf("%+v", me)
	}
}
