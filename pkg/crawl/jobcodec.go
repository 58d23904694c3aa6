package crawl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// EncodeJob encodes a job as stores keep it: JSON with the keys of the job file. Its epoch is beside it.
func EncodeJob(j *Job) ([]byte, error) {
	data, err := json.Marshal(j)
	if err != nil {
		return nil, fmt.Errorf("encode job %q: %w", j.ID, err)
	}
	return data, nil
}

// Settings encodes a job as a job file has it, in JSON: without what is in the file that blacklist names.
func (j *Job) Settings() ([]byte, error) {
	plain := *j
	plain.BlacklistEntries, plain.TopicModel, plain.TopicExamples, plain.TopicSeen, plain.ClassModel = nil, "", "", 0, ""
	return EncodeJob(&plain)
}

// KeepBlacklist gives a job that was made of settings the lines of the blacklist that the job before it has, if it
// names the same file.
func (j *Job) KeepBlacklist(before *Job) {
	if j.BlacklistEntries == nil && j.Blacklist == before.Blacklist {
		j.BlacklistEntries = before.BlacklistEntries
	}
}

// KeepModels gives a job the models that the revision before it has, where it asks for the same: what a crawl has
// learned stays, and examples are read once, though their pages change.
func (j *Job) KeepModels(before *Job) {
	if before.Topical() && j.Topic.Wanted() && j.Topic.sameModel(&before.Topic) &&
		(j.Topic.Model == "" || j.TopicModel == "") {
		j.TopicModel, j.TopicExamples, j.TopicSeen = before.TopicModel, before.TopicExamples, before.TopicSeen
	}
	if j.ClassModel == "" && j.Classify == before.Classify {
		j.ClassModel = before.ClassModel
	}
}

// sameModel reports whether two topics name the same model, or what it is made of.
func (t *Theme) sameModel(o *Theme) bool {
	return t.Model == o.Model && t.Background == o.Background && slices.Equal(t.Examples, o.Examples) &&
		slices.Equal(t.Not, o.Not)
}

// DecodeJob decodes what EncodeJob wrote, over the defaults. An unknown key is an error: to ignore a setting silently
// would be to run another crawl. Jobs stored by programs before 0.2, under Go's field names, are read too.
func DecodeJob(data []byte, epoch uint32) (*Job, error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil {
		return nil, fmt.Errorf("decode a job: %w", err)
	}
	if _, old := keys["ID"]; old {
		data = renameKeys(data, reflect.TypeFor[Job](),
			func(f reflect.StructField) (from, to string) { return f.Name, keyOf(f) })
	}
	job := DefaultJob()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&job); err != nil {
		return nil, fmt.Errorf("decode a job: %w; a later version may have stored it: update this program", err)
	}
	job.Epoch = max(epoch, 1)
	return &job, nil
}

// EncodeJobBefore encodes a job as programs before 0.2 read it.
func EncodeJobBefore(j *Job) ([]byte, error) {
	data, err := EncodeJob(j)
	if err != nil {
		return nil, err
	}
	return renameKeys(data, reflect.TypeFor[Job](),
		func(f reflect.StructField) (from, to string) { return keyOf(f), f.Name }), nil
}

// keyOf is the key of a setting in a job file, and in JSON.
func keyOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// renameKeys renames the keys of a JSON object, and of the objects within it, as a struct type says. Other values stay
// unchanged.
func renameKeys(data json.RawMessage, t reflect.Type,
	names func(reflect.StructField) (from, to string)) json.RawMessage {
	var list []json.RawMessage
	if t.Kind() == reflect.Slice {
		if json.Unmarshal(data, &list) != nil || list == nil {
			return data
		}
		for i := range list {
			list[i] = renameKeys(list[i], t.Elem(), names)
		}
		return must(json.Marshal(list))
	}
	var object map[string]json.RawMessage
	if t.Kind() != reflect.Struct || json.Unmarshal(data, &object) != nil || object == nil {
		return data
	}
	for i := range t.NumField() {
		from, to := names(t.Field(i))
		if value, ok := object[from]; ok {
			delete(object, from)
			object[to] = renameKeys(value, t.Field(i).Type, names)
		}
	}
	return must(json.Marshal(object))
}
