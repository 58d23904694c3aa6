package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

// Waiting for a job for days does not end because PostgreSQL was restarted.
func TestWaitingGoesOnWhileTheStoreIsAway(t *testing.T) {
	away := &bus.AwayError{Err: errors.New("it starts")}
	for name, tt := range map[string]struct {
		from, to int // looks that fail
		want     error
		looks    int
	}{
		"it was away for two minutes": {from: 2, to: 121, looks: 122},
		"it cannot be reached":        {from: 1, to: 9, want: away, looks: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			var said bytes.Buffer
			cmd, looks := &cobra.Command{}, 0
			cmd.SetErr(&said)
			cmd.SetContext(t.Context())
			err := waitUntil(cmd, 1, func(context.Context) (s sighting, err error) {
				if looks++; looks >= tt.from && looks <= tt.to {
					return s, away
				}
				if looks == 1 {
					s.running = []string{"job"}
				}
				return s, nil
			})
			if !errors.Is(err, tt.want) || looks != tt.looks {
				t.Errorf("%s: %v after %d looks; want %v after %d", name, err, looks, tt.want, tt.looks)
			}
			if n := strings.Count(said.String(), "it starts"); tt.want == nil && n != 2 {
				t.Errorf("%s: said %q; want that it is away once a minute", name, said.String())
			}
		})
	}
}
