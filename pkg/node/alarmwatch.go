package node

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
)

// alarmEvery is how often the broker is asked for its alarms: it raises them by its own look at memory and disk, every
// few seconds.
const alarmEvery = 5 * time.Second

// alarmWatch says in the log and in a metric when the node's broker takes no messages for want of memory or disk. The
// connections themselves learn of that only when they publish, and then only that they wait.
type alarmWatch struct {
	broker interface {
		Alarms(ctx context.Context) ([]bus.Alarm, error)
	}
	log   *slog.Logger
	gauge *prometheus.GaugeVec
	known map[bus.Alarm]time.Time // since when
}

func newAlarmWatch(b *rabbit.Bus, log *slog.Logger, reg prometheus.Registerer) *alarmWatch {
	w := &alarmWatch{broker: b, log: log, known: map[bus.Alarm]time.Time{}}
	w.gauge = prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "whirlpool", Subsystem: "broker", Name: "alarm",
		Help: "1 while the node's broker takes no messages for want of this resource."}, []string{"resource"})
	for _, r := range []string{"memory", "disk"} {
		w.gauge.WithLabelValues(r).Set(0)
	}
	reg.MustRegister(w.gauge)
	return w
}

// run looks until ctx is done. A broker that does not answer keeps the alarms that it had: others say that it is away.
func (w *alarmWatch) run(ctx context.Context) { eachPause(ctx, alarmEvery, w.look) }

// eachPause calls look now and after each pause, until ctx is done.
func eachPause(ctx context.Context, pause time.Duration, look func(context.Context)) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *alarmWatch) look(ctx context.Context) {
	alarms, err := w.broker.Alarms(ctx)
	if err != nil {
		return
	}
	now := map[bus.Alarm]bool{}
	for _, a := range alarms {
		now[a] = true
		if _, old := w.known[a]; !old {
			w.known[a] = time.Now()
			w.gauge.WithLabelValues(a.Resource).Set(1)
			w.log.Error("the broker takes no messages: all who publish wait until it has room again", "alarm", a.Resource,
				"broker", a.Node)
		}
	}
	for a, since := range w.known {
		if !now[a] {
			delete(w.known, a)
			w.gauge.WithLabelValues(a.Resource).Set(0)
			w.log.Info("the broker takes messages again", "alarm", a.Resource, "broker", a.Node, "lasted", time.Since(since))
		}
	}
}
