package memcached

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Whatever a server says, a value is found only for a key that was asked for, once and in order.
func FuzzReply(f *testing.F) {
	for _, s := range []string{"END\r\n", "VALUE a 0 2\r\nxy\r\nEND\r\n", "VALUE b 0 0\r\n\r\nVALUE c 7 3 99\r\n\r\n\r\r\nEND\r\n", "VALUE b 0 -1\r\n",
		"VALUE z 0 1\r\nx\r\n", "SERVER_ERROR out of memory\r\n", "VALUE a 0 99999999999\r\n", "STORED\r\nNOT_STORED\r\n", "\r\n", ""} {
		f.Add([]byte(s))
	}
	keys := []string{"a", "b", "c"}
	f.Fuzz(func(t *testing.T, data []byte) {
		last := -1
		err := readGet(bufio.NewReaderSize(bytes.NewReader(data), 16), keys, func(i int, v []byte) {
			if i <= last || i >= len(keys) || !bytes.Contains(data, v) {
				t.Errorf("found %q at place %d after %d", v, i, last)
			}
			last = i
		})
		if err == nil && !bytes.Contains(data, []byte("END")) {
			t.Errorf("%q was taken for a whole answer", data)
		}
		if readStored(bufio.NewReader(bytes.NewReader(data)), 2) == nil && strings.Count(string(data), "STORED") < 2 {
			t.Errorf("%q was taken for two stored values", data)
		}
	})
}

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
