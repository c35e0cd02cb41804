package voice

import (
	"fmt"
	"runtime/debug"
)

// Guard returns a panic of f as an error, so that one failing session does not end the others.
func Guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}
