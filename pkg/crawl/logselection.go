package crawl

import (
	"slices"
	"strings"
	"time"
)

// LogSelection says which lines of crawl.log are meant: those that have one of the values of each field that has some.
type LogSelection struct {
	Verdicts []Verdict
	Reasons  []string
	Hosts    []string  // as weburl.URL.HostKey has them
	Statuses []int     // HTTP statuses; 1 to 5: a class of them
	Since    time.Time // written then or later; zero: at any time
	Until    time.Time // written before then
	URL      string    // a part of it
}

// Has reports whether a line is meant.
func (s *LogSelection) Has(l *LogLine) bool {
	return oneOf(s.Verdicts, l.Verdict) && oneOf(s.Reasons, l.Reason) &&
		(len(s.Hosts) == 0 || slices.Contains(s.Hosts, l.URL.HostKey())) &&
		(len(s.Statuses) == 0 || slices.Contains(s.Statuses, l.Status) ||
			l.Status >= 100 && slices.Contains(s.Statuses, l.Status/100)) &&
		(s.Since.IsZero() || !l.At.Before(s.Since)) && (s.Until.IsZero() || l.At.Before(s.Until)) &&
		(s.URL == "" || strings.Contains(l.URL.String(), s.URL))
}

func oneOf[T comparable](list []T, v T) bool { return len(list) == 0 || slices.Contains(list, v) }
