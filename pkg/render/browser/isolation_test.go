//go:build linux

package browser

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

// witness counts what reaches this machine's own network: TCP connections and UDP packets.
type witness struct {
	tcp, udp atomic.Int64
	http     net.Listener
	stun     net.PacketConn
}

func newWitness(t *testing.T) *witness {
	t.Helper()
	w := new(witness)
	var err error
	if w.http, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	if w.stun, err = net.ListenPacket("udp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.http.Close(); w.stun.Close() })
	go func() {
		for {
			conn, err := w.http.Accept()
			if err != nil {
				return
			}
			w.tcp.Add(1)
			conn.Close()
		}
	}()
	go func() {
		for buf := make([]byte, 2048); ; {
			if _, _, err := w.stun.ReadFrom(buf); err != nil {
				return
			}
			w.udp.Add(1)
		}
	}()
	return w
}

// page tries all ways out. Its own address is the witness's, so that no rule on private networks is in its way.
func (w *witness) page() render.Request {
	at := w.http.Addr().String()
	body := `<link rel=preconnect href="http://HOST/"><link rel=dns-prefetch href="http://HOST/"><link rel=prefetch href="http://HOST/pre">
		<img src="http://HOST/i"><iframe src="http://HOST/f"></iframe><a id=dl href="http://HOST/d" download ping="http://HOST/p">d</a><script>
		try{new WebSocket('ws://HOST/ws')}catch(e){}
		try{const t=new WebTransport('https://HOST/wt');t.ready.catch(e=>0);t.closed.catch(e=>0)}catch(e){}
		try{const c=new RTCPeerConnection({iceServers:[{urls:'stun:STUN'},{urls:'turn:HOST?transport=tcp',username:'u',credential:'c'}]});
			c.createDataChannel('x');c.createOffer().then(o=>c.setLocalDescription(o))}catch(e){}
		new EventSource('http://HOST/es');navigator.sendBeacon('http://HOST/b','x');fetch('http://HOST/x').catch(e=>0);
		new Worker(URL.createObjectURL(new Blob(["fetch('http://HOST/w').catch(e=>0);new WebSocket('ws://HOST/wws')"])));
		open('http://HOST/popup');dl.click();navigator.serviceWorker?.register('/sw.js').catch(e=>0);
		setTimeout(()=>fetch('/end').catch(e=>0), 4000)</script>`
	body = strings.NewReplacer("HOST", at, "STUN", w.stun.LocalAddr().String()).Replace(body)
	return render.Request{URL: "http://" + at + "/", Body: []byte(body),
		Limits: render.Limits{Wall: time.Minute, CPU: time.Minute}}
}

// Nothing leaves the browser: with the namespace, with the proxy that is not there, and with both. Without either the
// witness sees something: it has eyes.
func TestNothingLeaves(t *testing.T) {
	for _, test := range []struct {
		name string
		cfg  Config
		tcp  bool
		udp  bool
	}{
		{name: "namespace and proxy"},
		{name: "namespace alone", cfg: Config{noProxy: true}},
		{name: "proxy alone", cfg: Config{Isolation: Proxy}},
		{name: "neither", cfg: Config{Isolation: Proxy, noProxy: true}, tcp: true, udp: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w, c := newWitness(t), started(t, test.cfg)
			t.Log(c.Mode())
			routes, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/route", c.p.cmd.Process.Pid))
			if bare := strings.Count(string(routes), "\n") <= 1; err != nil || strings.Contains(c.Mode(), "netns") && !bare {
				t.Errorf("%v, the routes of an empty namespace:\n%s", err, routes)
			}
			got, err := c.Render(t.Context(), w.page(), func(_ context.Context, sub render.Sub) render.Answer {
				if strings.HasSuffix(sub.URL, "/end") { // real time, in which what was begun goes its way
					time.Sleep(2 * time.Second)
				}
				return render.Answer{Fail: "AddressUnreachable"}
			})
			if err != nil || got.Verdict != render.Done {
				t.Errorf("%v, %s %s", err, got.Verdict, got.Detail)
			}
			t.Log(got.Requests, got.Refused, got.Failed, got.Navigated, got.Wall)
			tcp, udp := w.tcp.Load(), w.udp.Load()
			if tcp > 0 != test.tcp || udp > 0 != test.udp {
				t.Errorf("the witness saw %d connections (want some: %t) and %d packets (want some: %t)", tcp, test.tcp, udp,
					test.udp)
			}
		})
	}
}
