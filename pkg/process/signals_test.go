package process

import (
	"os"
	"syscall"
	"testing"
	"testing/synctest"
)

func TestOnlyTheFirstHangupCounts(t *testing.T) {
	for name, tt := range map[string]struct{ sent, want []os.Signal }{
		"hang-ups":             {[]os.Signal{syscall.SIGHUP, syscall.SIGHUP}, []os.Signal{syscall.SIGHUP}},
		"Ctrl-C twice":         {[]os.Signal{os.Interrupt, os.Interrupt}, []os.Signal{os.Interrupt, os.Interrupt}},
		"hang-up after Ctrl-C": {[]os.Signal{os.Interrupt, syscall.SIGHUP}, []os.Signal{os.Interrupt}},
		"hurry after hang-up":  {[]os.Signal{syscall.SIGHUP, syscall.SIGTERM}, []os.Signal{syscall.SIGHUP, syscall.SIGTERM}},
		"impatience": {[]os.Signal{os.Interrupt, os.Interrupt, os.Interrupt},
			[]os.Signal{os.Interrupt, os.Interrupt}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, out, done := make(chan os.Signal), make(chan os.Signal, 2), make(chan struct{})
				go passOn(in, out, done)
				for _, s := range tt.sent {
					in <- s
				}
				synctest.Wait()
				close(done)
				for _, want := range tt.want {
					if got := <-out; got != want {
						t.Errorf("got %v, want %v", got, want)
					}
				}
				if len(out) > 0 {
					t.Errorf("one too many: %v", <-out)
				}
			})
		})
	}
}
