package process

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestSecretsComeFromFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte("s3cr#t word\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := mustLoad(t, "postgres: {password: old}", "WHIRLPOOL_POSTGRES_PASSWORD_FILE="+path)
	if c.Postgres.Password.Reveal() != "s3cr#t word" {
		t.Errorf("password %q", c.Postgres.Password.Reveal())
	}
	_, err := load(t, "", "WHIRLPOOL_POSTGRES_PASSWORD_FILE="+path, "WHIRLPOOL_POSTGRES_PASSWORD=hidden")
	if err == nil || !strings.Contains(err.Error(), "one of them") || strings.Contains(err.Error(), "hidden") {
		t.Errorf("both variants: %v", err)
	}
}

// full is a configuration with a secret wherever there may be one.
func full(t *testing.T) *Config {
	t.Helper()
	c := Default()
	for _, s := range settings(&c) {
		if !s.secret {
			continue
		}
		text := "hidden"
		if _, ok := s.value.Interface().(URL); ok {
			text = "http://me:hidden@h:1/?password=hidden"
		}
		if err := s.set(text); err != nil {
			t.Fatal(err)
		}
	}
	return &c
}

func TestNoWayOfPrintingShowsASecret(t *testing.T) {
	c := full(t)
	c.Postgres.Ledger = []URL{"postgres://me:hidden@h:1/d?password=hidden"}
	var printed, logged bytes.Buffer
	if err := c.Print(&printed); err != nil {
		t.Fatal(err)
	}
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "config", c, "password", c.Postgres.Password,
		"url", c.Postgres.URL)
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "config", c, "password", c.Postgres.Password,
		"url", c.Postgres.URL)
	js, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"--print-config": printed.String(), "slog": logged.String(),
		"JSON": string(js), "%v": fmt.Sprintf("%v", *c), "%+v": fmt.Sprintf("%+v", *c), "%#v": fmt.Sprintf("%#v", *c),
		"errors": fmt.Sprint(c.Validate())} {
		if strings.Contains(text, "hidden") {
			t.Errorf("%s shows a secret: %s", name, text)
		}
		if !strings.Contains(text, mask) {
			t.Errorf("%s shows no mask: the check is void: %s", name, text)
		}
	}
}

func TestURLsShowAllButTheirPassword(t *testing.T) {
	for url, want := range map[URL]string{
		"":                                "",
		"postgres://h:5/d":                "postgres://h:5/d",
		"postgres://me@h:5/d?sslmode=off": "postgres://me@h:5/d?sslmode=off",
		"postgres://me:pw@h:5/d":          "postgres://me:xxxxx@h:5/d",
		"postgres://h/d?password=pw":      "postgres://h/d?password=xxxxx",
		"postgres://me:p%w@h:5/d":         "xxxxx", // cannot be read
		"me:pw@h":                         "xxxxx",
	} {
		if got := url.String(); got != want {
			t.Errorf("%q is shown as %q, want %q", string(url), got, want)
		}
	}
}

func TestLoginsArePutIntoURLs(t *testing.T) {
	for _, tt := range []struct {
		url      URL
		user     string
		password Secret
		want     string
	}{
		{"amqp://h:1", "me", "p@/w", "amqp://me:p%40%2Fw@h:1"},
		{"postgres://me:old@h/d", "", "new", "postgres://me:new@h/d"},
		{"postgres://me:old@h/d", "you", "", "postgres://you:old@h/d"},
		{"postgres://me@h/d", "", "", "postgres://me@h/d"},
		{"http://h", "me", "", "http://me@h"},
	} {
		if got := tt.url.With(tt.user, tt.password).Reveal(); got != tt.want {
			t.Errorf("%s with %s: %s, want %s", tt.url, tt.user, got, tt.want)
		}
	}
}

func TestAddressesCarryTheirCredentials(t *testing.T) {
	c := mustLoad(t,
		"rabbitmq: {url: 'amqp://mq:5672/', subsystems: {password: a}, management: {user: root, password: b}}\n"+
			"postgres: {password: c}\nmongodb: {url: 'mongodb://me@m1:1,m2:2/?replicaSet=r', password: d}")
	for want, got := range map[string]URL{
		"amqp://wh_subsystems_user:a@mq:5672/wh_subsystems_vhost": c.RabbitMQ.Address(c.RabbitMQ.Subsystems),
		"http://root:b@127.0.0.1:15672":                           c.RabbitMQ.Management.Address(),
		"postgres://whirlpool:c@127.0.0.1:5432/whirlpool":         c.Postgres.Address(),
		"mongodb://me:d@m1:1,m2:2/?replicaSet=r":                  c.MongoDB.Address(),
	} {
		if got.Reveal() != want {
			t.Errorf("%s, want %s", got.Reveal(), want)
		}
	}
}

func TestWhatIsPrintedCanBeReadAgain(t *testing.T) {
	c := mustLoad(t, "node: n\nmemcached: {addresses: [a:1, b:2]}\ndisk: {warc: '#x: y'}\nworkers: {due: 3}")
	var out bytes.Buffer
	if err := c.Print(&out); err != nil {
		t.Fatal(err)
	}
	if back := mustLoad(t, out.String()); !reflect.DeepEqual(c, back) {
		t.Errorf("printed\n%s\nread %+v\nwant %+v", out.String(), back, c)
	}
	if !strings.Contains(out.String(), "due: 3 # WHIRLPOOL_WORKERS_DUE\n") {
		t.Errorf("no variable beside the setting:\n%s", out.String())
	}
}
