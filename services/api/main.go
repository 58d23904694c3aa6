// Command api serves the API and the studio of a cluster, and conducts its workflows.
//
// Several copies may run: each answers, and the one that holds a lock of the database conducts. It reads the
// configuration of a node: a file (--config) and WHIRLPOOL_* variables, see deploy/samples/node.yml.
package main

import (
	"context"
	"os"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/process"
)

func main() {
	process.Main("api", func(ctx context.Context, p *process.Program) error {
		forgetEnvironment()
		return run(ctx, p)
	})
}

// definitionVariables begin the names of the variables that definitions may use as ${NAME}.
const definitionVariables = "JOB_"

// forgetEnvironment removes all variables that definitions must not read: whoever may write one could learn the
// passwords of the cluster's services otherwise. The configuration was read from them before.
func forgetEnvironment() {
	keep := map[string]bool{"PATH": true, "HOME": true, "TMPDIR": true, "TZ": true, "SSL_CERT_FILE": true,
		"SSL_CERT_DIR": true, "GOMAXPROCS": true}
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if !keep[name] && !strings.HasPrefix(name, definitionVariables) {
			_ = os.Unsetenv(name) // it has a name
		}
	}
}
