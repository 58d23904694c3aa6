package browser

import (
	"net/http"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

func TestShown(t *testing.T) {
	for _, c := range []struct {
		name, kind, disposition string
		status                  int
		empty                   bool
		want                    bool
	}{
		{name: "a page", kind: "text/html; charset=utf-8", status: 200, want: true},
		{name: "XHTML", kind: "application/xhtml+xml", status: 200, want: true},
		{name: "text", kind: "Text/Plain", status: 203, want: true},
		{name: "of no kind", status: 200, want: true},
		{name: "shown in place", kind: "text/html", disposition: "inline", status: 200, want: true},
		{name: "a download", kind: "text/html", disposition: `Attachment; filename="a.html"`, status: 200},
		{name: "a PDF", kind: "application/pdf", status: 200},
		{name: "data", kind: "application/json", status: 200},
		{name: "not there", kind: "text/html", status: 404},
		{name: "out of order", kind: "text/html", status: 500},
		{name: "no content", kind: "text/html", status: 204, empty: true},
		{name: "unchanged", kind: "text/html", status: 304},
	} {
		answer := render.Answer{Status: c.status, Header: http.Header{"Content-Type": {c.kind}}, Body: []byte("x")}
		if answer.Header.Set("Content-Disposition", c.disposition); c.empty {
			answer.Body = nil
		}
		if got := shown(answer); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if shown(render.Answer{Fail: aborted}) || !shown(render.Answer{Status: 302, Header: http.Header{"Location": {"/x"}}}) {
		t.Error("an answer that failed is shown, or a redirect is not followed")
	}
}
