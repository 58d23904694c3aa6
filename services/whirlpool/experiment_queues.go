package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/experiment"
)

func experimentQueues(show showing) *cobra.Command {
	q := experiment.Queues{Alone: 3, Both: 6, Rest: 3}
	cmd := &cobra.Command{
		Use:   "queues --amqp URL --admin URL",
		Short: "Lengths and rates of a queue, connections, channels and their churn, on a real RabbitMQ",
		Long: `Publishes pages, handles them, and reads what the broker itself counts: queued, ready and unacknowledged
messages; publish, confirm, deliver and ack rates; connections, channels, and how many are opened. It makes two vhosts
of its own and removes them. Nobody else may use the broker, since connections are counted over all of it.`,
		Example: `  whirlpool experiment queues --amqp amqp://guest:guest@127.0.0.1:5672 --admin http://guest:guest@127.0.0.1:15672`,
		Args:    cobra.NoArgs,
		PreRunE: counts("publishers", "consumers"),
		RunE: failing(func(cmd *cobra.Command, _ []string) error {
			if q.AMQP == "" || q.Admin == "" {
				return errors.New("experiment queues needs --amqp and --admin: a broker that nobody else uses, and a user that " +
					"may make vhosts")
			}
			tables, err := q.Run(cmd.Context())
			return show(cmd, tables, err)
		}),
	}
	cmd.Flags().StringVar(&q.AMQP, "amqp", "", "`URL` of the broker, with user and password")
	cmd.Flags().StringVar(&q.Admin, "admin", "", "`URL` of its management API, with user and password")
	cmd.Flags().IntVar(&q.Publishers, "publishers", 8, "goroutines that publish")
	cmd.Flags().IntVar(&q.Consumers, "consumers", 8, "handlers at once")
	cmd.Flags().DurationVar(&q.Every, "every", 6*time.Second,
		"time between two rows; the broker counts every five seconds")
	return cmd
}
