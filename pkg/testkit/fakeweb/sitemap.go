package fakeweb

import (
	"bytes"
	"strconv"
)

// sitemapPages is how many pages a sitemap covers before a host needs an index of several; sitemaps.org allows 50,000.
const sitemapPages = 10_000

// answerSitemap answers for /sitemap.xml, and for the parts /sitemap-K.xml and /sitemap-K.xml.gz an index lists. The
// parts are compressed files, not compressed answers.
func (w *Web) answerSitemap(a *answer, host int, target []byte) bool {
	pages := w.pages(host)
	rest, ok := bytes.CutPrefix(target, []byte("/sitemap"))
	if !ok || !w.cfg.Sitemaps {
		return false
	}
	if string(rest) == ".xml" {
		a.ok("application/xml")
		if pages > sitemapPages {
			a.body = w.appendSitemapIndex(a.body, host)
		} else {
			a.body = w.appendSitemap(a.body, host, 0, pages)
		}
		return true
	}
	rest, dash := bytes.CutPrefix(rest, []byte("-"))
	rest, ok = bytes.CutSuffix(rest, []byte(".xml.gz"))
	part, err := strconv.Atoi(string(rest))
	if !dash || !ok || err != nil || part < 0 || pages <= sitemapPages || part*sitemapPages >= pages {
		return false
	}
	a.ok("application/gzip")
	a.body = w.appendSitemap(a.body, host, part*sitemapPages, min((part+1)*sitemapPages, pages))
	a.body = appendGzip(nil, a.body)
	return true
}

func (w *Web) appendSitemapIndex(dst []byte, host int) []byte {
	dst = append(dst, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+
		`<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`+"\n"...)
	for part := 0; part*sitemapPages < w.pages(host); part++ {
		dst = append(dst, "<sitemap><loc>"...)
		dst = w.appendOrigin(dst, hostRef{ordinary, host})
		dst = strconv.AppendInt(append(dst, "/sitemap-"...), int64(part), 10)
		dst = append(dst, ".xml.gz</loc></sitemap>\n"...)
	}
	return append(dst, "</sitemapindex>\n"...)
}

// appendSitemap lists the pages from..to-1 that a site owner would list: those that are there and meant to be found.
func (w *Web) appendSitemap(dst []byte, host, from, to int) []byte {
	dst = append(dst, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+
		`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`+"\n"...)
	for p := from; p < to; p++ {
		r := pageRef{host, p}
		if k := w.drawnClass(r); k == redirecting || k == missing {
			continue
		}
		if d := w.detail(r); d.private || d.noindex {
			continue
		}
		dst = append(dst, "<url><loc>"...)
		dst = w.appendOrigin(dst, hostRef{ordinary, host})
		start := len(dst)
		dst = w.appendPath(dst, r)
		dst = escapeAmpersands(dst, start)
		dst = append(dst, "</loc><lastmod>"...)
		dst = w.lastModified(r, 0).AppendFormat(dst, "2006-01-02")
		dst = append(dst, "</lastmod></url>\n"...)
	}
	return append(dst, "</urlset>\n"...)
}

// escapeAmpersands turns & into &amp; from start to the end.
func escapeAmpersands(dst []byte, start int) []byte {
	i := bytes.IndexByte(dst[start:], '&')
	if i < 0 {
		return dst
	}
	tail := bytes.ReplaceAll(dst[start+i:], []byte("&"), []byte("&amp;"))
	return append(dst[:start+i], tail...)
}
