package parser

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// KeepBodiesIn says where bodies are kept of the jobs that ask for it. Call it before the first Handle.
func (h *Handler) KeepBodiesIn(k crawl.KeptBodies) { h.kept = k }

// keep keeps the body of a page that gets a record, before the record can be stored.
func (h *Handler) keep(ctx context.Context, job *crawl.Job, d *crawl.Document, body []byte) error {
	if !job.KeepBodies || h.kept == nil || d.Page.Task.Kind != crawl.KindPage || d.Unkept != "" ||
		d.NoIndex && !job.IgnoreMeta {
		return nil
	}
	return h.kept.Keep(ctx, job.ID, d.Page.Digest, body)
}

// HasFields reports whether site rules apply to bodies of a media type. Fields of others come from elsewhere: from
// policies, or from what a document says of itself.
func HasFields(mediaType string) bool { return isMarkup(mediaType) }

// Reads reports whether any of the rules apply to bodies of a media type: site rules to HTML, policies to text and JSON
// too.
func (rs *Rules) Reads(mediaType string) bool {
	return HasFields(mediaType) || rs != nil && len(rs.policies) > 0 && isPlain(mediaType)
}

// Fields applies the rules to the body of a record as the crawler does, once more.
func (rs *Rules) Fields(rec *crawl.Record, body []byte) (fields []crawl.Field, cut []string) {
	if rs == nil || !rs.Reads(rec.ContentType) || looksBinary(body) {
		return nil, nil
	}
	contentType := rec.ContentType
	if rec.Charset != "" {
		contentType += "; charset=" + rec.Charset
	}
	s := &source{r: &Result{MediaType: rec.ContentType}, place: place{url: rec.URL}, body: body, contentType: contentType,
		text: rec.Text}
	return rs.fieldsOf(s, rs.matching(rec.URL)), s.r.Cut
}
