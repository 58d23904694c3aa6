package report

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// What Windows has in the place of a unix socket is tried everywhere.
func TestOnlyWhoKnowsTheWordTalksToAPort(t *testing.T) {
	dir := crawlDirectory(t, "crawl")
	l, cleanup, err := listenAtPort(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })}
	go func() { _ = s.Serve(l) }()
	defer s.Close()
	knock, err := portKnocker(dir)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := knock(t.Context()); err != nil {
		t.Error(err)
	} else if got := get(t, c); !strings.HasSuffix(got, "hello") {
		t.Errorf("who knows the word got %q", got)
	}
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if got := get(t, c); got != "" {
		t.Errorf("who does not know the word got %q", got)
	}
	if err := cleanup(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(addressOf(dir)); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", addressOf(dir), err)
	}
}

func get(t *testing.T, c net.Conn) string {
	t.Helper()
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprintf(c, "GET /a/path/that/is/longer/than/the/word HTTP/1.0\r\n\r\n")
	got, _ := io.ReadAll(c) // a connection may also be reset
	return string(got)
}

// A crawl that was killed leaves the file with its address. Another program has the port by now.
func TestAnotherProgramIsNotTakenForACrawlThatWasKilled(t *testing.T) {
	dir := crawlDirectory(t, "crawl")
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			fmt.Fprint(c, strings.Repeat("x", 100))
			_ = c.Close()
		}
	}()
	if err := os.WriteFile(addressOf(dir), []byte(l.Addr().String()+" ASK ANSWER\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	knock, err := portKnocker(dir)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := knock(t.Context()); err == nil {
		t.Error("it was taken for the crawl", errors.Join(c.Close()))
	}
}
