package graphtest

import (
	"testing"
	"time"
)

func TestCallbacksThatFindNobodyAreRepeatedWithoutGrowing(t *testing.T) {
	p := newPoster(&Server{o: Options{Callbacks: Callbacks{Double: true}.filled()}})
	p.add(Post{})
	now := time.Now().Add(time.Minute)
	for range 10 {
		all, _ := p.due(now)
		if len(all) != 6 {
			t.Fatalf("three statuses, each twice, are posted as %d", len(all))
		}
		p.repeat(all)
	}
}
