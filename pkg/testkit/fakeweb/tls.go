package fakeweb

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// authority issues certificates for whatever name a client asks for. Its keys live as long as the server.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey // of the authority and of all certificates
}

func newAuthority(now time.Time) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("fakeweb: making a key: %w", err)
	}
	t := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Fakeweb authority"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(30 * 24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("fakeweb: signing the authority's certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	return &authority{cert, key}, err
}

// issue makes a certificate for the name in a client's hello. None are kept: memory must not grow with names.
func (a *authority) issue(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if hello.ServerName == "" {
		return nil, errors.New("fakeweb: the client names no server")
	}
	t := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "fakeweb host"}, DNSNames: []string{hello.ServerName},
		NotBefore: a.cert.NotBefore, NotAfter: a.cert.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, &a.key.PublicKey, a.key)
	if err != nil {
		return nil, fmt.Errorf("fakeweb: signing a certificate for %s: %w", hello.ServerName, err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.key}, nil
}

func (a *authority) config() *tls.Config {
	return &tls.Config{GetCertificate: a.issue, NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12}
}

// CertPEM is the certificate of the server's authority, for clients that shall trust it; nil without TLS.
func (s *Server) CertPEM() []byte {
	if s.authority == nil {
		return nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.authority.cert.Raw})
}

// CertPool holds the certificate of the server's authority; nil without TLS.
func (s *Server) CertPool() *x509.CertPool {
	if s.authority == nil {
		return nil
	}
	pool := x509.NewCertPool()
	pool.AddCert(s.authority.cert)
	return pool
}
