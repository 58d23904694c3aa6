package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow/notify"
)

func newAlert() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "alert",
		Short: "Be told when something goes wrong on a server",
		Long: `Alert is about what the people of a server of "whirlpool serve" are told: rules say what is watched, channels
where it is sent, by webhook or mail. Secrets of channels are named, not written: ${NAME} is a variable of the server,
file:/PATH a file.`,
		Example: `  whirlpool alert channel ops --webhook https://hooks.example.org/x --secret '${HOOK_SECRET}'
  whirlpool alert test ops
  whirlpool alert rule failed --on failed --channel ops
  whirlpool alert list`,
	}
	cmd.AddCommand(newAlertList(), newAlertRules(), newAlertRule(), newAlertSilence(), newAlertRemove(),
		newAlertChannels(), newAlertChannel(), newAlertTest(), newAlertDeliveries(), newAlertResend())
	return cmd
}

func newAlertList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List what is pending and firing", Args: cobra.NoArgs}
	format := outputFlag(cmd)
	return onServer(cmd, func(cmd *cobra.Command, _ []string, c *client.Client) error {
		list, err := c.Alerts(cmd.Context())
		if err != nil {
			return err
		}
		return printList(cmd.OutOrStdout(), *format, list, "all is well", "STATE\tSEVERITY\tRULE\tOF\tSINCE\tWHAT",
			func(a workflow.Alert) string {
				return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s", a.State, a.Severity, a.Rule, a.Subject, timeText(a.Since), a.Text)
			})
	})
}

func newAlertRules() *cobra.Command {
	cmd := &cobra.Command{Use: "rules", Short: "List rules", Args: cobra.NoArgs}
	format := outputFlag(cmd)
	return onServer(cmd, func(cmd *cobra.Command, _ []string, c *client.Client) error {
		list, err := c.AlertRules(cmd.Context())
		if err != nil {
			return err
		}
		return printList(cmd.OutOrStdout(), *format, list, "no rules yet: `whirlpool alert rule NAME --on failed` makes one",
			"RULE\tON\tWORKFLOW\tTHRESHOLD\tCHANNELS\tSILENCED", func(r workflow.AlertRule) string {
				of, threshold, silenced := "all", "-", "-"
				if r.Workflow != "" {
					of = r.Workflow
				}
				if r.Threshold > 0 {
					threshold = fmt.Sprint(r.Threshold)
				}
				if r.Silenced.After(time.Now()) {
					silenced = "until " + timeText(r.Silenced)
				}
				return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s", r.Name, r.On, of, threshold, strings.Join(r.Channels, ", "), silenced)
			})
	})
}

func newAlertRule() *cobra.Command {
	var r workflow.AlertRule
	cmd := &cobra.Command{Use: "rule NAME", Short: "Make a rule, or give it another content", Args: cobra.ExactArgs(1)}
	fl := cmd.Flags()
	fl.StringVar(&r.On, "on", "", "what is watched: failed, partial, slot, stalled, dead-letters, failures, blocked,\n"+
		"host-blocked, records, budget, undelivered, tripped or disk")
	fl.StringVar(&r.Workflow, "workflow", "", "`slug` of the workflow that is watched (default: all)")
	fl.Float64Var(&r.Threshold, "threshold", 0,
		"what the figure is compared with, such as 0.2 for 20 % (default: docs/alerts.md)")
	fl.StringVar(&r.For, "for", "", "fire when it has held for so long, as in 10m")
	fl.StringVar(&r.Severity, "severity", "", "info, warning or critical (default warning)")
	fl.StringVar(&r.Repeat, "repeat", "", "tell it again after so long; 0s: never (default 4h)")
	fl.StringSliceVar(&r.Channels, "channel", nil, "`name` of a channel that it is sent to (repeatable)")
	_ = cmd.MarkFlagRequired("on") // it was declared above
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		r.Name = args[0]
		err := c.SetAlertRule(cmd.Context(), r)
		if err == nil {
			cmd.Printf("rule %s is set\n", r.Name)
		}
		return err
	})
}

func newAlertSilence() *cobra.Command {
	cmd := &cobra.Command{Use: "silence RULE", Short: "Send nothing of a rule for a while", Args: cobra.ExactArgs(1)}
	lasts := cmd.Flags().Duration("for", 2*time.Hour, "how long; 0: it is told again")
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		list, err := c.AlertRules(cmd.Context())
		if err != nil {
			return err
		}
		for _, r := range list {
			if r.Name != args[0] {
				continue
			}
			if r.Silenced = (time.Time{}); *lasts > 0 {
				r.Silenced = time.Now().Add(*lasts).UTC().Truncate(time.Second)
			}
			return c.SetAlertRule(cmd.Context(), r)
		}
		return usage("there is no rule %q: `whirlpool alert rules` lists them", args[0])
	})
}

func newAlertRemove() *cobra.Command {
	cmd := &cobra.Command{Use: "remove RULE", Short: "Delete a rule, or a channel with --channel",
		Args: cobra.ExactArgs(1)}
	channel := cmd.Flags().Bool("channel", false, "it is a channel")
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		if *channel {
			return c.RemoveAlertChannel(cmd.Context(), args[0])
		}
		return c.RemoveAlertRule(cmd.Context(), args[0])
	})
}

