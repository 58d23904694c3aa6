package notify

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"

	"github.com/wneessen/go-mail"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// mail sends a message as plain text. Its Message-ID is made of the message's id, so that a server that took it, and
// whose answer was lost, can tell the second one.
func (s *Sender) mail(ctx context.Context, c *Channel, m *Message) (string, error) {
	msg, err := mailOf(c, m)
	if err != nil {
		return "", crawl.Permanent(err)
	}
	opts, err := s.mailOptions(c)
	if err != nil {
		return "", err
	}
	client, err := mail.NewClient(c.Host, opts...)
	if err != nil {
		return "", crawl.Permanent(err)
	}
	if err := client.DialAndSendWithContext(ctx, msg); err != nil {
		return "", mailError(err)
	}
	return "taken by " + c.Host, nil
}

// mailOf makes the message.
func mailOf(c *Channel, m *Message) (*mail.Msg, error) {
	msg := mail.NewMsg()
	if err := errors.Join(msg.From(c.From), msg.To(c.To...)); err != nil {
		return nil, err
	}
	domain := c.From[strings.LastIndexByte(c.From, '@')+1:]
	domain = strings.TrimRight(domain, ">")
	msg.SetMessageIDWithValue(m.ID + "@" + domain)
	msg.SetDateWithValue(m.At)
	msg.Subject(oneLine(m.Title))
	msg.SetGenHeader("List-Id", "Whirlpool alerts <alerts.whirlpool."+domain+">")
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetBodyString(mail.TypeTextPlain, m.Text)
	return msg, nil
}

// oneLine keeps what a page or a person said out of the headers of a mail.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

func (s *Sender) mailOptions(c *Channel) ([]mail.Option, error) {
	opts := []mail.Option{mail.WithTimeout(sendTime), mail.WithoutNoop()}
	port := 587
	switch c.TLS {
	case "tls":
		port = 465
		opts = append(opts, mail.WithSSL())
	case "none":
		port = 25
		opts = append(opts, mail.WithTLSPolicy(mail.NoTLS))
	default:
		opts = append(opts, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if c.Port > 0 {
		port = c.Port
	}
	opts = append(opts, mail.WithPort(port))
	if s.roots != nil {
		opts = append(opts, mail.WithTLSConfig(&tls.Config{RootCAs: s.roots, ServerName: c.Host,
			MinVersion: tls.VersionTLS12}))
	}
	if c.User == "" {
		return opts, nil
	}
	password, err := s.resolve(c.Password)
	if err != nil {
		return nil, err
	}
	return append(opts, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(c.User),
		mail.WithPassword(password)), nil
}

// mailError tells errors that may pass (4xx, the network) from those that do not (5xx).
func mailError(err error) error {
	var sent *mail.SendError
	if errors.As(err, &sent) && !sent.IsTemp() && sent.ErrorCode() >= 500 {
		return crawl.Permanent(fmt.Errorf("the mail server refused it with %d: %w", sent.ErrorCode(), err))
	}
	return err
}
