package crawl

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/secret"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/selector"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// howToRefer says how a secret is referred to.
const howToRefer = "a job is stored and shown, so it refers to a secret: ${NAME} reads an environment variable, " +
	"file:PATH a file"

var (
	token      = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$")
	secretName = regexp.MustCompile(
		`(?i)auth|cookie|token|secret|passw|pwd|api-?_?key|session|credential|^pass$|^pin$|otp|totp`)
	maxRequestKV = 8 << 10
)

// ownHeaders are the fields that the crawler itself answers for, and what to use instead.
var ownHeaders = map[string]string{"User-Agent": "user_agent is the key for it", "Host": "the URL says it",
	"Cookie": "cookie is the key for it", "Accept-Encoding": "the crawler asks for what it can decode", "Connection": "",
	"Content-Length": "", "Transfer-Encoding": "", "Te": "", "Trailer": "", "Upgrade": "", "Keep-Alive": "",
	"Proxy-Authorization": "the URL of the proxy has name and password", "Proxy-Connection": "",
	"Range": "whole pages are asked for", "If-None-Match": "", "If-Modified-Since": "", "If-Match": "",
	"If-Unmodified-Since": "", "If-Range": "", "Content-Type": "", "Expect": "",
	"Accept-Language": "accept_language is the key for it"}

// IsSecretName reports whether the value of a field of this name is likely a secret.
func IsSecretName(name string) bool { return secretName.MatchString(name) }

// checkRequests finds what is wrong with headers, credentials and log-in.
func checkRequests(j *Job) (errs []error) {
	bad := func(cond bool, key, format string, args ...any) {
		if cond {
			errs = append(errs, &KeyError{key, fmt.Sprintf(format, args...)})
		}
	}
	bad(!printable(j.AcceptLanguage) || len(j.AcceptLanguage) > maxRequestKV, "accept_language",
		"%q: want languages, as in de,en;q=0.5", j.AcceptLanguage)
	bad(!slices.Contains([]string{CookiesAuto, CookiesOn, CookiesOff}, j.Cookies), "cookies", "%q: want on or off",
		j.Cookies)
	for i, h := range j.Headers {
		at := fmt.Sprintf("headers[%d]", i)
		errs = append(errs, checkHeader(at, &h)...)
		bad(secret.IsReference(h.Value) && nobodys(j, h.URL), at+".url", nobodysFault)
	}
	for i, a := range j.Auth {
		at := fmt.Sprintf("auth[%d]", i)
		errs = append(errs, checkAuth(at, &a)...)
		bad(nobodys(j, a.URL), at+".url", nobodysFault)
	}
	for i, c := range j.Cookie {
		at := fmt.Sprintf("cookie[%d]", i)
		bad(nobodys(j, c.URL), at+".url", nobodysFault)
		errs = append(errs, checkSite(at, c.URL)...)
		bad(!token.MatchString(c.Name), at+".name", "%q: want the name of a cookie", c.Name)
		bad(!secret.IsOnlyReference(c.Value), at+".value", "is no reference: %s", howToRefer)
	}
	bad(j.Login.URL != "" && j.Cookies == CookiesOff, "cookies", "off: a log-in is remembered by cookies")
	return append(errs, checkLogin(&j.Login)...)
}

// nobodys reports whether a rule without a site, which is for the seeds', is for nobody: the seeds are in a list.
func nobodys(j *Job, site string) bool { return site == "" && len(j.Seeds) == 0 && j.Listed() }

const nobodysFault = "is missing: the seeds are in a list, which does not say whose the secret is; want scheme and " +
	"host, as in https://example.com"

