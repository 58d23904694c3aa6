package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// A server cannot write on the user's terminal: net/http tells by the standard logger what comes unasked.
func TestAServerThatAnswersUnaskedIsNotTold(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { harness.Check(t, l.Close()) }()
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			go answerTwice(c)
		}
	}()
	for _, args := range [][]string{{"crawl", "--quiet", "--delay", "0s", "--ignore-robots", "--no-sitemaps", "-o", "d"},
		{"try"}} {
		if r := whirlpool(t, append(args, "--allow-private", "http://"+l.Addr().String()+"/")...); r.exit != exitOK ||
			r.stderr != "" {
			t.Errorf("%v: exit status %d, and it says %q", args, r.exit, r.stderr)
		}
	}
}

// answerTwice answers each request with a page and, at once, with an answer that nobody asked for.
func answerTwice(c net.Conn) {
	defer c.Close()
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 20\r\n\r\n"
	for in := bufio.NewReader(c); ; {
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		if _, err := io.WriteString(c, head+"<p>a page of words.."+head); err != nil {
			return
		}
	}
}
