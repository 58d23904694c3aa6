// Package servicetest tells tests the addresses of the real services.
//
// The addresses come from the environment (`make test` starts the services and sets it). If one is missing, the test is
// skipped, so that `go test ./...` works anywhere. With WHIRLPOOL_TEST_SERVICES=required the test fails instead, so
// that no test is skipped unnoticed where the services should run.
package servicetest

import (
	"os"
	"testing"
)

// Postgres returns the URL of a PostgreSQL server, of a role that may create databases.
func Postgres(t testing.TB) string { return address(t, "WHIRLPOOL_TEST_POSTGRES") }

// AMQP returns the URL of a RabbitMQ broker, without vhost, of a user that administers it.
func AMQP(t testing.TB) string { return address(t, "WHIRLPOOL_TEST_AMQP") }

// RabbitMQAPI returns the URL of the broker's management API, of the same user.
func RabbitMQAPI(t testing.TB) string { return address(t, "WHIRLPOOL_TEST_RABBITMQ_API") }

// MongoDB returns the URL of a server that speaks MongoDB's protocol.
func MongoDB(t testing.TB) string { return address(t, "WHIRLPOOL_TEST_MONGODB") }

// Memcached returns the host:port of a memcached.
func Memcached(t testing.TB) string { return address(t, "WHIRLPOOL_TEST_MEMCACHED") }

// ZooKeeper returns the host:port of a ZooKeeper server.
func ZooKeeper(t testing.TB) string { return address(t, "WHIRLPOOL_TEST_ZOOKEEPER") }

func address(t testing.TB, variable string) string {
	t.Helper()
	value := os.Getenv(variable)
	switch {
	case value != "":
	case os.Getenv("WHIRLPOOL_TEST_SERVICES") == "required":
		t.Fatalf("%s is not set, and WHIRLPOOL_TEST_SERVICES requires the real services: `make test` starts them and sets it",
			variable)
	default:
		t.Skipf("%s is not set: `make test` starts the real services and sets it", variable)
	}
	return value
}
