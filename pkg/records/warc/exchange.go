package warc

import (
	"crypto/sha256"
	"net/netip"
	"strconv"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Profiles of revisit records (WARC 1.1, section 6.7).
const (
	profileIdentical   = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	profileNotModified = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
)

// capture is what a revisit record says of the response it refers to.
type capture struct {
	id   recordID
	uri  string
	date time.Time
}

// exchange appends the records of x: response or revisit, request, metadata. With orig, the response is a revisit of
// it.
func (e *encoder) exchange(x *crawl.Exchange, digest crawl.Digest, orig *capture) (capture, error) {
	c := capture{id: idOf(x.ID), uri: x.URL.String(), date: x.Started}
	e.http = appendResponse(e.http[:0], x)
	if err := e.record(e.response(x, c, digest, orig)); err != nil {
		return c, err
	}
	e.http = appendRequest(e.http[:0], x)
	err := e.record(&record{
		kind: "request", contentType: typeRequest, id: newID(), date: c.date, head: e.http,
		fields: []Field{
			{"WARC-Target-URI", c.uri}, {"WARC-Concurrent-To", c.id.String()}, {"WARC-IP-Address", address(x.Addr)},
		},
	})
	if err != nil {
		return c, err
	}
	e.http = appendFields(e.http[:0], metadataFields(x))
	return c, e.record(&record{
		kind: "metadata", contentType: typeFields, id: newID(), date: c.date, head: e.http,
		fields: []Field{{"WARC-Target-URI", c.uri}, {"WARC-Concurrent-To", c.id.String()}},
	})
}

// conversion appends the record of what was made from a response (WARC 1.1, section 6.7).
func (e *encoder) conversion(x *crawl.Exchange, digest crawl.Digest) error {
	return e.record(&record{
		kind: "conversion", contentType: x.ResponseHeader.Get("Content-Type"), id: idOf(x.ID), date: x.Started, body: x.Body,
		fields: []Field{{"WARC-Target-URI", x.URL.String()}, {"WARC-Refers-To", idOf(x.Refers).String()},
			{"WARC-Truncated", truncation(x.Truncated)}, {"WARC-Payload-Digest", digest.String()}},
	})
}

// response makes the response or revisit record; its HTTP header is in e.http.
func (e *encoder) response(x *crawl.Exchange, c capture, digest crawl.Digest, orig *capture) *record {
	r := &record{kind: "response", contentType: typeResponse, id: c.id, date: c.date, head: e.http, body: x.Body}
	payload, truncated := digest.String(), truncation(x.Truncated)
	r.fields = []Field{{"WARC-Target-URI", c.uri}, {"WARC-IP-Address", address(x.Addr)},
		{"WARC-Protocol", protocol(x.Proto)}}
	switch {
	case x.NotModified:
		r.kind, r.body = "revisit", nil
		r.fields = append(r.fields, Field{"WARC-Profile", profileNotModified})
		return r
	case orig != nil:
		r.kind, r.body = "revisit", nil
		truncated = "length" // asked for by the profile: the payload is left out
		r.fields = append(r.fields, Field{"WARC-Profile", profileIdentical}, Field{"WARC-Refers-To", orig.id.String()},
			Field{"WARC-Refers-To-Target-URI", orig.uri}, Field{"WARC-Refers-To-Date", date(orig.date)})
	}
	r.fields = append(r.fields, Field{"WARC-Truncated", truncated}, Field{"WARC-Payload-Digest", payload})
	return r
}

// metadataFields names things as Heritrix does, so that existing tools find them.
func metadataFields(x *crawl.Exchange) []Field {
	return []Field{
		{"via", x.Referrer.String()},
		{"hopsFromSeed", strconv.Itoa(x.Depth)},
		{"fetchTimeMs", strconv.FormatInt(x.Duration.Milliseconds(), 10)},
	}
}

func address(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.Unmap().WithZone("").String()
}

// truncation translates the reason of a cut body into the standard's words (WARC 1.1, section 5.13).
func truncation(reason string) string {
	switch reason {
	case "", "length", "time", "disconnect":
		return reason
	case crawl.ReasonTruncatedMaxBody:
		return "length"
	case crawl.ReasonTimeout, crawl.ReasonTooSlow:
		return "time"
	}
	return "unspecified"
}

// payloadDigest is x.Digest, or reckoned where the fetcher left that to us.
func payloadDigest(x *crawl.Exchange) crawl.Digest {
	if x.Digest.IsZero() {
		return sha256.Sum256(x.Body)
	}
	return x.Digest
}
