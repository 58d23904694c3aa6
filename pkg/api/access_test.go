package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// operations lists all operations: method, path with its parameters filled in, and role.
func operations(t testing.TB, s *Server) (out [][2]string, roles []Role) {
	fill := strings.NewReplacer("{wf}", "w", "{n}", "1", "{visit}", "0", "{ex}", "w-1", "{key}", "http:%2F%2Fa.test%2F",
		"{id}", "x", "{name}", "pages.jsonl", "{of}", "role:user")
	for path, item := range s.api.OpenAPI().Paths {
		for method, op := range map[string]any{"GET": item.Get, "POST": item.Post, "PUT": item.Put, "PATCH": item.Patch,
			"DELETE": item.Delete} {
			data, err := json.Marshal(op)
			if err != nil {
				t.Fatal(err)
			}
			var o struct {
				Role string `json:"x-role"`
			}
			if string(data) == "null" {
				continue
			}
			if err := json.Unmarshal(data, &o); err != nil {
				t.Fatal(err)
			}
			role := Anyone
			if o.Role != "anyone" {
				if role, err = RoleOf(o.Role); err != nil {
					t.Errorf("%s %s: %v: declare the role of each operation", method, path, err)
				}
			}
			out, roles = append(out, [2]string{method, fill.Replace(path)}), append(roles, role)
		}
	}
	if len(out) < 60 {
		t.Fatalf("%d operations only", len(out))
	}
	return out, roles
}

// contentOf is a body for an operation that takes one.
func contentOf(method string) string {
	if method == http.MethodGet || method == http.MethodDelete {
		return ""
	}
	return "{}"
}

func TestEachOperationAsksForItsRole(t *testing.T) {
	w := newWorld(t)
	viewer, err := w.s.NewKey(t.Context(), "v", Viewer, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	ops, roles := operations(t, w.s)
	for i, op := range ops {
		nobody := w.ask(op[0], op[1], contentOf(op[0]), "Authorization:")
		looking := w.ask(op[0], op[1]+"?topics=agents", contentOf(op[0]), "Authorization: Bearer "+viewer.Key,
			"Last-Event-ID: x")
		if roles[i] == Anyone {
			continue
		}
		if nobody.status != http.StatusUnauthorized || !strings.Contains(nobody.body, "whirlpool login-url") {
			t.Errorf("%s %s without a key: %d %s", op[0], op[1], nobody.status, nobody.body)
		}
		if refused := looking.status == http.StatusForbidden; refused != (roles[i] > Viewer) {
			t.Errorf("%s %s by a viewer: %d %s, and it needs %s", op[0], op[1], looking.status, looking.body, roles[i])
		}
	}
}

func TestALinkSignsInOnce(t *testing.T) {
	w := newWorld(t)
	_, token, _ := strings.Cut(w.link(Admin), "#token=")
	first := w.ask("POST", base+"/session", `{"token":"`+token+`"}`, "Authorization:")
	if first.status != http.StatusOK || !strings.Contains(first.body, `"role":"admin"`) {
		t.Fatalf("%d %s", first.status, first.body)
	}
	cookie := first.header.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/", "whirlpool-"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("%s is not in the cookie %s", want, cookie)
		}
	}
	if again := w.ask("POST", base+"/session", `{"token":"`+token+`"}`,
		"Authorization:"); again.status != http.StatusUnauthorized {
		t.Errorf("a second time: %d %s", again.status, again.body)
	}
	pair := "Cookie: " + strings.Split(cookie, ";")[0]
	if in := w.ask("GET", base+"/settings", "", "Authorization:", pair); in.status != http.StatusOK {
		t.Errorf("with the cookie: %d %s", in.status, in.body)
	}
	if both := w.ask("GET", base+"/settings", "", pair); both.status != http.StatusBadRequest {
		t.Errorf("with cookie and key: %d %s", both.status, both.body)
	}
	if out := w.ask("DELETE", base+"/session", "", "Authorization:", pair); out.status != http.StatusNoContent {
		t.Errorf("signed out: %d %s", out.status, out.body)
	}
	if after := w.ask("GET", base+"/settings", "", "Authorization:", pair); after.status != http.StatusUnauthorized {
		t.Errorf("after it: %d %s", after.status, after.body)
	}
}

func TestALinkAndASessionEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{now: time.Now, Deps: Deps{Vault: NewMemory()}}
		s.safe, s.guard = safe{s.Vault}, newGuard(s)
		link, err := s.Login(t.Context(), Viewer)
		_, token, _ := strings.Cut(link, "#token=")
		time.Sleep(loginTime + time.Second)
		if _, good, fault := s.guard.use(t.Context(), token); good || err != nil || fault != nil {
			t.Error("a link of more than a quarter of an hour ago was taken")
		}
		c, err := s.guard.open(t.Context(), Viewer, nil)
		if err != nil {
			t.Fatal(err)
		}
		role := func() Role {
			who, err := s.guard.bySession(t.Context(), c.Value)
			if err != nil {
				t.Error(err)
			}
			return who.Role
		}
		for range 14 { // used every half a day: it lives a week
			time.Sleep(sessionIdle - time.Minute)
			if role() != Viewer {
				t.Fatal("a session that was used has ended")
			}
		}
		time.Sleep(20 * time.Minute)
		if role() != undeclared {
			t.Error("a session is older than a week")
		}
		if c, err = s.guard.open(t.Context(), Viewer, nil); err != nil {
			t.Fatal(err)
		}
		if time.Sleep(sessionIdle + time.Minute); role() != undeclared {
			t.Error("a session that nobody used for half a day lives")
		}
	})
}

func TestAKeyIsShownOnceAndCanBeRevoked(t *testing.T) {
	w := newWorld(t)
	made := w.ask("POST", base+"/api-keys", `{"name":"ci","role":"viewer"}`, "Idempotency-Key: one")
	var k Key
	if err := json.Unmarshal([]byte(made.body), &k); err != nil || made.status != http.StatusCreated ||
		!strings.HasPrefix(k.Key, "wpk_") {
		t.Fatalf("%d %s: %v", made.status, made.body, err)
	}
	if again := w.ask("POST", base+"/api-keys", `{"name":"ci","role":"viewer"}`,
		"Idempotency-Key: one"); again.header.Get("Idempotent-Replayed") != "" {
		t.Error("an answer with a secret was stored")
	}
	by := "Authorization: Bearer " + k.Key
	if me := w.ask("GET", base+"/me", "", by); !strings.Contains(me.body, `"actor":"key:ci","role":"viewer"`) {
		t.Errorf("%s", me.body)
	}
	if list := w.ask("GET", base+"/api-keys", ""); strings.Contains(list.body, k.Key) ||
		!strings.Contains(list.body, k.ID) {
		t.Errorf("%s", list.body)
	}
	if wrong := w.ask("GET", base+"/agents", "", by+"x"); wrong.status != http.StatusUnauthorized {
		t.Errorf("a wrong key: %d", wrong.status)
	}
	w.ask("DELETE", base+"/api-keys/"+k.ID, "")
	if gone := w.ask("GET", base+"/agents", "", by); gone.status != http.StatusUnauthorized {
		t.Errorf("a revoked key: %d", gone.status)
	}
}

// Browsers send the cookies of one port to all ports of a host: servers that are told apart by their ports alone, or by
// paths of a proxy, have cookies of their own.
func TestServersOfOneHostHaveCookiesOfTheirOwn(t *testing.T) {
	seen := map[string]string{}
	for name, a := range map[string]Access{
		"http":               {URL: "http://127.0.0.1:8711"},
		"another port":       {URL: "http://127.0.0.1:8712"},
		"https":              {URL: "https://crawl.example.org:8711", Secure: true},
		"https, other port":  {URL: "https://crawl.example.org:8712", Secure: true},
		"a proxy":            {URL: "https://crawl.example.org", Secure: true, Mark: "9001"},
		"the same proxy":     {URL: "https://crawl.example.org", Secure: true, Mark: "9002"},
		"under a path":       {URL: "http://crawl.example.org:8713/crawler"},
		"a cluster, by name": {URL: "https://crawl.example.org", Secure: true},
	} {
		g := &guard{s: &Server{Deps: Deps{Access: a}}}
		cookie := g.cookie("secret", 60)
		if other, taken := seen[cookie.Name]; taken || cookie.String() == "" {
			t.Errorf("%s and %s have the cookie %q", name, other, cookie)
		}
		if a.Secure != strings.HasPrefix(cookie.Name, "__Host-whirlpool") {
			t.Errorf("%s: %s", name, cookie)
		}
		seen[cookie.Name] = name
	}
}
