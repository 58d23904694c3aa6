package fetcher

import "github.com/whirlpool-crawler/whirlpool/pkg/crawl"

// noteValidators notes what the server names this version of the page by. With a 304 it may leave out what it was asked
// with: that still holds.
func (a *attempt) noteValidators() {
	h := a.answer.Header
	a.out.ETag, a.out.LastModified = validator(h.Get("Etag")), validator(h.Get("Last-Modified"))
	if classify(a.out.Status) == classSame && a.out.ETag == "" && a.out.LastModified == "" {
		a.out.ETag, a.out.LastModified = validator(a.task.ETag), validator(a.task.LastModified)
	}
}

// validator returns a validator that can be kept and sent back; empty: none.
func validator(s string) string {
	if len(s) > crawl.MaxValidator || !isFieldValue(s) {
		return ""
	}
	return s
}
