package mongo

import (
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/auth"
)

// ErrRefused says that the server answers and does not let this user in: waiting will not help, a setting will.
var ErrRefused = errors.New("the server refuses the login")

// Error codes of a server that denies the user access, or does not know the user (MongoDB's error_codes.yml):
// Unauthorized, AuthenticationFailed.
const (
	unauthorized         = 13
	authenticationFailed = 18
)

// notReached adds the server's name to the error of a first exchange, and says so if the server was reached and refused
// the user.
func notReached(raw string, err error) error {
	var handshake *auth.Error
	var word mongo.ServerError
	refused := errors.As(err, &handshake) || errors.As(err, &word) &&
		(word.HasErrorCode(unauthorized) || word.HasErrorCode(authenticationFailed))
	if refused {
		return fmt.Errorf("mongodb at %s: %w: check mongodb.url (user, authSource) and mongodb.password: %w", plainURL(raw),
			ErrRefused, err)
	}
	return fmt.Errorf("mongodb at %s does not answer; is it running and reachable from here? %w", plainURL(raw), err)
}
