package fetcher

import (
	"iter"
	"net/http"
	"strings"
)

// mediaType returns the type and subtype of a Content-Type value in lower case, or "" where it has none.
func mediaType(contentType string) string {
	t, _, _ := strings.Cut(contentType, ";")
	t = strings.ToLower(strings.TrimSpace(t))
	major, minor, ok := strings.Cut(t, "/")
	if !ok || major == "" || minor == "" || strings.ContainsAny(t, " \t,\"") {
		return ""
	}
	return t
}

// isVague reports whether a media type says nothing about the body, so that the body has to tell (WHATWG MIME Sniffing,
// section 7). application/octet-stream is no such type: it says that the body is to be saved, not read.
func isVague(media string) bool {
	switch media {
	case "", "unknown/unknown", "application/unknown", "*/*":
		return true
	}
	return false
}

// maxContentType bounds what is read of a Content-Type: a type and a subtype have 127 characters each (RFC 6838,
// section 4.2), parameters have the rest. Some servers send 200 KB, which would be in crawl.log and in the record.
const maxContentType = 1 << 10

// typeOf is the Content-Type of an answer as the server gives it, cut. Where it gives several the last one that is a
// media type counts (Fetch Standard, extract a MIME type), with the charset of one before it of the same type.
func typeOf(h http.Header) string {
	value := h.Get("Content-Type")
	if all := h["Content-Type"]; len(all) > 1 || strings.Contains(value, ",") {
		value = lastType(strings.Join(all, ", "), value)
	}
	if len(value) <= maxContentType {
		return value
	}
	return strings.ToValidUTF8(value[:maxContentType], "")
}

// lastType is the last media type of a list, else the other value.
func lastType(list, other string) string {
	last, lastMedia := other, ""
	for value := range unquotedFields(list) {
		media := mediaType(value)
		if isVague(media) {
			continue
		}
		if media != lastMedia || hasCharset(value) || !hasCharset(last) {
			last, lastMedia = value, media
		}
	}
	return last
}

// unquotedFields yields what commas part that are not in quotes.
func unquotedFields(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		quoted, from := false, 0
		for i := 0; i < len(list); i++ {
			switch c := list[i]; {
			case c == '"':
				quoted = !quoted
			case c == '\\' && quoted:
				i++
			case c == ',' && !quoted:
				if !yield(strings.TrimSpace(list[from:i])) {
					return
				}
				from = i + 1
			}
		}
		yield(strings.TrimSpace(list[from:]))
	}
}

func hasCharset(contentType string) bool {
	_, params, _ := strings.Cut(contentType, ";")
	return strings.Contains(strings.ToLower(params), "charset=")
}

// contentType returns the Content-Type of an answer, from its body where the header does not tell.
func contentType(h http.Header, b *body) (string, error) {
	value := typeOf(h)
	if !isVague(mediaType(value)) {
		return value, nil
	}
	head, err := b.sniff()
	if err != nil {
		return "", err
	}
	return mediaType(http.DetectContentType(head)), nil
}

// accepts reports whether a page of the media type is wanted. Patterns are "text/html", "text/*" or "*/*"; none at all
// means any.
func accepts(patterns []string, media string) bool {
	for _, p := range patterns {
		if prefix, ok := strings.CutSuffix(p, "*"); ok {
			if prefix == "*/" || len(media) >= len(prefix) && strings.EqualFold(media[:len(prefix)], prefix) {
				return true
			}
		} else if strings.EqualFold(p, media) {
			return true
		}
	}
	return len(patterns) == 0
}

// isFeed reports whether a body of the media type may be a sitemap or feed and no other page: XML, XML in gzip, or a
// JSON Feed.
func isFeed(media string) bool {
	return strings.Contains(media, "xml") || strings.Contains(media, "gzip") || media == "application/feed+json"
}

// acceptsSitemap reports whether a sitemap or feed may have the media type: XML and JSON under their many names, text,
// gzip, or none that a server knows.
func acceptsSitemap(media string) bool {
	return strings.Contains(media, "xml") || strings.HasPrefix(media, "text/") || strings.Contains(media, "gzip") ||
		strings.HasSuffix(media, "octet-stream") || strings.HasSuffix(media, "json")
}
