package document

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
)

// resetPeak begins a measurement of this process's memory.
func resetPeak() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// peakMemory returns the most memory since then, in KiB.
func peakMemory() (kib int64) {
	status, _ := os.ReadFile("/proc/self/status")
	if _, rest, ok := bytes.Cut(status, []byte("VmHWM:")); ok {
		_, _ = fmt.Sscan(string(rest), &kib)
	}
	return kib
}
