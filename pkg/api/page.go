package api

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Paged are the parameters of a list.
type Paged struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"how many at most"`
	Cursor string `query:"cursor" maxLength:"4096" doc:"next of the page before; of another list it is refused"`
}

// A cursor is what the store gave as one, with the first 16 bytes of an HMAC over it and the list that it is of.
const cursorSum = 16

// page opens the cursor of a request.
func (s *Server) page(ctx context.Context, p Paged) (workflow.Page, error) {
	out := workflow.Page{Limit: p.Limit}
	if p.Cursor == "" {
		return out, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	if err == nil && len(data) > cursorSum {
		sum, cursor := data[:cursorSum], data[cursorSum:]
		if hmac.Equal(sum, s.cursorMAC(ctx, cursor)) {
			out.Cursor = string(cursor)
			return out, nil
		}
	}
	return out, problem(ctx, http.StatusBadRequest, "the cursor is of another list, or broken: start without one")
}

// next seals the cursor of an answer; "" stays "".
func (s *Server) next(ctx context.Context, cursor string) string {
	if cursor == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(append(s.cursorMAC(ctx, []byte(cursor)), cursor...))
}

func (s *Server) cursorMAC(ctx context.Context, cursor []byte) []byte {
	mac := hmac.New(sha256.New, s.secret)
	mac.Write([]byte(listOf(ctx)))
	mac.Write([]byte{0})
	mac.Write(cursor)
	return mac.Sum(nil)[:cursorSum]
}

// listOf names the list that a request is for: its path and its query, but for the place in the list.
func listOf(ctx context.Context) string {
	u, found := ctx.Value(keyURL).(*url.URL)
	if !found {
		return ""
	}
	q := u.Query()
	q.Del("limit")
	q.Del("cursor")
	return u.Path + "?" + q.Encode()
}
