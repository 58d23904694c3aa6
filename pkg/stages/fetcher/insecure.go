package fetcher

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"sync"
)

// maxVerdicts bounds the certificates that are remembered, 100 bytes each.
const maxVerdicts = 4096

// verifier checks certificates of connections that were made without.
type verifier struct {
	roots *x509.CertPool

	mu    sync.Mutex
	known map[[sha256.Size]byte]string
}

// fault is what is wrong with the certificate of a connection to host; empty: nothing.
func (v *verifier) fault(host string, state *tls.ConnectionState) string {
	if state == nil || len(state.PeerCertificates) == 0 {
		return ""
	}
	sum := sha256.New()
	for _, c := range state.PeerCertificates {
		_, _ = sum.Write(c.Raw)
	}
	_, _ = sum.Write([]byte(host))
	key := [sha256.Size]byte(sum.Sum(nil))
	v.mu.Lock()
	defer v.mu.Unlock()
	if why, ok := v.known[key]; ok {
		return why
	}
	opt := x509.VerifyOptions{Roots: v.roots, DNSName: host, Intermediates: x509.NewCertPool()}
	for _, c := range state.PeerCertificates[1:] {
		opt.Intermediates.AddCert(c)
	}
	why := ""
	if _, err := state.PeerCertificates[0].Verify(opt); err != nil {
		why = plain(err)
	}
	if v.known == nil || len(v.known) >= maxVerdicts {
		v.known = map[[sha256.Size]byte]string{}
	}
	v.known[key] = why
	return why
}
