package crawl

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What Retry.On may name besides "status:" with a status or a class of them.
const (
	RetryTimeout = "timeout" // the answer did not come in time, or too slowly
	RetryConnect = "connect" // there was no connection
	RetryDNS     = "dns"     // the host's address could not be looked up
	RetryTLS     = "tls"     // the handshake did not end; a certificate that is not valid is never tried again
	RetryBroken  = "broken"  // the answer was cut off, or is no HTTP
	retryStatus  = "status:"
)

// failures are those that may pass, by the reasons of outcomes.
var failures = map[string]string{ReasonTimeout: RetryTimeout, ReasonTooSlow: RetryTimeout, ReasonConnect: RetryConnect,
	ReasonDNS: RetryDNS, ReasonTLS: RetryTLS, ReasonBroken: RetryBroken}

var retriedStatus = regexp.MustCompile(`^status:[45]([0-9][0-9]|xx)$`)

// checkRetryOn finds what is no failure.
func checkRetryOn(on []string) (errs []error) {
	for i, name := range on {
		switch name {
		case RetryTimeout, RetryConnect, RetryDNS, RetryTLS, RetryBroken:
			continue
		}
		if !retriedStatus.MatchString(name) {
			errs = append(errs, &KeyError{fmt.Sprintf("retry.on[%d]", i),
				fmt.Sprintf("%q: want timeout, connect, dns, tls, broken, or status: and a status from 400 on, as in status:429 "+
					"or status:5xx", name)})
		}
	}
	return errs
}

// Repeats judges an attempt that failed: whether the job wants it repeated. named is false where Retry.On does not
// decide that: it is empty, or it was no failure that it could name. The number of attempts is another matter.
func (r *Retry) Repeats(out *Outcome) (repeat, named bool) {
	if len(r.On) == 0 {
		return false, false
	}
	if out.Reason == ReasonStatus {
		return r.repeatsStatus(out.Status), true
	}
	failure := failures[out.Reason]
	if failure == "" || out.Verdict != VerdictRetry {
		return false, false
	}
	return slices.Contains(r.On, failure), true
}

// RepeatsSilence reports whether a host that does not answer in time is asked again.
func (r *Retry) RepeatsSilence() bool {
	return len(r.On) == 0 || slices.Contains(r.On, RetryTimeout) && slices.Contains(r.On, RetryConnect)
}

func (r *Retry) repeatsStatus(status int) bool {
	text := strconv.Itoa(status)
	return len(text) == 3 && slices.ContainsFunc(r.On, func(name string) bool {
		want, is := strings.CutPrefix(name, retryStatus)
		return is && (want == text || want == text[:1]+"xx")
	})
}
