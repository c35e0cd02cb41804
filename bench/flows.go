package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"carillon/bench/load"
)

const (
	flowWidget = "1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e23" // its agent leaves the keyword to the flow
	flowPeople = 1000
	flowSteps  = 10 // steps of a run, with three questions
)

// flowAnswers are a person's messages: the keyword, and an answer to each question.
var flowAnswers = []string{"begin", "one", "two", "three"} //nolint:gochecknoglobals // read only

// measureFlows lets very many people walk through a flow at the same time: each answers as soon as a question arrives.
func (b *bench) measureFlows(ctx context.Context, _ *provider, e engine) {
	people := flowPeople
	if b.quick {
		people /= 10
	}
	rate := b.table.add(row{figure: fmt.Sprintf("Flow steps, %d runs of %d steps at once, %s", people, flowSteps, e.name), unit: "steps/s"})
	latency := b.table.add(row{figure: fmt.Sprintf("Response of a flow, %d runs at once, %s", people, e.name), unit: "ms, p99"})
	for range min(b.rounds, 3) {
		n := b.serveEmpty(ctx, e, noProvider)
		c := newChatClient(ctx, n.addr)
		all := c.visitorsOf(flowWidget, people)
		var took load.Latencies
		var walking sync.WaitGroup
		walk, cancel := context.WithTimeout(ctx, 2*time.Minute)
		begin := time.Now()
		for _, v := range all {
			walking.Go(func() { check(c.walk(walk, v, &took)) })
		}
		walking.Wait()
		cancel()
		rate.add(float64(people*flowSteps)/time.Since(begin).Seconds(), 0)
		latency.add(took.Milliseconds(0.99), 0)
		c.http.CloseIdleConnections()
		b.discard(n)
	}
}

// walk walks one person through the flow, over their own stream.
func (c *chatClient) walk(ctx context.Context, v person, took *load.Latencies) error {
	resp, err := c.do(ctx, http.MethodGet, "/functions/v1/chat/stream", v.token, "0", "")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the stream of a person: %d", resp.StatusCode)
	}
	in := bufio.NewReaderSize(resp.Body, 4<<10)
	for i, answer := range flowAnswers {
		said := time.Now()
		turn, err := c.do(ctx, http.MethodPost, "/functions/v1/chat/turns", v.token, "",
			fmt.Sprintf(`{"client_id":%q,"text":%q}`, strconv.Itoa(i), answer))
		if err != nil {
			return err
		}
		_ = turn.Body.Close()
		if turn.StatusCode != http.StatusOK {
			return fmt.Errorf("a person's turn: %d", turn.StatusCode)
		}
		mark := []byte(`"text":"question ` + strconv.Itoa(i+1))
		for {
			line, err := in.ReadSlice('\n')
			if err != nil {
				return fmt.Errorf("the flow does not respond to %q: %w", answer, err)
			}
			if bytes.Contains(line, mark) {
				break
			}
		}
		took.Add(time.Since(said))
	}
	return nil
}
