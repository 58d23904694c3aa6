package postgres_test

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/repotest"
)

func TestPlugins(t *testing.T) {
	stores := map[string]string{}
	repotest.Run(t, func(t *testing.T, name string) repo.Store {
		if stores[name] == "" {
			stores[name] = newDatabase(t)
		}
		return openAt(t, stores[name]).Plugins()
	})
}
