package move

import (
	"encoding/binary"
	"fmt"

	"carillon/internal/store/tuple"
)

// appendTuple appends a row of SQLite. Texts are stored as PostgreSQL can (db.Storable).
func appendTuple(data []byte, t *table, row []any) ([]byte, error) {
	data = tuple.Begin(data, len(row))
	for i, v := range row {
		var err error
		if data, err = tuple.AppendField(data, t.cols[i].kind, v); err != nil {
			return nil, fmt.Errorf("column %s of table %s: %w", t.cols[i].name, t.name, err)
		}
	}
	return data, nil
}

// keyOf returns the key of a row in a form that can be compared, and as values.
func (t *table) keyOf(fields [][]byte) (id string, key []any) {
	var b []byte
	for _, i := range t.key {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(fields[i]))), fields[i]...)
		key = append(key, tuple.Value(t.cols[i].kind, fields[i]))
	}
	return string(b), key
}
