package forms

import (
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func parse(t *testing.T, body string) *Page {
	t.Helper()
	u, err := weburl.Parse("https://a.test/in/login")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Parse([]byte(body), "text/html; charset=utf-8", u)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFind(t *testing.T) {
	const page = `<base href="/b/"><form action=/search><input name=q></form>
	<form id=in method=POST action=do?x=1><input type=hidden name=csrf value="a&amp;b"><input name=user value=was><input type=Password name=pw>
	<input type=checkbox name=on checked><input type=checkbox name=off><input type=radio name=r value=1><input type=radio name=r value=2 checked>
	<select name=s><option value=x>X<option selected>  Y  y </select><textarea name=t>text</textarea><input type=file name=f>
	<input name=dis value=1 disabled><button type=button name=no>n</button><button name=go value=1>in</button><input type=submit name=other value=2></form>`
	for _, selector := range []string{"", "#in", "input[name=user]", "form:nth-of-type(2)"} {
		f, err := parse(t, page).Find(selector)
		if err != nil {
			t.Fatal(selector, err)
		}
		const want = "csrf=a%26b&go=1&on=on&pw=&r=2&s=Y+y&t=text&user=was"
		if got := f.Values.Encode(); got != want || f.Action.String() != "https://a.test/b/do?x=1" || !f.Post ||
			!f.Has("f") || f.Has("nobody") {
			t.Errorf("%q: %s to %s, POST %v; want %s", selector, got, f.Action, f.Post, want)
		}
	}
	for name, tc := range map[string]struct{ page, selector, want string }{
		"no form":     {"<p>nothing", "", "no form of the page asks for a password"},
		"no match":    {page, "#out", `"#out"`},
		"no selector": {page, "#[", "no CSS selector"},
		"outside":     {"<input type=password>", "", "stands in no form"},
		"multipart":   {"<form enctype=multipart/form-data><input type=password>", "", "multipart/form-data"},
		"elsewhere":   {"<form action=javascript:go()><input type=password>", "", "no http"},
		"empty":       {"", "", "no form"},
	} {
		if _, err := parse(t, tc.page).Find(tc.selector); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

func TestContains(t *testing.T) {
	p := parse(t, "<script>Log in</script><p>Log\n <b>out</b> of&nbsp;here")
	for text, want := range map[string]bool{"Log out": true, "log out": false, "Log in": false, "of here": true} {
		if p.Contains(text) != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
	if !p.Matches("p > b") || p.Matches("i") || p.Matches("[") {
		t.Error("selectors")
	}
}

func TestIsLogout(t *testing.T) {
	for path, want := range map[string]bool{"/logout": true, "/Log-Out": true, "/users/sign_out": true,
		"/account/logoff.php": true, "/wp-login.php?action=logout&_wpnonce=1": true, "/session/destroy": true,
		"/sessions/7/destroy": false, "/?logout=1": true, "/?logout=0": false, "/index.php?title=Special:UserLogout": true,
		"/wiki/Special:UserLogout": true, "/logout/confirm": true, "/x;logout": true, "/abmelden": true,
		"/d%C3%A9connexion": true, "/logout.html": true, "/": false, "/login": false, "/help/how-to-log-out": false,
		"/?q=logout": false, "/logouts": false, "/blackout": false, "/articles/signout-sheet": false,
		"/members/0?action=logout": true, "/?action=login": false} {
		u, err := weburl.Parse("http://a.test" + path)
		if err != nil {
			t.Fatal(err)
		}
		if IsLogout(u) != want {
			t.Errorf("%s: want %v", path, want)
		}
	}
	for text, want := range map[string]bool{"Log out": true, "Sign Out": true, "Logout": true, "Abmelden": true,
		"How to log out": false, "": false} {
		if IsLogoutText(text) != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add(`<form method=post><input type=password name=a><select name=b><option></select>`, "form")
	f.Fuzz(func(_ *testing.T, body, selector string) {
		u, _ := weburl.Parse("http://a.test/")
		p, err := Parse([]byte(body), "", u)
		if err != nil {
			return
		}
		_, _ = p.Find(selector)
		_, _ = p.Find("")
		_ = p.Contains(selector)
		if w, err := weburl.Parse("http://a.test/" + selector); err == nil {
			IsLogout(w)
		}
	})
}
