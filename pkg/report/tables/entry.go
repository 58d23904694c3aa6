package tables

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// An entry is a row of the spill: the host part of the URL key (8), open or line (1), the rest of the key (16), time
// in microseconds (8), number of the line (8), and what the tables need of the line. Sorted, the lines of a host stand
// together, those of a URL in the order in which they were written, and the host's open URLs behind them.
const (
	entryHead  = 24 + 1 + 8 + 8
	entryLine  = 0
	entryOpen  = 1 // no line: the URL is queued or in flight
	maxDetail  = 200
	maxType    = 100
	hostOfKey  = 8 // bytes of a key that are of the host
	timeOffset = 1 << 63
)

func appendEntry(dst []byte, l *crawl.LogLine, number uint64) []byte {
	k := l.URL.Key()
	dst = append(append(append(dst, k[:hostOfKey]...), entryLine), k[hostOfKey:]...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(l.At.UnixMicro())+timeOffset)
	dst = binary.BigEndian.AppendUint64(dst, number)
	dst = append(dst, byte(l.Kind), byte(l.Verdict))
	for _, n := range []int64{int64(l.Status), l.Bytes, l.Duration.Microseconds()} {
		dst = binary.AppendUvarint(dst, uint64(max(n, 0)))
	}
	for _, s := range []string{l.Reason, cut(l.Detail, maxDetail), cut(l.ContentType, maxType), l.URL.String(),
		l.Location.String()} {
		dst = codec.AppendText(dst, s)
	}
	return dst
}

func appendOpen(dst []byte, k weburl.Key) []byte {
	return append(append(append(append(dst, k[:hostOfKey]...), entryOpen), k[hostOfKey:]...), make([]byte, 16)...)
}

// cut keeps the first bytes of a text.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "…"
}

// entry is what is read back.
type entry struct {
	key     weburl.Key
	open    bool
	at      time.Time
	kind    crawl.Kind
	verdict crawl.Verdict
	status  int
	bytes   int64
	took    time.Duration
	reason, detail, contentType, url,
	location string
}

var errEntry = errors.New("a row of a report cannot be read back")

func (e *entry) decode(row []byte) error {
	if len(row) < entryHead {
		return errEntry
	}
	*e = entry{open: row[hostOfKey] == entryOpen}
	copy(e.key[:hostOfKey], row)
	copy(e.key[hostOfKey:], row[hostOfKey+1:])
	if e.open {
		return nil
	}
	e.at = time.UnixMicro(int64(binary.BigEndian.Uint64(row[25:]) - timeOffset)).UTC()
	r := codec.Reader{B: row[entryHead:]}
	e.kind, e.verdict = crawl.Kind(r.Byte()), crawl.Verdict(r.Byte())
	e.status, e.bytes = int(r.Uvarint(math.MaxInt32)), int64(r.Uvarint(math.MaxInt64))
	e.took = time.Duration(r.Uvarint(math.MaxInt64/1000)) * time.Microsecond
	for _, s := range []*string{&e.reason, &e.detail, &e.contentType, &e.url, &e.location} {
		*s = r.Text()
	}
	if !r.Done() {
		return errEntry
	}
	return nil
}

// asked reports whether a request was sent.
func (e *entry) asked() bool { return e.kind != crawl.KindRender && (e.status > 0 || e.took > 0) }

// wrong reports whether a request brought nothing, or not what it should have.
func (e *entry) wrong() bool {
	return e.verdict == crawl.VerdictRetry || e.verdict == crawl.VerdictFailed || e.verdict == crawl.VerdictRefused
}
