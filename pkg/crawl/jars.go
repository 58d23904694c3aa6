package crawl

import (
	"context"
	"errors"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/cookies"
)

// Jar is what a site gave a job to be known by: its cookies, and how the log-in stands. What the user gave is not in
// it.
type Jar struct {
	Site    string           `cbor:"1,keyasint"` // see cookies.Site
	Version uint64           `cbor:"-"`          // 0: not stored yet. The store counts it, over all jars of the job
	Cookies []cookies.Cookie `cbor:"2,keyasint,omitempty"`
	Login   LoginState       `cbor:"3,keyasint,omitzero"`
}

// LoginState is how the log-in of a job at a site stands.
type LoginState struct {
	// Number counts the log-ins that were completed.
	Number uint64 `cbor:"1,keyasint,omitempty"`
	// Out says that the session is over.
	Out bool `cbor:"2,keyasint,omitempty"`
	// Fruitless counts the log-ins since a page was last seen that showed the check.
	Fruitless int `cbor:"3,keyasint,omitempty"`
	// Failure is why the last attempt failed; empty: it did not. FailedAt and Epoch are of that attempt.
	Failure  string    `cbor:"4,keyasint,omitempty"`
	FailedAt time.Time `cbor:"5,keyasint,omitzero"`
	Epoch    uint32    `cbor:"6,keyasint,omitempty"`
	// Holder is the process that logs in now, Until when it is given up.
	Holder string    `cbor:"7,keyasint,omitempty"`
	Until  time.Time `cbor:"8,keyasint,omitzero"`
}

// MaxJars is how many jars a job has at most. Cookies of one more site are not kept.
const MaxJars = 10_000

// What Jars.PutJar may say.
var (
	ErrJarChanged = errors.New("somebody else has changed the jar of cookies")
	ErrJarsFull   = errors.New("the job has as many jars of cookies as it may have")
)

// Jars keeps what sites gave jobs to be known by.
type Jars interface {
	// Jar returns the jar of a site; one without a version where none is stored.
	Jar(ctx context.Context, job JobID, site string) (Jar, error)
	// PutJar stores a jar in the place of the one with its version, and returns the new version, which is greater than
	// those of all other jars of the job. It is durable when it returns. ErrJarChanged: another version is stored;
	// ErrJarsFull: there are MaxJars already.
	PutJar(ctx context.Context, job JobID, jar *Jar) (version uint64, err error)
	// JarsSince returns the jars of a job with greater versions, at most limit, in the order of their versions. Whoever
	// has seen a version has missed none below it.
	JarsSince(ctx context.Context, job JobID, version uint64, limit int) ([]Jar, error)
}
