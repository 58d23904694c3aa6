//go:build linux

package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

// Views behind a hash are looked into for their links, whatever one of them does.
func TestRoutes(t *testing.T) {
	t.Parallel()
	const show = `const a=u=>'<a href="'+u+'">x</a>',go=()=>root.innerHTML=view(decodeURIComponent(location.hash.slice(1)));addEventListener('hashchange',go);go()</script>`
	for name, test := range map[string]struct {
		view  string // makes the HTML of a hash
		links string // without those of views
		limit bool   // it may be cut short
	}{
		"many items":        {`h=>h?h==='/list'?[...Array(30).keys()].map(n=>a('#/item/'+n)).join(''):a(h.replace('#','')):a('#/list')`, "/item/0 … /item/29 /list", false},
		"an item that does": {`h=>h[1]==='i'?shown?'':(shown=1,a('/leaf'+h)):(shown=0,['#/i/1','#/i/2','#/i/3'].map(a).join(''))`, "/leaf/i/1 /leaf/i/2 /leaf/i/3", false},
		"names":             {`h=>h==='list'?a('/leaf/list'):h==='place'?a('/no'):'<p id=place>'+['#list','#place','#','#top','#?a=b'].map(a).join('')`, "/leaf/list", false},
		"late, at its end": {`h=>{if(!h)return a('#!v');setTimeout(()=>root.innerHTML+=a('/late'),1200);
			addEventListener('scroll',()=>root.innerHTML+=a('/end'),{once:true});return '<p style=height:5000px>x'}`, "/end /late", false},
		"one throws": {`h=>{if(h==='/a')throw new Error('x');return h?a('/leaf'):a('#/a')+a('#/b')}`, "/leaf", false},
		"one loops":  {`h=>{if(h==='/a')for(;;);return a('/leaf')+a('#/a')+a('#/b')}`, "/leaf", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := `<!doctype html><div id=root></div><script>let shown=0;const view=` + test.view + ";" + show
			got := (&site{}).settles(t, shared(t), render.Request{Seed: true, Scroll: true, Body: []byte(body),
				Limits: render.Limits{Wall: time.Minute, CPU: small.CPU}})
			want := map[string]bool{}
			for _, link := range strings.Fields(test.links) {
				want[link] = true
			}
			if want["…"] {
				delete(want, "…")
				for n := range 30 {
					want[fmt.Sprintf("/item/%d", n)] = true
				}
			}
			delete(want, "/list") // it is a view alone
			for _, link := range strings.Fields(paths(got.Links)) {
				if !strings.Contains(link, "#") && !want[link] {
					t.Errorf("%s is no link", link)
				}
				delete(want, link)
			}
			if len(want) > 0 || got.Verdict != render.Done && (!test.limit || got.Verdict != render.Limit) {
				t.Errorf("%s (%s), not found: %v; found %q", got.Verdict, got.Detail, want, paths(got.Links))
			}
		})
	}
}
