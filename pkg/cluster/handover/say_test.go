package handover

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	ringmember "github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
)

// A part of a move that the fence refuses is tried again like any other that fails, but is no fault that people must
// look at.
func TestARefusalByTheFenceIsNoWarning(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{errors.New("the store is away"), "WARN"},
		{fmt.Errorf("hand over: %w", ring.ErrFenced), "INFO"},
		{fmt.Errorf("hand over: %w", ringmember.ErrFenced), "INFO"},
	} {
		var out bytes.Buffer
		tr := Ownership{cfg: Config{Log: slog.New(slog.NewTextHandler(&out, nil))}}
		tr.sayWhy(t.Context(), tt.err)
		if line := out.String(); !strings.Contains(line, "level="+tt.want) || !strings.Contains(line, tt.err.Error()) {
			t.Errorf("%v is logged as %q, want it at %s", tt.err, line, tt.want)
		}
	}
}
