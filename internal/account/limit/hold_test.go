package limit

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

func TestANameIsHeldOnceAtATime(t *testing.T) {
	for engine, o := range map[string]func(t *testing.T) store.Options{
		"sqlite":   func(t *testing.T) store.Options { return store.Options{Dir: storetest.Folder(t)} },
		"postgres": func(t *testing.T) store.Options { return store.Options{DatabaseURL: storetest.PatientPostgres(t)} },
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			l := over(t, o(t))
			var held atomic.Int32
			var all sync.WaitGroup
			releases := make(chan func(), 20)
			for range 20 {
				all.Go(func() {
					release, got, err := l.Hold(t.Context(), "a", 90*time.Second)
					if err != nil {
						t.Error(err)
					}
					if got {
						held.Add(1)
						releases <- release
					}
				})
			}
			all.Wait()
			if n := held.Load(); n > 1 {
				t.Fatalf("%d hold one name", n)
			}
			if _, got, err := l.Hold(t.Context(), "b", time.Second); !got || err != nil {
				t.Errorf("another name: %v, %v", got, err)
			}
			if len(releases) > 0 {
				if _, got, err := l.Hold(t.Context(), "a", time.Second); got || err != nil {
					t.Errorf("while it is held: %v, %v", got, err)
				}
				(<-releases)()
			}
			release, got, err := l.Hold(t.Context(), "a", 3*time.Minute)
			if !got || err != nil {
				t.Fatalf("once it was given back: %v, %v", got, err)
			}
			release()
		})
	}
}
