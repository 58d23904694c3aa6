//go:build linux

package browser

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

// Cookies that answers set are there for the page's scripts, and what these set goes with later requests, of this page
// only. Those that scripts may not read they do not see.
func TestCookiesOfAPage(t *testing.T) {
	t.Parallel()
	c := started(t, Config{})
	for range 2 {
		var mu sync.Mutex
		asked := map[string]string{}
		serve := func(_ context.Context, sub render.Sub) render.Answer {
			mu.Lock()
			defer mu.Unlock()
			asked[strings.TrimPrefix(sub.URL, "http://a.test")] = sub.Header["cookie"]
			header := http.Header{"Content-Type": {"text/plain"}}
			if strings.HasSuffix(sub.URL, "/token") {
				header["Set-Cookie"] = []string{"csrf=zz; path=/", "sid=1; path=/; HttpOnly"}
			}
			return render.Answer{Status: 200, Header: header, Body: []byte("x")}
		}
		res, err := c.Render(t.Context(), render.Request{URL: "http://a.test/", Seed: true, Limits: small,
			Body: []byte(`<body><script type=module>const had=document.cookie;await fetch("/token");document.cookie="lang=en;path=/";
				const has=document.cookie;await fetch("/data");await fetch("http://b.test/data",{credentials:"include"}).catch(()=>{});
				document.body.append("had:"+had+" has:"+has+".")</script>`)}, serve)
		if err != nil || !strings.Contains(string(res.HTML), "had: has:csrf=zz; lang=en.") {
			t.Errorf("error %v, page %s", err, res.HTML)
		}
		if asked["/token"] != "" || asked["/data"] != "csrf=zz; sid=1; lang=en" || asked["http://b.test/data"] != "" {
			t.Errorf("asked %q", asked)
		}
	}
}
