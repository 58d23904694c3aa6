//go:build linux

package browser

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// late is a page that goes on for most of its time.
const late = `<body><a href=/x>x</a><script>setTimeout(()=>document.body.innerHTML+='<a href=/late>l</a>',4000)</script>`

// Whatever a page does, its render ends, soon, and with what can be had. The next page is none the worse.
func TestTrouble(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		url       string
		body      string
		pages     map[string]string
		verdict   string
		or        string // another verdict that is right too: which one depends on the machine
		links     string // of the paths
		navigated string
		limits    render.Limits
	}{
		{name: "an endless loop at once", body: `<a href=/x>x</a><script>for(;;){}</script>`, verdict: render.Limit,
			links: "/x"},
		{name: "an endless loop after 200 ms", verdict: render.Limit, links: "/x /y",
			body: `<a href=/x>x</a><script>document.body.innerHTML+='<a href=/y>y</a>';setTimeout(()=>{for(;;){}},200)</script>`},
		{name: "endless loops", body: `<a href=/x>x</a><script>setInterval(()=>{for(;;){}},20)</script>`,
			verdict: render.Limit, or: render.Hang, links: "/x"},
		{name: "promises without end", body: `<a href=/x>x</a><script>(function f(){Promise.resolve().then(f)})()</script>`,
			verdict: render.Limit, links: "/x"},
		{name: "dialogs",
			body:  `<a href=/x>x</a><script>alert(1);confirm(2);prompt(3);document.body.innerHTML+='<a href=/y>y</a>'</script>`,
			links: "/x /y", limits: render.Limits{Wall: 30 * time.Second}},
		{name: "dialogs without end", body: `<a href=/x>x</a><script>for(;;)alert('x'.repeat(1e6))</script>`,
			verdict: render.Hang, limits: render.Limits{Wall: 2 * time.Second}},
		{name: "beforeunload",
			body:  `<a href=/x>x</a><script>onbeforeunload=e=>{e.preventDefault();return e.returnValue='stay'}</script>`,
			links: "/x"},
		{name: "popups", body: `<a href=/x>x</a><script>for(let i=0;i<3;i++)open('/popup'+i)</script>`,
			pages: map[string]string{"/popup0": "p"}, links: "/x"},
		{name: "a download", body: `<a href=/x>x</a><script>location='/file.zip'</script>`, links: "/x",
			navigated: "/file.zip"},
		{name: "a download by a link", body: `<a id=x href=/x download>x</a><script>x.click()</script>`, links: "/x",
			navigated: "/x"},
		{name: "a service worker",
			body: `<a href=/x>x</a><script>navigator.serviceWorker?.register('/sw.js').then(()=>document.body.innerHTML+='<a href=/no>')</script>`,
			url:  "https://www.a.test/", pages: map[string]string{"/sw.js": "fetch('/from-sw')"}, links: "/x"},
		{name: "a shared worker", body: `<a href=/x>x</a><script>new SharedWorker('/sw.js')</script>`,
			pages: map[string]string{"/sw.js": "fetch('/from-sw')"}, links: "/x"},
		{name: "a worker that fetches",
			body:  `<body><script>new Worker('/w.js').onmessage=e=>document.body.innerHTML=e.data</script>`,
			pages: map[string]string{"/w.js": "fetch('/api').then(r=>r.text()).then(postMessage)", "/api": "<a href=/w>w</a>"},
			links: "/w"},
		{name: "a worker that loops",
			body:    `<a href=/x>x</a><script>new Worker(URL.createObjectURL(new Blob(['for(;;){}'])))</script>`,
			verdict: render.Limit, or: render.Done, links: "/x", limits: render.Limits{CPU: 4 * time.Second}},
		{name: "polling", body: `<a href=/x>x</a><script>setInterval(()=>fetch('/poll'),100)</script>`,
			pages: map[string]string{"/poll": "{}"}, links: "/x"},
		{name: "requests without end", body: `<a href=/x>x</a><script>(function f(){fetch('/n').finally(f)})()</script>`,
			verdict: render.Limit, links: "/x", limits: render.Limits{Requests: 40}},
		{name: "answers without end", body: `<a href=/x>x</a><script>(function f(){fetch('/n').finally(f)})()</script>`,
			pages: map[string]string{"/n": strings.Repeat("x", 1<<10)}, verdict: render.Limit, links: "/x",
			limits: render.Limits{Bytes: 10 << 10}},
		{name: "changes each 30 ms",
			body: `<a href=/x>x</a><p id=p><script>setInterval(()=>p.textContent=Date.now(),30)</script>`, links: "/x"},
		{name: "memory", body: `<script>const a=[];setInterval(()=>a.push(new Array(1.25e6).fill(Math.random())),1)</script>`,
			verdict: render.Crash, limits: render.Limits{Wall: 25 * time.Second, CPU: 15 * time.Second}},
		{name: "a navigation to another page", body: late + `<script>location='/next'</script>`, navigated: "/next",
			links: "/x /late", pages: map[string]string{"/next": "<a href=/n>n</a>"}},
		{name: "a page that loads itself again", body: `<a href=/x>x</a><script>location.reload()</script>`,
			links: "/n /late", pages: map[string]string{
				"/": "<a href=/n>n</a><script>setTimeout(()=>document.body.innerHTML+='<a href=/late>l</a>',3000)</script>"}},
		{name: "a page that loads itself for ever", body: `<a href=/x>x</a><script>location.reload()</script>`, links: "/n",
			pages: map[string]string{"/": "<a href=/n>n</a><script>location.reload()</script>"}},
		{name: "a page that loads itself again, and is gone", body: late + `<script>location.reload()</script>`,
			links: "/x /late", pages: map[string]string{"/": "404 <a href=/n>n</a>"}},
		{name: "a page that loads itself again, and is a file", body: late + `<script>location.reload()</script>`,
			links: "/x /late", pages: map[string]string{"/": "PDF %PDF-1.4"}},
		{name: "a page that loads itself again, and leads elsewhere", body: late + `<script>location.reload()</script>`,
			navigated: "/next", links: "/x /late", pages: map[string]string{"/": "-> /next", "/next": "<a href=/n>n</a>"}},
		{name: "a navigation to another host", body: `<a href=/x>x</a><script>location='http://other.test/'</script>`,
			navigated: "http://other.test/", links: "/x"},
		{name: "navigations without end", navigated: "/next?0", links: "/x",
			body: `<a href=/x>x</a><script>let n=0;setInterval(()=>location='/next?'+n++,50)</script>`},
		// The browser takes 200 in 10 s. Without that rule of its own (flooding) it worked on them for half a minute.
		{name: "addresses of its own without end", links: "/x /y",
			body: `<a href=/x>x</a><script>for(let i=0;i<20000;i++)try{history.pushState({},'','#'+i)}catch{}` +
				`document.body.innerHTML+='<a href=/y>y</a>'</script>`},
		{name: "places of its own without end", links: "/x /y",
			body: `<a href=/x>x</a><script>for(let i=0;i<20000;i++)location.hash='#'+i;` +
				`document.body.innerHTML+='<a href=/y>y</a>'</script>`},
		{name: "a form", body: `<a href=/x>x</a><form id=f method=post action=/post></form><script>f.submit()</script>`,
			links: "/x"},
		{name: "a refresh", body: `<meta http-equiv=refresh content="1;url=/next"><a href=/x>x</a>`, navigated: "/next",
			links: "/x"},
		{name: "a frame that loops", body: `<a href=/x>x</a><iframe src=/loop></iframe>`,
			pages: map[string]string{"/loop": "<script>for(;;){}</script>"}, verdict: render.Limit, links: "/x"},
		{name: "prefetch, beacon, EventSource, WebSocket, preconnect",
			body: `<link rel=dns-prefetch href=//p.test><link rel=preconnect href=//q.test><link rel=prefetch href=/pre>
			<a href=/x>x</a><script>navigator.sendBeacon('/beacon','x');new EventSource('/es');try{new WebSocket('ws://www.a.test/ws')}catch(e){}</script>`, links: "/x"},
		{name: "prefetch of Next.js", links: "/x /d",
			pages: map[string]string{"/n": "<a href=/n>n</a>", "/data": "<a href=/d>d</a>"},
			body: `<a href=/x>x</a><script>const ask=(u,h)=>fetch(u,{headers:h}).then(r=>r.text()).then(t=>document.body.innerHTML+=t,()=>0);
			ask('/n',{RSC:'1','Next-Router-Prefetch':'1'});ask('/n',{Purpose:'prefetch'});ask('/data',{RSC:'1'})</script>`},
		{name: "files and metadata",
			body: `<a href=/x>x</a><iframe src="file:///etc/passwd"></iframe><iframe src="chrome://version"></iframe><script>
			fetch('http://169.254.169.254/latest/meta-data/').then(r=>r.text()).then(t=>document.body.innerHTML+='<a href=/no>');fetch('file:///etc/passwd').catch(e=>0)</script>`, links: "/x"},
		{name: "a document that never ends",
			body: `<a href=/x>x</a><script>document.open();document.write('<a href=/w>w</a>')</script>`, links: "/x /w"},
		{name: "printing and closing",
			body:  `<a href=/x>x</a><script>print();window.close();document.body.requestFullscreen?.().catch(()=>0)</script>`,
			links: "/x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, at := &site{pages: test.pages, crashes: test.verdict == render.Crash}, time.Now()
			limits := test.limits
			if test.verdict == render.Hang || test.verdict == render.Limit {
				limits.CPU = cmp.Or(limits.CPU, loops)
			}
			limits.Wall, limits.CPU = cmp.Or(limits.Wall, small.Wall), cmp.Or(limits.CPU, small.CPU)
			renders := s.settles
			if test.or != "" {
				renders = s.renders
			}
			got := renders(t, shared(t), render.Request{URL: test.url, Body: []byte(test.body), Limits: limits})
			if want := cmp.Or(test.verdict, render.Done); got.Verdict != want && got.Verdict != test.or {
				t.Errorf("verdict %s (%s), want %s", got.Verdict, got.Detail, want)
			}
			if links := paths(got.Links); links != test.links {
				t.Errorf("links %q, want %q", links, test.links)
			}
			if navigated := paths(got.Navigated); navigated != test.navigated {
				t.Errorf("navigated %q, want %q", navigated, test.navigated)
			}
			if took := time.Since(at); took > stalls*time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func paths(urls []string) string {
	var all []string
	for _, u := range urls {
		all = append(all, strings.TrimPrefix(strings.TrimPrefix(u, "http://www.a.test"), "https://www.a.test"))
	}
	return strings.Join(all, " ")
}

// An answer ends the render; serve is not called again, and knows that it may go.
func TestStop(t *testing.T) {
	t.Parallel()
	c := shared(t)
	got, err := c.Render(t.Context(),
		render.Request{URL: "http://s.test/", Body: []byte(`<script src=/a.js></script><script src=/b.js></script>`)},
		func(ctx context.Context, sub render.Sub) render.Answer {
			if strings.HasSuffix(sub.URL, "a.js") {
				return render.Answer{Fail: aborted, Stop: true}
			}
			<-ctx.Done()
			return render.Answer{}
		})
	if err != nil || got.Verdict != render.Stop || got.HTML != nil {
		t.Errorf("%v, %+v", err, got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = c.Render(ctx, render.Request{URL: "http://s.test/", Body: []byte(`<script src=/a.js></script>`)},
		func(ctx context.Context, _ render.Sub) render.Answer { cancel(); <-ctx.Done(); return render.Answer{} })
	if err == nil {
		t.Error("a render whose caller has gone has no error")
	}
}

// A process that renders the page is killed: the render ends at once, and the next page is rendered.
func TestKilled(t *testing.T) {
	c := started(t, Config{})
	for name, whom := range map[string]func() []int{
		"the process of the page":  c.renderers,
		"the browser":              func() []int { return []int{c.p.cmd.Process.Pid} },
		"the browser and its like": func() []int { return c.p.processes() },
	} {
		dir := c.p.profile.dir
		got, err := c.Render(t.Context(), render.Request{URL: "http://k.test/", Body: []byte(`<script src=/a.js></script>`)},
			func(ctx context.Context, _ render.Sub) render.Answer {
				for _, pid := range whom() {
					if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && err != syscall.ESRCH { // some end by themselves
						t.Error(err)
					}
				}
				<-ctx.Done()
				return render.Answer{}
			})
		if err != nil || got.Verdict != render.Crash || got.Wall > 20*time.Second {
			t.Errorf("%s: %v, %s after %s, want a crash at once", name, err, got.Verdict, got.Wall)
		}
		(&site{}).renders(t, c, render.Request{URL: "http://k.test/"})
		if _, err := os.Stat(dir); name != "the process of the page" && err == nil {
			t.Errorf("%s: the profile of the killed browser is left", name)
		}
	}
}

// A browser that does nothing any more is given up, and another is started.
func TestStandsStill(t *testing.T) {
	t.Parallel()
	c := started(t, Config{})
	pid := c.p.cmd.Process.Pid
	got, err := c.Render(t.Context(), render.Request{URL: "http://k.test/", Body: []byte(`<script src=/a.js></script>`),
		Limits: render.Limits{Wall: 2 * time.Second}},
		func(context.Context, render.Sub) render.Answer {
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
				t.Error(err)
			}
			return render.Answer{Status: 200, Body: make([]byte, 4<<20)} // more than a pipe holds
		})
	if err != nil || got.Verdict != render.Hang && got.Verdict != render.Crash {
		t.Errorf("%v, %s %s", err, got.Verdict, got.Detail)
	}
	(&site{}).renders(t, c, render.Request{URL: "http://k.test/"})
	if c.p.cmd.Process.Pid == pid {
		t.Error("it is still the same browser")
	}
}

// Two troubles in a row end a browser; so do its renders.
func TestRenewed(t *testing.T) {
	c := started(t, Config{})
	first, s := c.p.cmd.Process.Pid, &site{}
	for range 2 {
		got, err := c.Render(t.Context(), render.Request{URL: "http://h.test/", Body: []byte("<script src=/a.js></script>")},
			func(context.Context, render.Sub) render.Answer {
				for _, pid := range c.renderers() {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
				return render.Answer{}
			})
		if err != nil || got.Verdict != render.Crash {
			t.Fatalf("%v, %s %s", err, got.Verdict, got.Detail)
		}
	}
	s.renders(t, c, render.Request{})
	second := c.p.cmd.Process.Pid
	c.mu.Lock()
	c.p.renders = rendersABrowser - 1
	c.mu.Unlock()
	s.renders(t, c, render.Request{})
	s.renders(t, c, render.Request{})
	if third := c.p.cmd.Process.Pid; first == second || second == third {
		t.Errorf("browsers %d, %d, %d: want three", first, second, third)
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", first)); err == nil {
		t.Error("the first is still there")
	}
}

// A page leaves nothing to the next, not even of its own host.
func TestNothingIsKept(t *testing.T) {
	t.Parallel()
	body := `<body><script>document.body.append('[', document.cookie, localStorage.x||'', sessionStorage.x||'', ']');
		document.cookie='x=1';localStorage.x='l';sessionStorage.x='s';window.name='n'</script>`
	for i := range 2 {
		got := (&site{}).renders(t, shared(t), render.Request{URL: "http://keep.test/", Body: []byte(body)})
		if !strings.Contains(string(got.HTML), "[]") {
			t.Errorf("render %d found %s", i, got.HTML)
		}
	}
}

func TestScreenshot(t *testing.T) {
	t.Parallel()
	s := &site{pages: map[string]string{"/s.css": "p{color:red}"}}
	got := s.renders(t, shared(t),
		render.Request{Screenshot: true, Body: []byte(`<link rel=stylesheet href=/s.css><p>x</p><img src=/i.png>`)})
	if len(got.Screenshot) < 100 || string(got.Screenshot[8:12]) != "WEBP" {
		t.Errorf("a picture of %d octets", len(got.Screenshot))
	}
	if !slices.Contains(s.asked, "Stylesheet http://www.a.test/s.css") ||
		!slices.Contains(s.asked, "Image http://www.a.test/i.png") {
		t.Errorf("asked %q", s.asked)
	}
}

// The process of a page that may work on ends with its tab: it takes nothing from its host's next page, nor from the
// machine.
func TestHangLeavesNoProcess(t *testing.T) {
	for name, test := range map[string]struct{ body, verdict string }{
		"a loop":   {"<script>for(;;){}</script>", render.Limit},
		"a worker": {"<script>new Worker(URL.createObjectURL(new Blob(['for(;;){}'])))</script>", render.Done},
	} {
		t.Run(name, func(t *testing.T) {
			c := started(t, Config{})
			limits := render.Limits{CPU: 200 * time.Millisecond}
			if test.verdict != render.Limit {
				limits.CPU = 2 * time.Second
			}
			var pids []int
			got, err := c.Render(t.Context(), render.Request{URL: "http://h.test/", Limits: limits,
				Body: []byte("<script src=/a.js></script>" + test.body)},
				func(context.Context, render.Sub) render.Answer { pids = c.renderers(); return render.Answer{} })
			if err != nil || got.Verdict != test.verdict && got.Verdict != render.Limit || len(pids) == 0 {
				t.Fatalf("%v, %+v, processes %v", err, got, pids)
			}
			for end := time.Now().Add(5 * time.Minute); slices.ContainsFunc(pids, exists); time.Sleep(20 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("one of %v is left, after %+v:\n%s", pids, got, told(pids))
				}
			}
		})
	}
}

// A page that begins to work when it is left does not work on, neither beside its host's next page nor beside others.
func TestNoPageWorksOnWhenItIsLeft(t *testing.T) {
	for _, event := range []string{"pagehide", "unload", "beforeunload", "visibilitychange", "freeze"} {
		t.Run(event, func(t *testing.T) {
			c := started(t, Config{})
			var pids []int
			for _, page := range []string{"http://h.test/", "http://h.test/2", "http://other.test/"} {
				body := "<script src=/a.js></script><script>for(const w of [window, document])w.addEventListener('" + event +
					"',()=>{for(;;){}})</script>"
				if page != "http://h.test/" {
					body = "<p>all is well"
				}
				got, err := c.Render(t.Context(), render.Request{URL: page, Body: []byte(body)},
					func(context.Context, render.Sub) render.Answer { pids = c.renderers(); return render.Answer{} })
				if err != nil || got.Verdict != render.Done {
					t.Fatalf("%s: %v, %+v", page, err, got)
				}
				at := time.Now()
				for rests := 0; rests < 20; time.Sleep(20 * time.Millisecond) {
					if rests++; slices.ContainsFunc(pids, func(pid int) bool { return runs(int64(pid)) }) {
						rests = 0
					}
					if time.Since(at) > time.Minute {
						t.Fatalf("%s: one of %v works on:\n%s", page, pids, told(pids))
					}
				}
			}
		})
	}
}

// told says what the system knows of processes.
func told(pids []int) (text string) {
	for _, pid := range pids {
		for _, name := range []string{"cmdline", "stat", "wchan"} {
			line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
			text += fmt.Sprintf("%d %s: %v %s\n", pid, name, err, bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
		}
	}
	return text
}

// A process that a closed tab leaves is killed. Nobody else's is, nor one that the browser still has for a page, which
// may be another tab's.
func TestFinish(t *testing.T) {
	t.Parallel()
	c := started(t, Config{})
	(&site{}).renders(t, c, render.Request{URL: "http://f.test/"})
	stranger := exec.CommandContext(t.Context(), "sleep", "1000")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	idle := c.idle[0]
	c.mu.Unlock()
	left := c.p.owned(idle)
	if len(left) == 0 || len(left) != c.aTab {
		t.Fatalf("the tab has the processes %v, the first one had %d", left, c.aTab)
	}
	if c.p.finish(slices.Clone(left)) {
		t.Error("the process of an open tab is said to have ended")
	}
	(&site{}).renders(t, c, render.Request{URL: "http://f.test/"}) // in that process
	if len(left) == 0 || !slices.Equal(left, c.p.owned(idle)) {
		t.Errorf("the tab has the processes %v, and had %v", c.p.owned(idle), left)
	}
	// One that stands still does not end when its tab is closed.
	for _, id := range left {
		if err := syscall.Kill(int(id), syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	c.mu.Lock()
	c.idle = nil
	c.mu.Unlock()
	if !idle.dispose() || !c.p.finish(append([]int64{int64(stranger.Process.Pid)}, left...)) {
		t.Error("the tab, or its process, is said to be left")
	}
	for _, id := range left {
		harness.Until(t, time.Minute, "the end of the tab's process", func() bool { return !lives(id) })
	}
	if !lives(int64(stranger.Process.Pid)) {
		t.Error("it killed a process that is not the browser's")
	}
	(&site{}).renders(t, c, render.Request{URL: "http://f.test/"})
}

func exists(pid int) bool { return lives(int64(pid)) }

// renderers returns the processes that are known to render pages.
func (c *Chromium) renderers() (pids []int) {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	for pid, owner := range c.p.owners {
		if owner != nobody {
			pids = append(pids, int(pid))
		}
	}
	return pids
}

// A process that was killed, and waits in the kernel for the end of its process namespace, has ended.
func TestAProcessThatIsExitingHasEnded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "stat")
	for text, want := range map[string]bool{
		"14049 (chromium) S 13939 13915 12480 0 -1 4195404 4048 0 1 0 24 3 0 0 20 0 11 0 3468535 0 0": true,
		"14049 (c) (S) 1) S 13939 13915 12480 0 -1 4195404 4048 0 1 0 24 3 0 0 20 0 11 0 3468535 0 0": true,
		"7003 (chromium) S 6905 6881 18989 0 -1 4194368 19939 0 1 0 35 12 0 0 20 0 13 0 2792766 1 1":  false,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, ok := readStat(name); !ok || s.state != 'S' || s.flags&exiting != 0 != want {
			t.Errorf("%s: %+v, %v", text, s, ok)
		}
	}
	if !exists(os.Getpid()) {
		t.Error("this process has ended")
	}
}
