package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oauth2-proxy/mockoidc"
	"golang.org/x/oauth2"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// audits is an audit log in memory.
type audits struct {
	mu  sync.Mutex
	all []workflow.Audit
}

func (a *audits) AddAudit(_ context.Context, e *workflow.Audit) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	e.ID = int64(len(a.all) + 1)
	a.all = append(a.all, *e)
	return nil
}

func (a *audits) Audits(_ context.Context, f workflow.AuditFilter,
	_ workflow.Page) (*workflow.List[workflow.Audit], error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := &workflow.List[workflow.Audit]{}
	for _, e := range slices.Backward(a.all) {
		if !f.Refused || e.Refused() {
			l.Items = append(l.Items, e)
		}
	}
	return l, nil
}

func (a *audits) list() []workflow.Audit {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.all)
}

func (w *world) link(role Role) string {
	link, err := w.s.Login(w.t.Context(), role)
	if err != nil {
		w.t.Fatal(err)
	}
	return link
}

// keyOf makes a key of a role, as an admin.
func (w *world) keyOf(role Role) string {
	k, err := w.s.addKey(w.t.Context(),
		apiKey{Known: Key{Name: role.String(), Role: role.String(), Rate: maxRate, Burst: maxBurst}})
	if err != nil {
		w.t.Fatal(err)
	}
	return k.Key
}

// Every route is asked by everybody: nobody, and each role by key. Whoever has too little is refused, whoever has
// enough is not; and each refusal is in the audit log with who, what and from where.
func TestEveryRouteByEveryRole(t *testing.T) {
	w := newWorld(t)
	ops, roles := operations(t, w.s)
	for _, role := range []Role{Anyone, Viewer, User, Operator, Admin} {
		by := "Authorization:"
		if role >= Viewer {
			by = "Authorization: Bearer " + w.keyOf(role)
		}
		for i, op := range ops {
			before := len(w.audits.list())
			got := w.ask(op[0], op[1]+map[bool]string{true: "?topics=agents"}[strings.HasSuffix(op[1], "/events") &&
				op[1] == base+"/events"], contentOf(op[0]), by,
				"Last-Event-ID: x")
			want := 0
			switch {
			case roles[i] == Anyone:
			case role < Viewer:
				want = http.StatusUnauthorized
			case role < roles[i]:
				want = http.StatusForbidden
			}
			refused := got.status == http.StatusUnauthorized || got.status == http.StatusForbidden &&
				strings.Contains(got.body, "this needs the role")
			if refused != (want != 0) && roles[i] != Anyone || want != 0 && got.status != want {
				t.Errorf("%s %s by %s: %d %s; it needs %s", op[0], op[1], role, got.status, got.body, roles[i])
			}
			if want == 0 {
				continue
			}
			log := w.audits.list()[before:]
			if len(log) != 1 || log[0].Status != want || log[0].Method != op[0] || log[0].Action == "" ||
				log[0].From != "127.0.0.1" || (role >= Viewer) != (log[0].Actor == "key:"+role.String()) {
				t.Errorf("%s %s by %s stands in the audit log as %+v", op[0], op[1], role, log)
			}
		}
	}
	t.Logf("%d routes by 5 roles", len(ops))
}

// Surf's figures: five requests a second, twenty at once. Of 26 the last six are refused, and told how long to wait.
func TestRateAndBurst(t *testing.T) {
	w := newWorld(t)
	now := time.Now()
	w.s.now = func() time.Time { return now }
	made := w.ask("POST", base+"/api-keys", `{"name":"slow","role":"viewer","rate":5,"burst":20}`)
	var k Key
	if err := json.Unmarshal([]byte(made.body), &k); err != nil {
		t.Fatal(made.body)
	}
	by := "Authorization: Bearer " + k.Key
	for n := range 26 {
		got := w.ask("GET", base+"/agents", "", by)
		switch {
		case n < 20 && got.status != http.StatusOK:
			t.Errorf("request %d: %d %s", n+1, got.status, got.body)
		case n >= 20 && (got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") != "1" ||
			!strings.Contains(got.body, "too-many-requests")):
			t.Errorf("request %d: %d, Retry-After %q, %s", n+1, got.status, got.header.Get("Retry-After"), got.body)
		}
	}
	now = now.Add(time.Second)
	good := 0
	for range 10 {
		if w.ask("GET", base+"/agents", "", by).status == http.StatusOK {
			good++
		}
	}
	if good != 5 {
		t.Errorf("a second later %d of 10 were answered, want 5", good)
	}
	if refusals, _ := w.audits.Audits(t.Context(), workflow.AuditFilter{Refused: true},
		workflow.Page{}); len(refusals.Items) != 11 {
		t.Errorf("%d refusals in the audit log, want 11", len(refusals.Items))
	}
	w.s.guard.buckets.copies = func() int { return 4 }
	now = now.Add(time.Hour)
	good = 0
	for range 26 {
		if w.ask("GET", base+"/agents", "", by).status == http.StatusOK {
			good++
		}
	}
	if good != 5 {
		t.Errorf("one of four copies granted %d of 26, want a quarter of 20", good)
	}
}

