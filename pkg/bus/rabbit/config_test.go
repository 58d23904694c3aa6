package rabbit_test

import (
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
)

func TestConfigIsCheckedAndKeepsItsPasswords(t *testing.T) {
	good := rabbit.Default()
	good.Subsystems, good.Frontier = "amqp://u:secret@h:5672/a", "amqp://u:secret@h:5672/b"
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*rabbit.Config){
		"no address":        func(c *rabbit.Config) { c.Subsystems = "" },
		"no vhost":          func(c *rabbit.Config) { c.Frontier = "amqp://u:secret@h:5672/" },
		"another scheme":    func(c *rabbit.Config) { c.Frontier = "http://u:secret@h:5672/b" },
		"no URL":            func(c *rabbit.Config) { c.Frontier = "amqp://u:secret@h:port/b" },
		"management":        func(c *rabbit.Config) { c.Management = "h:15672" },
		"length":            func(c *rabbit.Config) { c.MaxLength = 0 },
		"length overflows":  func(c *rabbit.Config) { c.MaxLength = 1 << 40 },
		"window":            func(c *rabbit.Config) { c.Window = 1 },
		"heartbeat":         func(c *rabbit.Config) { c.Heartbeat = time.Millisecond },
		"nowhere to report": func(c *rabbit.Config) { c.Log = nil },
	} {
		cfg := good
		spoil(&cfg)
		err := cfg.Validate()
		if err == nil {
			t.Errorf("%s: accepted", name)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error tells the password: %v", name, err)
		}
	}
}
