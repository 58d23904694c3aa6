package livingweb

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"net/http"
	"time"
)

const (
	listPath    = "/sitemap.xml"
	movedPrefix = "/was"
)

// MovedTo is the path at which a page is that is answered with 301.
func MovedTo(path string) string { return movedPrefix + path }

// refuse answers for a page that is not where it was asked for.
func refuse(rw http.ResponseWriter, p *page, status int) {
	if status == http.StatusMovedPermanently {
		rw.Header().Set("Location", MovedTo(p.path))
	}
	rw.WriteHeader(cmp.Or(status, http.StatusNotFound))
}

// at is the time of a day, by the calendar.
func (w *Web) at(day float64) time.Time {
	return w.cfg.Calendar.Start.Add(time.Duration(day * 24 * float64(time.Hour))).UTC()
}

// changed is the day on which the page had changed last by a day; 0: it had not.
func (p *page) changed(day float64) float64 {
	last := p.since
	if n := p.version(day); n > 0 {
		last = max(last, p.changes[n-1])
	}
	return last
}

// robots answers with the robots.txt of a host.
func (s *Server) robots(rw http.ResponseWriter, host int) {
	rw.Header().Set("Content-Type", "text/plain")
	_, _ = rw.Write([]byte("User-agent: *\nDisallow:\n"))
	if s.cfg.Lists {
		_, _ = rw.Write([]byte("Sitemap: " + s.hosts[host] + listPath + "\n"))
	}
}

// list answers with the sitemap of a host: its pages that are there, with the dates of their changes.
func (s *Server) list(rw http.ResponseWriter, host int) {
	rw.Header().Set("Content-Type", "application/xml")
	_, _ = fmt.Fprint(rw, xml.Header+`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	s.mu.Lock()
	defer s.mu.Unlock()
	day := s.now()
	for _, p := range s.pages {
		if p.host == host && p.status == 0 {
			_, _ = fmt.Fprintf(rw, "<url><loc>%s%s</loc><lastmod>%s</lastmod></url>\n", s.hosts[host], p.path,
				s.at(p.changed(day)).Format(time.RFC3339))
		}
	}
	_, _ = fmt.Fprint(rw, "</urlset>\n")
}
