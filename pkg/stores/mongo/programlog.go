package mongo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// The collection of the programs' logs is capped: the oldest lines go when it is full.
const (
	programLogName  = "program_log"
	programLogBytes = 256 << 20
	programLogLines = 500_000
)

// ProgramLine is a line of the log of a program of the cluster.
type ProgramLine struct {
	ID      string            `bson:"_id" json:"id"`
	At      time.Time         `bson:"at" json:"at"`
	Level   string            `bson:"level" json:"level"` // DEBUG, INFO, WARN or ERROR
	Program string            `bson:"program" json:"program"`
	Node    string            `bson:"node" json:"node"`
	Job     string            `bson:"job,omitempty" json:"job,omitempty"`
	Message string            `bson:"message" json:"message"`
	Fields  map[string]string `bson:"fields,omitempty" json:"fields,omitempty"`
	Text    string            `bson:"text" json:"-"` // message and fields, for searches; AddProgramLines makes it
}

// ProgramFilter picks lines; empty: all.
type ProgramFilter struct {
	Level        string // from this one on
	Program      string
	Node         string
	Job          string
	Text         string // in the message, or in a value
	Since, Until time.Time
	Limit        int // lines, the newest; 0: 1000
}

// AddProgramLines stores lines of a program. Lines that are there already are left as they are, so that a batch may
// come again.
func (s *Store) AddProgramLines(ctx context.Context, lines []ProgramLine) error {
	if len(lines) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	docs := make([]any, len(lines))
	for i := range lines {
		l := lines[i]
		l.Fields = storableFields(l.Fields)
		l.Message = strings.ToValidUTF8(l.Message, "�") // one that cannot be stored would keep all those behind it
		l.Job = strings.ToValidUTF8(l.Job, "�")
		l.Text = l.searched()
		docs[i] = l
	}
	_, err := s.db.Collection(programLogName).InsertMany(ctx, docs, options.InsertMany().SetOrdered(false))
	if onlyRepeated(err) {
		return nil
	}
	return failure(err)
}

// onlyRepeated reports whether all that an insertion complains of is that lines are there already.
func onlyRepeated(err error) bool {
	var bulk mongo.BulkWriteException
	const duplicateKey = 11000
	return errors.As(err, &bulk) && bulk.WriteConcernError == nil && len(bulk.WriteErrors) > 0 &&
		!slices.ContainsFunc(bulk.WriteErrors, func(e mongo.BulkWriteError) bool { return e.Code != duplicateKey })
}

// searched is what a search looks at.
func (l *ProgramLine) searched() string {
	text := l.Message
	for _, name := range slices.Sorted(maps.Keys(l.Fields)) {
		text += " " + name + "=" + l.Fields[name]
	}
	return text
}

// storableFields has no names that MongoDB gives a meaning.
func storableFields(in map[string]string) map[string]string {
	out := make(map[string]string, len(in))
	for name, value := range in {
		out[strings.NewReplacer(".", "_", "$", "_", "\x00", "").Replace(name)] = strings.ToValidUTF8(value, "�")
	}
	return out
}

// EnsureProgramLog makes the collection of the programs' logs, unless it is there.
func (s *Store) EnsureProgramLog(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	names, err := s.db.ListCollectionNames(ctx, bson.D{{Key: "name", Value: programLogName}})
	if err != nil || slices.Contains(names, programLogName) {
		return failure(err)
	}
	err = s.db.CreateCollection(ctx, programLogName,
		options.CreateCollection().SetCapped(true).SetSizeInBytes(programLogBytes).SetMaxDocuments(programLogLines))
	var command mongo.CommandError
	if errors.As(err, &command) && command.Name == "NamespaceExists" { // another program made it
		err = nil
	}
	return failure(err)
}

// ProgramLines returns the newest lines that a filter picks, the oldest of them first. Lines of different programs
// come by their programs' clocks.
func (s *Store) ProgramLines(ctx context.Context, f ProgramFilter) (out []ProgramLine, err error) {
	if f.Limit <= 0 {
		f.Limit = 1000
	}
	query, err := f.query()
	if err != nil {
		return nil, err
	}
	cursor, err := s.db.Collection(programLogName).Find(ctx, query,
		options.Find().SetSort(bson.D{{Key: "at", Value: -1}}).SetLimit(int64(f.Limit)))
	if err != nil {
		return nil, fmt.Errorf("logs of programs: %w", err)
	}
	if err := cursor.All(ctx, &out); err != nil {
		return nil, fmt.Errorf("logs of programs: %w", err)
	}
	slices.Reverse(out)
	return out, nil
}

// levels are the levels of lines, the least first.
var levels = []string{"DEBUG", "INFO", "WARN", "ERROR"}

func (f *ProgramFilter) query() (bson.D, error) {
	q := bson.D{}
	if f.Level != "" {
		i := slices.Index(levels, strings.ToUpper(f.Level))
		if i < 0 {
			return nil, fmt.Errorf("level %q: want debug, info, warn or error", f.Level)
		}
		q = append(q, bson.E{Key: "level", Value: bson.D{{Key: "$in", Value: levels[i:]}}})
	}
	for _, is := range []struct{ key, value string }{{"program", f.Program}, {"node", f.Node}, {"job", f.Job}} {
		if is.value != "" {
			q = append(q, bson.E{Key: is.key, Value: is.value})
		}
	}
	at := bson.D{}
	if !f.Since.IsZero() {
		at = append(at, bson.E{Key: "$gte", Value: f.Since})
	}
	if !f.Until.IsZero() {
		at = append(at, bson.E{Key: "$lt", Value: f.Until})
	}
	if len(at) > 0 {
		q = append(q, bson.E{Key: "at", Value: at})
	}
	if f.Text != "" { // in what is kept of the line as text
		q = append(q, bson.E{Key: "text", Value: bson.Regex{Pattern: regexp.QuoteMeta(f.Text), Options: "i"}})
	}
	return q, nil
}
