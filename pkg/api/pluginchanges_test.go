package api

import (
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/oci"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/wasmtest"
)

// repoPlugins are those of a repository in a directory.
type repoPlugins struct {
	somePlugins
	repo *repo.Repository
}

func (p repoPlugins) List(ctx context.Context) ([]repo.Item, error) { return p.repo.All(ctx) }

func (p repoPlugins) Change(_ context.Context, do func(*repo.Repository) error) error {
	return do(p.repo)
}

// oneFarPlugin is a registry.
type oneFarPlugin struct{}

func (oneFarPlugin) String() string { return "oci://far.example/" }
func (oneFarPlugin) Versions(context.Context, string) ([]string, error) {
	return []string{"1.0.0"}, nil
}
func (oneFarPlugin) Fetch(_ context.Context, use string) (*repo.Package, []byte, error) {
	if use != "shop/far@1.0.0" {
		return nil, nil, fs.ErrNotExist
	}
	p, err := repo.Pack(fstest.MapFS{"plugin.toml": {Data: []byte("name = \"shop/far\"\nversion = \"1.0.0\"\n" +
		"abi = \"whirlpool:1\"\ntier = \"wasm\"\nentry = \"a.wasm\"\nsummary = \"x\"\n[[serves]]\npoint = \"document\"\n")},
		"a.wasm": {Data: []byte("x")}})
	return p, nil, err
}

// Registry is one that has shop/far@1.0.0 and nothing else.
func (somePlugins) Registry(artifact string) (repo.Upstream, string, error) {
	_, use, _, err := oci.Split(artifact)
	return oneFarPlugin{}, use, err
}

func (somePlugins) Change(context.Context, func(*repo.Repository) error) error {
	return ErrNoRepository
}