func TestKeysOfPeople(t *testing.T) {
	w := newWorld(t)
	user, other := "Authorization: Bearer "+w.keyOf(User), "Authorization: Bearer "+w.keyOf(Operator)
	if got := w.ask("POST", base+"/api-keys", `{"name":"up","role":"operator"}`,
		user); got.status != http.StatusForbidden {
		t.Errorf("a user made an operator's key: %d", got.status)
	}
	made := w.ask("POST", base+"/api-keys", `{"name":"mine","role":"user","scopes":["workflows:read","executions"]}`, user)
	var k Key
	if err := json.Unmarshal([]byte(made.body), &k); err != nil || made.status != http.StatusCreated {
		t.Fatal(made.body)
	}
	by := "Authorization: Bearer " + k.Key
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/workflows", "", 200}, {"GET", "/executions", "", 200}, {"GET", "/agents", "", 403},
		{"POST", "/workflows", `{"source":"x"}`, 403}, {"GET", "/me", "", 200},
		{"POST", "/api-keys", `{"name":"wider"}`, 403}, {"GET", "/users", "", 403},
	} {
		if got := w.ask(c.method, base+c.path, c.body, by); got.status != c.want {
			t.Errorf("%s %s by a key with scopes: %d %s, want %d", c.method, c.path, got.status, got.body, c.want)
		}
	}
	for _, c := range []struct{ method, path string }{{"DELETE", "/api-keys/" + k.ID},
		{"POST", "/api-keys/" + k.ID + ":rotate"}} {
		if got := w.ask(c.method, base+c.path, contentOf(c.method), other); got.status != http.StatusNotFound {
			t.Errorf("%s %s by another: %d %s", c.method, c.path, got.status, got.body)
		}
	}
	if got := w.ask("POST", base+"/api-keys", `{"name":"x","scopes":["nonsense"]}`,
		user); got.status != http.StatusUnprocessableEntity {
		t.Errorf("a scope that there is not: %d %s", got.status, got.body)
	}
}

func TestARotatedKeyIsGoodForADay(t *testing.T) {
	w := newWorld(t)
	now := time.Now()
	w.s.now = func() time.Time { return now }
	old := w.keyOf(Viewer)
	id, _, _ := strings.Cut(strings.TrimPrefix(old, keyHead), "_")
	got := w.ask("POST", base+"/api-keys/"+id+":rotate", "{}")
	var k Key
	if err := json.Unmarshal([]byte(got.body), &k); err != nil || k.Key == old {
		t.Fatal(got.body)
	}
	status := func(key string) int { return w.ask("GET", base+"/agents", "", "Authorization: Bearer "+key).status }
	if status(old) != 200 || status(k.Key) != 200 {
		t.Error("old and new key are not both good")
	}
	now = now.Add(rotationOverlap + time.Minute)
	if status(old) != 401 || status(k.Key) != 200 {
		t.Error("a day later the old key is good, or the new one is not")
	}
	if list := w.ask("GET", base+"/api-keys", ""); strings.Contains(list.body, "hash") ||
		strings.Contains(list.body, k.Key) || !strings.Contains(list.body, `"used"`) {
		t.Errorf("%s", list.body)
	}
}

// signing is a world with an issuer, and a browser.
type signing struct {
	*world
	issuer  *mockoidc.MockOIDC
	browser *http.Client
}

