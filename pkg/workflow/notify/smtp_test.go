package notify

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// office is a mail server with STARTTLS that takes mail from who has signed in. It keeps a mail once by its Message-ID.
type office struct {
	mu     sync.Mutex
	fail   []error // answers to the next mails, before they are kept
	lose   int     // answers that get lost after the mail was kept
	kept   map[string]string
	tries  int
	signed []string
}

type officeSession struct {
	o      *office
	conn   *smtp.Conn
	signed bool
}

func (o *office) NewSession(c *smtp.Conn) (smtp.Session, error) {
	return &officeSession{o: o, conn: c}, nil
}

func (s *officeSession) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *officeSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if _, secure := s.conn.TLSConnectionState(); !secure || user != "crawler" || password != "geheim" {
			return smtp.ErrAuthFailed
		}
		s.signed = true
		s.o.mu.Lock()
		defer s.o.mu.Unlock()
		s.o.signed = append(s.o.signed, user)
		return nil
	}), nil
}

func (*officeSession) Reset()        {}
func (*officeSession) Logout() error { return nil }
func (s *officeSession) Mail(string, *smtp.MailOptions) error {
	if !s.signed {
		return smtp.ErrAuthRequired
	}
	return nil
}
func (*officeSession) Rcpt(string, *smtp.RcptOptions) error { return nil }

func (s *officeSession) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.o.mu.Lock()
	defer s.o.mu.Unlock()
	s.o.tries++
	if len(s.o.fail) > 0 {
		err := s.o.fail[0]
		s.o.fail = s.o.fail[1:]
		return err
	}
	for line := range strings.Lines(string(text)) {
		if id, is := strings.CutPrefix(line, "Message-ID: "); is {
			s.o.kept[strings.TrimSpace(id)] = string(text)
		}
	}
	if s.o.lose > 0 {
		s.o.lose--
		_ = s.conn.Conn().Close()
		return errors.New("lost")
	}
	return nil
}

// newOffice starts one, and returns the channel that leads to it and whom to trust.
func newOffice(t *testing.T) (*office, *Channel, *x509.CertPool) {
	t.Helper()
	cert, roots := certificate(t)
	o := &office{kept: map[string]string{}}
	srv := smtp.NewServer(o)
	srv.Domain, srv.TLSConfig = "mail.test",
		&tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close(); <-done })
	return o, &Channel{Name: "mail", Kind: Email, Host: "localhost", Port: l.Addr().(*net.TCPAddr).Port, User: "crawler",
		Password: "${PW}", From: "crawler@whirl.test", To: []string{"ops@whirl.test"}}, roots
}

func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"},
		DNSNames: []string{"localhost"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}

// A server fails, loses an answer, and accepts: over STARTTLS and signed in, the mail is there once.
func TestMailOverSTARTTLSIsThereOnce(t *testing.T) {
	o, c, roots := newOffice(t)
	o.fail = []error{&smtp.SMTPError{Code: 451, Message: "later"}, &smtp.SMTPError{Code: 421, Message: "busy"}}
	o.lose = 1
	s := sender(map[string]string{"PW": "geheim"})
	s.roots = roots
	failed := 0
	for {
		_, err := s.Send(t.Context(), c, message())
		if err == nil {
			break
		}
		if failed++; crawl.IsPermanent(err) || failed > 5 || strings.Contains(err.Error(), "geheim") {
			t.Fatalf("try %d: %v", failed, err)
		}
	}
	if failed != 3 || o.tries != 4 || len(o.kept) != 1 || len(o.signed) != 4 {
		t.Errorf("%d failures, %d tries, %d mails, %d times signed in", failed, o.tries, len(o.kept), len(o.signed))
	}
}

// A wrong password, a certificate that nobody vouches for: nothing is sent, and no error has the password.
func TestMailServersThatAreNotTrusted(t *testing.T) {
	o, c, roots := newOffice(t)
	s := sender(map[string]string{"PW": "geheim-aber-falsch"})
	s.roots = roots
	if _, err := s.Send(t.Context(), c, message()); err == nil || strings.Contains(err.Error(), "geheim") {
		t.Errorf("a wrong password: %v", err)
	}
	s = sender(map[string]string{"PW": "geheim"})
	if _, err := s.Send(t.Context(), c, message()); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown certificate: %v", err)
	}
	if o.tries != 0 || len(o.signed) != 0 {
		t.Errorf("%d tries, signed in %q", o.tries, o.signed)
	}
}
