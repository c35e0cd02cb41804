package main

import (
	"fmt"
	"io"
	"strings"
)

// progress shows the progress of a long run: a bar on a terminal, else a line for each tenth.
type progress struct {
	out      io.Writer
	terminal bool
	total    int
	shown    int    // tenths shown so far
	what     string // what is counted; "" counts recipients and their failures
}

const barWidth = 30

// at shows how many of the total are done.
func (p *progress) at(done, failed int) {
	if p.total == 0 {
		return
	}
	tail := fmt.Sprintf(", %d failed", failed)
	if p.what != "" {
		tail = " " + p.what
	}
	if p.terminal {
		full := done * barWidth / p.total
		_, _ = fmt.Fprintf(p.out, "\r[%s%s] %d/%d%s", strings.Repeat("#", full), strings.Repeat(" ", barWidth-full), done, p.total, tail)
		if done == p.total {
			_, _ = fmt.Fprintln(p.out)
		}
		return
	}
	if tenths := done * 10 / p.total; tenths > p.shown {
		p.shown = tenths
		_, _ = fmt.Fprintf(p.out, "%d/%d%s\n", done, p.total, tail)
	}
}

// clear ends the bar's line before something else is written.
func (p *progress) clear() {
	if p.terminal && p.total > 0 {
		_, _ = fmt.Fprint(p.out, "\r\x1b[K")
	}
}