func newSigning(t *testing.T) *signing {
	issuer, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = issuer.Shutdown() })
	w := newWorld(t)
	w.s.OIDC = &OIDC{Issuer: issuer.Issuer(), ClientID: issuer.Config().ClientID,
		ClientSecret: issuer.Config().ClientSecret, DefaultRole: User, GroupsClaim: "groups", Scopes: []string{"groups"},
		Groups: map[string]Role{"crawl-admins": Admin, "watchers": Viewer}}
	s := &signing{world: w, issuer: issuer}
	s.browser = s.newBrowser()
	return s
}

func (s *signing) newBrowser() *http.Client {
	jar, _ := cookiejar.New(nil) // it never fails
	return &http.Client{Jar: jar}
}

// signIn signs somebody in, and returns the last answer.
func (s *signing) signIn(subject string, groups ...string) *http.Response {
	s.t.Helper()
	s.issuer.QueueUser(&mockoidc.MockUser{Subject: subject, Email: subject + "@example.org", EmailVerified: true,
		PreferredUsername: subject, Groups: groups})
	resp, err := s.browser.Get(s.http.URL + base + "/auth/login?return=/workflows")
	if err != nil {
		s.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp
}

func (s *signing) me() (me Me) {
	s.t.Helper()
	resp, err := s.browser.Get(s.http.URL + base + "/me")
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&me); err != nil {
		s.t.Fatal(err)
	}
	return me
}

// A person signs in by the issuer; what an administrator gives wins over what the issuer says, up and down, and over
// the next sign-in.
func TestPeopleSignIn(t *testing.T) {
	s := newSigning(t)
	if resp := s.signIn("ann", "crawl-admins"); resp.Request.URL.Path != "/workflows" {
		t.Fatalf("ended at %s: %d", resp.Request.URL, resp.StatusCode)
	}
	if me := s.me(); me.Actor != "ann@example.org" || me.Role != "admin" || me.Via != "session" {
		t.Fatalf("%+v", me)
	}
	ann := personID(s.issuer.Issuer(), "ann")
	if got := s.ask("PATCH", base+"/users/"+ann, `{"manual":"viewer"}`, "If-Match: *"); got.status != http.StatusConflict {
		t.Errorf("the last admin was demoted: %d %s", got.status, got.body)
	}
	browser := s.browser
	s.browser = s.newBrowser()
	s.signIn("bob", "others")
	if me := s.me(); me.Role != "user" {
		t.Errorf("whom no group gives a role: %+v", me)
	}
	bob := personID(s.issuer.Issuer(), "bob")
	for _, c := range []struct{ change, want string }{{`{"manual":"admin"}`, "admin"}, {`{"manual":"viewer"}`, "viewer"},
		{`{"disabled":true}`, "anyone"}, {`{"disabled":false}`, "viewer"}} {
		if got := s.ask("PATCH", base+"/users/"+bob, c.change, "If-Match: *"); got.status != http.StatusOK {
			t.Fatalf("%s: %d %s", c.change, got.status, got.body)
		}
		if me := s.me(); me.Role != c.want {
			t.Errorf("after %s: %+v", c.change, me)
		}
	}
	s.signIn("bob", "crawl-admins")
	if me := s.me(); me.Role != "viewer" {
		t.Errorf("the issuer's role won over the manual one: %+v", me)
	}
	s.ask("PATCH", base+"/users/"+bob, `{"manual":"","sign_out":true}`, "If-Match: *")
	if me := s.me(); me.SignedIn {
		t.Errorf("signed out: %+v", me)
	}
	s.browser = browser
	if me := s.me(); me.Role != "admin" {
		t.Errorf("another session ended too: %+v", me)
	}
	if list := s.ask("GET", base+"/users", ""); !strings.Contains(list.body, `"manual":`) &&
		!strings.Contains(list.body, bob) {
		t.Errorf("%s", list.body)
	}
}

