//go:build unix

package fakeweb

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"time"
)

func BenchmarkPage(b *testing.B) {
	w := New(Plain(100, 100_000))
	buf := make([]byte, 0, 1<<20)
	n := 0
	for i := 0; b.Loop(); i++ {
		buf = w.appendPage(buf[:0], w.page(i*7919%100_000), edition{})
		n += len(buf)
	}
	b.SetBytes(int64(n / b.N))
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New(Plain(100, 100_000))
	}
}

// BenchmarkRequest is one request over a kept connection, with a client that only reads: client and server share the
// processors, so the server's own cost is less.
func BenchmarkRequest(b *testing.B) {
	cfg := Plain(10, 10_000)
	cfg.Addresses = 1
	s := serve(b, cfg, Options{LogFile: b.TempDir() + "/log"})
	var requests [][]byte
	for i := range 500 {
		host, target, _ := splitURL(s.Web().url(s.Web().page(i * 7)))
		requests = append(requests, fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench/1\r\n\r\n", target,
			host))
	}
	b.ReportAllocs()
	before := cpuTime(b)
	b.RunParallel(func(pb *testing.PB) {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port()))
		if err != nil {
			b.Error(err)
			return
		}
		defer c.Close()
		br := bufio.NewReaderSize(c, 64<<10)
		for i := 0; pb.Next(); i++ {
			if err := readPage(c, br, requests[i%len(requests)]); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/request")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

// readPage sends a request and reads its answer, as cheaply as it goes.
func readPage(c net.Conn, br *bufio.Reader, request []byte) error {
	if _, err := c.Write(request); err != nil {
		return err
	}
	length := 0
	for {
		line, err := br.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) == 2 {
			break
		}
		if field := lengthField(line); field != nil {
			length, _ = leadingNumber(field)
		}
	}
	if length == 0 {
		return errors.New("no Content-Length")
	}
	_, err := io.CopyN(io.Discard, br, int64(length))
	return err
}

func lengthField(line []byte) []byte {
	field, ok := bytes.CutPrefix(line, []byte("Content-Length: "))
	if !ok {
		return nil
	}
	return field
}

// cpuTime is the processor time this process has used.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
