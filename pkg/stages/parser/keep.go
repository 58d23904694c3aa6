package parser

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// KeepBodiesIn says where bodies are kept of the jobs that ask for it. Call it before the first Handle.
func (h *Handler) KeepBodiesIn(k crawl.KeptBodies) { h.kept = k }

// keep keeps the body of a page that gets a record, before the record can be stored.
func (h *Handler) keep(ctx context.Context, job *crawl.Job, d *crawl.Document, body []byte) error {
	if !job.KeepBodies || h.kept == nil || d.Page.Task.Kind != crawl.KindPage || d.Unkept != "" || d.NoIndex && !job.IgnoreMeta {
		return nil
	}
	return h.kept.Keep(ctx, job.ID, d.Page.Digest, body)
}

// HasFields reports whether site rules apply to bodies of a media type. Fields of others come from elsewhere, as those
// that a document says of itself.
func HasFields(mediaType string) bool { return isMarkup(mediaType) }

// Fields applies site rules to a body as the crawler does, once more: media type and charset are those of its record.
func Fields(rules *Rules, u weburl.URL, mediaType, charset string, body []byte) (fields []crawl.Field, cut []string) {
	match := rules.matching(u)
	if len(match) == 0 || !HasFields(mediaType) || looksBinary(body) {
		return nil, nil
	}
	contentType := mediaType
	if charset != "" {
		contentType += "; charset=" + charset
	}
	text, _, _ := decode(body, contentType)
	r := &Result{}
	return r.fields(match, text), r.Cut
}
