package jobfile

import _ "embed"

//go:generate go run ./jobdoc/write

// Schema is the JSON Schema of job files.
//
//go:embed schema.json
var Schema []byte
