package oci

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/errcode"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/netguard"
)

// Settings say how a registry is reached.
type Settings struct {
	// its address may be one that is not public; leave it off where a stranger names the registry
	AllowPrivate bool
	Timeout      time.Duration // of a fetch or a push, with all its tries; 0: 1 min
}

// Registry is a registry that has plug-ins, or may get some. It is safe for concurrent use.
type Registry struct {
	at      place
	pin     string // the digest of the only manifest that is wanted; empty: what a version means
	client  *auth.Client
	timeout time.Duration
}

var _ repo.Upstream = (*Registry)(nil)

// Bounds of what is asked of a registry.
const (
	defaultTimeout = time.Minute
	tries          = 2       // after the first
	maxManifest    = 1 << 20 // bytes
	maxVersions    = 1000    // that are told to people
)

// Open reads the address of a registry: oci://HOST[:PORT][/PATH], or oci+http:// where it has no TLS. Nothing is asked
// yet.
func Open(address string, set Settings) (*Registry, error) {
	at, err := placeOf(address)
	if err != nil {
		return nil, err
	}
	logins, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return nil, fmt.Errorf("who may use %s stands in Docker's configuration, and that cannot be read: %w", at, err)
	}
	r := &Registry{at: at, timeout: set.Timeout, client: &auth.Client{
		Client: &http.Client{Transport: retrying(set)}, Cache: auth.NewCache(), Credential: credentials.Credential(logins),
		Header: http.Header{"User-Agent": {"whirlpool"}},
	}}
	if r.timeout <= 0 {
		r.timeout = defaultTimeout
	}
	return r, nil
}

// Artifact reads the address of one artifact, as Split does.
func Artifact(artifact string, set Settings) (r *Registry, use string, err error) {
	address, use, pin, err := Split(artifact)
	if err != nil {
		return nil, "", err
	}
	if r, err = Open(address, set); err == nil {
		r.pin = pin
	}
	return r, use, err
}

func retrying(set Settings) http.RoundTripper {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute,
		TLSHandshakeTimeout: 15 * time.Second, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2: true}
	d := &net.Dialer{Timeout: 15 * time.Second}
	if !set.AllowPrivate {
		d.ControlContext, t.Proxy = netguard.Control, nil // a proxy would resolve the name, out of the guard's sight
	}
	t.DialContext = d.DialContext
	again := retry.NewTransport(t)
	again.Policy = func() retry.Policy {
		return &retry.GenericPolicy{Retryable: retry.DefaultPredicate, Backoff: retry.DefaultBackoff,
			MinWait: 200 * time.Millisecond, MaxWait: 3 * time.Second, MaxRetry: tries}
	}
	return again
}

// String implements repo.Upstream.
func (r *Registry) String() string { return r.at.String() }

// of opens what the registry has of a name OWNER/NAME.
func (r *Registry) of(name string) (*remote.Repository, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	found, err := remote.NewRepository(r.at.host + "/" + r.at.path + name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r, err)
	}
	found.Client, found.PlainHTTP, found.MaxMetadataBytes, found.TagListMaxPages = r.client, r.at.plain, maxManifest, 10
	return found, nil
}

// Versions implements repo.Upstream. It tells of 1,000 at most.
func (r *Registry) Versions(ctx context.Context, name string) (versions []string, err error) {
	at, err := r.of(name)
	if err != nil {
		return nil, nil //nolint:nilerr // a name that no registry can have
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	err = at.Tags(ctx, "", func(tags []string) error {
		for _, t := range tags {
			if validTag.MatchString(t) {
				versions = append(versions, t)
			}
		}
		if len(versions) > maxVersions {
			return errEnough
		}
		return nil
	})
	if err = r.fault(name, err); err == nil || errors.Is(err, errEnough) || errors.Is(err, fs.ErrNotExist) {
		return versions[:min(len(versions), maxVersions)], nil
	}
	return nil, err
}

var errEnough = errors.New("enough")

// fault says what an error of the library means.
func (r *Registry) fault(what string, err error) error {
	var private *netguard.Error
	var answer *errcode.ErrorResponse
	switch {
	case err == nil || errors.Is(err, errEnough):
		return err
	case errors.Is(err, errdef.ErrNotFound):
		return fmt.Errorf("%s of %s: %w", what, r, fs.ErrNotExist)
	case errors.As(err, &private):
		return fmt.Errorf("%s: %w: who runs the server must allow private addresses first", r, private)
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return fmt.Errorf("%s asks for a login: `docker login %s` writes one where it is looked for "+
			"($DOCKER_CONFIG/config.json)", r, r.at.host)
	case errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Errorf("%s has no TLS: %s is the address of such a one", r, plain+strings.TrimPrefix(r.String(), secure))
	case errors.As(err, &answer):
		return r.refused(what, answer)
	case passes(err):
		return fmt.Errorf("%w: %s: %w", repo.ErrUnavailable, r, withoutAddress(err))
	}
	return fmt.Errorf("%s of %s: %w", what, r, err)
}

// withoutAddress is an error of a request without its address: that of where a registry sends on to may be signed.
func withoutAddress(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// passes reports whether an error is of the way to a registry, not of what it has.
func passes(err error) bool {
	var way net.Error // *url.Error is one, too
	return errors.As(err, &way) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, context.Canceled)
}

func (r *Registry) refused(what string, answer *errcode.ErrorResponse) error {
	switch code := answer.StatusCode; {
	case code == http.StatusNotFound:
		return fmt.Errorf("%s of %s: %w", what, r, fs.ErrNotExist)
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return fmt.Errorf("%s lets nobody here read or write %s (%d): `docker login %s` writes a login where it is looked "+
			"for ($DOCKER_CONFIG/config.json)",
			r, what, code, r.at.host)
	case code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= http.StatusInternalServerError:
		return fmt.Errorf("%w: %s answers %d", repo.ErrUnavailable, r, code)
	default:
		return fmt.Errorf("%s of %s: it answers %d %s", what, r, code, strings.TrimSpace(answer.Errors.Error()))
	}
}
