package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func message() *Message {
	return &Message{ID: "dl_1", Type: "org.whirlpool.alert.firing", Title: "failed: postings\r\nBcc: x@y.test",
		Text: "It failed.\n", At: time.Unix(1_800_000_000, 0), Data: json.RawMessage(`{"rule":"failed"}`)}
}

func sender(vars map[string]string) *Sender {
	return &Sender{AllowPrivate: true, Source: "http://127.0.0.1:8711",
		Lookup: func(name string) (string, bool) { v, found := vars[name]; return v, found }}
}

// What a receiver does by the text of Standard Webhooks, without our code.
func TestASignatureIsVerified(t *testing.T) {
	newer := "whsec_" + base64.StdEncoding.EncodeToString([]byte("a key of 24 random bytes"))
	file := filepath.Join(t.TempDir(), "older")
	if err := os.WriteFile(file, []byte("plain secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var head http.Header
	var content []byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head = r.Header
		content, _ = io.ReadAll(r.Body)
		_, _ = io.WriteString(w, "taken "+strings.Repeat("x", 200_000))
	}))
	defer srv.Close()
	c := &Channel{Name: "ops", Kind: Webhook, URL: "${HOOK}", Secrets: []string{"${NEWER}", "file:" + file}}
	answer, err := sender(map[string]string{"NEWER": newer, "HOOK": srv.URL + "/secret-path"}).Send(t.Context(), c,
		message())
	if err != nil || !strings.HasPrefix(answer, "taken x") || len(answer) > 500 {
		t.Fatalf("%d bytes of answer, %v", len(answer), err)
	}
	signed := head.Get("webhook-id") + "." + head.Get("webhook-timestamp") + "." + string(content)
	for i, key := range []string{"a key of 24 random bytes", "plain secret"} {
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(signed))
		want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		if got := strings.Fields(head.Get("webhook-signature")); len(got) != 2 || got[i] != want {
			t.Errorf("signature %d is %q, want %s", i, got, want)
		}
	}
	var event map[string]any
	if err := json.Unmarshal(content, &event); err != nil || event["specversion"] != "1.0" || event["id"] != "dl_1" ||
		event["type"] != "org.whirlpool.alert.firing" {
		t.Errorf("%s, %v", content, err)
	}
}

func TestAnswersOfReceivers(t *testing.T) {
	to := http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "http://169.254.169.254/")
		w.WriteHeader(to)
	}))
	defer srv.Close()
	c := &Channel{Name: "ops", Kind: Webhook, URL: srv.URL}
	for status, permanent := range map[int]bool{500: false, 404: false, 429: false, 302: false, 410: true} {
		to = status
		_, err := sender(nil).Send(t.Context(), c, message())
		if err == nil || crawl.IsPermanent(err) != permanent {
			t.Errorf("%d: %v", status, err)
		}
	}
	srv.Close()
	if _, err := sender(nil).Send(t.Context(), c, message()); err == nil || crawl.IsPermanent(err) ||
		strings.Contains(err.Error(), "http://") {
		t.Errorf("nobody there: %v", err)
	}
}

func TestWebhooksDoNotGoToPrivateAddresses(t *testing.T) {
	asked := false
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer srv.Close()
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	s := sender(nil)
	s.AllowPrivate = false
	for _, to := range []string{srv.URL, "http://localhost:" + port, "http://[::ffff:127.0.0.1]:" + port} {
		_, err := s.Send(t.Context(), &Channel{Name: "ops", Kind: Webhook, URL: to}, message())
		if err == nil || !crawl.IsPermanent(err) || asked {
			t.Errorf("%s: %v, asked %v", to, err, asked)
		}
	}
}

func TestSecretsThatAreNotThere(t *testing.T) {
	c := &Channel{Name: "ops", Kind: Webhook, URL: "http://127.0.0.1:1/", Secrets: []string{"${NONE}"}}
	if _, err := sender(nil).Send(t.Context(), c, message()); err == nil ||
		!strings.Contains(err.Error(), "no variable NONE") {
		t.Error(err)
	}
	c.Secrets = []string{"file:/does/not/exist"}
	if _, err := sender(nil).Send(t.Context(), c, message()); err == nil {
		t.Error("a file that is not there")
	}
}

