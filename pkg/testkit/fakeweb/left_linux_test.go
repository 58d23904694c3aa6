package fakeweb

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// A server that comes to a request late knows when the client gave it up: the request is over then, and not when the
// server had time for it.
func TestARequestEndsWhenItsClientLeft(t *testing.T) {
	s := serve(t, Plain(1, 2), Options{})
	for _, leaves := range []bool{true, false} {
		t.Run(fmt.Sprintf("leaves %v", leaves), func(t *testing.T) {
			l, err := net.Listen("tcp4", "127.0.0.1:0") // nobody serves what comes here, but this test
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			client, err := net.Dial("tcp4", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			late, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer late.Close()
			fmt.Fprintf(client, "GET /left HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
				strings.TrimPrefix(strings.TrimSuffix(s.Web().Home(0), "/"), "http://"))
			if leaves {
				client.Close()
				for _, _, gone := left(late); !gone; _, _, gone = left(late) {
					time.Sleep(time.Millisecond)
				}
			}
			went := s.Log().now()
			for s.Log().now() < went+int64(300*time.Millisecond) { // the server waits for a processor
				time.Sleep(time.Millisecond)
			}
			before := len(s.Log().Entries())
			s.newConn(late, 1).serve()
			e := s.Log().Entries()[before]
			if after := time.Duration(e.End - went); leaves != (after < 100*time.Millisecond) || e.Start > e.End {
				t.Errorf("the request ended %v after its client was seen to leave, and took %v", after,
					time.Duration(e.End-e.Start))
			}
		})
	}
}
