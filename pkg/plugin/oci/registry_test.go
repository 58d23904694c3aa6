package oci_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/oci"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/repotest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
)

const use = "shop/price@1.0.0"

// open opens a registry of this machine, whose address is that of a private network.
func open(t *testing.T, address string) *oci.Registry {
	t.Helper()
	r, err := oci.Open(address, oci.Settings{AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// nobody logs in.
func nobody(t *testing.T) { t.Helper(); t.Setenv("DOCKER_CONFIG", t.TempDir()) }

func wants(t *testing.T, what string, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: %v; want %q in it", what, err, text)
	}
}

// What is published is there for others, byte for byte, with its signature; a version never changes.
func TestPluginsLieInARegistry(t *testing.T) {
	nobody(t)
	ctx, at := t.Context(), "oci+http://"+servicetest.StartRegistry(t, "", "").Address+"/team/plugins"
	r, one, two := open(t, at), repotest.Pack(t, use, "one"), repotest.Pack(t, use, "two")
	if _, _, err := r.Fetch(ctx, use); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before it is there: %v", err)
	}
	if versions, err := r.Versions(ctx, "shop/price"); err != nil || len(versions) > 0 {
		t.Errorf("before it is there: %q, %v", versions, err)
	}
	first, err := r.Publish(ctx, one, nil)
	if err != nil || !strings.HasPrefix(first, at+"/shop/price:1.0.0@sha256:") {
		t.Fatalf("%q, %v", first, err)
	}
	if again, err := r.Publish(ctx, repotest.Pack(t, use, "one"), nil); err != nil || again != first {
		t.Errorf("the same again: %q, %v; want %q", again, err, first)
	}
	if _, err := r.Publish(ctx, two, nil); !errors.Is(err, repo.ErrTaken) {
		t.Errorf("other content: %v", err)
	}
	signed, err := r.Publish(ctx, one, []byte("signed by ann"))
	if err != nil || signed == first {
		t.Errorf("with a signature: %q, %v", signed, err)
	}
	if again, err := r.Publish(ctx, one, nil); err != nil || again != signed {
		t.Errorf("the signature is gone: %q, %v", again, err)
	}
	p, signature, err := open(t, at+"/").Fetch(ctx, use)
	if err != nil || p.Digest != one.Digest || string(signature) != "signed by ann" {
		t.Errorf("%+v, %q, %v", p, signature, err)
	}
	pinned, named, err := oci.Artifact(first, oci.Settings{AllowPrivate: true})
	if err != nil || named != use {
		t.Fatalf("%q, %v", named, err)
	}
	if p, signature, err := pinned.Fetch(ctx, named); err != nil || p.Digest != one.Digest || len(signature) > 0 {
		t.Errorf("the one before it was signed: %q, %v", signature, err)
	}
	for _, more := range []string{"1.10.0", "1.9.0"} {
		if _, err := r.Publish(ctx, repotest.Pack(t, "shop/price@"+more, more), nil); err != nil {
			t.Error(err)
		}
	}
	versions, err := r.Versions(ctx, "shop/price")
	slices.Sort(versions)
	if err != nil || !slices.Equal(versions, []string{"1.0.0", "1.10.0", "1.9.0"}) {
		t.Errorf("versions %q, %v", versions, err)
	}
	_, err = r.Publish(ctx, repotest.Pack(t, "shop/-price@1.0.0", "one"), nil)
	wants(t, "a name that no registry takes", err, "cannot be kept in a registry")
}

// What a registry has lost is told as lost, and publishing it again brings it back.
func TestALayerThatARegistryLost(t *testing.T) {
	nobody(t)
	ctx, server := t.Context(), servicetest.StartRegistry(t, "", "")
	r, p := open(t, "oci+http://"+server.Address+"/team/plugins"), repotest.Pack(t, use, "one")
	first, err := r.Publish(ctx, p, []byte("signed by ann"))
	if err != nil {
		t.Fatal(err)
	}
	layers := filepath.Join(server.Dir, "docker/registry/v2/repositories/team/plugins/shop/price/_layers")
	if _, err := os.Stat(layers); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(layers); err != nil {
		t.Fatal(err)
	}
	_, _, err = r.Fetch(ctx, use)
	wants(t, "without its layers", err, "lost a layer")
	if again, err := r.Publish(ctx, p, []byte("signed by ann")); err != nil || again != first {
		t.Errorf("published again: %q, %v; want %q", again, err, first)
	}
	if got, signature, err := r.Fetch(ctx, use); err != nil || got.Digest != p.Digest ||
		string(signature) != "signed by ann" {
		t.Errorf("after that: %q, %v", signature, err)
	}
}

// Many who publish at a time, the same and different versions: each version is there whole.
func TestManyPublishAtATime(t *testing.T) {
	nobody(t)
	at := "oci+http://" + servicetest.StartRegistry(t, "", "").Address
	var wg sync.WaitGroup
	packs := make([]*repo.Package, 12)
	for i := range packs {
		packs[i] = repotest.Pack(t, fmt.Sprintf("shop/price@1.%d.0", i/3), fmt.Sprint(i/3))
		wg.Go(func() {
			if _, err := open(t, at).Publish(t.Context(), packs[i], nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, p := range packs {
		if got, _, err := open(t, at).Fetch(t.Context(), p.Descriptor.Use()); err != nil || got.Digest != p.Digest {
			t.Errorf("%s: %v", p.Descriptor.Use(), err)
		}
	}
}

// A login of Docker's configuration is used, and only for its own host.
func TestALoginIsThatOfDocker(t *testing.T) {
	nobody(t)
	server := servicetest.StartRegistry(t, "ann", "secret-of-ann")
	at := "oci+http://" + server.Address + "/plugins"
	p := repotest.Pack(t, use, "one")
	_, err := open(t, at).Publish(t.Context(), p, nil)
	wants(t, "without a login", err, "docker login "+server.Address)
	_, _, err = open(t, at).Fetch(t.Context(), use)
	wants(t, "without a login", err, "docker login "+server.Address)
	login(t, server.Address, "ann", "wrong")
	_, err = open(t, at).Publish(t.Context(), p, nil)
	wants(t, "with a wrong one", err, "(401)")
	login(t, "127.0.0.1:1", "ann", "secret-of-ann")
	_, err = open(t, at).Publish(t.Context(), p, nil)
	wants(t, "with one of another host", err, "docker login")
	login(t, server.Address, "ann", "secret-of-ann")
	if _, err := open(t, at).Publish(t.Context(), p, nil); err != nil {
		t.Error(err)
	}
	if _, _, err := open(t, at).Fetch(t.Context(), use); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(os.Getenv("DOCKER_CONFIG"), "config.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = oci.Open(at, oci.Settings{})
	wants(t, "a configuration that is none", err, "Docker's configuration")
}

func login(t *testing.T, host, user, password string) {
	t.Helper()
	text := fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, host, base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
	if err := os.WriteFile(filepath.Join(os.Getenv("DOCKER_CONFIG"), "config.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A repository takes what it does not have, and keeps to it, whatever the registry says later.
func TestARepositoryTakesFromARegistry(t *testing.T) {
	nobody(t)
	ctx, at := t.Context(), "oci+http://"+servicetest.StartRegistry(t, "", "").Address+"/plugins"
	r, p := open(t, at), repotest.Pack(t, use, "one")
	if _, err := r.Publish(ctx, p, []byte("of nobody's key")); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	d, err := repo.Open(dir, repo.Settings{Upstream: r})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	_, err = d.Digest(ctx, "shop/price@2.0.0")
	wants(t, "another version", err, "of shop/price there are 1.0.0")
	_, err = d.Digest(ctx, "shop/rice@1.0.0")
	wants(t, "another name", err, "whirlpool plugin list")
	if items, err := d.List(ctx); err != nil || len(items) > 0 {
		t.Errorf("before it is named: %v, %v", items, err)
	}
	if got, err := d.Digest(ctx, use); err != nil || got != p.Digest {
		t.Fatalf("%s, %v", got, err)
	}
	if i, err := d.Show(ctx, use); err != nil || i.Trust.Level != repo.Unsigned || i.Trust.Usable {
		t.Errorf("what was taken is trusted: %+v, %v", i.Trust, err)
	}
	gone, err := repo.Open(dir, repo.Settings{Upstream: open(t, "oci+http://127.0.0.1:1/plugins")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = gone.Close() }()
	if got, err := gone.Digest(ctx, use); err != nil || got != p.Digest {
		t.Errorf("without the registry: %s, %v", got, err)
	}
	if _, err := gone.Digest(ctx, "shop/price@2.0.0"); !errors.Is(err, repo.ErrUnavailable) {
		t.Errorf("what is nowhere, without the registry: %v", err)
	}
}
