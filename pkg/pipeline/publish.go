package pipeline

import (
	"context"
	"fmt"
	"reflect"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// publish hands the outputs of a message to the bus. Their ids follow from the message's, so that a message handled
// twice publishes the same messages twice.
func (r *runner[In]) publish(ctx context.Context, parent crawl.MessageID, out []crawl.Event) error {
	msgs := make([]bus.Message, len(out))
	for i, e := range out {
		msgs[i] = bus.Message{ID: parent.Child(r.cfg.Name, i), Event: e}
		if len(r.cfg.Routes) > 0 {
			msgs[i].To = r.cfg.Routes[reflect.TypeOf(e)]
		}
	}
	if err := r.bus.Publish(ctx, msgs...); err != nil {
		return fmt.Errorf("publish %d events of stage %s: %w", len(msgs), r.cfg.Name, err)
	}
	return nil
}
