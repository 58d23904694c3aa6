package local

import (
	"testing"
	"testing/synctest"
	"time"
)

// A clock may stand still for milliseconds (Windows): a queue that is made again meanwhile gets new numbers all the
// same, or an old receipt would settle a new task.
func TestNumbersOfAQueueGrowWhileTheClockStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		qs := &Queues{began: time.Now(), by: map[string]*queue{}}
		qs.create("back.1")
		q := qs.by["back.1"]
		q.tail += 3
		q.next, q.ready, q.gone = q.tail, q.tail, true
		qs.forget(q)
		qs.create("back.1")
		if again := qs.by["back.1"]; again.next < q.tail {
			t.Errorf("the numbers begin at %d, and %d was given before", again.next, q.tail-1)
		}
	})
}
