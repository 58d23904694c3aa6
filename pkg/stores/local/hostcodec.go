package local

import (
	"encoding/binary"
	"errors"
	"math"
	"net/netip"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
)

// A host record on disk: version(1), then Next, LastContact, SlowedAt (varints: microseconds since 1970, 0 for none),
// Backoff (varint of nanoseconds), Failures, Requests (uvarints), the bytes of the address, the number of origins, and
// name, Expires and CrawlDelay of each origin. Version 2 adds the rest: its job, Ended and, if that is not 0, Took,
// Gaps and Least. Version 3, which only hosts have that failed by a way of their own, adds FailedBy. Bytes and texts
// are preceded by their length. A record is written each time a host leaves the workbench, so it is small: about 80
// bytes, half of CBOR's size.
const (
	hostVersion = 2
	wayVersion  = 3
)

var errHost = errors.New("the record is damaged")

func appendHost(b []byte, h *crawl.Host) []byte {
	version := byte(hostVersion)
	if h.FailedBy != "" {
		version = wayVersion
	}
	b = append(b, version)
	for _, t := range [...]time.Time{h.Next, h.LastContact, h.SlowedAt} {
		b = appendTime(b, t)
	}
	b = binary.AppendVarint(b, int64(h.Backoff))
	b = binary.AppendUvarint(b, uint64(max(h.Failures, 0)))
	b = binary.AppendUvarint(b, uint64(max(h.Requests, 0)))
	addr, _ := h.Addr.MarshalBinary() // it has no errors
	b = codec.AppendText(b, string(addr))
	b = binary.AppendUvarint(b, uint64(len(h.Origins)))
	for i := range h.Origins {
		o := &h.Origins[i]
		b = binary.AppendVarint(appendTime(codec.AppendText(b, o.Name), o.Expires), int64(o.CrawlDelay))
	}
	b = appendRest(b, &h.Rest)
	if version == wayVersion {
		b = codec.AppendText(b, h.FailedBy)
	}
	return b
}

func appendRest(b []byte, r *crawl.Rest) []byte {
	b = appendTime(codec.AppendText(b, string(r.Job)), r.Ended)
	if r.Ended.IsZero() {
		return b
	}
	return binary.AppendVarint(append(binary.AppendVarint(b, int64(r.Took)), r.Gaps), int64(r.Least))
}

func readRest(r *codec.Reader) (rest crawl.Rest) {
	rest.Job, rest.Ended = crawl.JobID(r.Text()), readTime(r)
	if !rest.Ended.IsZero() {
		rest.Took, rest.Gaps, rest.Least = time.Duration(r.Varint()), r.Byte(), time.Duration(r.Varint())
	}
	return rest
}

// decodeHost reads a record into h, whose key it leaves alone.
func decodeHost(b []byte, h *crawl.Host) error {
	r := codec.Reader{B: b}
	version := r.Byte()
	if version < 1 || version > wayVersion {
		return errHost
	}
	h.Next, h.LastContact, h.SlowedAt = readTime(&r), readTime(&r), readTime(&r)
	h.Backoff = time.Duration(r.Varint())
	h.Failures, h.Requests = int(r.Uvarint(math.MaxInt32)), int64(r.Uvarint(math.MaxInt64))
	var addr netip.Addr
	if err := addr.UnmarshalBinary(r.Bytes()); err != nil {
		return errors.Join(errHost, err)
	}
	h.Addr = addr
	if n := r.Uvarint(uint64(len(r.B))); n > 0 {
		h.Origins = make([]crawl.Origin, n)
	}
	for i := range h.Origins {
		h.Origins[i] = crawl.Origin{Name: r.Text(), Expires: readTime(&r), CrawlDelay: time.Duration(r.Varint())}
	}
	if version > 1 {
		h.Rest = readRest(&r)
	}
	if version == wayVersion {
		h.FailedBy = r.Text()
	}
	if !r.Done() {
		return errHost
	}
	return nil
}

func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, 0)
	}
	return binary.AppendVarint(b, t.UnixMicro())
}

func readTime(r *codec.Reader) time.Time {
	if us := r.Varint(); us != 0 {
		return time.UnixMicro(us).UTC()
	}
	return time.Time{}
}
