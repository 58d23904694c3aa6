package crawl_test

import (
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestWhatIsWrongWithTheWayToTheWeb(t *testing.T) {
	for says, change := range map[string]func(*crawl.Job){
		"network.ip":         func(j *crawl.Job) { j.Network.IP = "5" },
		"network.proxies[0]": func(j *crawl.Job) { j.Network.Proxies = []string{"ftp://a:1"} },
		"would be stored":    func(j *crawl.Job) { j.Network.Proxies = []string{"http://u:hunter2@a:1"} },
		"name the file":      func(j *crawl.Job) { j.Network.Proxies = []string{"file:"} },
		"network.resolve[0]": func(j *crawl.Job) { j.Network.Resolve = []string{"a.test:80"} },
		"port":               func(j *crawl.Job) { j.Network.Resolve = []string{"a.test:0:127.0.0.1"} },
		"address":            func(j *crawl.Job) { j.Network.Resolve = []string{"a.test:80:b.test"} },
		"a proxy looks names up": func(j *crawl.Job) {
			j.Network.Resolve, j.Network.Proxies = []string{"a:1:::1"},
				[]string{"http://a:1"}
		},
		"want cert": func(j *crawl.Job) { j.Network.Certificates = []crawl.Certificate{{Host: "a.test"}} },
		"want a host": func(j *crawl.Job) {
			j.Network.Certificates = []crawl.Certificate{{Host: "https://a",
				Cert: "c"}}
		},
		"ext[0]":          func(j *crawl.Job) { j.Ext = []string{"*.html"} },
		"skip_ext[1]":     func(j *crawl.Job) { j.SkipExt = []string{"pdf", ""} },
		"bounds.rate":     func(j *crawl.Job) { j.Bounds.Rate = -1 },
		"bounds.max_time": func(j *crawl.Job) { j.Bounds.MaxTime = crawl.Duration(-time.Second) },
		"": func(j *crawl.Job) {
			j.Network.Proxies = []string{"http://u:${PW}@a:1", "file:list",
				"socks5://b:2"}
		},
		"network.proxy_connections -": func(j *crawl.Job) { j.Network.ProxyConnections = -1 },
	} {
		j := crawl.DefaultJob()
		j.ID, j.Seeds = "j", []string{"http://a.test/"}
		change(&j)
		err := j.Validate()
		if says == "" && err != nil ||
			says != "" && (err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("want %q: %v", says, err)
		}
	}
}

func FuzzParseResolve(f *testing.F) {
	for _, s := range []string{"a.test:80:127.0.0.1", "*:443:[::1],192.0.2.1", "+a:1:::1", ":::", "a:b:c", "a:80:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := crawl.ParseResolve(text)
		if err == nil && (r.Host == "" || r.Port < 1 || r.Port > 65535 || len(r.Addrs) == 0 || !r.Addrs[0].IsValid()) {
			t.Errorf("%q: %+v", text, r)
		}
	})
}
