package crawl

import "context"

// KeptBodies keeps bodies of pages beside their records, compressed, each once a job, by its digest: so that site rules
// can be applied again without a request. Jobs ask for it (Job.KeepBodies).
type KeptBodies interface {
	// Keep keeps a body; it is durable when Keep returns. One that is kept already stays as it is.
	Keep(ctx context.Context, job JobID, d Digest, body []byte) error
	// Kept returns a body; found is false where none is kept. One that is damaged is an error (codec.ErrBody).
	Kept(ctx context.Context, job JobID, d Digest) (body []byte, found bool, err error)
}
