package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Every list answers at once, also where there is very much: see storetest.ControlVolumeOf.
func TestListsOfMuchAreFast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control.db")
	s := open(t, path)
	execute(t, path, append([]string{"PRAGMA synchronous = OFF", "PRAGMA cache_size = -262144"},
		storetest.ControlVolumeOf(t).Statements()...)...)
	storetest.ControlListsAreFast(t, s)
}

// A file of the version before gets the rows of labels when it is opened.
func TestLabelsOfAnEarlierFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, path, append(storetest.ControlVolume{Workflows: 2, Executions: 60, Events: 60}.Statements(),
		"DROP TRIGGER executions_labelled", "DROP TRIGGER executions_relabelled", "DROP TABLE labels",
		"DROP INDEX executions_of_in", "DROP TABLE day_pages", "DROP INDEX executions_open_of",
		"DROP INDEX executions_bytes_of", "ALTER TABLE executions DROP COLUMN account",
		"ALTER TABLE executions DROP COLUMN bytes", "ALTER TABLE schedules DROP COLUMN account",
		"PRAGMA user_version = 4")...)
	l, err := open(t, path).Executions(t.Context(), workflow.ExecutionFilter{Label: "release=flow2"},
		workflow.Page{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	if l.Total != 1 || len(l.Items) != 1 || l.Items[0].ID != "flow2-20" {
		t.Errorf("the list has %d: %+v", l.Total, l.Items)
	}
}

// execute executes statements on one connection of their own.
func execute(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
