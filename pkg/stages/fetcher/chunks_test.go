package fetcher

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Browsers read chunks that net/http refuses.
func TestOddChunks(t *testing.T) {
	for name, body := range map[string]string{
		"LF alone":                "3\nhel\n2\nlo\n0\n\n",
		"many zeros":              strings.Repeat("0", 40) + "5\r\nhello\r\n" + strings.Repeat("0", 40) + "\r\n\r\n",
		"odd extension":           "5 ; a=\"\rb\"\r\nhello\r\n0;x\r\n\r\n",
		"odd trailer":             "5\r\nhello\r\n0\r\nno colon\r\nX: y\r\n\r\n",
		"no line end at the end":  "5\r\nhello\r\n0\r\n",
		"no line end behind 0":    "5\r\nhello\r\n0",
		"trailer that is cut off": "5\r\nhello\r\n0\r\nX: ",
	} {
		t.Run(name, func(t *testing.T) {
			answer := func(c net.Conn, _ string) { fmt.Fprint(c, html+"Transfer-Encoding: chunked\r\n\r\n"+body); c.Close() }
			r := newBench(t, nil).get(raw(t, answer), nil)
			r.want(t, crawl.VerdictDone, "")
			if string(r.body) != "hello" {
				t.Errorf("%q", r.body)
			}
		})
	}
}

// However the octets come, net/http gets the same; what is as it should be, or beyond help, stays as it is.
func TestChunksAreMendedInAnyPieces(t *testing.T) {
	long := strings.Repeat("x", maxChunkLine+1)
	for name, tc := range map[string]struct{ in, want string }{
		"valid":      {"5\r\nhello\r\nA\r\n0\r\n\r\n56789\r\n0\r\n\r\nmore", "5\r\nhello\r\na\r\n0\r\n\r\n56789\r\n0\r\n\r\nmore"},
		"no size":    {"5\r\nhello\r\nfive\r\nhello\r\n", "5\r\nhello\r\nfive\r\nhello\r\n"},
		"negative":   {"-5\r\nhello\r\n", "-5\r\nhello\r\n"},
		"too large":  {"ffffffffffffffff\r\nx", "ffffffffffffffff\r\nx"},
		"too little": {"3\r\nhello\r\n0\r\n\r\n", "3\r\nhello"[:6] + "lo\r\n0\r\n\r\n"},
		"cut":        {"5\r\nhel", "5\r\nhel"},
		"cut behind": {"5\r\nhello\r\n", "5\r\nhello\r\n"},
		"endless":    {long, long},
	} {
		const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		for _, r := range []io.Reader{strings.NewReader(head + tc.in), iotest.OneByteReader(strings.NewReader(head + tc.in)),
			iotest.DataErrReader(strings.NewReader(head + tc.in))} {
			c := tolerant(readConn{nil, r}, 1<<10)
			c.asked()
			if got, err := io.ReadAll(c); string(got) != head+tc.want || err != nil {
				t.Errorf("%s: read %q, %v, want %q", name, got, err, head+tc.want)
			}
		}
	}
}
