// Package export turns pages.jsonl into CSV, JSON Lines with chosen columns, or Parquet.
//
// Its duties, in order:
//
//  1. Read records line by line; memory does not grow with the file (Parquet gathers a row group of 32 MiB).
//  2. Leave out the records that were not asked for.
//  3. Write a row for each of the others, in the order of the file.
//  4. Stop at the first line that is no record, and say its number. What came before is written.
//
// # Columns
//
// A column is a key of a record, or field.NAME: the value that a site rule extracted under that name. A record without
// it has an empty cell, null in JSON Lines and Parquet.
//
//   - CSV (RFC 4180, UTF-8, with a header line): a list is joined by "; ", for links that of their URLs; fields is a
//     JSON object. Text comes from strangers, and spreadsheets run cells that begin with =, +, -, @, a tab or a
//     carriage return as formulas; such text is preceded by an apostrophe (the advice of OWASP) unless Options.RawText
//     says otherwise. Numbers stay as they are.
//   - JSON Lines: the values as they are in pages.jsonl. Without chosen columns, the lines themselves.
//   - Parquet (Zstandard): text, 64-bit integers, a timestamp in milliseconds, lists, and links as a list of structs.
//     fields is a JSON text; so is field.NAME, unless its value is a text already, as its type may differ from page to
//     page.
//
// The package never interprets the content, and never keeps more than a record and a row group.
package export
