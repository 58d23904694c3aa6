//go:build linux

package browser

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

// needBrowser skips a test where there is no browser, unless WHIRLPOOL_TEST_BROWSER says that there must be one.
func needBrowser(t *testing.T) {
	t.Helper()
	if _, err := Find(""); err != nil {
		if os.Getenv("WHIRLPOOL_TEST_BROWSER") == "required" {
			t.Fatal(err)
		}
		t.Skip("not tested: ", err)
	}
}

// started returns a browser of the test's own.
func started(t *testing.T, cfg Config) *Chromium {
	t.Helper()
	needBrowser(t)
	if cfg.Dir == "" {
		cfg.Dir = shortDir(t)
	}
	c, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ended(t, c) })
	return c
}

// shortDir is a directory that the browser's user may enter.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "wb")
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// ended closes a browser; no process of it may be left, and nothing in its directory.
func ended(t *testing.T, c *Chromium) {
	t.Helper()
	c.mu.Lock()
	p := c.p
	c.mu.Unlock()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if p == nil {
		return
	}
	if left := p.processes(); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	if _, err := os.Stat(p.profile.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the profile is left: %v", err)
	}
}

var sharedBrowser struct {
	once sync.Once
	c    *Chromium
	err  error
}

// shared returns the browser that the tests share which do it no harm.
func shared(t *testing.T) *Chromium {
	t.Helper()
	needBrowser(t)
	sharedBrowser.once.Do(func() {
		sharedBrowser.c, sharedBrowser.err = New(context.Background(), Config{Tabs: 2})
	})
	if sharedBrowser.err != nil {
		t.Fatal(sharedBrowser.err)
	}
	return sharedBrowser.c
}

func TestMain(m *testing.M) {
	code := m.Run()
	if c := sharedBrowser.c; c != nil {
		p := c.p
		if err := c.Close(); err != nil || p != nil && len(p.processes()) > 0 {
			println("the shared browser has left processes")
			code = 1
		}
	}
	os.Exit(code)
}

// site answers by path; what it has not fails.
type site struct {
	mu    sync.Mutex
	pages map[string]string
	asked []string
	over  bool // the render is over
	late  bool // and was asked after that
	slow  bool // answers take a while, each another

	crashes bool // the page ends the process that renders it
}

func (s *site) serve(_ context.Context, sub render.Sub) render.Answer {
	if s.slow {
		time.Sleep(rand.N(20 * time.Millisecond))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, sub.Type+" "+sub.URL)
	s.late = s.late || s.over
	_, path, _ := strings.Cut(strings.TrimPrefix(strings.Replace(sub.URL, "https:", "http:", 1), "http://"), "/")
	body, ok := s.pages["/"+path]
	if !ok {
		return render.Answer{Fail: "AddressUnreachable"}
	}
	header := http.Header{"Content-Type": {"text/html"}, "Access-Control-Allow-Origin": {"*"}}
	if strings.HasSuffix(path, ".js") {
		header.Set("Content-Type", "text/javascript")
	}
	if rest, ok := strings.CutPrefix(body, "TAG "); ok {
		tag, rest, _ := strings.Cut(rest, "|")
		header.Set("X-Robots-Tag", tag)
		body = rest
	}
	if rest, ok := strings.CutPrefix(body, "404 "); ok {
		return render.Answer{Status: 404, Header: header, Body: []byte(rest)}
	}
	if rest, ok := strings.CutPrefix(body, "PDF "); ok {
		return render.Answer{Status: 200, Header: http.Header{"Content-Type": {"application/pdf"}}, Body: []byte(rest)}
	}
	if to, ok := strings.CutPrefix(body, "-> "); ok {
		if to, ok = strings.CutPrefix(to, "TAG "); ok {
			header.Set("X-Robots-Tag", "nofollow")
		}
		header.Set("Location", to)
		return render.Answer{Status: 302, Header: header}
	}
	return render.Answer{Status: 200, Header: header, Body: []byte(body)}
}

// small are limits that a test does not wait long for, on a busy machine either, where a page of a tenth of a second
// may take some.
var small = render.Limits{Wall: 20 * time.Second, CPU: 10 * time.Second}

// loops is what a page that never ends may use of the processor.
const loops = time.Second

