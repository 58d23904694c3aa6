// Package traps recognises URLs that a site generates without end, from the URL alone.
//
// Its duties, in order:
//
//  1. Check: name the rule a URL breaks: too long, too deep, segments that repeat, a calendar far from today, the
//     listing of a directory in another order.
//  2. VariantKey: put URLs that differ only in the values of their query under one key, for the caller's budget.
//
// It keeps no state, reads nothing but the URL and the time it is given, and must let real sites through: a rule here
// costs every page it is wrong about, so each one is narrower than the trap it is for.
package traps

import (
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// The reasons Check gives. They are in logs and job files and do not change.
const (
	ReasonURLLength       = "trap-url-length"
	ReasonPathDepth       = "trap-path-depth"
	ReasonRepeatedSegment = "trap-repeated-segment"
	ReasonCalendar        = "trap-calendar"
	ReasonListing         = "trap-listing" // only where the listing itself links it
)

// Config holds the bounds of the rules. A bound of 0 turns its rule off.
type Config struct {
	MaxURLLength      int  // octets of the whole URL
	MaxPathDepth      int  // segments, empty ones between slashes counted
	MaxSegmentRepeats int  // times a segment, or a sequence of up to maxUnit of them, may be in a row
	CalendarYears     int  // years before and after the current one that a calendar may show
	Listings          bool // a directory is listed in one order only
}

// Default returns the bounds others crawl with: the length from Zeno, depth from Heritrix (TooManyPathSegments), the
// repeats from Heritrix (PathologicalPath refuses the third) and Nutch, and two years either way for calendars.
func Default() Config {
	return Config{MaxURLLength: 4000, MaxPathDepth: 20, MaxSegmentRepeats: 2, CalendarYears: 2, Listings: true}
}

// Validate reports bounds that make no sense.
func (c Config) Validate() error {
	if c.MaxURLLength < 0 || c.MaxPathDepth < 0 || c.MaxSegmentRepeats < 0 || c.CalendarYears < 0 {
		return fmt.Errorf("trap rules: bounds must not be negative: %+v", c)
	}
	return nil
}

// Check returns the reason why u looks like a trap, "" if it does not. now is what calendars are measured against.
func (c Config) Check(u weburl.URL, now time.Time) (reason string) {
	if c.MaxURLLength > 0 && len(u.String()) > c.MaxURLLength {
		return ReasonURLLength
	}
	path := u.Path()
	if c.MaxPathDepth > 0 && depth(path) > c.MaxPathDepth {
		return ReasonPathDepth
	}
	var room [24]string // no path within the usual depth needs more
	segments := appendSegments(room[:0], path)
	if c.MaxSegmentRepeats > 0 && repeats(segments, c.MaxSegmentRepeats) {
		return ReasonRepeatedSegment
	}
	if c.CalendarYears > 0 && c.farDate(segments, u.Query(), now.Year()) {
		return ReasonCalendar
	}
	if c.Listings && isResorted(u) {
		return ReasonListing
	}
	return ""
}
