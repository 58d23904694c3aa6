package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/netguard"
)

const (
	maxAnswer   = 64 << 10 // that is read
	shownAnswer = 500      // that is kept
)

// webhook posts a message. Its headers are those of Standard Webhooks.
func (s *Sender) webhook(ctx context.Context, c *Channel, m *Message) (string, error) {
	to, err := s.address(c)
	if err != nil {
		return "", err
	}
	content, err := s.jsonOf(m)
	if err != nil {
		return "", crawl.Permanent(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(content))
	if err != nil {
		return "", crawl.Permanent(errors.New("the address of the webhook is none"))
	}
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	req.Header.Set("Content-Type", "application/cloudevents+json; charset=utf-8")
	req.Header.Set("User-Agent", "Whirlpool/"+crawl.Version)
	req.Header.Set("webhook-id", m.ID)
	req.Header.Set("webhook-timestamp", stamp)
	if err := s.sign(req.Header, c, m.ID+"."+stamp+".", content); err != nil {
		return "", err
	}
	client := s.client()
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		return "", dialled(err)
	}
	defer resp.Body.Close()
	return judged(resp)
}

// address is where a webhook goes.
func (s *Sender) address(c *Channel) (string, error) {
	to := c.URL
	if IsReference(to) {
		var err error
		if to, err = s.resolve(to); err != nil {
			return "", err
		}
	}
	u, err := url.Parse(to)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", crawl.Permanent(errors.New("the address of the webhook is none of http or https"))
	}
	return to, nil
}

// sign adds a signature for each secret: while one is replaced, receivers know one of the two.
func (s *Sender) sign(h http.Header, c *Channel, head string, content []byte) error {
	signatures := make([]string, 0, len(c.Secrets))
	for _, name := range c.Secrets {
		secret, err := s.resolve(name)
		if err != nil {
			return err
		}
		signatures = append(signatures, "v1,"+Sign(secret, head, content))
	}
	if len(signatures) > 0 {
		h.Set("webhook-signature", strings.Join(signatures, " "))
	}
	return nil
}

// Sign is the HMAC-SHA256 of head and content in base64. Of a secret that begins with whsec_ the rest is the key, in
// base64 (Standard Webhooks).
func Sign(secret, head string, content []byte) string {
	key := []byte(secret)
	if coded, found := strings.CutPrefix(secret, "whsec_"); found {
		if raw, err := base64.StdEncoding.DecodeString(coded); err == nil {
			key = raw
		}
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(head))
	mac.Write(content)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// client follows no redirect, takes no proxy, and dials no address that is not public.
func (s *Sender) client() *http.Client {
	d := &net.Dialer{}
	if !s.AllowPrivate {
		d.ControlContext = netguard.Control
	}
	return &http.Client{
		Transport:     &http.Transport{DialContext: d.DialContext, TLSHandshakeTimeout: sendTime, MaxResponseHeaderBytes: maxAnswer, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// dialled is an error of a request without its address, which may be a secret.
func dialled(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var private *netguard.Error
	if errors.As(err, &private) {
		return crawl.Permanent(fmt.Errorf("webhooks do not go to addresses that are not public (%s): start the server with --allow-private to allow it", private.Kind))
	}
	return err
}

// judged is what an answer means.
func judged(resp *http.Response) (string, error) {
	data, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer)) // what was read of it will do
	text := strings.ToValidUTF8(string(data[:min(len(data), shownAnswer)]), "�")
	switch {
	case resp.StatusCode >= 200 && resp.StatusCode < 300:
		return text, nil
	case resp.StatusCode == http.StatusGone:
		return text, crawl.Permanent(errors.New("the receiver answered 410: it is gone for good"))
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return text, fmt.Errorf("the receiver answered %d: redirects are not followed, name the last address", resp.StatusCode)
	}
	return text, fmt.Errorf("the receiver answered %d", resp.StatusCode)
}
