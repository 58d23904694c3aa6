package workflow

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow/notify"
)

// mailEvery is how often a channel gets mail about alerts at most: what comes meanwhile is one mail.
const mailEvery = time.Minute

// isMail reports whether a delivery is an alert that goes to people by mail.
func isMail(d *Delivery, c *notify.Channel) bool {
	return c != nil && c.Kind == notify.Email && strings.HasPrefix(d.Type, "org.whirlpool.alert.")
}

// deliverMail sends what is due to a channel as one mail, unless it had one a moment ago: then it waits.
func (c *conductor) deliverMail(ctx context.Context, channel *notify.Channel, due []*Delivery) error {
	if next := c.mailed[channel.Name].Add(mailEvery); c.now().Before(next) {
		for _, d := range due {
			d.Next = next
			if err := unlessStale(c.store.SetDelivery(ctx, d, DeliveryDue, nil)); err != nil {
				return err
			}
		}
		return nil
	}
	began := time.Now()
	try := DeliveryTry{At: c.now()}
	m := digestOf(due)
	var err error
	try.Answer, err = c.opt.Notify(ctx, channel, m)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	try.TookMS = time.Since(began).Milliseconds()
	if err == nil {
		c.mailed[channel.Name] = c.now()
	}
	for _, d := range due {
		if err := c.tried(ctx, d, try, err); err != nil {
			return err
		}
	}
	return nil
}

// digestOf is one message of several. Its id is that of the one, or told by all.
func digestOf(due []*Delivery) *notify.Message {
	first := due[0]
	m := &notify.Message{ID: first.ID, Type: first.Type, Title: first.Title, Text: first.Text, At: first.Created,
		Data: first.Data}
	if len(due) == 1 {
		return m
	}
	slices.SortStableFunc(due, func(a, b *Delivery) int {
		return cmp.Or(strings.Compare(workflowOf(a), workflowOf(b)), a.Created.Compare(b.Created))
	})
	sum, text, of := sha256.New(), new(strings.Builder), ""
	for _, d := range due {
		_, _ = sum.Write([]byte(d.ID)) // it never fails
		if w := workflowOf(d); w != of {
			fmt.Fprintf(text, "== %s\n\n", w)
			of = w
		}
		fmt.Fprintf(text, "%s\n%s\n", d.Title, d.Text)
	}
	m.ID, m.Type = "dg_"+hex.EncodeToString(sum.Sum(nil)[:13]), "org.whirlpool.alert.digest"
	m.Title, m.Text, m.Data = fmt.Sprintf("%d alerts: %s, …", len(due), first.Title), text.String(), nil
	return m
}

// workflowOf is the slug of the workflow that an alert is of; its subject begins with it.
func workflowOf(d *Delivery) string {
	subject, _, _ := strings.Cut(d.Subject, " ")
	subject, _, _ = strings.Cut(subject, "/")
	if i := strings.LastIndexByte(subject, '-'); i > 0 && strings.Trim(subject[i+1:], "0123456789") == "" {
		subject = subject[:i]
	}
	return subject
}
