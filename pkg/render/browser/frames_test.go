//go:build linux

package browser

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

// What a page does at a frame is done by its own time, in each render at the same moments, whether or not the browser
// draws.
func TestFramesKeepThePagesTime(t *testing.T) {
	t.Parallel()
	c := started(t, Config{})
	const body = `<body><div id=far style="position:absolute;top:9000px;height:10px">far</div><div id=near style="height:300px"><p style="height:100px">near</p></div>
		<div id=box style="height:200px;overflow:auto"><div style="height:900px"></div></div><pre id=log></pre><script>
		const now=()=>Math.round(performance.now()/100),put=(...a)=>log.append(a.join(' ')+'\n');
		requestAnimationFrame(()=>{put('frame',now());requestAnimationFrame(()=>put('second',now()))});
		cancelAnimationFrame(requestAnimationFrame(()=>put('cancelled')));
		new IntersectionObserver(es=>es.forEach(e=>put('sees',e.target.id,e.isIntersecting,e.intersectionRatio,now())),{threshold:[0,1]}).observe(near);
		new IntersectionObserver(es=>es.forEach(e=>put('sees',e.target.id,e.isIntersecting,now()))).observe(far);
		new ResizeObserver(es=>put('size',es[0].contentRect.height,now())).observe(near);setTimeout(()=>{near.style.height='310px'},300);
		addEventListener('scroll',()=>put('scrolled',scrollY>0,now()));box.onscroll=0;box.addEventListener('scroll',()=>put('box',box.scrollTop>0,now()));
		near.animate([{opacity:0},{opacity:1}],400).finished.then(()=>put('animated'));
		document.startViewTransition?.(()=>put('view',now()))</script>`
	var first string
	for range 3 {
		s := &site{}
		got := string(s.renders(t, c, render.Request{Seed: true, Scroll: true, Now: time.UnixMilli(1795503600000),
			Body: []byte(body)}).HTML)
		_, got, _ = strings.Cut(got, `<pre id="log">`)
		got, _, _ = strings.Cut(got, "</pre>")
		for _, want := range []string{"frame 0\n", "second 0\n", "sees near true 1 0\n", "sees far false 0\n",
			"sees far true ", "size 300 0\n", "size 310 ", "scrolled true ", "box true ", "animated\n", "view 0\n"} {
			if !strings.Contains(got, want) {
				t.Errorf("there is no %q in\n%s", want, got)
			}
		}
		got = strings.Replace(got, "animated\n", "", 1) // it ends earlier where the browser draws
		if first == "" {
			first = got
		}
		if got != first || strings.Contains(got, "cancelled") {
			t.Errorf("it gave\n%s\nand the first time\n%s", got, first)
		}
	}
}

// Frames come to an end, whatever is done at them: observers that beget observers, callbacks that ask for more, and
// pages that clear all timers.
func TestFramesEnd(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"sizes":     `const f=()=>new ResizeObserver(()=>{n++;f()}).observe(document.body);f()`,
		"sights":    `const f=()=>new IntersectionObserver(()=>{n++;f()}).observe(document.body);f()`,
		"frames":    `const f=()=>{n++;requestAnimationFrame(f)};f()`,
		"cleared":   `for(let i=0;i<99;i++){clearTimeout(i);clearInterval(i)}const f=()=>{n++;requestAnimationFrame(f)};f()`,
		"scrolls":   `tall();addEventListener('scroll',()=>{n++;scrollTo(0,scrollY?0:100)});scrollTo(0,9)`,
		"onscroll":  `tall();onscroll=()=>{n++;scrollBy(0,-1)};scrollTo(0,9)`,
		"into view": `tall();addEventListener('scroll',()=>{n++;(n%2?end:text).scrollIntoView({behavior:'smooth'})})`,
		"a box":     `tall();box.addEventListener('scroll',()=>{n++;box.scrollTop=box.scrollTop?0:9});box.scrollTop=9`,
		"a list without end": `tall();addEventListener('scroll',()=>{for(let i=0;i<50;i++)document.body.insertAdjacentHTML('beforeend','<p><a href=/'+n+'-'+i+'>x</a>');
			n++;scrollTo(0,1e9)})`,
		"a box's onscroll": `tall();box.onscroll=()=>{n++;box.scrollTop=box.scrollTop?0:9};box.scrollTop=9`,
		"scrollend":        `tall();onscrollend=()=>{n++;scrollTo(0,scrollY?0:100)};scrollTo(0,9)`,
		"broken":           `requestAnimationFrame(()=>{throw new Error('x')});requestAnimationFrame(()=>n++);new ResizeObserver(()=>{n++;throw 1}).observe(document.body)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &site{}
			got := s.settles(t, shared(t), render.Request{Seed: true, Scroll: true, Limits: small,
				Body: []byte(`<!doctype html><body><p id=text>text<div id=box style="height:150px;overflow:auto"></div><script>let n=0;
				const tall=()=>document.body.insertAdjacentHTML('beforeend','<p style="height:9000px">x<p id=end>end'),box=document.getElementById('box');
				box.innerHTML='<p style="height:900px">x';` + script + `;setTimeout(()=>document.body.dataset.n=n,4000)</script>`)})
			_, n, _ := strings.Cut(string(got.HTML), `data-n="`)
			n, _, _ = strings.Cut(n, `"`)
			if count, _ := strconv.Atoi(n); got.Verdict != render.Done || count < 1 || count > 200 {
				t.Errorf("%s (%s), called %q times, want 1 to 200", got.Verdict, got.Detail, n)
			}
		})
	}
}
