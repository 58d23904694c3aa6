//go:build linux

package browser

import (
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

// A page that waits for its service worker goes on. The worker's script is not asked for.
func TestServiceWorkerIsReady(t *testing.T) {
	t.Parallel()
	const body = `<body><script>const put=n=>document.body.insertAdjacentHTML('beforeend','<a href=/'+n+'>x</a>'),w=navigator.serviceWorker;
		w.ready.then(r=>{put('ready');r.active.postMessage('x')});if(!w.controller)put('first');
		w.register('/sw.js',{scope:'/'}).then(async r=>{put(r.scope.endsWith('.test/')&&r.active.state);if(w.controller)put('controlled');await r.update();
			if(await w.getRegistration()===r)put('found');if(await r.pushManager.getSubscription()===null&&!await r.sync.register('x'))put('push');r.addEventListener('updatefound',()=>put('no'));w.onmessage=()=>put('no')});
		w.register('http://other.test/sw.js').catch(e=>put(e.name))</script>`
	s := &site{pages: map[string]string{"/sw.js": "fetch('/from-sw')"}}
	got := s.renders(t, shared(t), render.Request{URL: "https://www.a.test/", Seed: true, Limits: small,
		Body: []byte(body)})
	links := strings.Fields(paths(got.Links))
	slices.Sort(links)
	if want := "/SecurityError /activated /controlled /first /found /push /ready"; strings.Join(links, " ") != want ||
		len(s.asked) > 0 {
		t.Errorf("links %q, want %q; asked %q", links, want, s.asked)
	}
}