func checkHeader(at string, h *HeaderRule) (errs []error) {
	name := http.CanonicalHeaderKey(h.Name)
	why, own := ownHeaders[name]
	errs = checkSite(at, h.URL)
	switch {
	case !token.MatchString(h.Name):
		errs = append(errs, &KeyError{at + ".name", fmt.Sprintf("%q: want the name of a header field", h.Name)})
	case own:
		errs = append(errs, &KeyError{at + ".name",
			strings.TrimSuffix(fmt.Sprintf("%q: the crawler sets it itself; %s", name, why), "; ")})
	case IsSecretName(name) && !secret.IsReference(h.Value):
		errs = append(errs, &KeyError{at + ".value", fmt.Sprintf("%s has no reference in it: %s", name, howToRefer)})
	case len(h.Value) > maxRequestKV ||
		strings.ContainsFunc(h.Value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		errs = append(errs, &KeyError{at + ".value", "want one line of at most 8 KiB"})
	}
	return errs
}

func checkAuth(at string, a *AuthRule) (errs []error) {
	errs = checkSite(at, a.URL)
	fault := func(key, text string) { errs = append(errs, &KeyError{at + key, text}) }
	switch {
	case a.Bearer != "" && a.User+a.Password != "":
		fault(".bearer", "stands beside a name or a password: give one or the other")
	case a.Bearer != "" && !secret.IsOnlyReference(a.Bearer):
		fault(".bearer", "is no reference: "+howToRefer)
	case a.Bearer != "":
	case a.User == "" || strings.Contains(a.User, ":") ||
		strings.ContainsFunc(a.User, func(r rune) bool { return r < ' ' || r == 0x7f }):
		fault(".user", fmt.Sprintf("%q: want a name without a colon", a.User))
	case a.Password == "":
		fault(".password", "is missing: ${NAME} reads it from an environment variable, file:PATH from a file")
	case !secret.IsOnlyReference(a.Password):
		fault(".password", "is no reference: "+howToRefer)
	}
	return errs
}

// checkSite finds what is wrong with the URL that says whose credentials they are.
func checkSite(at, site string) []error {
	if site == "" {
		return nil
	}
	u, err := weburl.Parse(site)
	if err != nil || u.IsForeign() || u.Path() != "/" || u.Query() != "" || userinfo.MatchString(site) {
		return []error{&KeyError{at + ".url",
			fmt.Sprintf("%q: want scheme and host, as in https://example.com", maskUserinfo(site))}}
	}
	return nil
}

func checkLogin(l *Login) (errs []error) {
	fault := func(key, format string, args ...any) {
		errs = append(errs, &KeyError{"login" + key, fmt.Sprintf(format, args...)})
	}
	if l.URL == "" {
		if l.Form != "" || len(l.Fields) > 0 || l.Check != (LoginCheck{}) || l.IgnoreRobots {
			fault(".url", "is missing: the page with the form")
		}
		return errs
	}
	form, err := weburl.Parse(l.URL)
	if err != nil || form.IsForeign() || userinfo.MatchString(l.URL) {
		fault(".url", "%q: want the URL of the page with the form", maskUserinfo(l.URL))
	}
	for key, css := range map[string]string{".form": l.Form, ".check.css": l.Check.CSS,
		".check.not_css": l.Check.NotCSS} {
		if _, err := selector.Parse(css); css != "" && err != nil {
			fault(key, "%q is no CSS selector: %v", css, err)
		}
	}
	if len(l.Fields) == 0 {
		fault(".fields", "is missing: the names of the form's fields with what to fill in")
	}
	for _, name := range slices.Sorted(maps.Keys(l.Fields)) {
		if IsSecretName(name) && !secret.IsReference(l.Fields[name]) {
			fault(".fields."+name, "has no reference in it: %s", howToRefer)
		}
	}
	if check, err := weburl.Parse(l.Check.URL); l.Check.URL != "" && (err != nil || check.Origin() != form.Origin()) {
		fault(".check.url", "%q: want a URL of the same scheme and host as login.url", l.Check.URL)
	}
	if l.Check.URL != "" && !l.Check.Any() {
		fault(".check",
			"has only a url: say with css, text, not_css or not_text what that page shows to whoever is logged in")
	}
	return errs
}

// SecretRefs are the references of the job by their keys.
func (j *Job) SecretRefs() map[string]string {
	refs := map[string]string{}
	add := func(key, text string) {
		if secret.IsReference(text) {
			refs[key] = text
		}
	}
	for i, h := range j.Headers {
		add(fmt.Sprintf("headers[%d].value", i), h.Value)
	}
	for i, a := range j.Auth {
		add(fmt.Sprintf("auth[%d].password", i), a.Password)
		add(fmt.Sprintf("auth[%d].bearer", i), a.Bearer)
	}
	for i, c := range j.Cookie {
		add(fmt.Sprintf("cookie[%d].value", i), c.Value)
	}
	for name, value := range j.Login.Fields {
		add("login.fields."+name, value)
	}
	return refs
}

// MapSecretFiles replaces the paths of the files that hold secrets.
func (j *Job) MapSecretFiles(to func(path string) string) {
	ref := func(text *string) {
		if path, ok := secret.Path(*text); ok {
			*text = secret.OfFile(to(path))
		}
	}
	if j.CookiesFile != "" {
		j.CookiesFile = to(j.CookiesFile)
	}
	j.Headers, j.Auth, j.Cookie = slices.Clone(j.Headers), slices.Clone(j.Auth), slices.Clone(j.Cookie)
	for i := range j.Headers {
		ref(&j.Headers[i].Value)
	}
	for i := range j.Auth {
		ref(&j.Auth[i].Password)
		ref(&j.Auth[i].Bearer)
	}
	for i := range j.Cookie {
		ref(&j.Cookie[i].Value)
	}
	if fields := maps.Clone(j.Login.Fields); fields != nil {
		for name, value := range fields {
			ref(&value)
			fields[name] = value
		}
		j.Login.Fields = fields
	}
	if j.Pipeline.Delivers() {
		j.Pipeline.mapSecrets(ref)
	}
}
