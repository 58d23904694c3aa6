package explore

import (
	"context"
	"database/sql"
	"errors"
)

// maxWord bounds what is kept of a reason, a language, a media type or the name of a field.
const maxWord = 100

// words gives texts numbers. "" is 0.
type words struct{ ids map[string]int64 }

// id returns a text's number, which it gets where it has none.
func (w *words) id(ctx context.Context, tx *sql.Tx, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	text = plain(text, maxWord)
	if id, ok := w.ids[text]; ok {
		return id, nil
	}
	var id int64
	err := tx.QueryRowContext(ctx, "INSERT INTO words(word) VALUES(?) ON CONFLICT DO UPDATE SET word = word RETURNING id",
		text).Scan(&id)
	if err != nil {
		return 0, err
	}
	if len(w.ids) > 10_000 || w.ids == nil {
		w.ids = map[string]int64{}
	}
	w.ids[text] = id
	return id, nil
}

// wordID finds the number of a text; 0 where it has none.
func wordID(ctx context.Context, db asker, text string) (id int64, err error) {
	err = db.QueryRowContext(ctx, "SELECT id FROM words WHERE word = ?", plain(text, maxWord)).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return id, err
}
