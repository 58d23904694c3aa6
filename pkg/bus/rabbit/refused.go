package rabbit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	rabbithole "github.com/michaelklishin/rabbit-hole/v3"
	amqp "github.com/rabbitmq/amqp091-go"
)

// ErrRefused says that the broker answers but rejects this user. Waiting does not help; a setting has to change.
var ErrRefused = errors.New("the broker refuses the login")

// refusal marks the error of a handshake in which the broker refused the user, the password or the vhost.
func refusal(url string, err error) error {
	var said *amqp.Error
	uri, errURI := amqp.ParseURI(url)
	if !errors.As(err, &said) || errURI != nil {
		return err
	}
	switch said.Code {
	case amqp.AccessRefused:
		return fmt.Errorf("%w: user %s, vhost %s: check the user, its password and its permissions (rabbitmq.subsystems, "+
			"rabbitmq.frontier): %w",
			ErrRefused, uri.Username, uri.Vhost, err)
	case amqp.NotAllowed:
		return fmt.Errorf("%w: there is no vhost %s, or user %s may not use it (rabbitmq.subsystems, rabbitmq.frontier): %w",
			ErrRefused, uri.Vhost, uri.Username, err)
	}
	return err
}

// DeniedError says that the broker accepts the user, but denies access to a queue or an exchange. Waiting does not
// help; `whirlpool setup` does. The broker has closed the channel after it.
type DeniedError struct {
	User, Vhost string
	Err         error // what the broker said: it names the queue or the exchange
}

// Error implements error.
func (d *DeniedError) Error() string {
	return fmt.Sprintf("the broker denies user %s a right in vhost %s: run `whirlpool setup` with the configuration of "+
		"this program, which brings the rights of the users up to date: %s", d.User, d.Vhost, d.Err)
}

// Unwrap returns what the broker said.
func (d *DeniedError) Unwrap() error { return d.Err }

// deniedPause is the wait before another try: the permissions stay as they are until somebody changes them.
const deniedPause = 30 * time.Second

// Pause returns how long a supervisor waits before it restarts the program.
func (d *DeniedError) Pause() time.Duration { return deniedPause }

// denial marks the answer of a broker that denies the user a right.
func (v *vhost) denial(err error) error {
	var said *amqp.Error
	var marked *DeniedError
	if !errors.As(err, &said) || said.Code != amqp.AccessRefused || errors.As(err, &marked) {
		return err
	}
	uri, errURI := amqp.ParseURI(v.url)
	if errURI != nil {
		return err
	}
	return &DeniedError{User: uri.Username, Vhost: uri.Vhost, Err: err}
}

// loggedIn turns an answer of the management API that refuses the login into an error that says so.
func loggedIn(r *http.Response) (*http.Response, error) {
	if r.StatusCode != http.StatusUnauthorized {
		return r, nil
	}
	user, _, _ := r.Request.BasicAuth()
	var said rabbithole.ErrorResponse // "Login failed", or that this user may not see the vhost
	_ = json.NewDecoder(io.LimitReader(r.Body, 4<<10)).Decode(&said)
	_ = r.Body.Close()
	said.Reason = cmp.Or(said.Reason, r.Status)
	return nil, fmt.Errorf("%w: management API, user %s: %s: check the password and the user's permissions, or "+
		"rabbitmq.management.user and .password", ErrRefused, user, said.Reason)
}

// absent marks the answer of a management API that knows no such vhost.
func absent(v *vhost, err error) error {
	var said rabbithole.ErrorResponse
	if !errors.As(err, &said) || said.StatusCode != http.StatusNotFound {
		return err
	}
	return fmt.Errorf("%w: there is no vhost %s (rabbitmq.subsystems, rabbitmq.frontier): `whirlpool setup` makes it",
		ErrRefused, v.name)
}

// Reach connects to both vhosts once and returns what failed. Publish and Consume wait instead.
func (b *Bus) Reach(ctx context.Context) error {
	for _, v := range b.vhosts {
		l := newLink(b.cfg, v.url, b.cfg.Program+" looks at "+v.exchange)
		s, err := l.dialWithin(ctx)
		if err != nil {
			return fmt.Errorf("connect to RabbitMQ, vhost %s: %w", v.name, err)
		}
		_ = s.conn.Close() // it served its purpose
		s.batch.cut()
		<-s.batch.ended
		<-s.lost
	}
	return nil
}
