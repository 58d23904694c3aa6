package notify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/netguard"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/webhook"
)

// webhook posts a message. Its headers are those of Standard Webhooks.
func (s *Sender) webhook(ctx context.Context, c *Channel, m *Message) (string, error) {
	to := c.URL
	if IsReference(to) {
		var err error
		if to, err = s.resolve(to); err != nil {
			return "", err
		}
	}
	content, err := s.jsonOf(m)
	if err != nil {
		return "", crawl.Permanent(err)
	}
	msg := webhook.Message{ID: m.ID, Content: content, Agent: "Whirlpool/" + crawl.Version, Now: time.Now()}
	for _, name := range c.Secrets {
		secret, err := s.resolve(name)
		if err != nil {
			return "", err
		}
		msg.Secrets = append(msg.Secrets, secret)
	}
	client := webhook.Client(s.AllowPrivate, sendTime)
	defer client.CloseIdleConnections()
	answer, err := webhook.Post(ctx, client, to, &msg)
	return answer, meant(err)
}

// meant says which errors another try does not mend.
func meant(err error) error {
	var private *netguard.Error
	switch {
	case errors.As(err, &private):
		return crawl.Permanent(fmt.Errorf("webhooks do not go to addresses that are not public (%s): start the server with "+
			"--allow-private to allow it", private.Kind))
	case errors.Is(err, webhook.ErrGone), errors.Is(err, webhook.ErrAddress):
		return crawl.Permanent(err)
	}
	return err
}
