package main

import (
	"fmt"
	"math"
	"os"
	"strings"

	"carillon/internal/load"
)

// shape is a distribution of latencies that the plot shows as one line.
type shape struct {
	name string
	hist *load.Hist
}

// shape adds a round's latencies to a line of the plot.
func (b *bench) shape(name string, h *load.Hist) {
	for _, s := range b.shapes {
		if s.name == name {
			s.hist.Merge(h)
			return
		}
	}
	s := shape{name, &load.Hist{}}
	s.hist.Merge(h)
	b.shapes = append(b.shapes, s)
}

// series is a line of a chart, with its values where the axes want them; NaN breaks it.
type series struct {
	name string
	x, y []float64
}

// axis maps values to a side of a chart; a tick is a value and its text.
type axis struct {
	label    string
	from, to float64
	ticks    []tick
}

type tick struct {
	at   float64
	text string
}

func (a axis) share(v float64) float64 { return (v - a.from) / (a.to - a.from) }

// chart is lines over two axes.
type chart struct {
	title string
	x, y  axis
	lines []series
}

// The colours are told apart by most colour-blind people and against white and dark grey alike.
func colours() []string {
	return []string{"#4477cc", "#dd7733", "#229977", "#bb5599", "#998822", "#5599aa", "#cc4455", "#777777"}
}

const (
	plotWidth, plotHeight = 760, 300
	plotLeft, plotTop     = 64, 34
	plotInner             = plotWidth - plotLeft - 16
	plotDepth             = plotHeight - plotTop - 48
)

// latencyChart plots the shapes as percentiles: the further right, the rarer; both axes are logarithmic.
func latencyChart(shapes []shape) chart {
	c := chart{
		title: "Latency by percentile",
		x:     axis{label: "percentile", from: 0, to: 4},
		y:     axis{label: "milliseconds", from: math.Log10(0.1), to: math.Log10(100)},
	}
	for _, q := range []float64{0, 0.5, 0.9, 0.99, 0.999, 0.9999} {
		c.x.ticks = append(c.x.ticks, tick{nines(q), strings.TrimSuffix(fmt.Sprintf("%.4g", q*100), ".0") + " %"})
	}
	highest := 0.0
	for _, s := range shapes {
		line := series{name: s.name}
		for x := 0.0; x <= 4; x += 0.02 {
			q := 1 - math.Pow(10, -x)
			if float64(s.hist.Count())*(1-q) < 1 {
				break // rarer than one of all that were counted
			}
			v := max(s.hist.Milliseconds(q), 0.1)
			highest = max(highest, v)
			line.x, line.y = append(line.x, x), append(line.y, math.Log10(v))
		}
		c.lines = append(c.lines, line)
	}
	c.y.to = math.Ceil(max(1, math.Log10(max(highest, 1))))
	for e := c.y.from; e <= c.y.to+0.01; e++ {
		c.y.ticks = append(c.y.ticks, tick{e, fmt.Sprintf("%g", math.Pow(10, math.Round(e)))})
	}
	return c
}

// nines is where a percentile stands on a scale on which every nine more is one further.
func nines(q float64) float64 { return -math.Log10(1 - q) }

// linear is an axis from zero to a round value over the greatest.
func linear(label string, values []series, of func(series) []float64) axis {
	most := 0.0
	for _, s := range values {
		for _, v := range of(s) {
			if v > most { // never of NaN
				most = v
			}
		}
	}
	step := math.Pow(10, math.Floor(math.Log10(max(most, 1e-3))))
	for _, k := range []float64{0.2, 0.5, 1, 2} {
		if most/(k*step) <= 6 {
			step *= k
			break
		}
	}
	a := axis{label: label, to: math.Ceil(max(most, step)/step) * step}
	for v := 0.0; v <= a.to*1.001; v += step {
		a.ticks = append(a.ticks, tick{v, fmt.Sprintf("%g", math.Round(v*1e6)/1e6)})
	}
	return a
}

