package jsonl

import (
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// AppendLogLine appends l to dst as one line of crawl.log, newline included, and returns the longer slice. It allocates
// only to grow dst.
func AppendLogLine(dst []byte, l *crawl.LogLine) []byte {
	dst = appendTime(append(dst, `{"time":`...), l.At)
	dst = appendURL(append(dst, `,"url":`...), l.URL)
	dst = appendString(append(dst, `,"kind":`...), l.Kind.String())
	dst = appendString(append(dst, `,"verdict":`...), l.Verdict.String())
	dst = appendInt(append(dst, `,"status":`...), int64(l.Status))
	dst = appendText(dst, `,"reason":`, l.Reason)
	dst = appendText(dst, `,"detail":`, l.Detail)
	dst = appendCount(dst, `,"bytes":`, l.Bytes)
	dst = appendSpan(dst, `,"ms":`, l.Duration)
	dst = appendSpan(dst, `,"first_byte_ms":`, l.FirstByte)
	dst = appendCount(dst, `,"attempt":`, int64(l.Attempt))
	dst = appendCount(dst, `,"depth":`, int64(l.Depth))
	dst = appendText(dst, `,"content_type":`, l.ContentType)
	if !l.Digest.IsZero() {
		dst = appendDigest(append(dst, `,"digest":`...), l.Digest)
	}
	if l.Addr.IsValid() {
		dst = append(l.Addr.WithZone("").AppendTo(append(dst, `,"addr":"`...)), '"')
	}
	dst = appendText(dst, `,"referrer":`, l.Referrer.String())
	dst = appendText(dst, `,"location":`, l.Location.String())
	dst = appendEpoch(dst, l.Epoch)
	dst = appendCount(dst, `,"visit":`, int64(l.Visit))
	dst = appendCount(dst, `,"priority":`, int64(l.Priority))
	dst = appendCount(dst, `,"finds":`, int64(l.Finds))
	dst = appendCount(dst, `,"host_links":`, int64(l.HostLinks))
	dst = appendRelevance(dst, l.Relevance)
	return append(dst, "}\n"...)
}

func appendCount(dst []byte, key string, v int64) []byte {
	if v == 0 {
		return dst
	}
	return appendInt(append(dst, key...), v)
}

func appendSpan(dst []byte, key string, d time.Duration) []byte {
	if d < time.Microsecond {
		return dst
	}
	return appendMillis(append(dst, key...), d)
}
