package memcached

import (
	"bytes"
	"context"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Whatever a server says, a claim has the answer that the store gives, and the next call is made.
func FuzzReply(f *testing.F) {
	a := mustURL(f, "http://a.test/")
	key := openAt(f, "none:1").URLs(nil, epoch).(urls).keys(context.Background(), "job", 1,
		func(int) weburl.URL { return a })[0]
	for _, s := range []string{"END\r\n", "VALUE a 0 2\r\nxy\r\nEND\r\n",
		"VALUE b 0 0\r\n\r\nVALUE c 7 3 99\r\n\r\n\r\r\nEND\r\n", "VALUE b 0 -1\r\n", "VALUE z 0 1\r\nx\r\n",
		"SERVER_ERROR out of memory\r\n", "STORED\r\nNOT_STORED\r\n", "\r\n", "",
		"VALUE " + key + " 0 33\r\n\x01" + strings.Repeat("\x00", 32) + "\r\nEND\r\n"} {
		f.Add([]byte(s))
	}
	huge := regexp.MustCompile(`[0-9]{7}`)
	f.Fuzz(func(t *testing.T, data []byte) {
		if huge.Match(data) {
			t.Skip("the library makes room for as many bytes as a server says: up to 4 GB, and servers have them")
		}
		c := openAt(t, "none:1")
		c.servers[0].client.DialContext = func(context.Context, string, string) (net.Conn, error) {
			return &reply{Reader: bytes.NewReader(data)}, nil
		}
		for i := range 2 * maxFailures {
			want(t, claim(t, c.URLs(newStore(), epoch), "one", a), crawl.New)
			if i == 0 && !bytes.Contains(data, []byte("END\r\n")) && gets(t, c, "error") != 1 {
				t.Errorf("%q was taken for a whole answer", data)
			}
		}
	})
}

// reply is a connection on which everything was said already.
type reply struct {
	net.Conn
	*bytes.Reader
}

func (r *reply) Read(b []byte) (int, error)  { return r.Reader.Read(b) }
func (r *reply) Write(b []byte) (int, error) { return len(b), nil }
func (r *reply) SetDeadline(time.Time) error { return nil }
func (r *reply) Close() error                { return nil }

// Cached bytes are a stranger's.
func FuzzValues(f *testing.F) {
	f.Add(encodeClaim(crawl.MessageID{1}))
	f.Add(encodeAnswer(nil, time.Minute, time.Now()))
	good, err := crawl.EncodeValue(crawl.Robots{Origin: "o", Expires: time.Now().Add(time.Hour)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Fuzz(func(t *testing.T, b []byte) {
		if by, ok := decodeClaim(b); ok && !bytes.Equal(encodeClaim(by), b) {
			t.Errorf("%x was read as a claim of %s", b, by)
		}
		now := time.Now()
		if addrs, left := decodeAnswer(b, now); len(addrs) > 0 && (left <= 0 || left > maxDNS || !public(addrs)) {
			t.Errorf("%x was read as %v for %v", b, addrs, left)
		}
		if r, ok := decodeRobots(b, "o", now); ok && (r.Origin != "o" || !now.Before(r.Expires)) {
			t.Errorf("%x was read as %+v", b, r)
		}
	})
}
