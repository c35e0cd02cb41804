package db

import (
	"cmp"
	"slices"
)

// Merge reads a page of each of several lists and merges them, the greatest key first. read returns at most n rows of a list, and the key
// of the last row that it looked at where that was not all, else none. The page has the rows as far as all lists were looked at, each once;
// edge is the key up to there, or none.
func Merge[T any, K cmp.Ordered](
	n int, lists []string, none K, key func(T) K, read func(list string) ([]T, K, error),
) (page []T, edge K, err error) {
	edge = none
	for _, list := range lists {
		rows, to, err := read(list)
		if err != nil {
			return nil, none, err
		}
		if len(rows) == n {
			to = key(rows[n-1])
		}
		page, edge = append(page, rows...), max(edge, to)
	}
	slices.SortFunc(page, func(a, b T) int { return cmp.Compare(key(b), key(a)) })
	page = slices.CompactFunc(page, func(a, b T) bool { return key(a) == key(b) })
	return slices.DeleteFunc(page, func(x T) bool { return key(x) < edge }), edge, nil
}
