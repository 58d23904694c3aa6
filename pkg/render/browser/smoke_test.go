package browser

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

func TestSmoke(t *testing.T) {
	at := time.Now()
	c, err := New(t.Context(), Config{Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Log("started", time.Since(at), c.Mode(), c.virtual)
	for i, body := range []string{
		"<a href=/x>x</a>",
		"<script src=/a.js></script><script>setTimeout(()=>document.body.innerHTML+='<a href=/late>l</a>',3000)</script><body>",
		"<script>requestAnimationFrame(()=>document.body.innerHTML+='<a href=/raf>l</a>')</script><body>",
		"<script>for(;;){}</script>",
		"<a href=/x>x</a>",
	} {
		at := time.Now()
		r, err := c.Render(t.Context(), render.Request{URL: "http://a.test/", Body: []byte(body)}, func(ctx context.Context, s render.Sub) render.Answer {
			t.Log("  ", s)
			return render.Answer{Status: 200, Body: []byte("document.title='js'")}
		})
		t.Logf("%d %s err=%v %+v\n%s", i, time.Since(at), err, r, r.HTML)
	}
	at = time.Now()
	t.Log(len(c.p.processes()), c.p.pss()>>20)
	c.Close()
	t.Log("closed", time.Since(at))
}
