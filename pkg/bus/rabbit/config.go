package rabbit

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Config says where the broker is and how it is used.
type Config struct {
	// Subsystems and Frontier are the AMQP URLs of the two vhosts, with user and password:
	// amqp://wh_subsystems_user:…@host:5672/wh_subsystems_vhost.
	Subsystems, Frontier string
	// Management is the URL of the broker's management API, http://host:15672. If it has no user, the user of each
	// vhost is used. Depths, Quiet and the frontier's queues need it.
	Management string
	Program    string // the name of the connections in the management console
	// MaxLength is how many messages may wait in a bounded topic before its publishers wait. It is an argument of the
	// queues, so all programs must have the same value.
	MaxLength int
	Window    int // messages of one vhost that a program has published and that are not confirmed
	Bundle    int // events of a topic that may travel in one message, at most; 1: each travels alone
	// Held is how many events of a topic may be held (bus.Held) beyond those that are handled or wait for a worker; 0
	// where none are.
	Held      int
	Heartbeat time.Duration // a broker that is silent three times as long is given up
	// Unconfirmed is how long a message may wait for its confirm, once those before it are confirmed, while the broker
	// takes messages. Then the connection is given up, and what was not confirmed is published again: a broker may forget
	// a confirm, as RabbitMQ 3.10 seems to where the queue is deleted at that moment.
	Unconfirmed time.Duration
	// Grace is how long handlers may go on after their consumer's context ended, before their own ends.
	Grace time.Duration
	Log   *slog.Logger
}

// Default returns the configuration without addresses. With this window the throughput of confirms levels out
// (BenchmarkPublish). With this length the topics hold the outputs of a few seconds.
func Default() Config {
	return Config{Program: "whirlpool", MaxLength: 2_000, Window: 1000, Bundle: 16, Heartbeat: 10 * time.Second,
		Grace: 20 * time.Second, Unconfirmed: time.Minute, Log: slog.Default()}
}

// Validate reports what is missing or out of bounds.
func (c Config) Validate() error {
	var errs []error
	for name, raw := range map[string]string{"subsystems": c.Subsystems, "frontier": c.Frontier} {
		if err := checkAMQP(raw); err != nil {
			errs = append(errs, fmt.Errorf("rabbit: address of the %s vhost: %w", name, err))
		}
	}
	if u, err := url.Parse(c.Management); err != nil || c.Management != "" &&
		(u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		errs = append(errs, errors.New("rabbit: the management address is no http://host:port"))
	}
	if c.MaxLength < 1 || c.MaxLength > math.MaxInt32 {
		errs = append(errs, fmt.Errorf("rabbit: topics of at most %d messages: want 1 to %d", c.MaxLength, math.MaxInt32))
	}
	if c.Window < 2 {
		errs = append(errs, fmt.Errorf("rabbit: a window of %d messages: want at least 2", c.Window))
	}
	if c.Bundle < 1 || c.Bundle > maxBundle {
		errs = append(errs, fmt.Errorf("rabbit: bundles of %d events: want 1 to %d", c.Bundle, maxBundle))
	}
	if c.Held < 0 || c.Held > 1<<14 {
		errs = append(errs, fmt.Errorf("rabbit: %d messages held: want 0 to %d", c.Held, 1<<14))
	}
	if c.Heartbeat < time.Second {
		errs = append(errs, fmt.Errorf("rabbit: a heartbeat of %v: want at least 1s", c.Heartbeat))
	}
	if c.Unconfirmed < time.Second {
		errs = append(errs, fmt.Errorf("rabbit: %v for a confirm: want at least 1s", c.Unconfirmed))
	}
	if c.Log == nil {
		errs = append(errs, errors.New("rabbit: no logger"))
	}
	return errors.Join(errs...)
}

// checkAMQP never repeats the address: it holds a password.
func checkAMQP(raw string) error {
	u, err := amqp.ParseURI(raw)
	switch {
	case err != nil:
		return errors.New("not of the form amqp://user:password@host:5672/vhost")
	case u.Vhost == "" || u.Vhost == "/":
		return errors.New("it names no vhost: amqp://user:password@host:5672/vhost")
	}
	return nil
}
