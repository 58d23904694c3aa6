package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
)

func newSetup() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "setup --broker-admin URL --cluster[=FILE]",
		Short: "Prepare a broker for a cluster node",
		Long: `Setup makes the two vhosts of a node's RabbitMQ, their users with the permissions that they need, exchanges and
queues, or brings them up to date. Names and passwords are those of the node's configuration. A broker that is started
with deploy/rabbitmq's definitions, as docker-compose does, needs no setup. The schema of PostgreSQL and the indexes of
MongoDB are made by the programs themselves.`,
		Example: "  whirlpool setup --broker-admin http://admin:secret@127.0.0.1:15672 --cluster=node.yml",
		Args:    cobra.NoArgs,
	}
	admin := cmd.Flags().String("broker-admin", "",
		"`URL` of the broker's management API with an administrator's user and password")
	ref := clusterFlag(cmd)
	cmd.RunE = failing(func(cmd *cobra.Command, _ []string) error {
		if *admin == "" || !ref.asked() {
			return usage("setup needs --broker-admin and --cluster")
		}
		cfg, err := ref.config()
		if err != nil {
			return err
		}
		rb := node.RabbitConfig(cfg)
		rb.Program = "whirlpool setup"
		if err := rabbit.Setup(cmd.Context(), *admin, rb); err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "the broker has the vhosts %s and %s\n", cfg.RabbitMQ.Subsystems.Vhost,
			cfg.RabbitMQ.Frontier.Vhost)
		return err
	})
	return cmd
}
