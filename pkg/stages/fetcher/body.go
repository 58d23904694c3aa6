package fetcher

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"net/http"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

const (
	sniffLen   = 512      // what http.DetectContentType looks at
	tailLen    = 64       // of what is looked at to see whether a page came to its end
	copyBuffer = 32 << 10 // of WriteTo
	// slack is what an encoding may add to a body that does not compress, and its header.
	slack = 64 << 10
)

// errEncoding wraps the errors of decoders: the octets came, but they are not what Content-Encoding says.
var errEncoding = errors.New("the body is not in the encoding that the server names")

// errCutShort says that the octets ended before what they encode did. Where only the end of the connection ends a body,
// nothing else tells that it is not whole.
var errCutShort = errors.New("the body ends before its Content-Encoding does")

// body is an answer's body on its way to the spool: decoded, capped and hashed while it is read. It is used by one
// goroutine.
type body struct {
	src    *source
	top    io.Reader // the last decoder, or src
	layers []*layer
	max    int64
	sum    hash.Hash
	copy   *bytes.Buffer // keeps what was read; nil: not wanted

	n       int64
	err     error  // sticky; io.EOF when the body ended or was cut
	cut     bool   // there was more than max
	pending []byte // read ahead by sniff
	head    []byte
	tail    []byte // the last octets, at most tailLen
}

var sumPool = sync.Pool{New: func() any { return sha256.New() }}

// newBody decodes what src reads by the answer's header. A body longer than limit octets ends there.
func newBody(src *source, h http.Header, limit int64) (*body, error) {
	names, err := encodings(h)
	if err != nil {
		return nil, err
	}
	b := &body{src: src, top: src, max: limit, sum: sumPool.Get().(hash.Hash)}
	b.sum.Reset()
	src.max = limit + 1
	if len(names) > 0 {
		src.max = limit + slack
	}
	for i := len(names) - 1; i >= 0; i-- { // the last one applied is the first one undone
		l := &layer{name: names[i], src: getBufio(b.top), max: limit + slack}
		b.layers = append(b.layers, l)
		b.top = l
	}
	return b, nil
}

// release gives the buffers back; the body must not be read any more.
func (b *body) release() {
	for _, l := range b.layers {
		l.release()
	}
	sumPool.Put(b.sum)
	b.layers, b.sum, b.top = nil, nil, nil
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if len(b.pending) > 0 {
		n := copy(p, b.pending)
		b.pending = b.pending[n:]
		return n, nil
	}
	return b.next(p)
}

// next reads on, decoded.
func (b *body) next(p []byte) (int, error) {
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	left := b.max - b.n
	if left <= 0 {
		b.err = b.probe()
		return 0, b.err
	}
	n, err := b.top.Read(p[:min(int64(len(p)), left)])
	b.n += int64(n)
	_, _ = b.sum.Write(p[:n])
	if b.copy != nil {
		_, _ = b.copy.Write(p[:n])
	}
	b.noteTail(p[:n])
	b.err = b.verdict(err)
	return n, b.err
}

// probe looks whether the body goes on beyond its limit.
func (b *body) probe() error {
	var one [1]byte
	for {
		n, err := b.top.Read(one[:])
		if n > 0 {
			b.cut = true
			return io.EOF
		}
		if err != nil {
			return b.verdict(err)
		}
	}
}

// verdict says whose fault an error is: too long is none, the network's comes before a decoder's, which only sees
// that its input ended.
func (b *body) verdict(err error) error {
	switch {
	case err == nil || err == io.EOF:
		return err
	case errors.Is(err, errTooLong):
		b.cut = true
		return io.EOF
	case b.src.fault() != nil && endedEarly(b.src.fault()) && b.isWhole():
		return io.EOF
	case b.src.fault() != nil:
		return b.src.fault()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errCutShort
	}
	return errors.Join(errEncoding, err)
}

func (b *body) noteTail(p []byte) {
	p = p[max(0, len(p)-tailLen):]
	keep := min(len(b.tail), tailLen-len(p))
	b.tail = append(append(b.tail[:0], b.tail[len(b.tail)-keep:]...), p...)
}

// isWhole reports whether what came is a document to its last tag: servers that tell a length that is too long send
// such, and browsers show them.
func (b *body) isWhole() bool {
	end := bytes.ToLower(bytes.TrimRight(b.tail, " \t\r\n\x00"))
	for _, tag := range []string{"</html>", "</urlset>", "</sitemapindex>", "</rss>", "</feed>", "</rdf:rdf>"} {
		if bytes.HasSuffix(end, []byte(tag)) {
			return true
		}
	}
	return false
}

// endedEarly reports whether a body was not cut by us: its connection ended, or nothing more came.
func endedEarly(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || system.Reset(err) || errors.Is(err, errIdle) ||
		brokenOff(err)
}

// WriteTo implements io.WriterTo: io.Copy then needs no buffer of its own.
func (b *body) WriteTo(w io.Writer) (total int64, err error) {
	buf := copyPool.Get().(*[copyBuffer]byte)
	defer copyPool.Put(buf)
	for {
		n, err := b.Read(buf[:])
		if n > 0 {
			m, werr := w.Write(buf[:n])
			total += int64(m)
			if werr != nil {
				return total, werr
			}
		}
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

var copyPool = sync.Pool{New: func() any { return new([copyBuffer]byte) }}

// sniff returns the first octets of the body, at most sniffLen, and leaves them to be read. Its error is the body's.
func (b *body) sniff() ([]byte, error) {
	b.head = make([]byte, sniffLen)
	n := 0
	for n < sniffLen && b.err == nil {
		var m int
		m, _ = b.next(b.head[n:])
		n += m
	}
	b.head = b.head[:n]
	b.pending = b.head
	return b.head, b.fault()
}

// fault returns why the body could not be had, or nil while it could.
func (b *body) fault() error {
	if b.err == io.EOF {
		return nil
	}
	return b.err
}

// keep has everything that is read remembered, up to the limit. Call it before the first read.
func (b *body) keep() { b.copy = new(bytes.Buffer) }

// kept returns what was read since keep.
func (b *body) kept() []byte {
	if b.copy == nil {
		return nil
	}
	return b.copy.Bytes()
}

// digest returns the SHA-256 of what was read.
func (b *body) digest() (d crawl.Digest) {
	b.sum.Sum(d[:0])
	return d
}
