package rabbit

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
)

// flight is a message that was published and has no confirm yet.
type flight struct {
	ctx     context.Context
	events  int
	confirm chan error
}

// sky is the broker in these tests: it records what a bundler publishes.
func sky(most int) (b *bundler, flights chan flight) {
	flights = make(chan flight, 100)
	return newBundler(most, func(ctx context.Context, out []outgoing) error {
		f := flight{ctx, 1, make(chan error)}
		if d := deliveryOf(out[0].msg); d.ContentType == bundleType {
			f.events = len(jobsOf(*d))
		}
		flights <- f
		select {
		case err := <-f.confirm:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}), flights
}

// begin publishes events, one a caller.
func begin(ctx context.Context, b *bundler, out ...outgoing) (ends chan error) {
	ends = make(chan error, len(out))
	for _, o := range out {
		in := b.add([]outgoing{o})
		go func() { ends <- b.wait(ctx, in) }()
	}
	synctest.Wait()
	return ends
}

func TestEventsBetweenTwoConfirmsShareABundle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, flights := sky(4)
		ctx := context.Background()
		first := begin(ctx, b, some(1, 10)...)
		one := <-flights // alone: nothing was under way
		second := begin(ctx, b, some(3, 10)...)
		if len(flights) != 0 || one.events != 1 {
			t.Fatalf("%d events went, and %d more bundles before a confirm", one.events, len(flights))
		}
		one.confirm <- nil
		synctest.Wait()
		if err := <-first; err != nil {
			t.Error(err)
		}
		two := <-flights
		if two.events != 3 || len(second) != 0 {
			t.Errorf("%d events in the second bundle, want 3; %d callers were answered before its confirm", two.events,
				len(second))
		}
		broken := errors.New("broken")
		two.confirm <- broken
		for range 3 {
			if err := <-second; !errors.Is(err, broken) {
				t.Errorf("a caller was told %v", err)
			}
		}
	})
}

func TestAFullBundleIsSentAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, flights := sky(4)
		ctx := context.Background()
		ends := []chan error{begin(ctx, b, some(1, 10)...)}
		(<-flights).confirm <- nil // now no sender has work
		ends = append(ends, begin(ctx, b, some(1, 10)...), begin(ctx, b, some(10, 10)...))
		if len(flights) != 3 { // the first, and two that are full
			t.Errorf("%d bundles went, want 3", len(flights))
		}
		ends = append(ends, begin(ctx, b, some(3, bundleBytes/2)...))
		if len(flights) != 5 { // the first large event filled that of two, and the second one its own
			t.Errorf("%d bundles went, want 5: bundles are bounded in bytes", len(flights))
		}
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			for {
				select {
				case f := <-flights:
					f.confirm <- nil
				case <-stop:
					return
				}
			}
		}()
		for _, e := range ends {
			for range cap(e) {
				if err := <-e; err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// A caller that gives up does not fail the other callers of its bundle. Events that no caller waits for are not
// published.
func TestACallerThatGivesUpDoesNotFailOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, flights := sky(4)
		first := begin(context.Background(), b, some(1, 10)...)
		one := <-flights
		short, cancel := context.WithCancel(context.Background())
		impatient, patient := begin(short, b, some(1, 10)...), begin(context.Background(), b, some(1, 10)...)
		cancel()
		if err := <-impatient; !errors.Is(err, context.Canceled) {
			t.Errorf("the caller that gave up was told %v", err)
		}
		one.confirm <- nil
		two := <-flights
		if two.events != 2 || two.ctx.Err() != nil {
			t.Errorf("a bundle of %d events went, %v", two.events, two.ctx.Err())
		}
		two.confirm <- nil
		if err := errors.Join(<-first, <-patient); err != nil {
			t.Error(err)
		}

		short, cancel = context.WithCancel(context.Background())
		sent, filling := begin(short, b, some(1, 10)...), begin(short, b, some(2, 10)...)
		three := <-flights
		cancel()
		for _, ends := range []chan error{sent, filling, filling} {
			if err := <-ends; !errors.Is(err, context.Canceled) {
				t.Errorf("a caller that gave up was told %v", err)
			}
		}
		synctest.Wait()
		for f := three; ; f = <-flights {
			if f.ctx.Err() == nil {
				t.Error("what nobody waits for is still being published")
			}
			if len(flights) == 0 {
				break
			}
		}
		last := begin(context.Background(), b, some(1, 10)...)
		four := <-flights
		four.confirm <- nil
		if err := <-last; err != nil || four.events != 1 {
			t.Errorf("after that %d events went: %v", four.events, err)
		}
	})
}

// Callers add events and give up while a bundle fills. Run with the race detector, which reports unguarded shared
// state.
func TestCallersGiveUpWhileABundleFills(t *testing.T) {
	b, flights := sky(maxBundle)
	one := b.add(some(1, 10))
	held := <-flights // so that what follows fills one bundle after another
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for range 100 {
				ctx, cancel := context.WithCancel(context.Background())
				in := b.add(some(1, 10))
				cancel()
				if err := b.wait(ctx, in); !errors.Is(err, context.Canceled) {
					t.Errorf("a caller that gave up was told %v", err)
				}
			}
		})
	}
	callers.Wait()
	held.confirm <- nil
	if err := b.wait(context.Background(), one); err != nil {
		t.Error(err)
	}
}
