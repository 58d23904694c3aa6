package fetcher

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/dates"
)

// class is what a status means to the crawler.
type class uint8

const (
	classPage     class = iota // 2xx
	classNoBody                // 204, 205: done, and nothing to parse
	classSame                  // 304
	classRedirect              // other 3xx
	classRetry                 // again later
	classSlow                  // again later, and the whole host rests
	classBlocked               // the site does not want us there
	classGone                  // no such page
	classBroken                // no final answer
	classPart                  // a part, though the whole was asked for
)

// classify sorts a status. What is retried is what the design lists; a 501 or 505 will be the same next time. A server
// error that no standard knows, such as those of proxies, is like a 500 (RFC 9110, section 15): it may pass. So is a
// status beyond 599, such as the 999 of sites that are asked too often.
func classify(status int) class {
	switch status {
	case http.StatusNoContent, http.StatusResetContent:
		return classNoBody
	case http.StatusPartialContent:
		return classPart
	case http.StatusNotModified:
		return classSame
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable:
		return classSlow
	case http.StatusRequestTimeout, http.StatusMisdirectedRequest, http.StatusTooEarly, http.StatusBadGateway,
		http.StatusGatewayTimeout:
		return classRetry
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired,
		http.StatusUnavailableForLegalReasons:
		return classBlocked
	}
	switch {
	case status < 200:
		return classBroken
	case status < 300:
		return classPage
	case status < 400:
		return classRedirect
	case status >= 500 && http.StatusText(status) == "":
		return classRetry
	}
	return classGone
}

// classOf sorts an answer. A part that is the whole, from the first octet to the last, is a page.
func classOf(a *Answer) class {
	if c := classify(a.Code); c != classPart || !crawl.IsWhole(a.Header.Get("Content-Range")) {
		return c
	}
	return classPage
}

// settle gives an outcome the verdict of a class that ends without looking at the body.
func (c class) settle(out *crawl.Outcome) {
	switch c {
	case classPage, classNoBody, classSame, classRedirect:
		out.Verdict = crawl.VerdictDone
		return
	case classRetry, classSlow:
		out.Verdict, out.Slow = crawl.VerdictRetry, c == classSlow
	case classBlocked:
		out.Verdict = crawl.VerdictBlocked
	case classBroken:
		out.Verdict, out.Reason = crawl.VerdictRefused, crawl.ReasonBroken
		out.Detail = "the server answered " + strconv.Itoa(out.Status) + ", which ends nothing"
		return
	case classPart:
		out.Verdict, out.Reason = crawl.VerdictRefused, crawl.ReasonBroken
		out.Detail = "the server answered 206, a part, though the whole was asked for"
		return
	default:
		out.Verdict = crawl.VerdictGone
	}
	out.Reason = crawl.ReasonStatus
	out.Detail = strings.TrimSpace("the server answered " + strconv.Itoa(out.Status) + " " + http.StatusText(out.Status))
}

// retryAfter reads Retry-After (RFC 9110, section 10.2.3), seconds or a date, as a time from now between 0 and limit; 0
// where there is none or it cannot be read. A date is compared with the server's own Date, so that its clock may be
// wrong. Servers write fractions and units of seconds, Unix time and other dates, too.
func retryAfter(h http.Header, now time.Time, limit time.Duration) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" {
		return 0
	}
	seconds, counted := retrySeconds(value)
	at, dated := dates.ParseMarkup(value)
	switch {
	case counted && (seconds < unixFrom || !dated):
		return time.Duration(min(math.Ceil(seconds), float64(limit/time.Second)) * float64(time.Second))
	case !dated:
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return min(max(at.Sub(now), 0), limit)
}

// unixFrom is from when on a number of seconds is a time since 1970: nobody means thirty years.
const unixFrom = 1e9

// retrySeconds reads "120", "1.5" and "30s".
func retrySeconds(value string) (float64, bool) {
	number := strings.TrimRight(strings.ToLower(value), " condes") // the letters of "seconds"
	if strings.Trim(number, "0123456789.") != "" {
		return 0, false
	}
	seconds, err := strconv.ParseFloat(number, 64)
	return seconds, err == nil || math.IsInf(seconds, 1)
}
