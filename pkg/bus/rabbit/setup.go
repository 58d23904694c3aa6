package rabbit

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	rabbithole "github.com/michaelklishin/rabbit-hole/v3"
	amqp "github.com/rabbitmq/amqp091-go"
)

// userTag lets a vhost's user ask the management API about that vhost, and nothing else.
const userTag = "management"

// Setup creates or updates the two vhosts, a user with the needed permissions for each, and the topology. Names and
// passwords are those of the addresses in cfg. admin is the URL of the management API, with a user and password that
// may administer the broker.
func Setup(ctx context.Context, admin string, cfg Config) error {
	cfg.Management = admin
	if err := cfg.Validate(); err != nil {
		return err
	}
	b, err := Open(cfg)
	if err != nil {
		return err
	}
	defer b.Close()
	for _, v := range b.vhosts {
		if err := b.setup(ctx, v); err != nil {
			return fmt.Errorf("rabbit: set up vhost %s: %w", v.name, err)
		}
	}
	return b.Declare(ctx)
}

func (b *Bus) setup(ctx context.Context, v *vhost) error {
	uri, err := amqp.ParseURI(v.url)
	if err != nil {
		return checkAMQP(v.url)
	}
	c, err := b.api.client(ctx, v.url)
	if err != nil {
		return err
	}
	if err := done(c.PutVhost(v.name, rabbithole.VhostSettings{Description: v.exchange})); err != nil {
		return err
	}
	err = done(c.PutUser(uri.Username, rabbithole.UserSettings{Name: uri.Username, Password: uri.Password,
		Tags: rabbithole.UserTags{userTag}}))
	if err != nil {
		return fmt.Errorf("user %s: %w", uri.Username, err)
	}
	p := v.permission()
	err = done(c.UpdatePermissionsIn(v.name, uri.Username, rabbithole.Permissions{Configure: p, Write: p, Read: p}))
	if err != nil {
		return fmt.Errorf("permissions of user %s: %w", uri.Username, err)
	}
	return nil
}

// Teardown removes the two vhosts with all they hold, and their users. admin is as in Setup.
func Teardown(ctx context.Context, admin string, cfg Config) error {
	cfg.Management = admin
	b, err := Open(cfg)
	if err != nil {
		return err
	}
	defer b.Close()
	var errs []error
	for _, v := range b.vhosts {
		c, err := b.api.client(ctx, v.url)
		if err != nil {
			return err
		}
		uri, _ := amqp.ParseURI(v.url)
		errs = append(errs, done(c.DeleteVhost(v.name)), done(c.DeleteUser(uri.Username)))
	}
	return errors.Join(errs...)
}

// done ends a request of the management client, which leaves answers open.
func done(r *http.Response, err error) error {
	if r != nil && r.Body != nil {
		_ = r.Body.Close()
	}
	return err
}