func newAlertChannels() *cobra.Command {
	cmd := &cobra.Command{Use: "channels", Short: "List where alerts are sent", Args: cobra.NoArgs}
	format := outputFlag(cmd)
	return onServer(cmd, func(cmd *cobra.Command, _ []string, c *client.Client) error {
		list, err := c.AlertChannels(cmd.Context())
		if err != nil {
			return err
		}
		return printList(cmd.OutOrStdout(), *format, list,
			"no channels yet: `whirlpool alert channel NAME --webhook URL` makes one", "CHANNEL\tKIND\tTO",
			func(ch notify.Channel) string {
				to := ch.URL
				if ch.Kind == notify.Email {
					to = strings.Join(ch.To, ", ") + " by " + ch.Host
				}
				return fmt.Sprintf("%s\t%s\t%s", ch.Name, ch.Kind, to)
			})
	})
}

func newAlertChannel() *cobra.Command {
	var ch notify.Channel
	cmd := &cobra.Command{Use: "channel NAME", Short: "Make a channel, or give it another content",
		Args: cobra.ExactArgs(1)}
	fl := cmd.Flags()
	fl.StringVar(&ch.URL, "webhook", "", "`address` that is posted to; ${NAME} or file:/PATH where it is a secret")
	fl.StringSliceVar(&ch.Secrets, "secret", nil,
		"`reference` to the secret of the signature: ${NAME} or file:/PATH (twice while one is replaced)")
	fl.StringSliceVar(&ch.To, "mail", nil, "`address` of mail (repeatable)")
	fl.StringVar(&ch.From, "from", "", "sender of mail")
	fl.StringVar(&ch.Host, "smtp", "", "`name` of the mail server")
	fl.IntVar(&ch.Port, "smtp-port", 0, "its port (default 587, or 465 with tls)")
	fl.StringVar(&ch.TLS, "smtp-tls", "", "starttls, tls or none (default starttls)")
	fl.StringVar(&ch.User, "smtp-user", "", "whom to sign in as")
	fl.StringVar(&ch.Password, "smtp-password", "", "`reference` to the password: ${NAME} or file:/PATH")
	cmd.MarkFlagsMutuallyExclusive("webhook", "mail")
	cmd.MarkFlagsOneRequired("webhook", "mail")
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		ch.Name, ch.Kind = args[0], notify.Webhook
		if ch.URL == "" {
			ch.Kind = notify.Email
		}
		err := c.SetAlertChannel(cmd.Context(), ch)
		if err == nil {
			cmd.Printf("channel %s is set: `whirlpool alert test %s` tries it\n", ch.Name, ch.Name)
		}
		return err
	})
}

func newAlertTest() *cobra.Command {
	cmd := &cobra.Command{Use: "test CHANNEL", Short: "Send a test to a channel, and say what came of it",
		Args: cobra.ExactArgs(1)}
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		d, err := c.TestAlertChannel(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		for try := 0; try < 60; try++ { // polls
			list, err := c.Deliveries(cmd.Context(), 100)
			if err != nil {
				return err
			}
			for i := range list {
				if list[i].ID == d.ID && len(list[i].Tries) > 0 {
					return printTry(cmd, &list[i])
				}
			}
			select {
			case <-cmd.Context().Done():
				return cmd.Context().Err()
			case <-time.After(250 * time.Millisecond):
			}
		}
		cmd.Printf("it is not sent yet: `whirlpool alert deliveries` tells more\n")
		return nil
	})
}

func printTry(cmd *cobra.Command, d *workflow.Delivery) error {
	last := d.Tries[len(d.Tries)-1]
	if last.Error == "" {
		cmd.Printf("taken after %d ms: %s\n", last.TookMS, last.Answer)
		return nil
	}
	if d.State == workflow.DeliveryDead {
		return fmt.Errorf("it cannot be sent: %s", last.Error)
	}
	return fmt.Errorf("%s; it is tried again at %s", last.Error, timeText(d.Next))
}

func newAlertDeliveries() *cobra.Command {
	cmd := &cobra.Command{Use: "deliveries", Short: "List what was sent, the newest first", Args: cobra.NoArgs}
	n := cmd.Flags().IntP("number", "n", 20, "how many")
	format := outputFlag(cmd)
	return onServer(cmd, func(cmd *cobra.Command, _ []string, c *client.Client) error {
		list, err := c.Deliveries(cmd.Context(), *n)
		if err != nil {
			return err
		}
		return printList(cmd.OutOrStdout(), *format, list, "nothing was sent yet",
			"DELIVERY\tCHANNEL\tSTATE\tTRIES\tLAST\tWHAT", func(d workflow.Delivery) string {
				last := "-"
				if len(d.Tries) > 0 {
					if last = d.Tries[len(d.Tries)-1].Error; last == "" {
						last = "taken"
					}
				}
				return fmt.Sprintf("%s\t%s\t%s\t%d\t%s\t%s", d.ID, d.Channel, d.State, len(d.Tries), last, d.Title)
			})
	})
}

func newAlertResend() *cobra.Command {
	cmd := &cobra.Command{Use: "resend DELIVERY", Short: "Send a delivery again", Args: cobra.ExactArgs(1)}
	return onServer(cmd, func(cmd *cobra.Command, args []string, c *client.Client) error {
		d, err := c.Resend(cmd.Context(), args[0])
		if err == nil {
			cmd.Printf("%s is %s\n", d.ID, d.State)
		}
		return err
	})
}
