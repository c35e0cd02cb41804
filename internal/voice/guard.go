package voice

import (
	"fmt"
	"runtime/debug"
)

// Guard returns a panic of f as an error: one talk fails, and the others go on.
func Guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}