// draw writes charts, one below the other, as an SVG that follows the reader's light or dark.
func draw(name string, charts ...chart) error {
	var b strings.Builder
	height := 0
	for _, c := range charts {
		height += plotHeight + legendHeight(c)
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n",
		plotWidth, height, plotWidth, height)
	b.WriteString("<style>.p{fill:#fff}.t{fill:#222}.g{stroke:#ddd}.a{stroke:#666}" +
		"@media (prefers-color-scheme: dark){.p{fill:#16181c}.t{fill:#e6e6e6}.g{stroke:#33373d}.a{stroke:#999}}</style>\n")
	fmt.Fprintf(&b, `<rect class="p" width="%d" height="%d"/>`+"\n", plotWidth, height)
	top := 0
	for _, c := range charts {
		fmt.Fprintf(&b, `<g transform="translate(0 %d)">`+"\n", top)
		c.draw(&b)
		b.WriteString("</g>\n")
		top += plotHeight + legendHeight(c)
	}
	b.WriteString("</svg>\n")
	return os.WriteFile(name, []byte(b.String()), 0o644)
}

func legendHeight(c chart) int {
	if len(c.lines) < 2 {
		return 0
	}
	return (len(c.lines)+1)/2*18 + 10
}

func (c chart) draw(b *strings.Builder) {
	fmt.Fprintf(b, `<text class="t" x="%d" y="20" font-size="14" font-weight="bold">%s</text>`+"\n", plotLeft, c.title)
	for _, t := range c.x.ticks {
		x := plotLeft + c.x.share(t.at)*plotInner
		fmt.Fprintf(b, `<line class="g" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/><text class="t" x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			x, plotTop, x, plotTop+plotDepth, x, plotTop+plotDepth+16, t.text)
	}
	for _, t := range c.y.ticks {
		y := plotTop + (1-c.y.share(t.at))*plotDepth
		fmt.Fprintf(b, `<line class="g" x1="%d" y1="%.1f" x2="%d" y2="%.1f"/><text class="t" x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			plotLeft, y, plotLeft+plotInner, y, plotLeft-6, y+4, t.text)
	}
	fmt.Fprintf(b, `<path class="a" fill="none" d="M%d %dV%dH%d"/>`+"\n", plotLeft, plotTop, plotTop+plotDepth, plotLeft+plotInner)
	fmt.Fprintf(b, `<text class="t" x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", plotLeft+plotInner/2, plotTop+plotDepth+36, c.x.label)
	fmt.Fprintf(b, `<text class="t" transform="translate(14 %d) rotate(-90)" text-anchor="middle">%s</text>`+"\n", plotTop+plotDepth/2, c.y.label)
	for i, s := range c.lines {
		c.line(b, i, s)
	}
}

func (c chart) line(b *strings.Builder, i int, s series) {
	colour := colours()[i%len(colours())]
	var path strings.Builder
	pen := "M"
	for k := range s.x {
		if math.IsNaN(s.y[k]) { // the line is broken here
			pen = "M"
			continue
		}
		fmt.Fprintf(&path, "%s%.1f %.1f", pen, plotLeft+min(c.x.share(s.x[k]), 1)*plotInner, plotTop+(1-c.y.share(min(s.y[k], c.y.to)))*plotDepth)
		pen = "L"
	}
	fmt.Fprintf(b, `<path fill="none" stroke="%s" stroke-width="1.6" stroke-linejoin="round" d="%s"/>`+"\n", colour, path.String())
	if len(c.lines) < 2 {
		return
	}
	x, y := plotLeft+i%2*plotInner/2, plotHeight+i/2*18+4
	fmt.Fprintf(b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="%s" stroke-width="3"/><text class="t" x="%d" y="%d">%s</text>`+"\n",
		x, y-4, x+22, y-4, colour, x+28, y, s.name)
}
