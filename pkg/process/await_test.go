package process

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func program(log *journal) *Program {
	cfg := Default()
	return &Program{Name: "x", Config: &cfg, Log: log.logger(), health: newHealth(), running: map[string]int{}}
}

func TestAwaitTriesUntilTheServiceComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &journal{}
		var at []time.Duration
		began := time.Now()
		err := program(log).Await(t.Context(), "rabbitmq", func(context.Context) error {
			at = append(at, time.Since(began))
			switch n := len(at); {
			case n <= 6:
				return fmt.Errorf("dial 127.0.0.1:5672 from port %d: connection refused", 40_000+n) // one reason
			case n <= 8:
				return errors.New("access refused")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := []time.Duration{0, 100, 300, 700, 1500, 3100, 6300, 11_300, 16_300} // then 5 s apart
		for i, d := range want {
			if at[i] != d*time.Millisecond {
				t.Errorf("try %d after %v, want %v", i, at[i], d*time.Millisecond)
			}
		}
		waits, came := log.entries(t, "waiting"), log.entries(t, "the service is available now")
		if len(waits) != 2 || waits[0]["for"] != "rabbitmq" || waits[1]["reason"] != "access refused" {
			t.Errorf("log of the wait: %v", waits)
		}
		if len(came) != 1 || came[0]["waited"] != float64(16_300*time.Millisecond) {
			t.Errorf("log of its end: %v", came)
		}
	})
}

func TestAwaitRemindsEveryMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &journal{}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		err := program(log).Await(ctx, "postgres", func(context.Context) error { return errors.New("away") })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Await = %v", err)
		}
		if n := len(log.entries(t, "waiting")); n < 9 || n > 10 {
			t.Errorf("%d lines in 10 minutes", n)
		}
	})
}

func TestATryThatHangsIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, tries := &journal{}, 0
		began := time.Now()
		err := program(log).Await(t.Context(), "mongodb", func(ctx context.Context) error {
			if tries++; tries == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		})
		if took := time.Since(began); err != nil || took != tryTime+backoffMin {
			t.Errorf("Await = %v after %v", err, took)
		}
		if waits := log.entries(t, "waiting"); len(waits) != 1 || waits[0]["reason"] != "no answer in 10s: context canceled" {
			t.Errorf("log: %v", waits)
		}
	})
}

func TestWhatASuccessfulTryOpenedKeepsItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var opened context.Context
		if err := program(&journal{}).Await(ctx, "x",
			func(ctx context.Context) error { opened = ctx; return nil }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if opened.Err() != nil {
			t.Errorf("its context ended: %v", context.Cause(opened))
		}
		cancel()
		if opened.Err() == nil {
			t.Error("its context outlives the program's")
		}
	})
}

func TestSuperviseBuildsAgainWhatLostItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, lost := &journal{}, errors.New("connection lost")
		var at []time.Duration
		began := time.Now()
		err := Supervise(t.Context(), log.logger(), "frontier", func(context.Context) error {
			at = append(at, time.Since(began))
			switch len(at) {
			case 1:
				return fmt.Errorf("pull: %w", lost)
			case 2:
				return ErrRebuild
			case 3:
				time.Sleep(2 * time.Minute) // it ran well: the pause is short again
				return lost
			}
			return nil
		}, lost)
		want := []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond, 2*time.Minute + 400*time.Millisecond}
		if err != nil || fmt.Sprint(at) != fmt.Sprint(want) {
			t.Errorf("Supervise = %v; built at %v, want %v", err, at, want)
		}
		if n := len(log.entries(t, "a component failed and is restarted")); n != 3 {
			t.Errorf("%d lines", n)
		}
	})
}

func TestSuperviseEndsWithOtherErrorsAndWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("the disk is gone")
		if err := Supervise(t.Context(), (&journal{}).logger(), "x",
			func(context.Context) error { return broken }); !errors.Is(err, broken) {
			t.Errorf("Supervise = %v", err)
		}
		for name, end := range map[string]error{"rebuild": ErrRebuild, "cancelled": context.Canceled} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			err := Supervise(ctx, (&journal{}).logger(), "x", func(ctx context.Context) error {
				if errors.Is(end, ErrRebuild) {
					return end
				}
				<-ctx.Done()
				return end
			})
			if err != nil {
				t.Errorf("%s: Supervise = %v after its context ended", name, err)
			}
			cancel()
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := Supervise(ctx, (&journal{}).logger(), "x", func(context.Context) error { return broken }); !errors.Is(err,
			broken) {
			t.Errorf("a failure at the end was hidden: %v", err)
		}
	})
}

// patient is an error that wants to be waited for.
type patient struct{ error }

func (patient) Pause() time.Duration { return time.Hour }

func TestSuperviseWaitsAsLongAsAnErrorAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, calls := time.Now(), 0
		err := Supervise(t.Context(), (&journal{}).logger(), "x", func(context.Context) error {
			if calls++; calls == 3 {
				return nil
			}
			return fmt.Errorf("%w: %w", ErrRebuild, patient{errors.New("denied")})
		})
		if took := time.Since(began); err != nil || took != 2*time.Hour {
			t.Errorf("error %v after %v, want none after two pauses of an hour", err, took)
		}
	})
}