// pageTold signs somebody in by the page of a browser, and wants the studio to tell why that failed, and the audit log
// to have its status.
func (s *signing) pageTold(t *testing.T, word string, status int) {
	t.Helper()
	before := s.s.Studio
	s.s.Studio = http.NotFoundHandler()
	defer func() { s.s.Studio = before }()
	b := s.newBrowser()
	b.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if r.URL.Path == "/" {
			return http.ErrUseLastResponse
		}
		return nil
	}
	s.issuer.QueueUser(&mockoidc.MockUser{Subject: "page", Email: "page@example.org"})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.http.URL+base+"/auth/login", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Sec-Fetch-Mode", "navigate") // it goes on to where a redirect leads
	resp, err := b.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if to := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || to != "/#/?signin="+word {
		t.Errorf("a page got %d, to %q", resp.StatusCode, to)
	}
	if list := s.ask("GET", base+"/audit?limit=1", "").body; !strings.Contains(list, fmt.Sprintf(`"status":%d`, status)) ||
		!strings.Contains(list, "signIn") {
		t.Errorf("the audit log says %s", list)
	}
}

func TestSignInsThatAreNotGood(t *testing.T) {
	s := newSigning(t)
	s.browser.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if r.URL.Path == callbackPath {
			return http.ErrUseLastResponse
		}
		return nil
	}
	s.issuer.QueueUser(&mockoidc.MockUser{Subject: "eve", Email: "eve@example.org"})
	resp, err := s.browser.Get(s.http.URL + base + "/auth/login?return=//evil.test/")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	back := resp.Header.Get("Location")
	get := func(c *http.Client, address string) int {
		resp, err := c.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	if status := get(s.newBrowser(), back); status != http.StatusUnauthorized {
		t.Errorf("another browser used the answer: %d", status)
	}
	u, _ := url.Parse(back)
	q := u.Query()
	q.Set("code", "another")
	u.RawQuery = q.Encode()
	if status := get(s.browser, u.String()); status != http.StatusUnauthorized {
		t.Errorf("a wrong code: %d", status)
	}
	if status := get(s.browser, back); status != http.StatusUnauthorized {
		t.Errorf("a sign-in was used twice: %d", status)
	}
	s.s.OIDC.DefaultRole = undeclared
	s.browser = s.newBrowser()
	if resp := s.signIn("mallory"); resp.StatusCode != http.StatusForbidden {
		t.Errorf("whoever has no role: %d", resp.StatusCode)
	}
	s.pageTold(t, "no-role", http.StatusForbidden)
	refused := 0
	for _, a := range s.audits.list() {
		if a.Path == callbackPath && a.Refused() {
			refused++
		}
	}
	if refused != 5 {
		t.Errorf("%d of 5 refused sign-ins stand in the audit log", refused)
	}
	for _, text := range []string{"//evil.test/", "https://evil.test/", "/\\evil.test", "/api/v1/me", "evil",
		"javascript:alert(1)"} {
		if got := localPath(text); got != "/" {
			t.Errorf("%s leads to %s", text, got)
		}
	}
}

