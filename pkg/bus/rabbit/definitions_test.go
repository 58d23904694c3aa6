package rabbit_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
)

// The example of RabbitMQ's own documentation of its password hashes.
func TestPasswordHash(t *testing.T) {
	if got := rabbit.HashPassword("test12", 0x908DC60A); got != "kI3GCqW5JLMJa4iX1lo7X4D6XbYqlLgxIs30+P6tENUV2POR" {
		t.Errorf("got %s", got)
	}
}

// What a broker loads at its first start must be what the programs declare, or they would refuse to start.
func TestDeployedDefinitionsAreThoseOfTheCode(t *testing.T) {
	file, err := os.ReadFile("../../../deploy/rabbitmq/definitions.json")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("deploy/rabbitmq/definitions.json does not exist")
	}
	check(t, err)
	hashes := map[string]string{}
	var users struct {
		Users []struct {
			Name string
			Hash string `json:"password_hash"`
		}
	}
	check(t, json.Unmarshal(file, &users))
	for _, u := range users.Users {
		hashes[u.Name] = u.Hash
	}
	code := must(rabbit.Definitions(rabbit.Default().MaxLength, hashes))(t)
	var got, want map[string]any
	check(t, json.Unmarshal(file, &got))
	check(t, json.Unmarshal(code, &want))
	for key := range want {
		if !reflect.DeepEqual(got[key], want[key]) {
			t.Errorf("%s in deploy/rabbitmq/definitions.json differ from the code's:\n%v\nwant\n%v", key, got[key], want[key])
		}
	}
}

// The frontier's user may use the queues that the frontier names, those of a second job too, and no others.
func TestTheFrontiersUserMayUseItsQueues(t *testing.T) {
	var d struct {
		Permissions []struct{ Vhost, Configure, Write, Read string }
	}
	check(t, json.Unmarshal(must(rabbit.Definitions(rabbit.Default().MaxLength,
		map[string]string{"wh_urlfrontier_user": "x", "wh_subsystems_user": "x"}))(t), &d))
	for _, p := range d.Permissions {
		if p.Vhost != "wh_urlfrontier_vhost" {
			continue
		}
		for _, expression := range []string{p.Configure, p.Write, p.Read} {
			may := regexp.MustCompile(expression)
			for name, want := range map[string]bool{"front.0": true, "front.2": true, "front.2.a-job-7": true, "back.17": true,
				"later.1099515227776": true, "frontier.in": true, "front.": false, "front.2.": false, "front.x": false,
				"back.1.a": false, "frontier.other": false} {
				if may.MatchString(name) != want {
					t.Errorf("%s: permitted %v, want %v by %s", name, !want, want, expression)
				}
			}
		}
		return
	}
	t.Error("there are no permissions of the frontier's vhost")
}
