package rabbit

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"
)

// A broker that takes connections and says nothing, as one that hangs, is told as that.
func TestABrokerThatSaysNothingIsTold(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	l := &link{url: "amqp://guest:secret@" + silent.Addr().String() + "/", name: "test"}
	_, err = l.dialWithin(ctx)
	if err == nil || !strings.Contains(err.Error(), silent.Addr().String()+" does not answer") ||
		strings.Contains(err.Error(), "secret") {
		t.Errorf("a broker that says nothing: %v", err)
	}
}
