package report

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Delivered is how far an output of a crawl is: a node of its pipeline that delivers records.
type Delivered struct {
	Node  string `json:"node"`
	Where string `json:"where"`
	Rows  int64  `json:"rows"` // that were delivered
	// Behind says that it has not delivered all records; of a crawl that runs it is told by Error alone.
	Behind bool      `json:"behind,omitempty"`
	Error  string    `json:"error,omitempty"` // why it cannot be written; empty: it can
	Since  time.Time `json:"since,omitzero"`  // when it last could, where it cannot
}

// deliveries fills in what the outputs of a crawl have delivered that does not run. One that is behind goes on, and so
// does the crawl, which is not finished.
func (c *Crawl) deliveries(ctx context.Context, s *Status, job *crawl.Job) (err error) {
	if c.src.Outputs == nil {
		return nil
	}
	if s.Outputs, err = c.src.Outputs(ctx, job); err != nil {
		return err
	}
	for _, o := range s.Outputs {
		if o.Behind && s.State == StateFinished {
			s.State = StateStopped
		}
	}
	return nil
}

// writeOutputs writes how far outputs are.
func (s *Status) writeOutputs(line func(name, format string, args ...any)) {
	for i, o := range s.Outputs {
		name := ""
		if i == 0 {
			name = "outputs"
		}
		text := ""
		switch {
		case o.Error != "":
			text = fmt.Sprintf("; not delivered since %s: %s", moment(o.Since, s.Time), o.Error)
		case o.Behind:
			text = "; not all: `whirlpool crawl` with the same -o delivers the rest"
		}
		line(name, "%s: %d rows to %s%s", o.Node, o.Rows, o.Where, text)
	}
}