// renders renders a page; an error is the test's failure.
func (s *site) renders(t *testing.T, c *Chromium, req render.Request) render.Result {
	t.Helper()
	s.mu.Lock()
	s.over = false
	s.mu.Unlock()
	if req.URL == "" {
		req.URL = "http://www.a.test/"
	}
	if req.Limits == (render.Limits{}) {
		req.Limits = small
	}
	at := time.Now()
	got, err := c.Render(t.Context(), req, s.serve)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over = true; s.late {
		t.Error("serve was called after the render")
	}
	t.Logf("%s in %s (wall %s, CPU %s, settled %q): %s; %d requests, %d refused, %d failed, links %.300q, navigated %q, "+
		"asked %.300q",
		got.Verdict, time.Since(at).Round(time.Millisecond), got.Wall.Round(time.Millisecond), got.CPU, got.Settled,
		got.Detail, got.Requests, got.Refused, got.Failed, strings.Join(got.Links, " "), got.Navigated,
		strings.Join(s.asked, " "))
	return got
}

// stalls is how often a page's time may stand still for no reason of the page's, in a row.
const stalls = 3

// settles renders a page, and again where its time stood still, no frame was drawn or its process ended: on a busy
// machine, beside another tab, Chromium's virtual time now and then does not go on, and it draws no frame. Then the
// page is taken as it is, which is right, and says nothing of what it would have become. A page that crashed is
// rendered again in crawls too (pkg/node); site.crashes says that this one is to crash.
func (s *site) settles(t *testing.T, c *Chromium, req render.Request) (got render.Result) {
	t.Helper()
	for range stalls {
		got = s.renders(t, c, req)
		if got.Settled != byRest && got.Settled != frameless && (got.Verdict != render.Crash || s.crashes) {
			break
		}
		c.mu.Lock()
		for _, idle := range c.idle {
			idle.frameless = false // it is given the time of a new tab
		}
		c.mu.Unlock()
	}
	return got
}

// nofollow is a page whose links say nofollow, but for one of its own and one of a frame's; framed is a frame that
// says so.
const (
	nofollow = `<a rel="noopener NOFOLLOW" href=/a onclick="location='/o'">a</a><p id=h></p><a rel=nofollowed href=/b>b</a>
		<iframe srcdoc="<a rel=nofollow href=/i>i</a><a href=/c>c</a>"></iframe><iframe src=/f></iframe><a id=g rel=nofollow href=/gone>g</a>
		<script>h.attachShadow({mode:'open'}).innerHTML='<a rel=nofollow href=/s>s</a>';setTimeout(()=>g.remove(),3000)</script>`
	framed = `<meta name=Robots content="noindex, NoFollow"><a href=/r>r</a>`
	// framesTold is a page with frames that say so to us, to another, by their header, and by that of a redirect only.
	framesTold = `<iframe src=/ours></iframe><iframe src=/theirs></iframe><iframe src=/header></iframe><iframe src=/away></iframe>
		<iframe srcdoc="<meta name=' WhirlPool ' content=none><a href=/doc>d</a>"></iframe>`
)

