package main

import (
	"os/user"
	"path/filepath"
	"runtime"
	"testing"
)

// A service of systemd has no $HOME: a crawl without plug-ins was refused there, since nobody knew where these lie.
func TestSettingsLieAtHomeWhereNoVariableSaysWhere(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems have other directories of settings")
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	want := filepath.Join(me.HomeDir, ".config", "whirlpool")
	if dir, err := settingsDir(); err != nil || dir != want {
		t.Errorf("settings lie in %q, %v; want %q", dir, err, want)
	}
	if dir, err := (&pluginFlags{}).directory(); err != nil || dir != filepath.Join(want, "plugins") {
		t.Errorf("plug-ins lie in %q, %v", dir, err)
	}
}