// mailbox is a mail server that fails as a test says.
type mailbox struct {
	mu   sync.Mutex
	data []error // answers to the next mails
	cut  int     // connections to cut after the next mails
	got  [][]byte
}

type mailSession struct {
	b    *mailbox
	conn net.Conn
}

func (b *mailbox) NewSession(c *smtp.Conn) (smtp.Session, error) {
	return &mailSession{b, c.Conn()}, nil
}

func (*mailSession) Reset()                               {}
func (*mailSession) Logout() error                        { return nil }
func (*mailSession) Mail(string, *smtp.MailOptions) error { return nil }
func (*mailSession) Rcpt(string, *smtp.RcptOptions) error { return nil }

func (s *mailSession) Data(r io.Reader) error {
	content, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	if s.b.cut > 0 {
		s.b.cut--
		_ = s.conn.Close()
		return errors.New("cut")
	}
	if len(s.b.data) > 0 {
		err := s.b.data[0]
		if s.b.data = s.b.data[1:]; err != nil {
			return err
		}
	}
	s.b.got = append(s.b.got, content)
	return nil
}

func mailServer(t *testing.T) (*mailbox, *Channel) {
	t.Helper()
	b := &mailbox{}
	srv := smtp.NewServer(b)
	srv.Domain = "mail.test"
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close(); <-done })
	port := l.Addr().(*net.TCPAddr).Port
	return b, &Channel{Name: "mail", Kind: Email, Host: "127.0.0.1", Port: port, TLS: "none",
		From: "Crawler <crawler@whirl.test>", To: []string{"ops@whirl.test"}}
}

func TestMail(t *testing.T) {
	b, c := mailServer(t)
	if f := c.Check(); f != nil {
		t.Fatal(f)
	}
	if _, err := sender(nil).Send(t.Context(), c, message()); err != nil {
		t.Fatal(err)
	}
	head, _, _ := bytes.Cut(b.got[0], []byte("\r\n\r\n"))
	text := string(head)
	if !strings.Contains(text, "Message-ID: <dl_1@whirl.test>") || !strings.Contains(text, "List-Id:") ||
		strings.Contains(text, "\nBcc:") {
		t.Error(text)
	}
}

// A refusal for now is followed by a delivery, one for good by none, and a connection that is cut before the answer by
// one delivery with the same Message-ID.
func TestMailServersThatFail(t *testing.T) {
	b, c := mailServer(t)
	try := func() error {
		_, err := sender(nil).Send(context.Background(), c, message())
		return err
	}
	b.data = []error{&smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "later"}}
	if err := try(); err == nil || crawl.IsPermanent(err) {
		t.Errorf("451: %v", err)
	}
	if err := try(); err != nil || len(b.got) != 1 {
		t.Errorf("after 451: %v, %d mails", err, len(b.got))
	}
	b.data = []error{&smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 7, 1}, Message: "never"}}
	if err := try(); err == nil || !crawl.IsPermanent(err) {
		t.Errorf("554: %v", err)
	}
	b.mu.Lock()
	b.cut = 1
	b.mu.Unlock()
	if err := try(); err == nil || crawl.IsPermanent(err) {
		t.Errorf("cut: %v", err)
	}
	if err := try(); err != nil || len(b.got) != 2 {
		t.Errorf("after the cut: %v, %d mails", err, len(b.got))
	}
}

// A server without STARTTLS gets no mail where nothing else is said.
func TestMailIsNotSentInTheClear(t *testing.T) {
	b, c := mailServer(t)
	c.TLS = ""
	if _, err := sender(nil).Send(t.Context(), c, message()); err == nil || len(b.got) != 0 {
		t.Errorf("%v, %d mails", err, len(b.got))
	}
}
