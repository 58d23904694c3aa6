package run

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// composeDefault is a variable of docker-compose with its default, as in ${NAME:-default}.
var composeDefault = regexp.MustCompile(`\$\{\w+(?::-([^}]*))?\}`)

func TestTheNodeOfTheComposeFileIsConfiguredWell(t *testing.T) {
	data, err := os.ReadFile("../../docker-compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	var compose struct {
		Environment map[string]string `yaml:"x-environment"`
	}
	if err := yaml.Unmarshal(data, &compose); err != nil || len(compose.Environment) == 0 {
		t.Fatalf("x-environment of docker-compose.yml: %d variables, %v", len(compose.Environment), err)
	}
	var environ []string
	for name, value := range compose.Environment {
		if !strings.HasPrefix(name, envPrefix) {
			t.Errorf("%s is no variable of ours", name)
		}
		environ = append(environ, name+"="+composeDefault.ReplaceAllString(value, "$1"))
	}
	c, err := Load("../../deploy/node.yml", environ)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Require("rabbitmq.subsystems.password", "rabbitmq.frontier.password", "postgres.url", "mongodb.url"); err != nil {
		t.Error(err)
	}
}
