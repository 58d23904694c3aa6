package rabbit

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
)

// HashPassword hashes a password in the form of RabbitMQ's definitions: base64 of the salt and SHA-256(salt, password),
// see https://www.rabbitmq.com/docs/passwords. Choose the salt at random.
func HashPassword(password string, salt uint32) string {
	b := binary.BigEndian.AppendUint32(nil, salt)
	sum := sha256.Sum256(append(b, password...))
	return base64.StdEncoding.EncodeToString(append(b, sum[:]...))
}

type definitions struct {
	Vhosts      []defVhost      `json:"vhosts"`
	Users       []defUser       `json:"users,omitempty"`
	Permissions []defPermission `json:"permissions,omitempty"`
	Exchanges   []defExchange   `json:"exchanges"`
	Queues      []defQueue      `json:"queues"`
	Bindings    []defBinding    `json:"bindings"`
}

type defVhost struct {
	Name string `json:"name"`
}

type defUser struct {
	Name      string   `json:"name"`
	Hash      string   `json:"password_hash"`
	Algorithm string   `json:"hashing_algorithm"`
	Tags      []string `json:"tags"`
}

type defPermission struct {
	User      string `json:"user"`
	Vhost     string `json:"vhost"`
	Configure string `json:"configure"`
	Write     string `json:"write"`
	Read      string `json:"read"`
}

type defExchange struct {
	Name       string         `json:"name"`
	Vhost      string         `json:"vhost"`
	Type       string         `json:"type"`
	Durable    bool           `json:"durable"`
	AutoDelete bool           `json:"auto_delete"`
	Internal   bool           `json:"internal"`
	Arguments  map[string]any `json:"arguments"`
}

type defQueue struct {
	Name       string         `json:"name"`
	Vhost      string         `json:"vhost"`
	Durable    bool           `json:"durable"`
	AutoDelete bool           `json:"auto_delete"`
	Arguments  map[string]any `json:"arguments"`
}

type defBinding struct {
	Source      string         `json:"source"`
	Vhost       string         `json:"vhost"`
	Destination string         `json:"destination"`
	Kind        string         `json:"destination_type"`
	Key         string         `json:"routing_key"`
	Arguments   map[string]any `json:"arguments"`
}

// Definitions returns the topology, with its default names, as a definitions file that a broker loads at its first
// start (rabbitmq.conf: definitions.import_backend, or load_definitions). It declares the same as Setup and Declare.
// hashes maps users to their password hashes ([HashPassword]). Users without a hash, and their permissions, are left
// out; create them by other means.
func Definitions(maxLength int, hashes map[string]string) ([]byte, error) {
	d := definitions{}
	d.add(subsystems, SubsystemsVhost, SubsystemsUser, maxLength, hashes)
	d.add(urlFrontier, FrontierVhost, FrontierUser, maxLength, hashes)
	out, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("rabbit: definitions: %w", err)
	}
	return append(out, '\n'), nil
}

func (d *definitions) add(l layout, vhost, user string, maxLength int, hashes map[string]string) {
	none := map[string]any{}
	d.Vhosts = append(d.Vhosts, defVhost{vhost})
	if hash, ok := hashes[user]; ok {
		p := l.permission()
		d.Users = append(d.Users, defUser{user, hash, "rabbit_password_hashing_sha256", []string{userTag}})
		d.Permissions = append(d.Permissions, defPermission{user, vhost, p, p, p})
	}
	d.Exchanges = append(d.Exchanges,
		defExchange{Name: l.exchange, Vhost: vhost, Type: "direct", Durable: true, Arguments: none})
	for _, q := range l.queues(maxLength) {
		d.Queues = append(d.Queues, defQueue{Name: q.name, Vhost: vhost, Durable: true, Arguments: q.arguments()})
		d.Bindings = append(d.Bindings, defBinding{l.exchange, vhost, q.name, "queue", q.name, none})
	}
}
