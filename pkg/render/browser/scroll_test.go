//go:build linux

package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

// rows is a list that has links for the rows in view of what scrolls alone: %s is who says so, and where that is.
const rows = `<body><div id=box style="%s"><div id=all style="position:relative;height:16000px"></div></div><script>
	const show=()=>{const at=%s;let h='';for(let i=Math.max(Math.floor(at/40)-3,0);i<Math.min(at/40+45,400);i++)h+='<p style="position:absolute;height:40px;top:'+i*40+'px"><a href=/'+i+'>x</a>';all.innerHTML=h};
	show();%s.addEventListener('scroll',()=>requestAnimationFrame(show))</script>`

// Of a list that has in the document what is in view, all links are found; of one that goes on at its end, some more.
func TestListsThatForget(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body  string
		least int
		most  int
	}{
		"of the page": {fmt.Sprintf(rows, "", "scrollY", "window"), 400, 400},
		"in a box":    {fmt.Sprintf(rows, "height:1700px;overflow:auto", "box.scrollTop", "box"), 400, 400},
		"in a box that is slow once": {fmt.Sprintf(rows, "height:1700px;overflow:auto", "box.scrollTop", "box") +
			`<script>let slow=1;document.addEventListener('whirlpool:scroll',()=>{
			if(slow&&box.scrollTop>1000&&box.scrollTop<2000){slow=0;let n=0;for(let i=0;i<1e9;i++)n+=i;all.title=n}})</script>`, 400, 400},
		"that goes on at its end": {`<body><script>let n=0;const add=()=>{for(let i=0;i<10;i++)document.body.insertAdjacentHTML('beforeend','<p style="height:300px"><a href=/'+n+++'>x</a>')};
			add();addEventListener('scroll',()=>{if(innerHeight+scrollY>=document.documentElement.scrollHeight-100)add()})</script>`, 40, 200},
		"without end": {`<body><div style="height:1e6px"></div><p id=p></p><script>let n=0;setInterval(()=>{p.innerHTML='<a href=/'+n+++'>x</a>'},100)</script>`,
			40, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := (&site{}).settles(t, shared(t), render.Request{Body: []byte(c.body), Scroll: true, Seed: true,
				Limits: render.Limits{Wall: 20 * time.Second, CPU: 20 * time.Second}})
			if n := len(got.Links); n < c.least || n > c.most || got.Verdict != render.Done {
				t.Errorf("%d links, %s: want %d to %d; %.200s", n, got.Verdict, c.least, c.most, strings.Join(got.Links, " "))
			}
		})
	}
}

// Optimizers put a page's programs off until a visitor moves.
func TestProgramsThatWaitForAVisitor(t *testing.T) {
	t.Parallel()
	const body = `<body><p id=p>p</p><script type="later">p.innerHTML='<a href=/late>x</a>'</script><script>
		const kinds=['keydown','mousedown','mousemove','touchmove','touchstart','touchend','wheel'];
		const run=()=>{kinds.forEach(k=>removeEventListener(k,run));document.querySelectorAll('script[type=later]').forEach(s=>{
			const now=document.createElement('script');now.text=s.textContent;s.replaceWith(now)})};
		kinds.forEach(k=>addEventListener(k,run,{passive:true}))</script>`
	for scroll, want := range map[bool]string{true: "/late", false: ""} {
		got := (&site{}).settles(t, shared(t), render.Request{Body: []byte(body), Scroll: scroll, Seed: true})
		if got.Verdict != render.Done || paths(got.Links) != want {
			t.Errorf("scroll %v: %s, links %q, want %q", scroll, got.Verdict, paths(got.Links), want)
		}
	}
}

// A page that gives itself one address after the other leads to few of them.
func TestAddressesWithoutEnd(t *testing.T) {
	t.Parallel()
	const body = `<body><script>let n=0;setInterval(()=>history.replaceState({},'','/here?at='+n++),10);
		for(let i=0;i<100;i++)history.pushState({},'','/view/'+i)</script>`
	got := (&site{}).settles(t, shared(t), render.Request{Body: []byte(body), Seed: true})
	if n := len(got.Links); n != mostStates || got.Verdict != render.Done {
		t.Errorf("%s, %d links, want %d: %.300s", got.Verdict, n, mostStates, paths(got.Links))
	}
	const few = `<body><script>let n=0;setInterval(()=>history.replaceState({},'','/here?at='+n++),10)</script>`
	got = (&site{}).settles(t, shared(t), render.Request{Body: []byte(few), Seed: true})
	if n := len(got.Links); n != mostQueries || got.Verdict != render.Done {
		t.Errorf("%s, %d links, want %d: %.300s", got.Verdict, n, mostQueries, paths(got.Links))
	}
}

// zone.js, and with it Angular, wraps observers: it gives its own what it finds in those of the browser.
func TestObserversCanBeWrapped(t *testing.T) {
	t.Parallel()
	const body = `<body><p id=p>p</p><script>for(const name of ['IntersectionObserver','ResizeObserver']){const Real=window[name],found=new Real(()=>0);
		window[name]=function(f){this.real=new Real(f)};
		for(const key in found)if(typeof found[key]==='function')window[name].prototype[key]=function(...given){return this.real[key](...given)};
		new window[name]((es,o)=>{o.disconnect();p.innerHTML+='<a href=/'+name+'>x</a>'}).observe(p)}</script>`
	got := (&site{}).settles(t, shared(t), render.Request{Body: []byte(body), Seed: true})
	if want := "/IntersectionObserver /ResizeObserver"; got.Verdict != render.Done || paths(got.Links) != want &&
		paths(got.Links) != "/ResizeObserver /IntersectionObserver" {
		t.Errorf("%s, links %q, want %q", got.Verdict, paths(got.Links), want)
	}
}
