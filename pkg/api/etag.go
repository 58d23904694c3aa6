package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
)

// Condition is the condition of a change.
type Condition struct {
	IfMatch string `header:"If-Match" maxLength:"64" doc:"ETag of the resource as it was read; * : whatever it is now"`
}

func etag(lock int64) string { return `"` + strconv.FormatInt(lock, 10) + `"` }

// lock is the version that the client knows; 0: any.
func (m Condition) lock(ctx context.Context) (int64, error) {
	if m.IfMatch == "" {
		return 0, problem(ctx, http.StatusPreconditionRequired,
			"If-Match is missing: read the resource and send its ETag, so that nobody's change is overwritten")
	}
	if m.IfMatch == "*" {
		return 0, nil
	}
	n, err := strconv.ParseInt(strings.Trim(strings.TrimPrefix(m.IfMatch, "W/"), `"`), 10, 64)
	if err != nil || n <= 0 {
		return 0, problem(ctx, http.StatusPreconditionFailed,
			"If-Match is none of our ETags: read the resource again and send its ETag")
	}
	return n, nil
}
