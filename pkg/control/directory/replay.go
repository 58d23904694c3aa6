package directory

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

// Letters implements control.Service.
func (s *Service) Letters(ctx context.Context, id crawl.JobID) (all []report.Letter, err error) {
	err = s.with(ctx, id, func(d *Directory) error {
		all, err = d.Letters(ctx)
		return err
	})
	return all, err
}

// Replay implements control.Service. The crawl must not run.
func (s *Service) Replay(ctx context.Context, id crawl.JobID, choose control.Choose) (r *control.Replayed, err error) {
	err = s.with(ctx, id, func(d *Directory) error {
		all, err := d.Letters(ctx)
		if err != nil {
			return err
		}
		letters, err := choose(all)
		if err != nil {
			return err
		}
		if d.Running() {
			return fmt.Errorf("the crawl in %s is running: stop it (`whirlpool stop`), replay, and resume it", d.Dir)
		}
		n, err := putBack(ctx, d, letters)
		if err == nil {
			then := "they are handled when `whirlpool crawl` resumes in " + d.Dir
			r = &control.Replayed{Put: n, Meant: len(letters), Then: then}
		}
		return err
	})
	return r, err
}

// putBack moves letters to the journal, from which a crawl that goes on delivers them. Interrupted between the two
// steps, a letter is in both places: replayed twice it does no harm.
func putBack(ctx context.Context, d *Directory, letters []report.Letter) (n int, err error) {
	wanted := map[crawl.MessageID]bool{}
	for _, l := range letters {
		wanted[l.ID] = true
	}
	var msgs []bus.Message
	var ids []crawl.MessageID
	dead := d.Store.DeadLetters()
	err = dead.List(ctx, func(l bus.DeadLetter) error {
		if wanted[l.Message.ID] {
			msgs, ids = append(msgs, report.Revive(l)), append(ids, l.Message.ID)
		}
		return nil
	})
	if err != nil || len(msgs) == 0 {
		return 0, err
	}
	if _, err := d.Store.Journal().Append(ctx, msgs...); err != nil {
		return 0, err
	}
	return len(msgs), dead.Remove(ctx, ids...)
}
