package crawl

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Redirects remembers the redirect targets of a job's URLs. Each target is fetched as a URL of its own, so only this
// record shows that a chain of redirects leads back to its start.
type Redirects interface {
	// Redirect notes that from redirects to to; of several notes the last counts. It is durable when it returns.
	Redirect(ctx context.Context, job JobID, from, to weburl.URL) error
	// Target returns where a URL redirects to; found is false where nothing was noted.
	Target(ctx context.Context, job JobID, from weburl.URL) (to weburl.URL, found bool, err error)
}

// ReasonRedirectLoop is that of a URL whose redirects lead back to it.
const ReasonRedirectLoop = "redirect-loop"
