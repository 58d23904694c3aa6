package fetcher

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/dnscache"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/netguard"
)

// Fault is what kept an answer from us, as an outcome says it. A client returns one as the error where it knows.
//
//nolint:errname // fetcher.Fault says it
type Fault struct {
	Verdict crawl.Verdict
	Reason  string // a token for machines, see the Reason constants of crawl
	Detail  string // for people
}

// Error implements error.
func (f Fault) Error() string { return f.Detail }

func (f Fault) apply(out *crawl.Outcome) {
	out.Verdict, out.Reason, out.Detail = f.Verdict, f.Reason, f.Detail
}

func isGuard(err error) bool {
	var g *netguard.Error
	return errors.As(err, &g)
}

// diagnose turns the error of a request or of its body into a fault. The order matters: wrapped errors come before
// their wrappers.
func diagnose(err error) Fault {
	var told Fault
	if errors.As(err, &told) {
		return told
	}
	for _, test := range []func(error) (Fault, bool){diagnoseFiles, diagnoseCertificate, diagnoseName, diagnoseTime,
		diagnoseTLS, diagnoseConnect, diagnoseAnswer, diagnoseHTTP2} {
		if f, ok := test(err); ok {
			return f
		}
	}
	return Fault{crawl.VerdictRetry, crawl.ReasonBroken, "the answer cannot be read: " + plain(err)}
}

// diagnoseFiles knows that this process can open no more files, which is no host's fault. The resolver's error has only
// a text.
func diagnoseFiles(err error) (Fault, bool) {
	if !noFiles(err) {
		return Fault{}, false
	}
	return Fault{crawl.VerdictRetry, crawl.ReasonOpenFiles,
		"this crawler can open no more files: raise the limit (ulimit -n) or ask for less at once"}, true
}

// diagnoseCertificate knows that a client certificate cannot be used, which is no host's fault.
func diagnoseCertificate(err error) (Fault, bool) {
	var c *certificateError
	if !errors.As(err, &c) {
		return Fault{}, false
	}
	return Fault{crawl.VerdictRetry, crawl.ReasonCertificate, c.Error()}, true
}

func noFiles(err error) bool {
	var d *dnscache.Error
	return system.NoFiles(err) ||
		errors.As(err, &d) && system.NoFilesSays(d.Detail)
}

// diagnoseName knows what is wrong with a host before it is connected to.
func diagnoseName(err error) (Fault, bool) {
	var g *netguard.Error
	var d *dnscache.Error
	switch {
	case errors.As(err, &g):
		return Fault{crawl.VerdictRefused, crawl.ReasonPrivateAddress, g.Error() +
			"; --allow-private permits it (on a cluster, where fetch.allow_private_jobs does)"}, true
	case errors.As(err, &d) && errors.Is(d.Kind, dnscache.ErrNoSuchHost):
		return Fault{crawl.VerdictGone, crawl.ReasonNoSuchHost,
			"the host name " + d.Host + " does not exist or has no address"}, true
	case errors.As(err, &d):
		return Fault{crawl.VerdictRetry, crawl.ReasonDNS,
			"the address of " + d.Host + " could not be looked up: " + cut(d.Detail)}, true
	}
	return Fault{}, false
}

// diagnoseTime knows our own limits.
func diagnoseTime(err error) (Fault, bool) {
	for _, limit := range []struct {
		err    error
		reason string
		hint   string
	}{
		{errTotal, crawl.ReasonTimeout, "limits.total"},
		{errNoReply, crawl.ReasonTimeout, "limits.first_byte"},
		{errHurried, crawl.ReasonTimeout, "limits.total"},
		{errNotHeard, crawl.ReasonTimeout, "limits.first_byte"},
		{errNoConnection, crawl.ReasonConnect, "limits.connect"},
		{errIdle, crawl.ReasonTimeout, "limits.idle"},
		{errTooSlow, crawl.ReasonTooSlow, "limits.min_rate"},
	} {
		if errors.Is(err, limit.err) {
			return Fault{crawl.VerdictRetry, limit.reason, limit.err.Error() + "; " + limit.hint + " is the bound"}, true
		}
	}
	return Fault{}, false
}

