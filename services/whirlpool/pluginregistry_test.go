package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
)

// A plug-in is published in a registry of containers and taken from there: by its address, and by a repository that
// does not have it.
func TestPluginsGoThroughARegistry(t *testing.T) {
	dir := aPlugin(t)
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	at := "oci+http://" + servicetest.StartRegistry(t, "", "").Address + "/plugins"
	if r := whirlpool(t, "plugin", "push", at+"/shop/price:1.0.0"); r.exit != exitFailure ||
		!strings.Contains(r.stderr, "there is no plug-in shop/price@1.0.0 in "+at) {
		t.Errorf("before it is published: %+v", r)
	}
	published := strings.Split(must(t, "plugin", "publish", "--untested", dir, at), "\n")
	if !strings.HasPrefix(published[0], at+"/shop/price:1.0.0@sha256:") || !strings.HasPrefix(published[1], "sha256:") {
		t.Fatalf("publish prints %q", published)
	}
	for _, artifact := range []string{published[0], at + "/shop/price:1.0.0"} { // the second changes nothing
		got := must(t, "plugin", "push", artifact)
		if !strings.HasPrefix(got, "shop/price@1.0.0\n"+published[1]+"\n") ||
			!strings.Contains(got, "crawls cannot use it yet") {
			t.Errorf("push prints %q", got)
		}
	}
	t.Setenv(pluginsEnv, filepath.Join(t.TempDir(), "plugins")) // that of somebody else
	if r := whirlpool(t, "plugin", "approve", "shop/price@1.0.0"); r.exit != exitFailure ||
		!strings.Contains(r.stderr, "there is no plug-in") {
		t.Errorf("without a registry: %+v", r)
	}
	if got := must(t, "plugin", "approve", "--plugin-registry", at, "shop/price@1.0.0"); !strings.Contains(got,
		published[1]) {
		t.Errorf("approve prints %q", got)
	}
	if got := must(t, "plugin", "show", "shop/price@1.0.0"); !strings.Contains(got, "approved, by "+me()) ||
		!strings.Contains(got, published[1]) {
		t.Errorf("show prints\n%s", got)
	}
}

// A server takes from the registry of its settings, and lets nobody send it to another address that is private.
func TestAServerTakesPluginsFromItsRegistry(t *testing.T) {
	dir := aPlugin(t)
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	known, other := servicetest.StartRegistry(t, "", "").Address, servicetest.StartRegistry(t, "", "").Address
	for _, a := range []string{known, other} {
		must(t, "plugin", "publish", "--untested", dir, "oci+http://"+a)
	}
	t.Setenv(registryEnv, "oci+http://"+known)
	s := startServe(t, "--plugin-processes=false") // with no private addresses allowed
	t.Setenv("WHIRLPOOL_API_KEY", strings.TrimSpace(must(t, "key", "create", "test", "--role", "admin", "--dir", s.dir)))
	push := func(address string) result {
		t.Helper()
		return whirlpool(t, "plugin", "push", "oci+http://"+address+"/shop/price:1.0.0", "--server", s.url)
	}
	if r := push(other); r.exit != exitFailure || !strings.Contains(r.stderr, "loopback") {
		t.Errorf("another private registry: %+v", r)
	}
	if r := push("127.0.0.1:1"); r.exit != exitFailure || !strings.Contains(r.stderr, "loopback") {
		t.Errorf("no registry: %+v", r)
	}
	if r := push(known); r.exit != exitOK || !strings.HasPrefix(r.stdout, "shop/price@1.0.0\nsha256:") {
		t.Errorf("that of the settings: %+v", r)
	}
	if got := must(t, "plugin", "approve", "shop/price@1.0.0", "--server", s.url); !strings.Contains(got, "sha256:") {
		t.Errorf("approve prints %q", got)
	}
}

func TestMistakesWithRegistriesAreTold(t *testing.T) {
	dir := aPlugin(t)
	for _, c := range []struct {
		args []string
		exit int
		says string
	}{
		{[]string{"plugin", "push", "oci://registry.example/shop/price"}, exitUsage,
			"want oci://HOST/PATH/OWNER/NAME:VERSION"},
		{[]string{"plugin", "push", "--signature", "x", "oci://registry.example/shop/price:1.0.0"}, exitUsage, "--signature"},
		{[]string{"plugin", "publish", dir}, exitUsage, "want oci://HOST"},
		{[]string{"plugin", "publish", dir, "registry.example"}, exitUsage, "want oci://HOST"},
		{[]string{"plugin", "publish", t.TempDir(), "oci://registry.example"}, exitFailure, "plugin.toml"},
		{[]string{"plugin", "list", "--plugin-registry", "registry.example"}, exitUsage, "--plugin-registry"},
		{[]string{"plugin", "publish", "--untested", dir, "oci+http://127.0.0.1:1"}, exitFailure, "127.0.0.1:1"},
	} {
		if r := whirlpool(t, c.args...); r.exit != c.exit || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%q: %d %s; want %d %q", c.args, r.exit, r.stderr, c.exit, c.says)
		}
	}
}
