package report

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

// slowBroker counts how often it is asked, and takes a while on the cluster's clock.
type slowBroker struct {
	fakeBroker
	now   *time.Time
	takes time.Duration
	asked int
}

func (b *slowBroker) Depths(ctx context.Context) ([]bus.Depth, error) {
	b.asked++
	*b.now = b.now.Add(b.takes)
	return b.fakeBroker.Depths(ctx)
}

// What brokers say is believed for fifty times as long as they took, fifteen seconds at most, and only where somebody
// wants it so.
func TestWhatBrokersSaidLately(t *testing.T) {
	for _, c := range []struct {
		name   string
		lately *Pipelines
		takes  time.Duration
		want   int // in a minute, asked each second
	}{
		{"asked each time", nil, 0, 60},
		{"a quick broker", &Pipelines{}, 10 * time.Millisecond, 60},
		{"a broker that takes 100 ms", &Pipelines{}, 100 * time.Millisecond, 12},
		{"a broker that takes a second", &Pipelines{}, time.Second, 4},
	} {
		now := fakeNow
		f := soundCluster(t)
		b := &slowBroker{fakeBroker: fakeBroker{f}, now: &now, takes: c.takes}
		view := f.open(t)
		view.now = func() time.Time { return now }
		view.src.Broker, view.src.Lately = b, c.lately
		for range 60 {
			if _, err := view.Lately(t.Context()); err != nil {
				t.Fatal(err)
			}
			now = now.Add(time.Second)
		}
		if b.asked < c.want || b.asked > c.want+1 {
			t.Errorf("%s: asked %d times in a minute, want %d", c.name, b.asked, c.want)
		}
	}
}

// Status says how old what the brokers told is, where it is more than a moment.
func TestStatusSaysHowOldItIs(t *testing.T) {
	for age, want := range map[time.Duration]string{0: "", 2 * time.Second: "",
		12 * time.Second: "as the brokers told them 12s ago"} {
		var b strings.Builder
		(&Pipeline{At: fakeNow.Add(-age)}).writeText(&b, fakeNow)
		if got := b.String(); strings.Contains(got, "ago") != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%v: %s", age, got)
		}
	}
	now, view := fakeNow, soundCluster(t).open(t)
	view.now = func() time.Time { return now }
	view.src.Lately = &Pipelines{}
	if p, err := view.Lately(t.Context()); err != nil || !p.At.Equal(now) {
		t.Errorf("asked at %v: %+v, %v", now, p, err)
	}
}
