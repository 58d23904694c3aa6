package api

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// A host that no list names is held by nobody: whoever asks for it hears so, where nothing would happen.
func TestHostsThatCannotBeHeld(t *testing.T) {
	w := newWorld(t)
	ask := func(key, verb string) got {
		return w.ask(http.MethodPost, "/api/v1/executions/w-1/hosts/"+url.PathEscape(key)+":"+verb, "{}")
	}
	for _, key := range []string{"a.test", "a.test:8080", "127.0.0.1:9", "[::1]", "xn--bcher-kva.test"} {
		if a := ask(key, "hold"); a.status >= 300 {
			t.Errorf("%s: %d %s", key, a.status, a.body)
		}
	}
	for _, key := range []string{"A.test", "a.test:80", "http://a.test", "a.test/x", "bücher.test", "a b"} {
		if a := ask(key, "hold"); a.status != http.StatusUnprocessableEntity ||
			!strings.Contains(a.body, "example.com:8080") {
			t.Errorf("%s is held: %d %s", key, a.status, a.body)
		}
		if a := ask(key, "release"); a.status >= 300 {
			t.Errorf("%s is not released: %d %s", key, a.status, a.body)
		}
	}
}
