// Package tuple converts rows to and from tuples of PostgreSQL's binary COPY format, which both engines can produce: equal
// tuples mean equal rows. A tuple has the number of columns in two bytes, then for each column its length in four bytes, -1
// for NULL, and its bytes (https://www.postgresql.org/docs/current/sql-copy.html).
package tuple

import (
	"encoding/binary"
	"errors"
	"math"

	"carillon/internal/store/db"
)

// Kind is the type of a column, with its name in PostgreSQL's catalog.
type Kind string

// The kinds.
const (
	Bool  Kind = "bool"
	Int4  Kind = "int4"
	Int8  Kind = "int8"
	Text  Kind = "text"
	Bytes Kind = "bytea"
)

// Header and Trailer enclose the tuples of a COPY.
const (
	Header  = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"
	Trailer = "\xff\xff"
)

// Begin appends the number of columns, which the fields follow.
func Begin(data []byte, columns int) []byte {
	return binary.BigEndian.AppendUint16(data, uint16(columns))
}

// ErrForm means that SQLite, whose columns hold values of any type, has one that the column cannot have.
var ErrForm = errors.New("a value does not have the type of its column")

// AppendField appends a value of SQLite or of database/sql. Texts are stored as PostgreSQL can (db.Storable).
func AppendField(data []byte, k Kind, v any) ([]byte, error) {
	if v == nil {
		return binary.BigEndian.AppendUint32(data, math.MaxUint32), nil
	}
	switch k {
	case Bool:
		return appendBool(data, v)
	case Int4, Int8:
		n, ok := v.(int64)
		switch {
		case !ok:
			return nil, ErrForm
		case k == Int8:
			return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(data, 8), uint64(n)), nil
		case n != int64(int32(n)):
			return nil, errors.New("a number does not fit into four bytes")
		}
		return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(data, 4), uint32(n)), nil
	case Text:
		text, ok := textOf(v)
		if !ok {
			return nil, ErrForm
		}
		return append(binary.BigEndian.AppendUint32(data, uint32(len(text))), text...), nil
	case Bytes:
		switch v := v.(type) {
		case []byte:
			return append(binary.BigEndian.AppendUint32(data, uint32(len(v))), v...), nil
		case string:
			return append(binary.BigEndian.AppendUint32(data, uint32(len(v))), v...), nil
		}
	}
	return nil, ErrForm
}

func appendBool(data []byte, v any) ([]byte, error) {
	set, ok := v.(bool)
	if n, number := v.(int64); number {
		set, ok = n != 0, n == 0 || n == 1
	}
	if !ok {
		return nil, ErrForm
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

// AppendRaw appends a row of PostgreSQL whose values are in the binary format.
func AppendRaw(data []byte, row [][]byte) []byte {
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

// Value converts a field in the binary format to a value for SQLite.
func Value(k Kind, field []byte) any {
	if field == nil {
		return nil
	}
	switch k {
	case Bool:
		return int64(field[0])
	case Int4:
		return int64(int32(binary.BigEndian.Uint32(field)))
	case Int8:
		return int64(binary.BigEndian.Uint64(field))
	case Bytes:
		return append([]byte{}, field...)
	case Text:
	}
	return string(field)
}

// Each calls row with each tuple and its fields, which are valid during the call.
func Each(data []byte, columns int, row func(tuple []byte, fields [][]byte) error) error {
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
