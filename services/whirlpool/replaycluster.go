package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/inspect"
)

// letters lists the dead letters of a job; of all jobs, where none is named.
func (c *cluster) letters(ctx context.Context, job crawl.JobID) ([]inspect.Letter, error) {
	if _, err := c.bus.Depths(ctx); err != nil { // says what is wrong, where the bus would wait for the broker
		return nil, err
	}
	view, err := c.view()
	if err != nil {
		return nil, err
	}
	if job == "" {
		return view.Letters(ctx)
	}
	j, err := view.Job(ctx, job)
	if err != nil {
		return nil, err
	}
	return j.Letters(ctx)
}

// letterName tells dead letters apart.
type letterName struct {
	vhost, topic string
	id           crawl.MessageID
}

// replay puts letters back into the queues. What cannot be read stays. A page's body may be gone from the spool, and then its message would
// count as handled: so a page is fetched again, when its host's turn comes.
func (c *cluster) replay(ctx context.Context, letters []inspect.Letter) (int, error) {
	wanted := map[letterName]bool{}
	for _, l := range letters {
		wanted[letterName{l.Vhost, l.Topic, l.ID}] = l.Event != nil
	}
	meant := func(l rabbit.Letter) (page *crawl.Page, ok bool) {
		page, _ = l.Message.Event.(*crawl.Page)
		return page, l.Message.Event != nil && wanted[letterName{l.Vhost, l.Topic, l.Message.ID}]
	}
	n, err := c.bus.Replay(ctx, func(l rabbit.Letter) bool {
		page, ok := meant(l)
		return ok && page == nil
	})
	if err != nil || !slices.ContainsFunc(letters, func(l inspect.Letter) bool { return l.Topic == crawl.TopicParse }) {
		return n, err
	}
	fetched, err := c.bus.Take(ctx, func(l rabbit.Letter) (bool, error) {
		page, ok := meant(l)
		if !ok || page == nil {
			return false, nil
		}
		return true, c.fetchAgain(ctx, l.Message.ID, page.Task)
	})
	return n + fetched, err
}

// fetchAgain opens a URL again and hands it to the frontier. Interrupted in between, the letter is still there and says so.
func (c *cluster) fetchAgain(ctx context.Context, letter crawl.MessageID, t crawl.Task) error {
	if err := c.postgres.URLs().Reopen(ctx, t.Job, t.URL.Key()); err != nil {
		return fmt.Errorf("replay %s: %w", t.URL, err)
	}
	t.Repeat, t.Attempt = true, 0
	return c.bus.Publish(ctx, bus.Message{ID: letter.Child("replay", 0), Event: &crawl.Fresh{Tasks: []crawl.Task{t}}, Redelivered: true})
}
