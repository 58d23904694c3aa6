package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/oauth2-proxy/mockoidc"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// chromium is a browser of somebody's own, that knows nothing of others.
type chromium struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // chromedp's way
}

func newChromium(t *testing.T) *chromium {
	t.Helper()
	at, stop := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox,
		chromedp.UserDataDir(t.TempDir()), chromedp.ExecPath("chromium"))...)
	ctx, end := chromedp.NewContext(at)
	t.Cleanup(func() { end(); stop() })
	b := &chromium{t, ctx}
	harness.Check(t, chromedp.Do(ctx, chromedp.Navigate("about:blank"))) // without a limit: it would be the browser's
	return b
}

// do acts on the page, and fails the test where that does not come about.
func (b *chromium) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		at, _ := chromedp.Run(b.ctx, chromedp.Location())
		b.t.Fatalf("%s: %v; at %s, which says: %.500s", what, err, at, value[string](b, "document.body.innerText"))
	}
}

// value is what a script of the page says.
func value[T any](b *chromium, script string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
	return v
}

// shown waits for a text on the page.
func shown(text string) chromedp.Action[chromedp.Void] {
	return chromedp.WaitVisible(chromedp.Search(`//*[contains(text(), "` + text + `")]`))
}

// me is what the server says of who is signed in, asked by a script of the page.
func (b *chromium) me() api.Me {
	b.t.Helper()
	return value[api.Me](b, `fetch("/api/v1/me").then((r) => r.json())`)
}

// People sign in with a browser, by an issuer: in the studio, which then has their role, and for the command "whirlpool
// login". A person without a role is told so, and gets no session; signing out ends it.
func TestPeopleSignInWithABrowser(t *testing.T) {
	harness.NeedBrowser(t)
	w := newWorld(t)
	issuer, err := mockoidc.Run()
	harness.Check(t, err)
	t.Cleanup(func() { _ = issuer.Shutdown() })
	issuer.Server.Addr = strings.Replace(issuer.Server.Addr, "127.0.0.1", "localhost", 1) // another site, as it will be
	w.env = append(w.env, "WHIRLPOOL_OIDC_ISSUER="+issuer.Issuer(), "WHIRLPOOL_OIDC_CLIENT_ID="+issuer.ClientID,
		"WHIRLPOOL_OIDC_CLIENT_SECRET="+issuer.ClientSecret, "WHIRLPOOL_OIDC_SCOPES=groups",
		"WHIRLPOOL_OIDC_ROLES=crawlers=operator", "WHIRLPOOL_OIDC_DEFAULT_ROLE=none")
	w.start("node", "whirlpool", []string{"node"}, nil)
	_, c := w.copyOf("one")
	person := func(name string, groups ...string) *mockoidc.MockUser {
		return &mockoidc.MockUser{Subject: name, Email: name + "@example.org", EmailVerified: true, Groups: groups}
	}

	ada := newChromium(t)
	issuer.QueueUser(person("ada", "crawlers"))
	ada.do("sign in", chromedp.Navigate(c.Server()+"/"), shown("Sign in with your account"),
		chromedp.Click(chromedp.CSS(`a[href$="/auth/login"]`)), shown("What shall be crawled?"))
	if me := ada.me(); me.Role != "operator" || me.Via != "session" {
		t.Errorf("somebody of the group is signed in as %+v", me)
	}
	ada.do("reload", chromedp.Reload(), shown("What shall be crawled?"))
	const readable = `document.cookie + location.href + JSON.stringify({...localStorage, ...sessionStorage})`
	secrets := value[string](ada, readable)
	if strings.Contains(secrets, "code=") || strings.Contains(secrets, "eyJ") || strings.Contains(secrets, "session") {
		t.Errorf("scripts of the page can read %q", secrets)
	}

	eve := newChromium(t)
	issuer.QueueUser(person("eve", "others"))
	eve.do("sign in without a role", chromedp.Navigate(c.Server()+"/api/v1/auth/login"), shown("You have no role here"))
	eve.do("open the studio", chromedp.Navigate(c.Server()+"/"), shown("Sign in with your account"))
	if me := eve.me(); me.Role != "anyone" {
		t.Errorf("who has no role is signed in as %+v", me)
	}

	issuer.QueueUser(person("eve", "others"))
	ada.do("fail to sign in with a session", chromedp.Navigate(c.Server()+"/api/v1/auth/login"),
		shown("You have no role here"), chromedp.Click(chromedp.Search(`//button[contains(., "Go on")]`)),
		shown("What shall be crawled?"))

	w.loginByBrowser(ada, c.Server(), func() { issuer.QueueUser(person("ada", "crawlers")) })

	ada.do("sign out", chromedp.Navigate(c.Server()+"/#/settings"),
		chromedp.Click(chromedp.Search(`//button[contains(., "Sign out")]`)), shown("Sign in with your account"))
	if me := ada.me(); me.Role != "anyone" {
		t.Errorf("after signing out somebody is signed in as %+v", me)
	}
}

// loginByBrowser runs "whirlpool login" and opens its link.
func (w *world) loginByBrowser(b *chromium, server string, signing func()) {
	w.t.Helper()
	env := append(os.Environ(), "XDG_CONFIG_HOME="+filepath.Join(w.dir, "config"), "WHIRLPOOL_API_KEY=")
	ctx, stop := context.WithTimeout(w.t.Context(), patience)
	defer stop()
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, filepath.Join(w.exes, "whirlpool"), args...)
		cmd.Env = env
		return cmd
	}
	login, said := command("login", "--server", server, "--no-browser", "--name", "office"), new(heard)
	login.Stdout, login.Stderr = said, said
	harness.Check(w.t, login.Start())
	link := ""
	harness.Until(w.t, patience, "the command's link", func() bool {
		_, after, found := strings.Cut(said.String(), "sign in at ")
		link, _, _ = strings.Cut(after, "\n")
		return found && strings.Contains(after, "\n")
	})
	signing()
	b.do("sign in for the command", chromedp.Navigate(link), shown("You are signed in"))
	if err := login.Wait(); err != nil || !strings.Contains(said.String(), "operator") {
		w.t.Errorf("login: %v: %s", err, said.String())
	}
	if out, err := command("workflow", "list", "--context", "office").CombinedOutput(); err != nil {
		w.t.Errorf("with the key that the browser brought: %v: %s", err, out)
	}
}
