package argon

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
)

// garbage is what may gather before the collector runs, in percent of what lives. A hash is one block of memory without
// pointers: to collect costs next to nothing, and what is left would be the process's size.
const garbage = 25

// Work is the process that a Child starts: it steps back behind all others and serves until in ends, which it does when the
// parent has ended, however that was. Its standard error is the parent's.
func Work(in io.Reader, out io.Writer) error {
	// Who stops the program stops the parent, which drains first and needs hashes until then.
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	if err := lower(); err != nil {
		return fmt.Errorf("lower the priority: %w", err)
	}
	debug.SetGCPercent(garbage)
	return Serve(in, out)
}

// Serve computes the jobs that it reads, as many at once as there are processors, and writes each sum when it is done. It
// returns when in ends, without an error where that is between two frames, and leaves what it was at.
func Serve(in io.Reader, out io.Writer) error {
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	var mu sync.Mutex
	for {
		id, j, err := readJob(in)
		if err == io.EOF { //nolint:errorlint // io.EOF itself is the end between two frames
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a job: %w", err)
		}
		go func() {
			turns <- struct{}{}
			sum := j.sum()
			<-turns
			clear(j.Secret)
			mu.Lock()
			defer mu.Unlock()
			_, _ = out.Write(sumFrame(id, sum)) // a parent that reads no more has ended, which reading tells
		}()
	}
}
