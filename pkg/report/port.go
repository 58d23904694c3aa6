package report

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Under Windows a crawl listens at a port of 127.0.0.1, since unix sockets are not to be had everywhere. Every program
// of the machine can connect to that, but only who may read the directory knows the word to say first. The crawl says
// another, so that a stranger who has got the port of a crawl that was killed is not taken for it.

// addressOf is the file that has the address of a crawl, and the two words.
func addressOf(dir string) string { return filepath.Join(dir, "state", "control.addr") }

// listenAtPort opens the port of a crawl directory. The caller has the directory's lock.
func listenAtPort(dir string) (l net.Listener, cleanup func() error, err error) {
	if l, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil { //nolint:noctx // it does not wait
		return nil, nil, fmt.Errorf("control port: %w", err)
	}
	name := addressOf(dir)
	w := words{rand.Text(), rand.Text()}
	if err = os.WriteFile(name, []byte(l.Addr().String()+" "+w.ask+" "+w.answer+"\n"), 0o600); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("control port: %w", err), l.Close())
	}
	return &doorkeeper{l, w}, func() error { return remove(name) }, nil
}

// words are what a client says first, and what it is answered.
type words struct{ ask, answer string }

// doorkeeper lets in who knows the word.
type doorkeeper struct {
	net.Listener
	words words
}

// Accept implements net.Listener. It waits for no word: a client that says none would keep others out.
func (d *doorkeeper) Accept() (net.Conn, error) {
	c, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &guarded{Conn: c, words: d.words}, nil
}

// guarded is a connection that ends at the first read where the client does not say the word.
type guarded struct {
	net.Conn
	words words
	once  sync.Once
	err   error
}

// Read implements io.Reader.
func (g *guarded) Read(b []byte) (int, error) {
	g.once.Do(func() { g.err = g.greet() })
	if g.err != nil {
		return 0, g.err
	}
	return g.Conn.Read(b)
}

func (g *guarded) greet() error {
	said := make([]byte, len(g.words.ask))
	if _, err := io.ReadFull(g.Conn, said); err != nil {
		return err
	}
	if subtle.ConstantTimeCompare(said, []byte(g.words.ask)) == 0 {
		return errors.Join(errors.New("it does not know the word"), g.Close())
	}
	_, err := io.WriteString(g.Conn, g.words.answer)
	return err
}

// greetTime is how long a crawl may take to answer a knock.
const greetTime = 5 * time.Second

// portKnocker returns what connects to the crawl that runs in a directory; an error: none does.
func portKnocker(dir string) (func(context.Context) (net.Conn, error), error) {
	text, err := os.ReadFile(addressOf(dir))
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(text))
	if len(fields) != 3 {
		return nil, fmt.Errorf("%s is damaged", addressOf(dir))
	}
	w := words{fields[1], fields[2]}
	return func(ctx context.Context) (net.Conn, error) { return knock(ctx, fields[0], w) }, nil
}

func knock(ctx context.Context, address string, w words) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp4", address)
	if err != nil {
		return nil, err
	}
	said := make([]byte, len(w.answer))
	_ = c.SetDeadline(time.Now().Add(greetTime))
	if _, err = io.WriteString(c, w.ask); err == nil {
		_, err = io.ReadFull(c, said)
	}
	if err == nil && !bytes.Equal(said, []byte(w.answer)) {
		err = errors.New("it is another program")
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, c.SetDeadline(time.Time{})
}
