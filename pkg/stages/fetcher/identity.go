package fetcher

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/secret"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/cookies"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// identity is what a revision of a job says about its requests, with the secrets resolved. It lives in memory alone.
type identity struct {
	fields  []siteField
	cookies []siteCookie
	file    []cookies.Cookie // of cookies_file
	given   map[string]bool  // values of cookies that the user gave
	secrets []string         // names of fields whose values are secrets
}

// siteField is a header field and who gets it. No origin: everybody.
type siteField struct {
	origins     []string
	name, value string
	add         bool
}

type siteCookie struct {
	origins []string
	cookie  cookies.Cookie
}

// secretFault is what becomes of a request whose secret cannot be read.
func secretFault(key string, err error) error {
	return Fault{crawl.VerdictRetry, crawl.ReasonSecret, key + ": " + err.Error()}
}

// newIdentity resolves a job's secrets. Its errors are Faults, and hold none.
func newIdentity(job *crawl.Job) (*identity, error) {
	id := &identity{given: map[string]bool{}}
	seeds, err := seedOrigins(job)
	if err != nil {
		return nil, err
	}
	if job.AcceptLanguage != "" {
		id.fields = append(id.fields, siteField{name: "Accept-Language", value: job.AcceptLanguage})
	}
	for _, add := range []func(*crawl.Job, []string) error{id.addHeaders, id.addAuth, id.addCookies} {
		if err := add(job, seeds); err != nil {
			return nil, err
		}
	}
	return id, nil
}

func seedOrigins(job *crawl.Job) (origins []string, err error) {
	seeds, err := job.SeedURLs()
	for _, s := range seeds {
		if o := s.Origin(); !slices.Contains(origins, o) {
			origins = append(origins, o)
		}
	}
	return origins, err
}

// originsOf returns the origins that a rule is for: the site that it names, or those of the seeds. It is never nil,
// which would mean all origins. A job without seeds, or with a site that is no URL, is refused when it is checked; here
// its rule is for no origin.
func originsOf(site string, seeds []string) []string {
	if site == "" {
		return append([]string{}, seeds...)
	}
	u, err := weburl.Parse(site)
	if err != nil {
		return []string{""}
	}
	return []string{u.Origin()}
}

func (id *identity) addHeaders(job *crawl.Job, seeds []string) error {
	for i, h := range job.Headers {
		f := siteField{name: http.CanonicalHeaderKey(h.Name), value: h.Value}
		f.add = slices.ContainsFunc(job.Headers[:i],
			func(b crawl.HeaderRule) bool { return http.CanonicalHeaderKey(b.Name) == f.name })
		if h.URL != "" || secret.IsReference(h.Value) {
			f.origins = originsOf(h.URL, seeds)
		}
		if secret.IsReference(h.Value) {
			var err error
			if f.value, err = secret.Resolve(h.Value); err != nil {
				return secretFault(fmt.Sprintf("headers[%d].value", i), err)
			}
			id.secrets = append(id.secrets, f.name)
		}
		id.fields = append(id.fields, f)
	}
	return nil
}

func (id *identity) addAuth(job *crawl.Job, seeds []string) error {
	for i, a := range job.Auth {
		f := siteField{origins: originsOf(a.URL, seeds), name: "Authorization"}
		key, ref := fmt.Sprintf("auth[%d].password", i), a.Password
		if a.Bearer != "" {
			key, ref = fmt.Sprintf("auth[%d].bearer", i), a.Bearer
		}
		value, err := secret.Resolve(ref)
		if err != nil {
			return secretFault(key, err)
		}
		if f.value = "Bearer " + value; a.Bearer == "" {
			f.value = "Basic " + base64.StdEncoding.EncodeToString([]byte(a.User+":"+value))
		}
		id.fields = append(id.fields, f)
	}
	return nil
}

func (id *identity) addCookies(job *crawl.Job, seeds []string) error {
	for i, c := range job.Cookie {
		value, err := secret.Resolve(c.Value)
		if err != nil {
			return secretFault(fmt.Sprintf("cookie[%d].value", i), err)
		}
		id.given[value] = true
		id.cookies = append(id.cookies,
			siteCookie{originsOf(c.URL, seeds), cookies.Cookie{Name: c.Name, Value: value, Path: "/"}})
	}
	if job.CookiesFile == "" {
		return nil
	}
	var err error
	if id.file, err = readCookies(job.CookiesFile); err != nil {
		return secretFault("cookies_file "+job.CookiesFile, err)
	}
	for _, c := range id.file {
		if c.Value != "" {
			id.given[c.Value] = true
		}
	}
	return nil
}

// readCookies reads a file of cookies.
func readCookies(file string) ([]cookies.Cookie, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if info.Size() > cookies.MaxFile {
		return nil, fmt.Errorf("it has %d bytes; %d are read at most", info.Size(), cookies.MaxFile)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return cookies.ParseFile(string(text))
}

// CheckCookies finds what is wrong with the file of cookies that a job names. What can be read only once is left for
// the requests.
func CheckCookies(job *crawl.Job) error {
	if job.CookiesFile == "" {
		return nil
	}
	if info, err := os.Stat(job.CookiesFile); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil
	}
	_, err := readCookies(job.CookiesFile)
	if err == nil {
		return nil
	}
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		err = at.Err
	}
	return &crawl.KeyError{Key: "cookies_file",
		Problem: fmt.Sprintf("%s: %v: name a file of cookies in Netscape's format", job.CookiesFile, err)}
}

// gets reports whether a URL's origin is among origins. Credentials for http at its usual port may go to https at its
// own, on the same host, and never the other way round.
func gets(origins []string, u weburl.URL) bool {
	origin := u.Origin()
	if slices.Contains(origins, origin) {
		return true
	}
	return u.Scheme() == "https" && u.Port() == "" && slices.Contains(origins, "http://"+u.HostKey())
}

// header puts the fields for u into h.
func (id *identity) header(h http.Header, u weburl.URL) {
	for _, f := range id.fields {
		switch {
		case f.origins != nil && !gets(f.origins, u):
		case f.add && h[f.name] != nil:
			h[f.name] = append(h[f.name], f.value)
		default:
			h[f.name] = []string{f.value}
		}
	}
}

// jar is what the site's jar has, and beneath it what the user gave: a cookie that the server has changed since wins.
func (id *identity) jar(kept []cookies.Cookie, u weburl.URL, p *cookies.Place, now time.Time) []cookies.Cookie {
	has := map[string]bool{}
	for i := range kept {
		if kept[i].For(p, now) {
			has[kept[i].Name] = true
		}
	}
	all := slices.Clone(kept)
	add := func(c cookies.Cookie) {
		if !has[c.Name] {
			all = append(all, c)
		}
	}
	for _, c := range id.cookies {
		if gets(c.origins, u) {
			c.cookie.Domain = p.Host
			add(c.cookie)
			has[c.cookie.Name] = true
		}
	}
	for _, c := range id.file {
		add(c)
	}
	return all
}

// placeOf is u for cookies.
func placeOf(u weburl.URL) cookies.Place {
	return cookies.Place{Host: u.Hostname(), Path: u.Path(), Secure: u.Scheme() == "https"}
}
