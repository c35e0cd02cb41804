package db

import (
	"cmp"
	"slices"
)

// Merge merges pages of several lists, greatest key first. read returns either one row more than the merged page may
// have, or fewer rows and edge, the key of the last row examined, or all rows and no edge. The result has the rows
// down to the greatest edge, without duplicates; the caller truncates it to the page.
func Merge[T any, K cmp.Ordered](
	lists []string, none K, key func(T) K, read func(list string) ([]T, K, error),
) (page []T, edge K, err error) {
	edge = none
	for _, list := range lists {
		rows, to, err := read(list)
		if err != nil {
			return nil, none, err
		}
		page, edge = append(page, rows...), max(edge, to)
	}
	slices.SortFunc(page, func(a, b T) int { return cmp.Compare(key(b), key(a)) })
	page = slices.CompactFunc(page, func(a, b T) bool { return key(a) == key(b) })
	return slices.DeleteFunc(page, func(x T) bool { return key(x) < edge }), edge, nil
}
