// Package process is the process shell of every program of a node: a main only names its program and wires its parts.
//
// [Main] does, in order:
//
//  1. reads the flags and the configuration ([Load]): defaults, one YAML file, WHIRLPOOL_* variables, strictly;
//  2. bounds the heap by the container's memory, makes the logger and the metrics registry;
//  3. serves /healthz, /readyz and /metrics, and profiles on a loopback listener of their own;
//  4. runs the body with a context that the first SIGTERM or SIGINT ends. The body then has the shutdown timeout to
//     finish what is in hand; after it, or at a second signal, the program exits with what still ran in its log;
//  5. exits with 0 when it ended as asked, 1 on failure, 2 on bad usage or configuration.
//
// For the body there are [Program.Await], which waits for services so that programs may start in any order,
// [Supervise], which builds a component again whose connection was lost, and [DiskGuard].
//
// A main, in short:
//
//	func main() {
//		process.Main("parser", func(ctx context.Context, p *process.Program) error {
//			if err := p.Config.Require("rabbitmq.subsystems.password"); err != nil {
//				return err
//			}
//			var db *postgres.Store
//			err := p.Await(ctx, "postgres", func(ctx context.Context) (err error) {
//				db, err = postgres.Open(ctx, …)
//				return err
//			})
//			if err != nil {
//				return err // the program is being stopped
//			}
//			defer db.Close()
//			p.Check("postgres", db.Ping)
//			p.Ready()
//			return pipeline.Run(ctx, …)
//		})
//	}
//
// It must never log or print a secret, never give up waiting by itself, and know neither a stage nor a driver.
package process
