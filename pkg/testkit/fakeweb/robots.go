package fakeweb

import (
	"strconv"
	"strings"
	"time"
)

// robotsKind is how a host answers for /robots.txt.
type robotsKind uint8

const (
	robotsNone    robotsKind = iota // 404: everything is allowed (RFC 9309, 2.3.1.3)
	robotsRules                     // rules for /private/
	robotsDelay                     // rules and a Crawl-delay
	robotsMoved                     // redirects to the rules, at the same host
	robotsAbroad                    // redirects to the rules, at another host
	robotsFailing                   // 503: nothing is allowed (RFC 9309, 2.3.1.4)
)

// robots deals: 15 % none, 10 % with a Crawl-delay, 6 % moved, 2 % moved to another host, and 3 % of the hosts no
// other host hangs on fail. The first host always has rules.
func (w *Web) robots(host int) robotsKind {
	if !w.cfg.Robots {
		return robotsNone
	}
	if host == 0 {
		return robotsRules
	}
	switch per := hash(w.cfg.Seed, purposeHost, uint64(host), 2) % 100; {
	case per < 15:
		return robotsNone
	case per < 25:
		return robotsDelay
	case per < 31:
		return robotsMoved
	case per < 33:
		return robotsAbroad
	case per < 36 && branch*host+1 >= w.cfg.Hosts:
		return robotsFailing
	default:
		return robotsRules
	}
}

// blocked says whether nothing of an ordinary host may be fetched because its robots.txt fails.
func (w *Web) blocked(host int) bool { return w.robots(host) == robotsFailing }

// movedRobots is where the rules of hosts lie that redirect /robots.txt.
const movedRobots = "/robots-moved.txt"

// Allowed reports whether a client that has read the host's robots.txt may fetch a path of it. The targets of redirects
// of robots.txt may always be fetched, and so may every path of hosts without rules.
func (w *Web) Allowed(host, path string) bool {
	h, ok := w.parseHost(host)
	if !ok || h.kind != ordinary || path == "/robots.txt" || path == movedRobots {
		return true
	}
	switch w.robots(h.n) {
	case robotsNone:
		return true
	case robotsFailing:
		return false
	default:
		open := !strings.HasPrefix(path, "/private/") || strings.HasPrefix(path, "/private/open-")
		return open && !strings.HasSuffix(path, "?print=1")
	}
}

// CrawlDelay is the pause a host's robots.txt asks for; 0 when it asks for none.
func (w *Web) CrawlDelay(host string) time.Duration {
	if h, ok := w.parseHost(host); ok && h.kind == ordinary && w.robots(h.n) == robotsDelay {
		return w.cfg.CrawlDelay
	}
	return 0
}

// appendRobots writes the rules of a host. It adds groups for other agents and mixes the order of rules, because the
// longest match wins, not the first. A file that another host redirects to has no Crawl-delay.
func (w *Web) appendRobots(dst []byte, host int, delay bool) []byte {
	dst = append(dst, "# robots.txt of "...)
	dst = appendHost(dst, hostRef{ordinary, host})
	dst = append(dst, "\nUser-agent: badbot\nUser-agent: evil-spider # not welcome\nDisallow: /\n\n"...)
	dst = append(dst, "User-Agent: *\nDisallow: /private/\nDisallow: /*?print=1$\nAllow: /private/open-\n"...)
	if delay {
		dst = append(dst, "Crawl-delay: "...)
		dst = strconv.AppendFloat(dst, w.cfg.CrawlDelay.Seconds(), 'f', -1, 64)
		dst = append(dst, '\n')
	}
	if w.cfg.Sitemaps {
		dst = append(dst, "\nSitemap: "...)
		dst = w.appendOrigin(dst, hostRef{ordinary, host})
		dst = append(dst, "/sitemap.xml\n"...)
	}
	return dst
}

// answerRobots answers for /robots.txt of an ordinary host.
func (w *Web) answerRobots(a *answer, host int) {
	switch kind := w.robots(host); kind {
	case robotsNone:
		a.fail(404)
	case robotsFailing:
		a.fail(503)
	case robotsMoved, robotsAbroad:
		if kind == robotsAbroad {
			host = (host + w.cfg.Hosts - 1) % w.cfg.Hosts
		}
		a.status = 301
		a.headers = append(a.headers, "Location: "...)
		a.headers = w.appendOrigin(a.headers, hostRef{ordinary, host})
		a.headers = append(a.headers, movedRobots+"\r\n"...)
	default:
		w.answerRules(a, host, kind == robotsDelay)
	}
}

func (w *Web) answerRules(a *answer, host int, delay bool) {
	a.ok("text/plain; charset=utf-8")
	a.body = w.appendRobots(a.body, host, delay)
}
