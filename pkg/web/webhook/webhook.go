// Package webhook posts signed messages to other programs, as Standard Webhooks says. The sender tries again, with the
// same id, so that receivers can tell what comes twice.
//
// It follows no redirect, takes no proxy, and has no secret in its errors. It must never dial an address that is not
// public unless it was told that it may.
package webhook

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

	"github.com/whirlpool-crawler/whirlpool/pkg/web/netguard"
)

const (
	maxAnswer   = 64 << 10 // that is read
	shownAnswer = 500      // that is kept
)

// ErrGone is the error of a receiver that says that it is gone for good (410).
var ErrGone = errors.New("the receiver answered 410: it is gone for good")

// ErrTooLarge is the error of a receiver that takes nothing as large (413).
var ErrTooLarge = errors.New("the receiver answered 413: it takes nothing as large")

// ErrAddress is the error of an address that is none.
var ErrAddress = errors.New("the address of the webhook is none of http or https")

// Message is what is posted.
type Message struct {
	ID      string // the same in each try
	Type    string // media type of Content; empty: application/cloudevents+json
	Content []byte
	// Secrets sign it, each: while one is replaced, receivers know one of the two.
	Secrets []string
	Agent   string
	Now     time.Time
}

// Post posts a message, and returns the first 500 bytes of the answer. Only 2xx is no error.
func Post(ctx context.Context, client *http.Client, to string, m *Message) (answer string, err error) {
	u, err := url.Parse(to)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", ErrAddress
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(m.Content))
	if err != nil {
		return "", ErrAddress
	}
	kind := m.Type
	if kind == "" {
		kind = "application/cloudevents+json; charset=utf-8"
	}
	stamp := strconv.FormatInt(m.Now.Unix(), 10)
	req.Header.Set("Content-Type", kind)
	req.Header.Set("User-Agent", m.Agent)
	req.Header.Set("webhook-id", m.ID)
	req.Header.Set("webhook-timestamp", stamp)
	signatures := make([]string, 0, len(m.Secrets))
	for _, secret := range m.Secrets {
		signatures = append(signatures, "v1,"+Sign(secret, m.ID+"."+stamp+".", m.Content))
	}
	if len(signatures) > 0 {
		req.Header.Set("webhook-signature", strings.Join(signatures, " "))
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", withoutAddress(err)
	}
	defer resp.Body.Close()
	return judged(resp)
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

// Client follows no redirect, takes no proxy, and dials no address that is not public unless it may.
func Client(allowPrivate bool, timeout time.Duration) *http.Client {
	d := &net.Dialer{}
	if !allowPrivate {
		d.ControlContext = netguard.Control
	}
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{DialContext: d.DialContext, TLSHandshakeTimeout: timeout,
			MaxResponseHeaderBytes: maxAnswer, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// withoutAddress is an error of a request without its address, which may be a secret.
func withoutAddress(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
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
		return text, ErrGone
	case resp.StatusCode == http.StatusRequestEntityTooLarge:
		return text, ErrTooLarge
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return text, fmt.Errorf("the receiver answered %d: redirects are not followed, name the last address",
			resp.StatusCode)
	}
	return text, fmt.Errorf("the receiver answered %d", resp.StatusCode)
}