func TestPages(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		body   string
		pages  map[string]string
		links  string
		scroll bool
		seed   bool
		all    bool // links that say nofollow too

		unfollowed string
	}{
		{name: "a page without scripts", body: `<a href=/x>x</a><map><area href="y?a#b"></map><a>no</a>`,
			links: "http://www.a.test/x http://www.a.test/y?a#b"},
		{name: "a timer of 3 s",
			body:  `<body><script>setTimeout(()=>document.body.innerHTML='<a href=/late>a</a>',3000)</script>`,
			links: "http://www.a.test/late"},
		{name: "a frame is waited for",
			body:  `<body><script>requestAnimationFrame(()=>document.body.innerHTML='<a href=/f>a</a>')</script>`,
			links: "http://www.a.test/f"},
		{name: "a script, and what it asks for", body: `<body><script src=/a.js></script>`,
			pages: map[string]string{"/a.js": `fetch('/api').then(r=>r.text()).then(t=>document.body.innerHTML=t)`,
				"/api": `<a href=/1>1</a>`},
			links: "http://www.a.test/1"},
		{name: "modules", body: `<body><script type=module src=/a.js></script>`,
			pages: map[string]string{"/a.js": `import {x} from './b.js'; document.body.innerHTML=x`,
				"/b.js": "export const x = '<a href=/m>m</a>'"},
			links: "http://www.a.test/m"},
		{name: "a redirect of a script", body: `<body><script src=/a.js></script>`,
			pages: map[string]string{"/a.js": "-> http://cdn.test/b.js", "/b.js": `document.body.innerHTML='<a href=/r>r</a>'`},
			links: "http://www.a.test/r"},
		{name: "shadow roots, one in another, one closed", seed: true, body: `<div id=h></div><script>
			const r=h.attachShadow({mode:'open'}); r.innerHTML='<a href=/s1>s</a><p id=i></p>';
			const q=r.getElementById('i').attachShadow({mode:'open'}); q.innerHTML='<a href=/s2>s</a>';
			const c=document.createElement('p'); document.body.append(c); c.attachShadow({mode:'closed'}).innerHTML='<a href=/s3>s</a>';
			if(c.shadowRoot)document.body.innerHTML='<a href=/seen>s</a>'</script>`,
			links: "http://www.a.test/s1 http://www.a.test/s2 http://www.a.test/s3"},
		{name: "closed shadow roots of the HTML", seed: true,
			body:  `<p><TEMPLATE id=t ShadowRootMode=CLOSED><a href=/d1>d</a></template></p><p><template shadowrootmode='closed' shadowrootclonable><a href=/d2>d</a></template></p>`,
			links: "http://www.a.test/d1 http://www.a.test/d2"},
		{name: "names that hide what forms and documents have", seed: true,
			body: `<form name=querySelectorAll action=/go><input type=hidden name=getAttribute><input type=hidden name=localName></form>
			<img name=body><img name=URL><img name=documentElement><img name=baseURI><a href=/x>x</a><p id=p></p>
			<script>requestAnimationFrame(()=>p.innerHTML='<a href=/y>y</a>')</script>`,
			links: "http://www.a.test/go?getAttribute=&localName= http://www.a.test/x http://www.a.test/y"},
		{name: "boxes that scroll smoothly, and ends of scrolling", scroll: true, seed: true,
			body: `<div id=a style="height:200px;overflow:auto;scroll-behavior:smooth"><p style="height:900px">a</p></div>
			<div id=b style="height:200px;overflow:auto"><p style="height:900px">b</p></div><script>
			const more=(el,href)=>{if(el.scrollTop+el.clientHeight>=el.scrollHeight-5)el.innerHTML+='<a href='+href+'>m</a>'};
			a.addEventListener('scroll',()=>more(a,'/a1'),{once:true});b.addEventListener('scrollend',()=>more(b,'/b1'),{once:true})</script>`,
			links: "http://www.a.test/a1 http://www.a.test/b1"},
		{name: "pages that lead away from themselves", seed: true, body: `<p id=p></p><script>history.pushState(0,'','/a');history.back();
			setTimeout(()=>history.back(),100);setTimeout(()=>history.go(-2),200);setTimeout(()=>location.replace('about:blank'),300);
			setTimeout(()=>location=URL.createObjectURL(new Blob(['x'],{type:'text/html'})),400);setTimeout(()=>window.close(),500);
			setTimeout(()=>p.innerHTML='<a href=x>x</a>',1000)</script>`,
			links: "http://www.a.test/x http://www.a.test/a"},
		{name: "a screen, and a mouse", body: `<p id=p></p><script>const is=q=>matchMedia(q).matches;
			const small=screen.width<innerWidth||screen.height<innerHeight||screen.availWidth<1024||is('(max-device-width: 1024px)');
			const touch=is('(hover: none)')||is('(pointer: coarse)')||!is('(any-hover: hover) and (pointer: fine)');
			p.innerHTML='<a href=/'+small+touch+'>x</a>'</script>`, links: "http://www.a.test/falsefalse"},
		{name: "speech", seed: true, body: `<p id=p></p><script>speechSynthesis.cancel();speechSynthesis.onvoiceschanged=()=>{};
			speechSynthesis.addEventListener('voiceschanged',()=>{});const u=new SpeechSynthesisUtterance('x');u.onend=()=>{};
			p.innerHTML='<a href=/v'+speechSynthesis.getVoices().length+u.text+'>x</a>'</script>`, links: "http://www.a.test/v0x"},
		{name: "who asks whether it may, and addresses that are scripts", seed: true, body: `<p id=p></p><script>(async()=>{
			await Notification.requestPermission();p.innerHTML='<a href="javascript:location.href=\'/j\'">j</a>'})()</script>`,
			links: "javascript:location.href='/j' http://www.a.test/j"},
		{name: "frames of the same site",
			body:  `<iframe src=/f></iframe><iframe src="http://b.a.test/g"></iframe><iframe src="http://c.test/h"></iframe><iframe srcdoc="<a href=/sd>s</a>"></iframe>`,
			pages: map[string]string{"/f": `<a href=/inf>f</a>`, "/g": `<a href=/ing>g</a>`, "/h": `<a href=/inh>h</a>`},
			links: "http://www.a.test/inf http://b.a.test/ing http://www.a.test/sd"},
		{name: "a list that is filled when it is seen", scroll: true,
			body: `<body><div style="height:6000px"></div><div id=end>.</div><script>
			new IntersectionObserver(es=>{if(es.some(e=>e.isIntersecting)&&!window.did){did=1;fetch('/more').then(r=>r.text()).then(t=>end.innerHTML=t)}}).observe(end)</script>`,
			pages: map[string]string{"/more": `<a href=/more1>m</a>`}, links: "http://www.a.test/more1"},
		{name: "a style sheet is empty",
			body: `<body><script>const l=document.createElement('link');l.rel='stylesheet';l.href='/s.css';
			l.onload=()=>document.body.innerHTML='<a href=/styled>s</a>';document.head.append(l)</script>`, links: "http://www.a.test/styled"},
		{name: "a question to another origin",
			body:  `<body><script>fetch('http://api.test/q',{headers:{'X-A':'1'}}).then(r=>r.text()).then(t=>document.body.innerHTML=t)</script>`,
			pages: map[string]string{"/q": `<a href=/q1>q</a>`}, links: "http://www.a.test/q1"},
		{name: "what the page has changed is not believed",
			body:  `<a href=/x>x</a><script>Element.prototype.getHTML=()=>'no';document.querySelectorAll=()=>[];Array.prototype.push=()=>{throw 1}</script>`,
			links: "http://www.a.test/x"},
		{name: "links that say nofollow", seed: true, body: nofollow, pages: map[string]string{"/f": framed},
			links:      "http://www.a.test/b http://www.a.test/c",
			unfollowed: "http://www.a.test/a http://www.a.test/o http://www.a.test/s http://www.a.test/i http://www.a.test/r"},
		{name: "frames that say nofollow", body: framesTold, pages: map[string]string{
			"/ours":   `<meta name=WHIRLPOOL content="nofollow"><a href=/1>1</a>`,
			"/theirs": `<meta name=other content="nofollow"><a href=/2>2</a>`,
			"/header": `TAG other: noindex, whirlpool: nofollow|<a href=/3>3</a>`,
			"/away":   "-> TAG /to", "/to": `TAG other: nofollow|<a href=/4>4</a>`},
			links:      "http://www.a.test/2 http://www.a.test/4",
			unfollowed: "http://www.a.test/1 http://www.a.test/3 http://www.a.test/doc"},
		{name: "links that say nofollow, which all are wanted", all: true, seed: true, body: nofollow,
			pages: map[string]string{"/f": framed}, links: "http://www.a.test/a http://www.a.test/o http://www.a.test/s " +
				"http://www.a.test/b http://www.a.test/i http://www.a.test/c http://www.a.test/r http://www.a.test/gone"},
		{name: "a script that waits for an answer",
			body: `<body><script>const get=u=>{const x=new XMLHttpRequest();x.open('GET',u,false);x.send();return x.responseText};
			document.body.innerHTML=get('/p')+get('/q');setTimeout(()=>document.body.innerHTML+='<a href=/late>l</a>',4000)</script>`,
			pages: map[string]string{"/p": "<a href=/p1>p</a>", "/q": "<a href=/q1>q</a>"},
			links: "http://www.a.test/p1 http://www.a.test/q1 http://www.a.test/late"},
		{name: "history", body: `<a href=x>x</a><script>history.pushState(0,'','/deep/er')</script>`,
			links: "http://www.a.test/deep/x http://www.a.test/deep/er"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := &site{pages: test.pages}
			got := s.settles(t, shared(t),
				render.Request{Body: []byte(test.body), Scroll: test.scroll, Seed: test.seed, Nofollow: test.all,
					Agent: "Whirlpool"})
			if got.Verdict != render.Done || got.Settled != byTime && got.Settled != frameless {
				t.Errorf("%s, settled by %q", got.Verdict, got.Settled)
			}
			if links := strings.Join(got.Links, " "); links != test.links {
				t.Errorf("links %q, want %q", links, test.links)
			}
			if links := strings.Join(got.Unfollowed, " "); links != test.unfollowed {
				t.Errorf("links that say nofollow %q, want %q", links, test.unfollowed)
			}
		})
	}
}