// A stranger in each role tries what the role forbids, by API and by address of the studio: all is refused, all stands
// in the audit log, and no secret of any request does.
func TestAStrangerInEachRole(t *testing.T) {
	w := newWorld(t)
	tries := [][2]string{{"GET", "/users"}, {"PATCH", "/users/u_1"}, {"GET", "/audit"}, {"POST", "/login-urls"},
		{"PATCH", "/settings"}}
	more := map[Role][][2]string{
		Viewer: {{"POST", "/workflows"}, {"POST", "/workflows/w:run"}, {"POST", "/executions/w-1:pause"},
			{"POST", "/executions/w-1:stop"}, {"POST", "/executions/w-1:cancel"}, {"DELETE", "/executions/w-1"},
			{"PATCH", "/executions/w-1"}, {"POST", "/executions/w-1/seeds"}, {"POST", "/executions/w-1/revisions"},
			{"POST", "/dry-runs"}, {"POST", "/api-keys"}, {"DELETE", "/api-keys/x"}, {"GET", "/api-keys"},
			{"PATCH", "/workflows/w"}, {"PUT", "/apply"}},
		User: {{"POST", "/executions/w-1/seeds"}, {"POST", "/executions/w-1/revisions"},
			{"POST", "/executions/w-1/revisions/1:undo"}, {"POST", "/executions/w-1/hosts/x:hold"},
			{"POST", "/executions/w-1/hosts/x:release"}, {"POST", "/executions/w-1/dead-letters:replay"}},
		Operator: {},
	}
	secrets := []string{"hunter2hunter2", "tok-4711-4711", "Bearer wpk_nobody00_0000"}
	content := fmt.Sprintf(`{"name":"x","password":%q,"source":"login: {password: %s}","patch":{"headers":[{"name":"X","value":%q}]},"token":%q}`, secrets[0], secrets[0],
		secrets[1], secrets[1])
	refused := 0
	for role, own := range more {
		by := "Authorization: Bearer " + w.keyOf(role)
		all := append(slices.Clone(own), tries...)
		for len(all) < 20 {
			all = append(all, tries[len(all)%len(tries)])
		}
		for _, try := range all {
			body := ""
			if contentOf(try[0]) != "" {
				body = content
			}
			if got := w.ask(try[0], base+try[1], body, by); got.status != http.StatusForbidden {
				t.Errorf("%s %s by %s: %d %s", try[0], try[1], role, got.status, got.body)
			}
			refused++
		}
	}
	log := w.audits.list()
	if len(log) != refused {
		t.Errorf("%d were refused, %d stand in the audit log", refused, len(log))
	}
	text, err := json.Marshal(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range secrets {
		if strings.Contains(string(text), secret) {
			t.Errorf("%s stands in the audit log", secret)
		}
	}
	if !strings.Contains(string(text), "sha256:") || !strings.Contains(string(text), `\"password\":\"***\"`) &&
		!strings.Contains(string(text), `"password":"***"`) {
		t.Errorf("what was tried is not told: %.2000s", text)
	}
	if got := w.ask("GET", base+"/audit?refused=true", ""); got.status != http.StatusOK ||
		!strings.Contains(got.body, "key:viewer") {
		t.Errorf("%d %.300s", got.status, got.body)
	}
}

// A command signs in through the browser: the code that the browser brings is of use to the command alone, once.
func TestACommandSignsIn(t *testing.T) {
	s := newSigning(t)
	verifier := oauth2.GenerateVerifier()
	s.issuer.QueueUser(&mockoidc.MockUser{Subject: "cli", Email: "cli@example.org", EmailVerified: true})
	s.browser.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if r.URL.Port() == "1" {
			return http.ErrUseLastResponse
		}
		return nil
	}
	code := func() string {
		resp, err := s.browser.Get(s.http.URL + base + "/auth/login?" + url.Values{"port": {"1"}, "state": {"st"},
			"challenge": {oauth2.S256ChallengeFromVerifier(verifier)}}.Encode())
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		to, err := url.Parse(resp.Header.Get("Location"))
		if err != nil || to.Host != "127.0.0.1:1" || to.Query().Get("state") != "st" {
			t.Fatalf("the browser was sent to %s: %d", to, resp.StatusCode)
		}
		return to.Query().Get("code")
	}
	use := func(code, verifier string) got {
		return s.ask("POST", base+"/auth/code", fmt.Sprintf(`{"code":%q,"verifier":%q}`, code, verifier), "Authorization:")
	}
	if got := use(code(), oauth2.GenerateVerifier()); got.status != http.StatusUnauthorized {
		t.Errorf("another command used the code: %d %s", got.status, got.body)
	}
	s.issuer.QueueUser(&mockoidc.MockUser{Subject: "cli", Email: "cli@example.org", EmailVerified: true})
	one := code()
	made := use(one, verifier)
	var k Key
	if err := json.Unmarshal([]byte(made.body), &k); err != nil || made.status != http.StatusCreated ||
		k.Owner != "cli@example.org" || k.Expires.IsZero() {
		t.Fatalf("%d %s", made.status, made.body)
	}
	if got := use(one, verifier); got.status != http.StatusUnauthorized {
		t.Errorf("a code was used twice: %d", got.status)
	}
	if me := s.ask("GET", base+"/me", "", "Authorization: Bearer "+k.Key); !strings.Contains(me.body, `"role":"user"`) {
		t.Errorf("%s", me.body)
	}
	s.ask("PATCH", base+"/users/"+personID(s.issuer.Issuer(), "cli"), `{"disabled":true}`, "If-Match: *")
	if got := s.ask("GET", base+"/agents", "", "Authorization: Bearer "+k.Key); got.status != http.StatusUnauthorized {
		t.Errorf("the key of a person who is disabled: %d", got.status)
	}
	text, err := json.Marshal(s.audits.list())
	if err != nil || strings.Contains(string(text), k.Key) || strings.Contains(string(text), one) ||
		strings.Contains(string(text), verifier) {
		t.Errorf("a secret stands in the audit log: %s", text)
	}
}
