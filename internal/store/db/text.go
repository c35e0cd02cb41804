package db

import (
	"database/sql"
	"database/sql/driver"
	"reflect"
	"strings"
	"unicode/utf8"
)

// Storable returns a text as every database stores it: PostgreSQL refuses NUL and invalid UTF-8, SQLite accepts both.
// It is applied to all arguments of statements, so that external text is stored the same on both engines and cannot
// fail a shared commit again and again.
func Storable(s string) string {
	if isStorable(s) {
		return s
	}
	return strings.ReplaceAll(string([]rune(s)), "\x00", "\uFFFD") // U+FFFD for each bad byte, as in encoding/json
}

func isStorable(s string) bool { return strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) }

// storable returns the arguments of a statement with storable texts. The caller's slice is not changed.
func storable(args []any) []any {
	own := false
	for i, a := range args {
		clean, changed := storableValue(a)
		if !changed {
			continue
		}
		if !own {
			args, own = append([]any(nil), args...), true
		}
		args[i] = clean
	}
	return args
}

// storableNamed is storable for arguments passed to the driver itself.
func storableNamed(args []driver.NamedValue) []driver.NamedValue {
	own := false
	for i := range args {
		clean, changed := storableValue(args[i].Value)
		if !changed {
			continue
		}
		if !own {
			args, own = append([]driver.NamedValue(nil), args...), true
		}
		args[i].Value = clean
	}
	return args
}

// storableValue returns a value with storable texts, and whether it differs. Bytes are stored unchanged.
func storableValue(a any) (any, bool) {
	switch v := a.(type) {
	case nil, bool, int, int32, int64, float64, []byte, []int64, []bool:
		return a, false
	case string:
		if isStorable(v) {
			return a, false
		}
		return Storable(v), true
	case []string:
		return storableTexts(v)
	case sql.NullString:
		if isStorable(v.String) {
			return a, false
		}
		v.String = Storable(v.String)
		return v, true
	}
	switch v := reflect.ValueOf(a); v.Kind() {
	case reflect.String:
		return storableValue(v.String())
	case reflect.Pointer:
		if !v.IsNil() && v.Elem().Kind() == reflect.String && !isStorable(v.Elem().String()) {
			return Storable(v.Elem().String()), true
		}
	default:
	}
	return a, false
}

func storableTexts(all []string) (any, bool) {
	own := false
	for i, s := range all {
		if isStorable(s) {
			continue
		}
		if !own {
			all, own = append([]string(nil), all...), true
		}
		all[i] = Storable(s)
	}
	return all, own
}

// storableJSON returns JSON without escapes of NUL, which PostgreSQL's type cannot hold.
func storableJSON(text string) string {
	const nul = `\u0000`
	if !strings.Contains(text, nul) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		switch {
		case strings.HasPrefix(text[i:], nul):
			b.WriteString(`\ufffd`)
			i += len(nul)
		case text[i] == '\\' && i+1 < len(text): // the escaped character belongs to it, even a backslash
			b.WriteString(text[i : i+2])
			i += 2
		default:
			b.WriteByte(text[i])
			i++
		}
	}
	return b.String()
}
