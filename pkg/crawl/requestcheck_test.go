package crawl_test

import (
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestRequestsAreChecked(t *testing.T) {
	for want, mod := range map[string]func(*crawl.Job){
		"headers[0].name": func(j *crawl.Job) { j.Headers = []crawl.HeaderRule{{Name: "a b", Value: "x"}} },
		"user_agent is the key": func(j *crawl.Job) {
			j.Headers = []crawl.HeaderRule{{Name: "user-agent",
				Value: "x"}}
		},
		"headers[0].value": func(j *crawl.Job) {
			j.Headers = []crawl.HeaderRule{{Name: "X-A",
				Value: "x\r\nY: geheim"}}
		},
		"has no reference": func(j *crawl.Job) {
			j.Headers = []crawl.HeaderRule{{Name: "X-Auth-Token",
				Value: "geheim"}}
		},
		"headers[0].url": func(j *crawl.Job) {
			j.Headers = []crawl.HeaderRule{{Name: "X-A", Value: "x",
				URL: "a.test/x"}}
		},
		"accept_language":                  func(j *crawl.Job) { j.AcceptLanguage = "de\n" },
		"auth[0].password is no reference": func(j *crawl.Job) { j.Auth = []crawl.AuthRule{{User: "a", Password: "geheim"}} },
		"auth[0].password is missing":      func(j *crawl.Job) { j.Auth = []crawl.AuthRule{{User: "a"}} },
		"auth[0].bearer is no reference":   func(j *crawl.Job) { j.Auth = []crawl.AuthRule{{Bearer: "geheim"}} },
		"auth[0].bearer stands beside":     func(j *crawl.Job) { j.Auth = []crawl.AuthRule{{User: "a", Bearer: "${X}"}} },
		"auth[0].user":                     func(j *crawl.Job) { j.Auth = []crawl.AuthRule{{User: "a:b", Password: "${X}"}} },
		"headers[0].url \"http://a b\"": func(j *crawl.Job) {
			j.Headers = []crawl.HeaderRule{{Name: "X-A", Value: "x",
				URL: "http://a b"}}
		},
		"auth[0].url \"http://[::1\"": func(j *crawl.Job) { j.Auth = []crawl.AuthRule{{URL: "http://[::1", Bearer: "${X}"}} },
		"cookie[0].url \"a b\"": func(j *crawl.Job) {
			j.Cookie = []crawl.CookieRule{{URL: "a b", Name: "a",
				Value: "${X}"}}
		},
		"headers[0].url is missing": func(j *crawl.Job) {
			j.Seeds, j.SeedList, j.Headers = nil, "list", []crawl.HeaderRule{{Name: "X-A", Value: "${X}"}}
		},
		"auth[0].url is missing": func(j *crawl.Job) {
			j.Seeds, j.SeedList, j.Auth = nil, "list",
				[]crawl.AuthRule{{Bearer: "${X}"}}
		},
		"cookie[0].url is missing": func(j *crawl.Job) {
			j.Seeds, j.SeedList, j.Cookie = nil, "list", []crawl.CookieRule{{Name: "a", Value: "${X}"}}
		},
		"auth[0].url": func(j *crawl.Job) {
			j.Auth = []crawl.AuthRule{{URL: "http://u:geheim@a.test", User: "a", Password: "${X}"}}
		},
		"cookie[0].value":       func(j *crawl.Job) { j.Cookie = []crawl.CookieRule{{Name: "a", Value: "geheim"}} },
		"cookie[0].name":        func(j *crawl.Job) { j.Cookie = []crawl.CookieRule{{Name: "a=b", Value: "${X}"}} },
		"cookies \"maybe\"":     func(j *crawl.Job) { j.Cookies = "maybe" },
		"cookies off":           func(j *crawl.Job) { j.Cookies, j.Login = "off", login(nil) },
		"login.url is missing":  func(j *crawl.Job) { j.Login.Form = "#x" },
		"login.url \"a test/\"": func(j *crawl.Job) { j.Login = login(func(l *crawl.Login) { l.URL = "a test/" }) },
		"login.form":            func(j *crawl.Job) { j.Login = login(func(l *crawl.Login) { l.Form = "[" }) },
		"login.fields is":       func(j *crawl.Job) { j.Login = login(func(l *crawl.Login) { l.Fields = nil }) },
		"login.fields.password": func(j *crawl.Job) {
			j.Login = login(func(l *crawl.Login) { l.Fields["password"] = "geheim" })
		},
		"login.check.url": func(j *crawl.Job) {
			j.Login = login(func(l *crawl.Login) { l.Check.URL, l.Check.CSS = "http://b.test/", "x" })
		},
		"login.check has only": func(j *crawl.Job) {
			j.Login = login(func(l *crawl.Login) { l.Check.URL = "https://a.test/in" })
		},
		"login.check.not_css": func(j *crawl.Job) { j.Login = login(func(l *crawl.Login) { l.Check.NotCSS = "[" }) },
	} {
		job := crawl.DefaultJob()
		job.ID, job.Seeds = "x", []string{"http://a.test/"}
		mod(&job)
		if err := job.Validate(); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "geheim") {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Login = "x", []string{"http://a.test/"}, login(nil)
	job.Headers = []crawl.HeaderRule{{Name: "X-A", Value: "x"}, {Name: "Authorization", Value: "Token ${X}"}}
	job.Auth = []crawl.AuthRule{{URL: "https://a.test", User: "a", Password: "file:x"}, {Bearer: "${X}"}}
	job.CookiesFile = "c"
	if err := job.Validate(); err != nil {
		t.Error(err)
	}
	job.MapSecretFiles(func(path string) string { return "/d/" + path })
	if job.CookiesFile != "/d/c" || job.Auth[0].Password != "file:/d/x" || len(job.SecretRefs()) != 4 {
		t.Errorf("%q %q %v", job.CookiesFile, job.Auth[0].Password, job.SecretRefs())
	}
}

func login(mod func(*crawl.Login)) crawl.Login {
	l := crawl.Login{URL: "https://a.test/login", Fields: map[string]string{"name": "ada", "password": "${X}"}}
	if mod != nil {
		mod(&l)
	}
	return l
}
