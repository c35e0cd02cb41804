package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// notes say how the figures were taken, for who reads them without the program.
const notes = `
A figure is the median of its rounds, with the least and the most beside it; a ratio is the median of the rounds' ratios
to the yardstick that ran in the same round, in turns. H is a bare net/http handler that decodes the same body into a map
and answers; C a bare client that posts the same message with as many workers to the same provider; F the disk's
fdatasync of 4 KiB; K the bare password hash on every core.

The program, the handler, the client, the provider's stand-in, PostgreSQL and the load generator share the machine. The
generator is the same for H and for Carillon: bare connections, requests made beforehand. In open loops a latency counts
from the instant at which the request was due to leave, so that a stall counts for all that it delayed. Everything is on:
access keys, limits, checks, templates, quotas, the log; SQLite with synchronous=FULL, PostgreSQL with fsync,
full_page_writes and synchronous_commit. "Behind" are messages that are scheduled and not due.

![Latency by percentile](latency.svg)

`

// results writes the page of a whole run and the plot beside it. load is the machine's load before the run: what else it
// had to do.
func (b *bench) results(name, load string) error {
	var text strings.Builder
	fmt.Fprintf(&text, "# Measured figures\n\nMade by `make bench`. %s, commit %s, %d cores, %s, %d rounds, load average before the run %s.\n%s",
		time.Now().UTC().Format(time.DateOnly), commit(), runtime.NumCPU(), runtime.Version(), b.rounds, load, notes)
	b.table.markdown(&text)
	text.WriteString("\n## Sizing\n\n" + b.sizing())
	if len(b.failures) > 0 {
		text.WriteString("\n## Not measured to the end\n\n")
		for _, err := range b.failures {
			fmt.Fprintf(&text, "- %v\n", err)
		}
	}
	if err := os.WriteFile(name, []byte(text.String()), 0o644); err != nil {
		return err
	}
	return draw(filepath.Join(filepath.Dir(name), "latency.svg"), latencyChart(b.shapes))
}

// sizing is the table of docs/guides/scale.md, from what this run has measured on both engines.
func (b *bench) sizing() string {
	find := func(figure, unit string) string {
		for _, r := range b.table.rows {
			if r.figure == figure && len(r.values) > 0 {
				return show(median(r.values)) + unit
			}
		}
		return "–"
	}
	var s strings.Builder
	fmt.Fprintf(&s, "| Engine | Nodes | Cores a node | Accept, requests/s | Accept p99 | Deliver, messages/s | Memory, %s scheduled | Disk a million messages |\n|%s\n",
		thousands(b.behind()), strings.Repeat("---|", 8))
	for _, e := range engines() {
		fmt.Fprintf(&s, "| %s | 1 | %d, shared with load and provider | %s | %s | %s | %s | %s |\n", e.name, runtime.NumCPU(),
			find("Accept, 1 recipient, "+e.name, ""), find("Accept latency, 16 connections, "+e.name, " ms"), find(b.drainFigure(e), ""),
			find(b.memoryFigure(e), " MB"), find(diskFigure(e), " MB"))
	}
	return s.String()
}

// thousands writes a number as people read it.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
