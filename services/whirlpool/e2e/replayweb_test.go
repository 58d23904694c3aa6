package e2e_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// replayWeb is the directory of the npm package "replaywebpage", unpacked: ReplayWeb.page, an independent reader of
// WACZ files. It is not a part of this project; who has it names it.
func replayWeb(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("WHIRLPOOL_TEST_REPLAYWEB")
	if dir == "" {
		t.Skip("WHIRLPOOL_TEST_REPLAYWEB names no directory with ReplayWeb.page: the file is checked by our own reader only")
	}
	return dir
}

// shownFrames tells of every frame of the page, through shadow trees: where it is, its title, whether its style sheets
// and pictures came.
const shownFrames = `(function() {
  const out = [];
  const walk = (root) => {
    for (const el of root.querySelectorAll('*')) {
      if (el.shadowRoot) walk(el.shadowRoot);
      if (el.tagName !== 'IFRAME') continue;
      try {
        const d = el.contentDocument, images = [...d.images];
        out.push([el.contentWindow.location.href, d.title, 'rules', [...d.styleSheets].reduce((n, s) => n + s.cssRules.length, 0),
          'broken', images.filter(i => i.complete && i.naturalWidth === 0).length, 'of', images.length].join(' '));
        walk(d);
      } catch (e) { out.push(String(e)); }
    }
  };
  walk(document);
  return out.join('\n');
})()`

// ReplayWeb.page loads the package of a crawl, and shows a page with its style and pictures out of it.
func TestWACZInReplayWeb(t *testing.T) {
	long(t)
	player := replayWeb(t)
	manualSite := httptest.NewServer(http.FileServer(http.Dir(manual(t))))
	t.Cleanup(manualSite.Close)
	to := filepath.Join(t.TempDir(), "copy")
	args := mirrorArgs(manualSite.URL, filepath.Join(t.TempDir(), "crawl"), to, "--quiet", "--max-pages", "60",
		"--host-connections", "4")
	if got := run(t, args...); got.exit != 0 {
		t.Fatal(got.stderr)
	}
	manualSite.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/ui.js", serveFile(filepath.Join(player, "ui.js")))
	mux.HandleFunc("/replay/ui.js", serveFile(filepath.Join(player, "ui.js")))
	mux.HandleFunc("/replay/sw.js", serveFile(filepath.Join(player, "sw.js")))
	mux.HandleFunc("/copy.wacz", serveFile(to+".wacz"))
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_,
			_ = w.Write([]byte(`<!doctype html><script src="/ui.js"></script><replay-web-page style="display:block;height:700px" source="/copy.wacz" url="` +
			manualSite.URL + `/library/"></replay-web-page>`))
	})
	show := httptest.NewServer(mux)
	t.Cleanup(show.Close)
	b := chromium(t, "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1") // it is served from there
	b.show(show.URL + "/")
	var frames string
	want := regexp.MustCompile(`/replay/w/.* The Python Standard Library .* rules [0-9]{2,} broken 0 `)
	for end := time.Now().Add(browserPatience); time.Now().Before(end) &&
		!want.MatchString(frames); frames = b.eval(shownFrames) {
		b.next(quiet)
	}
	b.shot("replayweb")
	if !want.MatchString(frames) {
		t.Errorf("ReplayWeb.page does not show the page with its style and pictures:\n%s", frames)
	}
}

func serveFile(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, name) }
}
