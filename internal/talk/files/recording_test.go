package files

import (
	"errors"
	"sync"
	"testing"

	"carillon/internal/store/chats"
)

// A recording may fail while its goroutine checks for a failure. The race detector verifies this.
func TestARecordingFailsWhereTooMuchWaits(t *testing.T) {
	t.Parallel()
	r := &Recording{rate: 8000, x: &chats.StoredFile{}, wake: make(chan struct{}, 1), waiting: make([]byte, maxRecording+1)}
	var both sync.WaitGroup
	both.Go(func() { r.Write(nil, []int16{1}) })
	both.Go(func() {
		if err := r.finish(); err != nil {
			t.Error(err)
		}
	})
	both.Wait()
	if !errors.Is(r.failed, errRecording) {
		t.Errorf("it failed with %v", r.failed)
	}
}
