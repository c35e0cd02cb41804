package db

import (
	"errors"
	"slices"
	"testing"
)

// Each list is numbers that fall; a reader looks at some of them at a time, and finds the even ones.
func TestMergedPagesMissAndRepeatNothing(t *testing.T) {
	lists := map[string][]int{"a": nil, "b": nil, "c": {41, 40, 39}}
	for i := 100; i > 0; i-- {
		lists[[]string{"a", "a", "a", "b"}[i%4]] = append(lists[[]string{"a", "a", "a", "b"}[i%4]], i)
	}
	lists["b"] = append(lists["b"], 0, -1, -2)
	const limit, none = 3, -1000
	for _, looks := range []int{4, 7, 1000} {
		var all []int
		before := 1000
		for pages := 0; ; pages++ {
			read := func(list string) (found []int, edge int, err error) {
				looked := 0
				for _, x := range lists[list] {
					if x >= before {
						continue
					}
					if looked++; x%2 == 0 {
						found = append(found, x)
					}
					switch {
					case len(found) == limit+1: // an edge beyond the end has no effect
						return found, none, nil
					case looked == looks:
						return found, x, nil
					}
				}
				return found, none, nil
			}
			page, edge, err := Merge([]string{"a", "b", "c"}, none, func(x int) int { return x }, read)
			if err != nil || pages > 200 {
				t.Fatal(pages, err)
			}
			if len(page) > limit {
				page, edge = page[:limit], page[limit-1]
			}
			all = append(all, page...)
			if edge == none {
				break
			}
			before = edge
		}
		var want []int
		for x := 100; x >= -2; x -= 2 {
			want = append(want, x)
		}
		if !slices.Equal(all, want) {
			t.Errorf("looking at %d rows: %v", looks, all)
		}
	}
}

func TestAMergeFailsWithAList(t *testing.T) {
	failure := errors.New("no")
	read := func(string) ([]int, int, error) { return []int{3}, 2, failure }
	_, edge, err := Merge([]string{"a"}, -1, func(x int) int { return x }, read)
	if !errors.Is(err, failure) || edge != -1 {
		t.Error(edge, err)
	}
}
