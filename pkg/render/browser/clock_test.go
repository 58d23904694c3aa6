//go:build linux

package browser

import (
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

// The clock of a page begins with its document, and each answer takes 10 ms of it, however old the tab is: what it asks
// for by its time is the same in each round. An animation sees the same clock.
func TestClockBeginsWithThePage(t *testing.T) {
	t.Parallel()
	c := started(t, Config{})
	body := `<body><script src=/app.js></script>`
	app := `const put=(...a)=>document.body.append(' ',a.join(' '));put(Date.now(),performance.now(),new Event('x').timeStamp,performance.timeOrigin);
		fetch('/'+Date.now()).then(()=>put('got',Date.now()));setTimeout(()=>put('later',Date.now(),new Date().toISOString(),performance.now()),1234);
		requestIdleCallback(d=>{let n=0;while(d.timeRemaining()>0)n++;put('idle',n,performance.now())});
		const gone=requestIdleCallback(()=>put('cancelled'));cancelIdleCallback(gone);
		requestAnimationFrame(t=>put(Math.abs(performance.now()-t)<100?'frame':'far '+t+' of '+performance.now()))`
	var first string
	for i := range 4 {
		s := &site{pages: map[string]string{"/app.js": app, "/1795503600010": "{}"}, slow: i%2 == 1}
		got := string(s.renders(t, c, render.Request{Seed: true, Now: time.UnixMilli(1795503600000),
			Body: []byte(body)}).HTML)
		if first == "" {
			first = got
		}
		for _, want := range []string{"1795503600010 10 10 1795503600000", "got 1795503600020",
			"later 1795503601244 2026-11-24T07:00:01.244Z 1244", "idle 50 20"} {
			if !strings.Contains(got, want) {
				t.Errorf("render %d has no %q:\n%s", i, want, got)
			}
		}
		if got != first || strings.Contains(got, "cancelled") || strings.Contains(got, "far ") {
			t.Errorf("render %d gave\n%s\nand the first\n%s", i, got, first)
		}
	}
}
