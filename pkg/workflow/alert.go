package workflow

import (
	"encoding/json"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// AlertRule says what people want to hear of.
type AlertRule struct {
	Name     string `json:"name" minLength:"1" maxLength:"48" doc:"unique; a-z, 0-9 and -"`
	On       string `json:"on" enum:"failed,partial,slot,stalled,dead-letters,failures,blocked,host-blocked,records,budget,undelivered,tripped,disk" doc:"what is watched; docs/alerts.md"`
	Workflow string `json:"workflow,omitempty" maxLength:"48" doc:"slug of the workflow that is watched; empty: all"`
	// Threshold is what the figure is compared with; 0: the default of On.
	Threshold float64 `json:"threshold,omitempty" minimum:"0"`
	For       string  `json:"for,omitempty" maxLength:"20" doc:"it fires when it has held for so long, as in 10m; empty: at once, of stalled 10m, of undelivered 15m"`
	Severity  string  `json:"severity,omitempty" enum:"info,warning,critical" doc:"empty: warning"`
	Repeat    string  `json:"repeat,omitempty" maxLength:"20" doc:"it is told again after so long, as in 4h; 0s: never; empty: 4h"`
	// Channels are the names of those that it is sent to; none: it is on the page alone.
	Channels []string  `json:"channels,omitempty" maxItems:"20"`
	Silenced time.Time `json:"silenced_until,omitzero" doc:"nothing is sent before"`
	Disabled bool      `json:"disabled,omitempty"`
}

// AlertState is where an alert is.
type AlertState string

// The states of alerts: ok, where there is none, → pending → firing → ok.
const (
	AlertOK      AlertState = "ok"
	AlertPending AlertState = "pending" // it holds, but not for long enough
	AlertFiring  AlertState = "firing"
)

// Alert is a rule that holds of something.
type Alert struct {
	Rule      string      `json:"rule"`
	Subject   string      `json:"subject"` // what it holds of: a workflow, schedule, execution, or the server
	State     AlertState  `json:"state"`
	Severity  string      `json:"severity"`
	Text      string      `json:"text"`  // what is wrong, for people
	Value     float64     `json:"value"` // of the figure
	Workflow  ID          `json:"workflow,omitempty"`
	Execution crawl.JobID `json:"execution,omitempty"`
	Since     time.Time   `json:"since"`          // it holds
	Fired     time.Time   `json:"fired,omitzero"` // it began to fire
	Told      time.Time   `json:"told,omitzero"`  // it was sent last
	Lock      int64       `json:"-"`
}

// DeliveryState is where a delivery is.
type DeliveryState string

// The states of deliveries.
const (
	DeliveryDue  DeliveryState = "due"  // it is sent at Next
	DeliverySent DeliveryState = "sent" //
	DeliveryDead DeliveryState = "dead" // given up; it can be sent again
)

// Delivery is a message to a channel.
type Delivery struct {
	ID      string          `json:"id"` // dl_ and a ULID: the same in each try
	Channel string          `json:"channel"`
	Rule    string          `json:"rule,omitempty"` // empty: a test
	Subject string          `json:"subject,omitempty"`
	Type    string          `json:"type"`  // of the message, such as org.whirlpool.alert.firing
	Title   string          `json:"title"` // one line
	Text    string          `json:"text"`
	Data    json.RawMessage `json:"data,omitempty"`
	State   DeliveryState   `json:"state"`
	Created time.Time       `json:"created"`
	Next    time.Time       `json:"next,omitzero"` // try
	Left    int             `json:"left"`          // tries that it has
	Tries   []DeliveryTry   `json:"tries"`         // the last twelve, the first first
	Lock    int64           `json:"-"`
}

// DeliveryTry is one try to send.
type DeliveryTry struct {
	At     time.Time `json:"at"`
	Error  string    `json:"error,omitempty"`  // empty: it was taken
	Answer string    `json:"answer,omitempty"` // the first 500 bytes
	TookMS int64     `json:"took_ms"`
}

// DeliveryFilter picks deliveries; empty: all.
type DeliveryFilter struct {
	Channel string
	States  []DeliveryState
}

// MaxTries is how often a delivery is tried: after 10 s, then after twice as long each time, up to an hour.
const MaxTries = 12

// afterTry is how long a delivery waits after its n-th try, from 1.
func afterTry(n int) time.Duration {
	wait := 10 * time.Second
	for i := 1; i < n && wait < time.Hour; i++ {
		wait *= 2
	}
	return min(wait, time.Hour)
}

// Check says what is wrong with a rule; whether its workflow and its channels are there is not asked.
func (r *AlertRule) Check() error {
	_, _, err := r.checked()
	return err
}
