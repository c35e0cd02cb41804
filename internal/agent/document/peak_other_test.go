//go:build !linux

package document

// The memory of a process is measured on Linux alone.
func resetPeak() {}

func peakMemory() int64 { return 0 }
