package fakeweb

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// The log must never record the end of an answer after its client had it: the client's next request would then look too
// early. Many connections at once delay the server's goroutines.
func TestNoRequestEndsAfterItsClientHasTheAnswer(t *testing.T) {
	cfg := Plain(20, 40_000)
	cfg.Sitemaps, cfg.PagesZipf, cfg.Addresses = true, 1, 1
	s := serve(t, cfg, Options{})
	var mu sync.Mutex
	had := map[string]int64{} // by host and path: when the client had the answer
	var wg sync.WaitGroup
	for h := range 20 {
		wg.Go(func() {
			c := client(t, s)
			for i := range 40 {
				target := fmt.Sprintf("?n=%d", i)
				if i == 0 {
					target = "sitemap.xml" // mostly hundreds of KB
				}
				resp, err := c.Get(s.Web().Home(h) + target)
				if err != nil {
					t.Error(err)
					return
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				now := s.log.now()
				mu.Lock()
				had[s.Web().HostName(h)+"/"+target] = now
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if n := s.Log().Count(); n != 800 {
		t.Errorf("%d requests in the log, though clients have the answers to 800", n)
	}
	late, large := 0, 0
	for _, e := range s.Log().Entries() {
		if e.End > had[e.Host+e.Path] {
			late++
			t.Logf("%s%s ended %v after its client had it", e.Host, e.Path, time.Duration(e.End-had[e.Host+e.Path]))
		}
		if e.Bytes > wholeWrite {
			large++
		}
		if e.End < e.Start {
			t.Errorf("%s%s ends before it starts", e.Host, e.Path)
		}
	}
	if late > 0 || large == 0 {
		t.Errorf("%d of 800 requests ended late, %d were large", late, large)
	}
}

// lookingConn is a client that looks into the log while the server writes.
type lookingConn struct {
	net.Conn
	request *strings.Reader
	log     *Log
	had     []int // requests in the log, at each write
	sent    []byte
	refuse  int // the number of the write that fails; 0: none does
}

var errRefused = errors.New("the client has gone")

func (c *lookingConn) Read(p []byte) (int, error) { return c.request.Read(p) }
func (c *lookingConn) LocalAddr() net.Addr        { return &net.TCPAddr{} }
func (c *lookingConn) RemoteAddr() net.Addr       { return &net.TCPAddr{} }

func (c *lookingConn) Write(p []byte) (int, error) {
	if c.had = append(c.had, c.log.Count()); len(c.had) == c.refuse {
		return 0, errRefused
	}
	c.sent = append(c.sent, p...)
	return len(p), nil
}

// A client that has an answer finds its request in the log, however late the server's goroutine runs again. Entries
// written before the server noticed that the client was gone are corrected.
func TestRequestIsInTheLogBeforeItsLastBytesGoOut(t *testing.T) {
	cfg := Plain(1, 30)
	cfg.Addresses, cfg.PageBytes = 1, 8<<20
	for refuse := range 5 {
		s := serve(t, cfg, Options{})
		var largest Page
		for p := range s.Web().Pages {
			if size := len(get(t, s.Web(), p.URL).Body); size > 2*wholeWrite {
				largest = p
				break
			}
		}
		host, target, _ := splitURL(largest.URL)
		c := &lookingConn{request: strings.NewReader(fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, host)),
			log: s.Log(), refuse: refuse}
		s.newConn(c, 1).serve()
		entries := s.Log().Entries()
		if len(entries) != 1 || s.Log().Count() != 1 {
			t.Fatalf("%d entries, %d requests, want one", len(entries), s.Log().Count())
		}
		cut := refuse > 0 && refuse <= len(c.had)
		if entries[0].Cut != cut || cut == (entries[0].Bytes == len(get(t, s.Web(), largest.URL).Body)) {
			t.Errorf("write %d refused: logged %+v", refuse, entries[0])
		}
		if !cut && (c.had[0] != 0 || c.had[len(c.had)-1] != 1) {
			t.Errorf("at the writes of the answer %v requests were in the log, want none at the first and one at the last",
				c.had)
		}
	}
}

// CheckPoliteness finds an impolite client in the log of a running server, not only in made-up entries. Only the order
// of events decides, not their speed.
func TestImpoliteClientIsFound(t *testing.T) {
	cfg := Plain(2, 600)
	cfg.Robots, cfg.Unavailable, cfg.SlowHosts, cfg.Addresses, cfg.SlowByte = true, 0.05, 1, 1, time.Millisecond
	s := serve(t, cfg, Options{})
	w, c := s.Web(), client(t, s)
	var refuses, private string
	for p := range w.Pages {
		if p.Host == w.HostName(0) && p.Refusals > 0 {
			refuses = p.URL
		}
		if p.Host == w.HostName(0) && p.Disallowed {
			private = p.URL
		}
	}
	if refuses == "" || !strings.Contains(private, "/private/") {
		t.Fatal("the web lacks what the test needs")
	}
	slowHome := w.Specials()["slow"][0]
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: slow-00000.test\r\n\r\n")
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil { // it runs ...
		t.Fatal(err)
	}
	fetch(t, c, "GET", slowHome+"robots.txt") // ... while this one does
	conn.Close()
	waitFor(t, s, 2)
	for _, u := range []string{w.Home(0), private, refuses, w.Home(0), w.Home(1)} {
		fetch(t, c, "GET", u)
	}
	count := map[ViolationKind]int{}
	for _, v := range CheckPoliteness(s.Log().Entries(), w.Rules(10*time.Minute, time.Minute, 0)) {
		count[v.Kind]++
	}
	for kind, n := range map[ViolationKind]int{Forbidden: 1, TooManyAtOnce: 1, TooSoon: 3, TooImpatient: 1,
		AddressTooSoon: 6} {
		if count[kind] != n {
			t.Errorf("%d × %s, want %d", count[kind], kind, n)
		}
	}
}

// Nor may it say that an answer ended long before: a client that takes its time still has the connection in use.
func TestNoRequestEndsWhileItsClientHasMostToRead(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	cfg := Plain(1, 30)
	cfg.PageBytes, cfg.Addresses = 8<<20, 1
	s := serve(t, cfg, Options{})
	var largest string
	size := 0
	for p := range s.Web().Pages {
		if n := len(get(t, s.Web(), p.URL).Body); n > size {
			largest, size = p.URL, n
		}
	}
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// Both buffers together hold less than the answer; smaller than a segment of loopback they would crawl.
	if err := conn.(*net.TCPConn).SetReadBuffer(256 << 10); err != nil {
		t.Fatal(err)
	}
	host, target, _ := splitURL(largest)
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", target, host)
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	began := s.log.now()
	if n, err := io.Copy(io.Discard, conn); err != nil || n < int64(size) {
		t.Fatalf("%d bytes, %v, want %d", n, err, size)
	}
	if e := s.Log().Entries()[0]; e.End <= began || e.Bytes != size {
		t.Errorf("ended %v before most of it was read; %d bytes, want %d", time.Duration(began-e.End), e.Bytes, size)
	}
}
