package rabbit

import "github.com/whirlpool-crawler/whirlpool/pkg/bus"

// Letter is a dead letter of the broker.
type Letter = bus.Letter