// diagnoseTLS tells what may pass, a handshake that was cut short, from what will not: a certificate that is not
// valid, a protocol that is not shared. Some of these errors have no type, only a text.
func diagnoseTLS(err error) (Fault, bool) {
	var cert *tls.CertificateVerificationError
	var op *net.OpError // an alert has no type of its own
	var record tls.RecordHeaderError
	text := err.Error()
	switch {
	case errors.As(err, &cert):
		return Fault{crawl.VerdictRefused, crawl.ReasonTLS, "the certificate is not valid: " + plain(cert.Err)}, true
	case strings.Contains(text, "TLS handshake timeout"):
		return Fault{crawl.VerdictRetry, crawl.ReasonTLS,
			"the TLS handshake took too long; limits.tls_handshake is the bound"}, true
	case errors.As(err, &record), strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return Fault{crawl.VerdictRefused, crawl.ReasonTLS, "the server does not speak TLS at this port"}, true
	case errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error"), strings.HasPrefix(text, "tls: "):
		return Fault{crawl.VerdictRefused, crawl.ReasonTLS, "the TLS handshake failed: " + plain(err)}, true
	}
	return Fault{}, false
}

// diagnoseConnect knows that no connection came about.
func diagnoseConnect(err error) (Fault, bool) {
	var dial *dialError
	var op *net.OpError
	switch {
	case errors.As(err, &dial):
		return Fault{crawl.VerdictRetry, crawl.ReasonConnect,
			"no connection to " + dial.addr.String() + ": " + plain(dial.err)}, true
	case errors.As(err, &op) && op.Op == "dial":
		return Fault{crawl.VerdictRetry, crawl.ReasonConnect, "no connection: " + plain(err)}, true
	}
	return Fault{}, false
}

// diagnoseAnswer knows what servers get wrong. net/http has no types for these errors.
func diagnoseAnswer(err error) (Fault, bool) {
	text := err.Error()
	switch {
	case strings.Contains(text, "response headers exceeded"), strings.Contains(text, "header list larger"),
		strings.Contains(text, "header list too large"):
		return Fault{crawl.VerdictRefused, crawl.ReasonHeaderTooLarge,
			"the answer's headers are too large; limits.max_header is the bound"}, true
	case errors.Is(err, errEncoding):
		return Fault{crawl.VerdictRefused, crawl.ReasonEncoding, errEncoding.Error()}, true
	case errors.Is(err, errCutShort):
		return Fault{crawl.VerdictRetry, crawl.ReasonBroken, errCutShort.Error()}, true
	case errors.Is(err, errRepeated):
		return Fault{crawl.VerdictRetry, crawl.ReasonBroken, errRepeated.Error()}, true
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), system.Reset(err):
		return Fault{crawl.VerdictRetry, crawl.ReasonBroken,
			"the server closed the connection before the answer was complete"}, true
	}
	return Fault{}, false
}

// maxDetail bounds what an error may add to a detail: it can quote the server.
const maxDetail = 200

// plain words an error for people: the system's own words where it has any, without addresses and operations.
func plain(err error) string {
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		return errno.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "it took too long"
	}
	text := err.Error()
	for again := true; again; {
		again = false
		for _, p := range noise {
			if rest, ok := strings.CutPrefix(text, p); ok {
				text, again = rest, true
			}
		}
	}
	return cut(text)
}

// noise is what net/http and its like put before what they have to say.
var noise = []string{"net/http: ", "http: ", "http2: ", "tls: ", "x509: ", "remote error: ",
	"HTTP/1.x transport connection broken: "}

func cut(s string) string {
	if len(s) <= maxDetail {
		return s
	}
	return strings.ToValidUTF8(s[:maxDetail], "") + " …"
}
