package jsonl

import (
	"strconv"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// AppendRecord appends r to dst as one line of pages.jsonl, newline included, and returns the longer slice. It
// allocates only to grow dst.
func AppendRecord(dst []byte, r *crawl.Record) []byte {
	dst = appendURL(append(dst, `{"url":`...), r.URL)
	dst = appendURL(append(dst, `,"final_url":`...), r.FinalURL)
	dst = appendInt(append(dst, `,"status":`...), int64(r.Status))
	dst = appendTime(append(dst, `,"fetched_at":`...), r.FetchedAt)
	dst = appendInt(append(dst, `,"depth":`...), int64(r.Depth))
	dst = appendURL(append(dst, `,"referrer":`...), r.Referrer)
	dst = appendString(append(dst, `,"content_type":`...), r.ContentType)
	dst = appendString(append(dst, `,"charset":`...), r.Charset)
	dst = appendInt(append(dst, `,"bytes":`...), r.Bytes)
	dst = appendDigest(append(dst, `,"digest":`...), r.Digest)
	dst = appendHex64(append(dst, `,"simhash":`...), r.Simhash)
	dst = appendString(append(dst, `,"title":`...), r.Title)
	dst = appendString(append(dst, `,"lang":`...), r.Lang)
	dst = appendString(append(dst, `,"text":`...), r.Text)
	dst = appendLinks(append(dst, `,"links":`...), r.Links)
	if len(r.Assets) > 0 {
		dst = appendList(append(dst, `,"assets":`...), r.Assets, appendString)
	}
	dst = AppendFields(append(dst, `,"fields":`...), r.Fields)
	dst = appendURL(append(dst, `,"duplicate_of":`...), r.DuplicateOf)
	dst = appendText(dst, `,"similarity":`, r.Similarity)
	dst = appendText(dst, `,"canonical":`, r.Canonical)
	dst = appendText(dst, `,"truncated":`, r.Truncated)
	if len(r.Cut) > 0 {
		dst = appendList(append(dst, `,"cut":`...), r.Cut, appendString)
	}
	dst = appendEpoch(dst, r.Epoch)
	if r.Visit > 0 {
		dst = appendInt(append(dst, `,"visit":`...), int64(r.Visit))
	}
	dst = appendExtracted(dst, &r.Extracted)
	if r.Insecure {
		dst = append(dst, `,"insecure":true`...)
	}
	dst = appendNames(dst, `,"plugins":`, r.Plugins)
	dst = appendNames(dst, `,"plugin_errors":`, r.PluginErrors)
	dst = appendRelevance(dst, r.Relevance)
	dst = appendNames(dst, `,"classes":`, r.Classes)
	if r.Rendered != nil {
		dst = AppendRendered(append(dst, `,"rendered":`...), r.Rendered)
	}
	return append(appendAged(dst, &r.Aged), "}\n"...)
}

func appendURL(dst []byte, u weburl.URL) []byte { return appendString(dst, u.String()) }

func appendInt(dst []byte, v int64) []byte { return strconv.AppendInt(dst, v, 10) }

// appendEpoch appends the epoch of a revision of the job, unless it is the first.
func appendEpoch(dst []byte, epoch uint32) []byte {
	if epoch <= 1 {
		return dst
	}
	return appendInt(append(dst, `,"epoch":`...), int64(epoch))
}

// appendRelevance appends the relevance to the topic, if it is known.
func appendRelevance(dst []byte, v crawl.Relevance) []byte {
	if !v.Known() {
		return dst
	}
	return strconv.AppendFloat(append(dst, `,"topic":`...), v.P(), 'g', -1, 64)
}

// relevance is what appendRelevance appended.
func relevance(p *float64) crawl.Relevance {
	if p == nil {
		return 0
	}
	return crawl.RelevanceOf(*p)
}

// appendNames appends key and the list, or nothing when it is empty.
func appendNames(dst []byte, key string, list []string) []byte {
	if len(list) == 0 {
		return dst
	}
	return appendList(append(dst, key...), list, appendString)
}

// appendText appends key and s, or nothing when s is empty.
func appendText(dst []byte, key, s string) []byte {
	if s == "" {
		return dst
	}
	return appendString(append(dst, key...), s)
}

func appendLinks(dst []byte, links []crawl.Link) []byte {
	dst = append(dst, '[')
	for i := range links {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendLink(dst, &links[i])
	}
	return append(dst, ']')
}

func appendLink(dst []byte, l *crawl.Link) []byte {
	href := l.Raw
	if !l.URL.IsZero() {
		href = l.URL.String()
	}
	dst = appendString(append(dst, `{"url":`...), href)
	dst = appendText(dst, `,"rel":`, l.Rel)
	dst = appendText(dst, `,"text":`, l.Text)
	if l.Weight != 0 {
		dst = appendInt(append(dst, `,"weight":`...), int64(l.Weight))
	}
	return append(dst, '}')
}

// AppendFields appends fields to dst as they are in a record: an object from name to value.
func AppendFields(dst []byte, fields []crawl.Field) []byte {
	dst = append(dst, '{')
	open := len(dst)
	for i := range fields {
		if named(fields[:i], fields[i].Name) {
			continue
		}
		if len(dst) > open {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, fields[i].Name), ':')
		dst = AppendValue(dst, fields[i].Value)
	}
	return append(dst, '}')
}

// named reports whether a field has the name: a page has a dozen fields, too few for a map to pay.
func named(fields []crawl.Field, name string) bool {
	for i := range fields {
		if fields[i].Name == name {
			return true
		}
	}
	return false
}