// Shadow roots are in the HTML; closed ones are nobody's to see.
func TestHTML(t *testing.T) {
	t.Parallel()
	s := &site{}
	got := s.renders(t, shared(t),
		render.Request{Body: []byte(`<!doctype html><html lang=de><meta charset=utf-8><div id=h></div><script>
		h.attachShadow({mode:'open'}).innerHTML='<p>open ü</p>'</script>`)})
	for _, want := range []string{`<!DOCTYPE html><html lang="de"><head><meta charset="utf-8"></head><body>`,
		`<template shadowrootmode="open"`, "<p>open ü</p>", "</body></html>"} {
		if !strings.Contains(string(got.HTML), want) {
			t.Errorf("no %q in %s", want, got.HTML)
		}
	}
	got = s.renders(t, shared(t), render.Request{Body: []byte("<body>" + strings.Repeat("ü", 3000)),
		Limits: render.Limits{HTML: 1001}})
	if got.Verdict != render.Limit || len(got.HTML) > 1001 || len(got.HTML) < 999 {
		t.Errorf("%s with %d octets, 1001 are allowed", got.Verdict, len(got.HTML))
	}
}

// Random numbers, and answers that come in any order, make no difference.
func TestTwoRendersAreOne(t *testing.T) {
	t.Parallel()
	body := `<body><script>document.body.append(Math.random(), crypto.randomUUID(), crypto.getRandomValues(new Uint8Array(8)));
		for (let i=0;i<12;i++) fetch('/'+i).then(r=>r.text()).then(t=>document.body.append(t));
		for (let i=0;i<5;i++) setTimeout(()=>document.body.append('t'+i), 1000-i*100)</script>`
	s := &site{pages: map[string]string{}, slow: true}
	for i := range 12 {
		s.pages["/"+string(rune('0'+i))] = "a" + string(rune('0'+i))
	}
	var first string
	for i := range 4 {
		got := s.renders(t, shared(t), render.Request{URL: "http://d.test/", Seed: true, Body: []byte(body)})
		if i == 0 {
			first = string(got.HTML)
		}
		if string(got.HTML) != first {
			t.Errorf("render %d gave\n%s\nand the first\n%s", i, got.HTML, first)
		}
	}
}

// The time of a page is its own: what a page before has left of it does not count, nor does the tab's age.
func TestTimeIsTheSame(t *testing.T) {
	c, polls := started(t, Config{}), `<body><script>const s=Date.now();setInterval(()=>{
		document.body.append(' ',Date.now()-s);fetch('/poll').then(()=>document.body.append('=',Date.now()-s))},100)</script>`
	var first render.Result
	for i := range 3 {
		s := &site{pages: map[string]string{"/poll": "{}"}, slow: true}
		got := s.renders(t, c, render.Request{Body: []byte(polls)})
		if i == 0 {
			first = got
		}
		if string(got.HTML) != string(first.HTML) || len(s.asked) != 50 {
			t.Errorf("render %d asked %d times and gave\n%s\nand the first\n%s", i, len(s.asked), got.HTML, first.HTML)
		}
		s.renders(t, c, render.Request{Body: []byte(`<script>(function f(){fetch('/poll').finally(f)})()</script>`),
			Limits: render.Limits{Requests: 5}})
	}
}
