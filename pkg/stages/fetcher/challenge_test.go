package fetcher

import (
	"net/http"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestWhatAChallengeAsksForIsSaid(t *testing.T) {
	for name, tc := range map[string]struct {
		asks []string
		user string
		want string
	}{
		"digest": {[]string{`Digest realm="a, b", qop="auth", nonce="x"`}, "ada",
			"it asks for digest, and whirlpool knows basic and bearer only"},
		"several of Windows": {[]string{"Negotiate", "NTLM"}, "", "it asks for negotiate, ntlm, and"},
		"basic, unknown":     {[]string{`Basic realm="x"`}, "", "--user and --password"},
		"basic, refused":     {[]string{`Digest realm="x", Basic realm="x"`}, "ada", "does not take the credentials"},
		"nothing":            {nil, "", "401 Unauthorized"},
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Www-Authenticate"] = tc.asks
				w.WriteHeader(http.StatusUnauthorized)
			})
			t.Setenv("CHALLENGE_PASSWORD", "pw")
			b := newBench(t, func(_ *Config, _ *Deps, j *crawl.Job) {
				if j.Seeds = []string{url}; tc.user != "" {
					j.Auth = []crawl.AuthRule{{User: tc.user, Password: "${CHALLENGE_PASSWORD}"}}
				}
			})
			r := b.get(url, nil)
			r.want(t, crawl.VerdictBlocked, crawl.ReasonStatus)
			if !strings.Contains(r.Detail, tc.want) || tc.asks == nil && strings.Contains(r.Detail, ";") {
				t.Errorf("detail %q, want %q", r.Detail, tc.want)
			}
		})
	}
}
