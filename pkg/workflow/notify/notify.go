// Package notify sends messages to people and programs: as signed webhooks and as mail. It tries once; who calls it
// tries again, with the same id, so that receivers can tell what comes twice.
package notify

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Kinds of channels.
const (
	Webhook = "webhook"
	Email   = "email"
)

// Channel is where messages go. Secrets are named, not written: ${NAME} is a variable of the server, file:/PATH a file.
type Channel struct {
	Name string `json:"name" minLength:"1" maxLength:"48"`
	Kind string `json:"kind" enum:"webhook,email"`

	// Of a webhook.
	URL     string   `json:"url,omitempty" maxLength:"2000" doc:"http or https; may be ${NAME} or file:/PATH where it has a secret in it"`
	Secrets []string `json:"secrets,omitempty" maxItems:"2" doc:"of the signature: ${NAME} or file:/PATH; two while one is replaced, the newer first"`

	// Of mail.
	Host     string   `json:"host,omitempty" maxLength:"253" doc:"SMTP server"`
	Port     int      `json:"port,omitempty" minimum:"0" maximum:"65535" doc:"0: 587, or 465 with tls"`
	TLS      string   `json:"tls,omitempty" enum:"starttls,tls,none" doc:"empty: starttls, and nothing is sent without it"`
	User     string   `json:"user,omitempty" maxLength:"200"`
	Password string   `json:"password,omitempty" doc:"${NAME} or file:/PATH"`
	From     string   `json:"from,omitempty" maxLength:"320"`
	To       []string `json:"to,omitempty" maxItems:"50"`
}

// Message is what is sent.
type Message struct {
	ID    string    // the same in each try
	Type  string    // such as org.whirlpool.alert.firing
	Title string    // one line
	Text  string    // for people
	At    time.Time // when what it tells happened
	Data  any       // for programs
}

// Sender sends messages.
type Sender struct {
	// AllowPrivate lets webhooks go to addresses that are not public.
	AllowPrivate bool
	// Lookup finds variables; nil: os.LookupEnv.
	Lookup func(string) (string, bool)
	// Source names the server in messages.
	Source string

	roots *x509.CertPool // of mail servers; nil: the system's
}

// sendTime is how long one try may take.
const sendTime = 10 * time.Second

// Send tries once to send a message, and returns what was answered. An error that another try would not mend is
// permanent (crawl.IsPermanent). No error has a secret in it.
func (s *Sender) Send(ctx context.Context, c *Channel, m *Message) (answer string, err error) {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	switch c.Kind {
	case Webhook:
		return s.webhook(ctx, c, m)
	case Email:
		return s.mail(ctx, c, m)
	}
	return "", crawl.Permanent(fmt.Errorf("there is no kind of channel %q", c.Kind))
}

var (
	channelName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?$`)
	variable    = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)
)

// IsReference reports whether a text names a secret instead of being one.
func IsReference(text string) bool {
	return variable.MatchString(text) || strings.HasPrefix(text, "file:/")
}

// maxSecret bounds a file with a secret.
const maxSecret = 4096

// resolve is the secret that a text names.
func (s *Sender) resolve(text string) (string, error) {
	if m := variable.FindStringSubmatch(text); m != nil {
		look := s.Lookup
		if look == nil {
			look = os.LookupEnv
		}
		if v, found := look(m[1]); found && v != "" {
			return v, nil
		}
		return "", fmt.Errorf("the server has no variable %s: set it and start the server again", m[1])
	}
	file, found := strings.CutPrefix(text, "file:")
	if !found {
		return "", errors.New("a secret is to be named as ${NAME} or file:/PATH")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("the file of a secret: %w", err)
	}
	if len(data) > maxSecret {
		return "", fmt.Errorf("the file of a secret, %s, has more than %d bytes", file, maxSecret)
	}
	return strings.TrimSpace(string(data)), nil
}

// KeyError is an error in one key of a Channel.
type KeyError struct{ Key, Problem string }

// Error implements error.
func (f *KeyError) Error() string { return f.Key + ": " + f.Problem }

// Check says what is wrong with a channel; nil: nothing. It does not look at secrets.
func (c *Channel) Check() *KeyError {
	bad := func(key, format string, args ...any) *KeyError { return &KeyError{key, fmt.Sprintf(format, args...)} }
	if !channelName.MatchString(c.Name) {
		return bad("name", "%q: want 1 to 48 of a-z, 0-9 and -", c.Name)
	}
	switch c.Kind {
	case Webhook:
		return c.checkWebhook(bad)
	case Email:
		return c.checkMail(bad)
	}
	return bad("kind", "%q: want webhook or email", c.Kind)
}

func (c *Channel) checkWebhook(bad func(string, string, ...any) *KeyError) *KeyError {
	if !IsReference(c.URL) {
		u, err := url.Parse(c.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
			return bad("url", "want an address of http or https without a password, or ${NAME}, or file:/PATH")
		}
	}
	if len(c.Secrets) > 2 {
		return bad("secrets", "want at most two: the newer and the older")
	}
	for _, secret := range c.Secrets {
		if !IsReference(secret) {
			return bad("secrets", "a secret is named, not written: ${NAME} for a variable of the server, or file:/PATH")
		}
	}
	return nil
}

func (c *Channel) checkMail(bad func(string, string, ...any) *KeyError) *KeyError {
	switch {
	case c.Host == "" || strings.ContainsAny(c.Host, "/ :@"):
		return bad("host", "%q: want the name of an SMTP server", c.Host)
	case c.Port < 0 || c.Port > 65535:
		return bad("port", "%d: want 1 to 65535", c.Port)
	case c.TLS != "" && c.TLS != "starttls" && c.TLS != "tls" && c.TLS != "none":
		return bad("tls", "%q: want starttls, tls or none", c.TLS)
	case c.Password != "" && !IsReference(c.Password):
		return bad("password", "a password is named, not written: ${NAME} for a variable of the server, or file:/PATH")
	case c.Password != "" && c.TLS == "none":
		return bad("tls", "none: a password is not sent in the clear")
	case len(c.To) == 0:
		return bad("to", "there is nobody: name an address")
	}
	for key, list := range map[string][]string{"from": {c.From}, "to": c.To} {
		for _, a := range list {
			if _, err := mail.ParseAddress(a); err != nil {
				return bad(key, "%q is no address of mail", a)
			}
		}
	}
	return nil
}

// jsonOf is a message as CloudEvents 1.0 has it.
func (s *Sender) jsonOf(m *Message) ([]byte, error) {
	return json.Marshal(map[string]any{"specversion": "1.0", "id": m.ID, "source": s.Source, "type": m.Type,
		"time": m.At.UTC().Format(time.RFC3339Nano), "subject": m.Title, "datacontenttype": "application/json",
		"data": m.Data})
}
