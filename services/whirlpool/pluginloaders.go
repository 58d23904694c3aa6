package main

import (
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
)

// pluginLoaders are the tiers that this program runs. Compiled modules are kept below dir.
func pluginLoaders(_ string) map[plugin.Tier]repo.Loader {
	return map[plugin.Tier]repo.Loader{}
}
