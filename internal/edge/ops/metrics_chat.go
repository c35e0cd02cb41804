package ops

import (
	"cmp"
	"context"
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carillon/internal/agent"
	"carillon/internal/agent/review"
	"carillon/internal/store/chats"
	"carillon/internal/store/events"
	"carillon/internal/talk/flow"
)

// Chat holds the metrics of conversations that are counted as events happen.
type Chat struct {
	opened  prometheus.Counter
	moves   *prometheus.CounterVec
	turns   *prometheus.CounterVec
	replied *prometheus.HistogramVec
	waited  prometheus.Histogram
	ran     *prometheus.CounterVec
	wrote   *prometheus.CounterVec
	replies *prometheus.CounterVec
	tools   *prometheus.CounterVec
	reviews *prometheus.CounterVec
	failed  prometheus.Counter // requests for a review that an engine did not answer

	toolTook *prometheus.HistogramVec
}

// ofConversations registers the metrics of conversations.
func (m *Metrics) ofConversations() {
	x := &Chat{
		moves: m.vec("carillon_chat_moves_total", "Conversations that came into another state, by that state.", "state"),
		turns: m.vec("carillon_chat_turns_total", "What was said in conversations, by author: visitor, agent, teammate.", "author"),
		replied: m.histogramVec("carillon_chat_reply_seconds",
			"Time from what a contact said, not answered before, to the reply, by its author.",
			prometheus.ExponentialBuckets(0.01, 3, 14), "author", string(chats.Agent), string(chats.Teammate)),
		waited: m.histogram("carillon_chat_wait_seconds",
			"Time in which a contact waited for a teammate who then took the conversation.", prometheus.ExponentialBuckets(1, 2, 15)),
		ran: m.vec("carillon_flow_runs_total",
			"Runs of flows that began (ready), or ended: completed, handed_off, stopped by the contact, failed.", "state"),
		wrote: m.vec("carillon_inbound_messages_total",
			"Messages of people to senders by kind, and by result: shown, declined (the person was asked for another form), "+
				"failed (the person was asked for it again), applied (the channel's report of another id of the person), ignored "+
				"(it names no author, or is to a number that no sender has).", "kind", "result"),
		replies: m.vec("carillon_replies_total",
			"Replies over senders that came into a state: sending, sent, delivered, read, failed, unknown.", "state"),
		tools: m.vec("carillon_tool_calls_total",
			"Agents' calls of tools at servers, by kind (http, mcp) and outcome: ok, not_found, refused (not made), failed, "+
				"unknown (a change that may have happened).", "kind", "status"),
		toolTook: m.histogramVec("carillon_tool_seconds", "Duration of these calls, by kind.",
			prometheus.ExponentialBuckets(0.01, 3, 9), "kind", "http", "mcp"),
		reviews: m.vec("carillon_reviews_total",
			"Reviews of conversations by maker (rules, or the engine) and by verdict about the goal: yes, no, unknown, none (no goal).",
			"maker", "goal"),
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "carillon_review_engine_failures_total", Help: "Reviews that rules made because the engine failed or was at its limit.",
		}),
		opened: prometheus.NewCounter(prometheus.CounterOpts{Name: "carillon_chat_opened_total", Help: "Conversations begun."}),
	}
	each0(x.ran, flow.Ready, flow.Completed, flow.HandedOff, flow.Stopped, flow.Failed)
	each0(x.moves, chats.Automated, chats.Queued, chats.Active, chats.WrapUp, chats.Resolved, chats.Missed, chats.Abandoned)
	each0(x.turns, chats.Visitor, chats.Agent, chats.Teammate)
	each0(x.replies, "sending", "sent", "delivered", "read", "failed", "unknown")
	from0(x.wrote, []string{"text", "shown"})
	from0(x.reviews, []string{review.Rules, "none"})
	for _, kind := range []string{"http", "mcp"} {
		from0(x.tools, []string{kind, string(agent.RanWell)}, []string{kind, string(agent.RanFailed)})
	}
	m.Registry.MustRegister(x.opened, x.failed)
	m.Chat = x
}

// Opened implements conversation.Observer.
func (x *Chat) Opened(chats.State) { x.opened.Inc() }

// Ran implements conversation.Observer.
func (x *Chat) Ran(state flow.State) { x.ran.WithLabelValues(string(state)).Inc() }

// Called implements tools.Observer.
func (x *Chat) Called(kind string, status agent.Status, took time.Duration) {
	x.tools.WithLabelValues(kind, string(status)).Inc()
	x.toolTook.WithLabelValues(kind).Observe(took.Seconds())
}

// Reviewed implements conversation.Observer.
func (x *Chat) Reviewed(maker, goal string, failed bool) {
	x.reviews.WithLabelValues(maker, cmp.Or(goal, "none")).Inc()
	if failed {
		x.failed.Inc()
	}
}

// Wrote implements messaging.Observer.
func (x *Chat) Wrote(label, result string) { x.wrote.WithLabelValues(label, result).Inc() }

// Replied implements messaging.Observer.
func (x *Chat) Replied(state string) { x.replies.WithLabelValues(state).Inc() }

// Moved implements conversation.Observer.
func (x *Chat) Moved(from, to chats.State, after time.Duration) {
	x.moves.WithLabelValues(string(to)).Inc()
	if to == chats.Active && (from == chats.Queued || from == chats.Missed) {
		x.waited.Observe(after.Seconds())
	}
}

// Turned implements conversation.Observer.
func (x *Chat) Turned(author chats.Author, replied time.Duration) {
	x.turns.WithLabelValues(string(author)).Inc()
	if replied > 0 {
		x.replied.WithLabelValues(string(author)).Observe(replied.Seconds())
	}
}

//nolint:gochecknoglobals // descriptions, read only
var (
	talkingDesc = desc("carillon_chat_conversations", "Conversations of all nodes that are not resolved, by state.", "state")
	streamsDesc = desc("carillon_streams", "Open streams of this node by topic: conversation, inbox, notifications, calls.", "topic")
)

// ofConversations emits the gauges of conversations on each scrape.
func (g *Sources) ofConversations(gauge emit) {
	topics := map[string]int{"conversation": 0, events.Inbox: 0, events.Notifications: 0, events.Calls: 0}
	maps.Copy(topics, g.Hub.Streams())
	for topic, n := range topics {
		gauge(streamsDesc, float64(n), topic)
	}
	ctx, cancel := context.WithTimeout(context.Background(), statsTimeout)
	defer cancel()
	if states, err := g.Store.Chats.States(ctx); err == nil {
		for _, state := range []chats.State{chats.Automated, chats.Queued, chats.Active, chats.WrapUp, chats.Missed, chats.Abandoned} {
			gauge(talkingDesc, float64(states[state]), string(state))
		}
	}
}