// pushedOf is the body that pushes a plug-in which answers that it is of a version.
func pushedOf(t *testing.T, use, answers, signature string) (content string, p *repo.Package) {
	t.Helper()
	p, err := repo.Pack(os.DirFS(wasmtest.Version(t, use, answers)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(NewPlugin{Package: p.Bytes, Signature: signature})
	if err != nil {
		t.Fatal(err)
	}
	return string(text), p
}

// pluginWorld is a server with a repository, and a key of each role.
func pluginWorld(t *testing.T) (*world, map[Role]string) {
	t.Helper()
	w := newWorld(t)
	d, err := repo.Open(t.TempDir(), repo.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	w.s.Plugins = repoPlugins{repo: d}
	keys := map[Role]string{}
	for _, role := range []Role{Viewer, User, Operator, Admin} {
		keys[role] = "Authorization: Bearer " + w.keyOf(role)
	}
	return w, keys
}

// An operator pushes, an administrator says what may be used, and the audit log has both without the bytes.
func TestAPluginIsPushedAndApproved(t *testing.T) {
	w, keys := pluginWorld(t)
	content, packed := pushedOf(t, "shop/v@1.0.0", "1", "")
	for _, role := range []Role{Viewer, User} {
		if a := w.ask("POST", base+"/plugins", content, keys[role]); a.status != http.StatusForbidden {
			t.Errorf("pushed by a %s: %d %s", role, a.status, a.body)
		}
	}
	var p Plugin
	for range 2 { // the same again changes nothing
		a := w.ask("POST", base+"/plugins", content, keys[Operator])
		if err := json.Unmarshal([]byte(a.body), &p); err != nil || a.status != http.StatusCreated ||
			p.Digest != packed.Digest || p.Trust.Level != repo.Unsigned || p.Trust.Usable {
			t.Fatalf("pushed: %d %+v", a.status, p)
		}
	}
	at := base + "/plugins/shop/v/1.0.0"
	for _, role := range []Role{Viewer, User, Operator} {
		if a := w.ask("POST", at+":approve", "", keys[role]); a.status != http.StatusForbidden {
			t.Errorf("approved by a %s: %d %s", role, a.status, a.body)
		}
		if a := w.ask("POST", at+":disable", "{}", keys[role]); a.status != http.StatusForbidden {
			t.Errorf("disabled by a %s: %d %s", role, a.status, a.body)
		}
	}
	if read(t, w.ask("POST", at+":approve", "", keys[Admin]), &p); p.Trust.Level != repo.Approved || !p.Trust.Usable ||
		p.Trust.By == "" {
		t.Errorf("approved: %+v", p.Trust)
	}
	if read(t, w.ask("POST", at+":disable", `{"why":"it is slow"}`, keys[Admin]), &p); p.Trust.Level != repo.Disabled ||
		p.Trust.Usable || p.Trust.Why != "it is slow" {
		t.Errorf("disabled: %+v", p.Trust)
	}
	if read(t, w.ask("GET", at, "", keys[Viewer]), &p); p.Trust.Level != repo.Disabled {
		t.Errorf("listed: %+v", p.Trust)
	}
	var done []string
	for _, a := range w.audits.list() {
		if succeeded(a.Status) {
			done = append(done, a.Action)
		}
		if a.Action == "pushPlugin" && succeeded(a.Status) &&
			(!strings.Contains(string(a.Change), packed.Digest) || strings.Contains(string(a.Change), "package")) {
			t.Errorf("the audit log has the push as %s", a.Change)
		}
	}
	if got := strings.Join(done, " "); !strings.HasSuffix(got, "pushPlugin pushPlugin approvePlugin disablePlugin") {
		t.Errorf("the audit log has %s", got)
	}
}

// A server takes a plug-in from a registry by its address, and the audit log says from where.
func TestAPluginIsTakenFromARegistry(t *testing.T) {
	w, keys := pluginWorld(t)
	content := `{"source":"oci://far.example/shop/far:1.0.0"}`
	for _, role := range []Role{Viewer, User} {
		if a := w.ask("POST", base+"/plugins", content, keys[role]); a.status != http.StatusForbidden {
			t.Errorf("taken by a %s: %d %s", role, a.status, a.body)
		}
	}
	var p Plugin
	a := w.ask("POST", base+"/plugins", content, keys[Operator])
	if err := json.Unmarshal([]byte(a.body), &p); err != nil || a.status != http.StatusCreated ||
		p.Use != "shop/far@1.0.0" || p.Trust.Usable {
		t.Fatalf("taken: %d %s", a.status, a.body)
	}
	last := w.audits.list()
	if c := string(last[len(last)-1].Change); !strings.Contains(c, "oci://far.example/") ||
		!strings.Contains(c, p.Digest) {
		t.Errorf("the audit log has %s", c)
	}
	for content, says := range map[string]string{
		`{"source":"oci://far.example/shop/far:2.0.0"}`:                      "there is no plug-in shop/far@2.0.0 in oci://far.example/",
		`{"source":"https://far.example/shop/far:1.0.0"}`:                    "want oci://",
		`{"source":"oci://far.example/shop/far:1.0.0","package":"bm9uZQ=="}`: "want one of the two",
		`{"source":"oci://far.example/shop/far:1.0.0","signature":"x"}`:      "want one of the two",
	} {
		if a := w.ask("POST", base+"/plugins", content, keys[Operator]); a.status != 422 || !strings.Contains(a.body, says) ||
			!strings.Contains(a.body, "body.source") {
			t.Errorf("%s: %d %s", content, a.status, a.body)
		}
	}
}

// endless counts what is read of an endless body.
type endless struct{ n int }

func (c *endless) Read(b []byte) (int, error) {
	c.n += len(b)
	return copy(b, strings.Repeat("A", len(b))), nil
}

// Of what is pushed by somebody who may not, nothing is read.
func TestAPushIsNotReadBeforeItIsKnownWhoPushes(t *testing.T) {
	w, keys := pluginWorld(t)
	for role, key := range map[string]string{"nobody": "", "a viewer": keys[Viewer], "a user": keys[User]} {
		content := &endless{}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, w.http.URL+uploadPath, content)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", "k")
		if _, value, is := strings.Cut(key, ": "); is {
			r.Header.Set("Authorization", value)
		}
		got := httptest.NewRecorder()
		w.s.ServeHTTP(got, r)
		if got.Code != http.StatusForbidden && got.Code != http.StatusUnauthorized || content.n > 0 {
			t.Errorf("by %s: %d, and %d octets were read", role, got.Code, content.n)
		}
	}
}

// What cannot be pushed is refused by what is wrong with it, and changes nothing.
func TestAPushIsRefused(t *testing.T) {
	w, _ := pluginWorld(t)
	good, _ := pushedOf(t, "shop/v@1.0.0", "1", "")
	other, _ := pushedOf(t, "shop/v@1.0.0", "2", "")
	forged, _ := pushedOf(t, "shop/w@1.0.0", "1", "untrusted comment: x\nRWx")
	if a := w.ask("POST", base+"/plugins", good); a.status != http.StatusCreated {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for _, c := range []struct {
		name, path, content string
		status              int
		says                string
	}{
		{"no package", "/plugins", `{"package":"bm9uZQ=="}`, 422, "body.package"},
		{"an empty one", "/plugins", `{"package":""}`, 422, "body.package"},
		{"what is no base64", "/plugins", `{"package":"€"}`, 422, ""},
		{"a number", "/plugins", `{"package":7}`, 422, "package"},
		{"no body", "/plugins", "", 400, ""},
		{"other content", "/plugins", other, 409, "a version never changes"},
		{"a signature that is none", "/plugins", forged, 422, "body.signature"},
		{"an endless one", "/plugins", `{"package":"` + strings.Repeat("A", maxUpload) + `"}`, 413, "send less"},
		{"an unknown one", "/plugins/shop/none/1.0.0:approve", "", 404, "shop/none@1.0.0"},
		{"another version", "/plugins/shop/v/9.0.0:disable", "{}", 404, "shop/v@9.0.0"},
		{"a way out", "/plugins/shop/..%2f..%2fx/1.0.0:approve", "", 404, "there is no plug-in"},
		{"a built-in one", "/plugins/builtin/lang/1:disable", "{}", 409, "comes with the program"},
	} {
		a := w.ask("POST", base+c.path, c.content)
		if a.status != c.status || !strings.Contains(a.body, c.says) {
			t.Errorf("%s: %d %.300s, want %d with %q", c.name, a.status, a.body, c.status, c.says)
		}
	}
	var list PluginList
	read(t, w.ask("GET", base+"/plugins", ""), &list)
	if n := len(list.Items) - len(repo.BuiltIn()); n != 1 {
		t.Errorf("%d plug-ins are there", n)
	}
	w.s.Plugins = somePlugins{}
	if a := w.ask("POST", base+"/plugins", good); a.status != http.StatusConflict ||
		!strings.Contains(a.body, "no repository") {
		t.Errorf("without a repository: %d %s", a.status, a.body)
	}
}
