package renderer

import (
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Only what a browser of today loads is asked for before the render.
func TestScriptsOf(t *testing.T) {
	page, err := weburl.Parse("http://a.example/x/")
	if err != nil {
		t.Fatal(err)
	}
	html := `<base href=/b/><script src=a.js></script><script type=module src=m.js></script>
		<script nomodule src=old.js></script><script nomodule="" type="text/javascript" src=older.js></script>
		<script type=module nomodule src=both.js></script><script type=text/template src=t.js></script>
		<link rel=modulepreload href=p.js><link rel=preload as=script href=q.js><link rel=preload as=style href=s.css>`
	var got []string
	for _, u := range scriptsOf(page, []byte(html), 10) {
		got = append(got, strings.TrimPrefix(u.String(), "http://a.example/b/"))
	}
	if all, want := strings.Join(got, " "), "a.js m.js both.js p.js q.js"; all != want {
		t.Errorf("%s, want %s", all, want)
	}
}
