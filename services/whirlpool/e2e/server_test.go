package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// server is a `whirlpool serve` on one directory and at one address, through all its lives.
type server struct {
	dir, addr string
	web       *fakeweb.Server // nil: its jobs crawl what has addresses
	lives     []*life
	first     []int          // requests that the web had answered when each life began
	env       []string       // besides the test's own
	key       string         // of the API
	api       *client.Client // with a key that outlives the processes; nil: there was none yet
}

func newServer(t *testing.T, web *fakeweb.Server) *server {
	t.Helper()
	dir, err := os.MkdirTemp(t.ArtifactDir(), "serve-")
	if err != nil {
		t.Fatal(err)
	}
	return &server{dir: filepath.Join(dir, "data"), addr: freeAddress(t), web: web}
}

// freeAddress is one whose port no client gets by chance while the server is away.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 50 {
		addr := fmt.Sprintf("127.0.0.1:%d", 8800+rand.IntN(1200))
		if l, err := net.Listen("tcp", addr); err == nil {
			_ = l.Close()
			return addr
		}
	}
	t.Fatal("no port is free")
	return ""
}

// start starts the program once the web has noticed all that its predecessor did.
func (s *server) start(t *testing.T) *life {
	t.Helper()
	args := []string{"serve", "--dir", s.dir, "--listen", s.addr, "--allow-private", "--concurrency", "64"}
	if s.web != nil {
		if len(s.lives) > 0 {
			s.settle(t)
		}
		s.first = append(s.first, s.web.Log().Count())
		args = append(args, "--dns", s.web.DNSAddr())
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), s.env...)
	p := launch(t, cmd)
	s.lives = append(s.lives, p)
	return p
}

// settle waits until the web has no connection of a dead process left, not even an unaccepted one: the server accepts
// those before a connection made now.
func (s *server) settle(t *testing.T) {
	t.Helper()
	asked := map[netip.AddrPort]bool{}
	for p := range s.web.Web().Pages {
		at, known := s.web.Addr(p.Host)
		if !known || asked[at] {
			continue
		}
		asked[at] = true
		c, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		_, err = fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", probe)
		if err == nil {
			_, err = io.Copy(io.Discard, c)
		}
		if _ = c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	harness.Until(t, patience, "the web to notice that the server is dead",
		func() bool { return s.web.Connections() == 0 })
}

// probe is a host that is none, by which the test's own requests are known.
const probe = "probe.invalid"

// ready waits until the API answers; false: the process has ended. The first time, it makes the key.
func (s *server) ready(t *testing.T, p *life) bool {
	t.Helper()
	answers := func() bool {
		resp, err := http.Get("http://" + s.addr + "/healthz") //nolint:noctx // it is for this machine alone
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	}
	if !p.poll(t, "the API to answer", answers) {
		return false
	}
	if s.api == nil {
		s.api = s.newKey(t)
	}
	return true
}

func (s *server) newKey(t *testing.T) *client.Client {
	t.Helper()
	var local struct{ URL, Key string }
	data, err := os.ReadFile(filepath.Join(s.dir, "serve.json"))
	if err == nil {
		err = json.Unmarshal(data, &local)
	}
	harness.Check(t, err)
	c, err := client.New(local.URL, local.Key)
	harness.Check(t, err)
	k, err := c.NewKey(context.Background(), api.KeyToMake{Name: "e2e", Role: "admin"})
	harness.Check(t, err)
	s.key = k.Key
	c, err = client.New(local.URL, k.Key)
	harness.Check(t, err)
	return c
}

// impolite lists the violations in the web's log. Requests of a killed process count as ended at its death, because a
// busy web may read them late.
func (s *server) impolite(delay time.Duration) (faults []string) {
	for _, v := range fakeweb.CheckPoliteness(s.entries(), s.web.Web().Rules(delay, 0, 0)) {
		faults = append(faults, v.String())
	}
	return faults
}

func (s *server) entries() (out []fakeweb.Entry) {
	all := s.web.Log().Entries()
	for i, p := range s.lives {
		last := len(all)
		if i+1 < len(s.lives) {
			last = s.first[i+1]
		}
		for _, e := range all[s.first[i]:last] {
			if !p.dead.IsZero() {
				e.Start, e.End = min(e.Start, p.dead.UnixNano()), min(e.End, p.dead.UnixNano())
			}
			if e.Host != probe {
				out = append(out, e)
			}
		}
	}
	return out
}
