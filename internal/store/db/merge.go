package db

import (
	"cmp"
	"slices"
)

// Merge reads a page of each of several lists and merges them, the greatest key first. read returns one row more than the merged page may
// have, or those it found up to edge, the key of the last row that it looked at, or all, with none. The merged rows are those up to the
// greatest edge, each once; the caller cuts them to the page.
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
