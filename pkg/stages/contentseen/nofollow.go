package contentseen

import (
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// marked are links of a document as they are passed on. Where the page says that none of its links is to be followed,
// each is marked nofollow: the URL filter leaves them out like any link with that mark, so that crawl.log and explain
// tell what became of them.
func marked(job *crawl.Job, d *crawl.Document, links []crawl.Link) []crawl.Link {
	if !d.NoFollow || job.IgnoreMeta {
		return links
	}
	out := slices.Clone(links) // the record has them as they are in the page
	for i := range out {
		if l := &out[i]; !l.NoFollow() {
			l.Rel = strings.TrimLeft(l.Rel+" nofollow", " ")
		}
	}
	return out
}

// withBeyond are links of a document with those after them that are too many, which the URL filter leaves out.
func withBeyond(d *crawl.Document, links []crawl.Link) []crawl.Link {
	if len(d.Over) == 0 {
		return links
	}
	return slices.Concat(links, d.Told())
}
