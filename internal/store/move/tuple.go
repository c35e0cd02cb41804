package move

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"carillon/internal/store/db"
)

// Rows are compared and copied as tuples of PostgreSQL's binary COPY format: the number of columns in two bytes, then for
// each column its length in four bytes, -1 for NULL, and its bytes
// (https://www.postgresql.org/docs/current/sql-copy.html).

// copyHeader and copyTrailer enclose the tuples of a COPY.
const (
	copyHeader  = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"
	copyTrailer = "\xff\xff"
)

// appendTuple appends a row of SQLite. Texts are stored as PostgreSQL can (db.Storable).
func appendTuple(data []byte, t *table, row []any) ([]byte, error) {
	data = binary.BigEndian.AppendUint16(data, uint16(len(row)))
	for i, v := range row {
		var err error
		if data, err = appendField(data, t.cols[i].kind, v); err != nil {
			return nil, fmt.Errorf("column %s of table %s: %w", t.cols[i].name, t.name, err)
		}
	}
	return data, nil
}

// errForm means that SQLite, whose columns hold values of any type, has one that the column cannot have.
var errForm = errors.New("a value does not have the type of its column")

func appendField(data []byte, k kind, v any) ([]byte, error) {
	if v == nil {
		return binary.BigEndian.AppendUint32(data, math.MaxUint32), nil
	}
	switch k {
	case kindBool:
		return appendBool(data, v)
	case kindInt4, kindInt8:
		n, ok := v.(int64)
		switch {
		case !ok:
			return nil, errForm
		case k == kindInt8:
			return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(data, 8), uint64(n)), nil
		case n != int64(int32(n)):
			return nil, errors.New("a number does not fit into four bytes")
		}
		return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(data, 4), uint32(n)), nil
	case kindText:
		text, ok := textOf(v)
		if !ok {
			return nil, errForm
		}
		return append(binary.BigEndian.AppendUint32(data, uint32(len(text))), text...), nil
	case kindBytes:
		switch v := v.(type) {
		case []byte:
			return append(binary.BigEndian.AppendUint32(data, uint32(len(v))), v...), nil
		case string:
			return append(binary.BigEndian.AppendUint32(data, uint32(len(v))), v...), nil
		}
	}
	return nil, errForm
}

func appendBool(data []byte, v any) ([]byte, error) {
	set, ok := v.(bool)
	if n, number := v.(int64); number {
		set, ok = n != 0, n == 0 || n == 1
	}
	if !ok {
		return nil, errForm
	}
	data = binary.BigEndian.AppendUint32(data, 1)
	if set {
		return append(data, 1), nil
	}
	return append(data, 0), nil
}

// textOf returns a text of SQLite, which may have been stored as bytes.
func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return db.Storable(v), true
	case []byte:
		return db.Storable(string(v)), true
	}
	return "", false
}

// appendRaw appends a row of PostgreSQL whose values are in the binary format.
func appendRaw(data []byte, row [][]byte) []byte {
	data = binary.BigEndian.AppendUint16(data, uint16(len(row)))
	for _, v := range row {
		if v == nil {
			data = binary.BigEndian.AppendUint32(data, math.MaxUint32)
			continue
		}
		data = append(binary.BigEndian.AppendUint32(data, uint32(len(v))), v...)
	}
	return data
}

// value converts a field in the binary format to a value for SQLite.
func value(k kind, field []byte) any {
	if field == nil {
		return nil
	}
	switch k {
	case kindBool:
		return int64(field[0])
	case kindInt4:
		return int64(int32(binary.BigEndian.Uint32(field)))
	case kindInt8:
		return int64(binary.BigEndian.Uint64(field))
	case kindBytes:
		return append([]byte{}, field...)
	case kindText:
	}
	return string(field)
}

// eachTuple calls row with each tuple and its fields, which are valid during the call.
func eachTuple(data []byte, columns int, row func(tuple []byte, fields [][]byte) error) error {
	fields := make([][]byte, columns)
	for len(data) > 0 {
		rest := data[2:]
		for i := range fields {
			n := binary.BigEndian.Uint32(rest)
			rest = rest[4:]
			if n == math.MaxUint32 {
				fields[i] = nil
				continue
			}
			fields[i], rest = rest[:n:n], rest[n:]
		}
		if err := row(data[:len(data)-len(rest)], fields); err != nil {
			return err
		}
		data = rest
	}
	return nil
}

// keyOf returns the key of a row in a form that can be compared, and as values.
func (t *table) keyOf(fields [][]byte) (id string, key []any) {
	var b []byte
	for _, i := range t.key {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(fields[i]))), fields[i]...)
		key = append(key, value(t.cols[i].kind, fields[i]))
	}
	return string(b), key
}
