package rabbit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

// maxAlarms bounds the answer that is read.
const maxAlarms = 1 << 20

// Alarms returns the broker's alarms. While there is none, the broker accepts messages.
func (b *Bus) Alarms(ctx context.Context) ([]bus.Alarm, error) {
	alarms, err := b.api.alarms(ctx, b.vhosts[0])
	if err != nil {
		return nil, fmt.Errorf("rabbit: ask for the broker's alarms: %w", err)
	}
	return alarms, nil
}

// alarms calls the health check that any user of the management API may call. It answers 503 if there are alarms, which
// the client library reports as an error.
func (m *management) alarms(ctx context.Context, v *vhost) ([]bus.Alarm, error) {
	resp, err := m.get(ctx, v, "/api/health/checks/alarms")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return nil, nil
	}
	var answer struct {
		Alarms []bus.Alarm `json:"alarms"`
	}
	if resp.StatusCode == http.StatusServiceUnavailable {
		err = json.NewDecoder(io.LimitReader(resp.Body, maxAlarms)).Decode(&answer)
	}
	if err == nil && len(answer.Alarms) == 0 {
		err = fmt.Errorf("the management API answers %s", resp.Status)
	}
	if err != nil {
		return nil, err
	}
	for i := range answer.Alarms { // RabbitMQ says "disk space"
		answer.Alarms[i].Resource = strings.TrimSuffix(answer.Alarms[i].Resource, " space")
	}
	slices.SortFunc(answer.Alarms, func(a, b bus.Alarm) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Resource, b.Resource))
	})
	return slices.Compact(answer.Alarms), nil
}

// get asks the management API for a path that the client library does not know. The caller closes the body.
func (m *management) get(ctx context.Context, v *vhost, path string) (*http.Response, error) {
	c, err := m.client(ctx, v.url)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.base+path, nil)
	if err != nil {
		return nil, err
	}
	req.SetBasicAuth(c.Username, c.Password)
	return withContext{ctx, m.transport}.RoundTrip(req)
}
