package review

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"carillon/internal/agent"
	"carillon/internal/agent/knowledge"
)

const (
	maxQuoted  = 140 // characters of a quotation in a summary
	maxNamed   = 5   // tools or results in a summary
	goodRating = 4
	badRating  = 2
)

// ByRules makes a review without any other service.
func ByRules(m *Material) *Review {
	t := textsOf(m.Agent.Language, m.Language)
	results := m.Recorded()
	r := &Review{Summary: m.summary(t, results), Results: results, Topics: m.topics(), By: Rules}
	if m.Agent.Goal != "" {
		r.Goal, r.Reason = m.goal(t, r.Results)
		r.Reason = knowledge.Clip(r.Reason, MaxReason)
	}
	return r
}

// summary says what the person began with, how the agent responded, and how it ended.
func (m *Material) summary(t texts, results []agent.Value) string {
	var parts []string
	if first := m.question(); first != "" {
		parts = append(parts, t.with(t.began, knowledge.Clip(first, maxQuoted)))
	}
	if counts := m.counts(t); counts != "" {
		parts = append(parts, counts)
	}
	if len(results) > 0 {
		var all []string
		for _, v := range results[:min(len(results), maxNamed)] {
			all = append(all, v.Name+": "+t.shown(v))
		}
		parts = append(parts, t.with(t.results, knowledge.Clip(strings.Join(all, ", "), maxQuoted)))
	}
	if m.AskedForTeam {
		parts = append(parts, m.team(t))
	}
	if len(m.Used) > 0 {
		parts = append(parts, m.tools(t))
	}
	if last := m.last(); last != "" {
		parts = append(parts, t.with(t.last, knowledge.Clip(last, maxQuoted)))
	}
	return knowledge.Clip(strings.Join(parts, " "), MaxSummary)
}

// question returns the person's first message that is neither small talk nor the answer to a question of the agent, or else the
// first small talk.
func (m *Material) question() (first string) {
	answers := false
	for i := range m.Lines {
		l := &m.Lines[i]
		if l.By != Person {
			answers = m.Agent.Asking(l.Text) != ""
			continue
		}
		if strings.TrimSpace(l.Text) == "" || answers {
			continue
		}
		if !agent.SmallTalk(l.Text) {
			return l.Text
		}
		first = cmp.Or(first, l.Text)
	}
	return first
}

// last returns the last response of the company.
func (m *Material) last() string {
	for i := len(m.Lines) - 1; i >= 0; i-- {
		if l := &m.Lines[i]; l.By != Person && strings.TrimSpace(l.Text) != "" {
			return l.Text
		}
	}
	return ""
}

// count returns the number of responses with an outcome.
func (m *Material) count(o agent.Outcome) (n int) {
	for i := range m.Lines {
		if m.Lines[i].Outcome == o {
			n++
		}
	}
	return n
}

func (m *Material) counts(t texts) string {
	var all []string
	for _, o := range []agent.Outcome{agent.Answered, agent.Offered, agent.HandedOver, agent.Unanswered} {
		if n := m.count(o); n > 0 {
			form := t.outcomes[o][1]
			if n == 1 {
				form = t.outcomes[o][0]
			}
			all = append(all, strconv.Itoa(n)+" "+form)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return t.with(t.questions, strings.Join(all, ", "))
}

func (m *Material) team(t texts) string {
	text := t.team
	if m.AskedReason != "" && m.AskedReason != agent.AskedForPerson {
		text = t.with(t.teamFor, knowledge.Clip(m.AskedReason, maxQuoted))
	}
	switch {
	case m.Joined:
		text += " " + t.joined
	case m.Alone:
		text += " " + t.alone
	}
	return text
}

// tools lists the tools that were used, each with the status of its last call.
func (m *Material) tools(t texts) string {
	var names []string
	status := map[string]agent.Status{}
	for _, u := range m.Used {
		if _, seen := status[u.Tool]; !seen {
			names = append(names, u.Tool)
		}
		status[u.Tool] = u.Status
	}
	names = names[:min(len(names), maxNamed)]
	for i, name := range names {
		switch status[name] {
		case agent.RanWell:
		case agent.RanNothing:
			names[i] += " (" + t.nothing + ")"
		case agent.RanUnknown:
			names[i] += " (" + t.unsure + ")"
		default:
			names[i] += " (" + t.failed + ")"
		}
	}
	return t.with(t.tools, strings.Join(names, ", "))
}

// Recorded returns the declared results that the agent recorded, or passed to a tool that worked.
func (m *Material) Recorded() (all []agent.Value) {
	for i := range m.Agent.Result {
		r := &m.Agent.Result[i]
		if text, ok := m.value(r); ok {
			all = append(all, agent.Value{Name: r.Name, Type: r.Type, Text: text})
		}
	}
	return all
}

func (m *Material) value(r *agent.Result) (text string, ok bool) {
	for _, v := range m.Set {
		if v.Name != r.Name {
			continue
		}
		if have, fits := Fit(r, v.Text); fits {
			text, ok = have, true
		}
	}
	if ok {
		return text, true
	}
	for _, u := range m.Used {
		var arguments map[string]any
		if u.Status != agent.RanWell || json.Unmarshal([]byte(u.Arguments), &arguments) != nil {
			continue
		}
		given, has := arguments[r.Name]
		if !has {
			continue
		}
		if have, fits := Fit(r, given); fits {
			text, ok = have, true
		}
	}
	return text, ok
}

// goal decides whether the goal was reached, and says why.
func (m *Material) goal(t texts, results []agent.Value) (Verdict, string) {
	if v, reason := m.byResult(t, results); v != "" {
		return v, reason
	}
	for _, u := range slices.Backward(m.Used) {
		if u.Changes && u.Status == agent.RanWell {
			return Reached, t.with(t.didTool, u.Tool)
		}
	}
	switch {
	case m.Alone && !m.Joined:
		return NotReached, t.alone
	case m.collected(results):
		return Reached, t.collected
	case m.Rating >= goodRating:
		return Reached, t.with(t.rated, strconv.Itoa(m.Rating))
	case m.Rating > 0 && m.Rating <= badRating:
		return NotReached, t.with(t.rated, strconv.Itoa(m.Rating))
	}
	switch score := m.score(); {
	case score > 0:
		return Reached, t.liked
	case score < 0:
		return NotReached, t.disliked
	}
	if m.count(agent.Unanswered) > 0 && m.count(agent.Answered) == 0 && !m.AskedForTeam {
		return NotReached, t.unanswered
	}
	return Unknown, t.unclear
}

// byResult decides by the result that the agent names for the goal.
func (m *Material) byResult(t texts, results []agent.Value) (Verdict, string) {
	if m.Agent.GoalResult == "" {
		return "", ""
	}
	for _, v := range results {
		if v.Name != m.Agent.GoalResult {
			continue
		}
		if v.Type == "boolean" && v.Text == "false" {
			return NotReached, t.with(t.result, v.Name, t.shown(v))
		}
		return Reached, t.with(t.result, v.Name, t.shown(v))
	}
	q := m.Agent.Question(m.Agent.GoalResult)
	if q == nil || m.Joined {
		return "", ""
	}
	for i := range m.Lines {
		if l := &m.Lines[i]; l.By == Agent && strings.Contains(l.Text, q.Question) {
			return NotReached, t.with(t.missing, q.Name)
		}
	}
	return "", ""
}

// collected reports whether all results that the agent asks for were collected, none of them with the answer no.
func (m *Material) collected(results []agent.Value) bool {
	asked := m.Agent.Questions()
	for _, q := range asked {
		if !slices.ContainsFunc(results, func(v agent.Value) bool { return v.Name == q.Name && v.Text != "false" }) {
			return false
		}
	}
	return len(asked) > 0
}

// score returns the person's last score of a response.
func (m *Material) score() int {
	for _, l := range slices.Backward(m.Lines) {
		if l.Score != 0 {
			return l.Score
		}
	}
	return 0
}

// topics returns the declared topics whose words occur in messages of the person or in the titles of the articles that
// answered. An agent that declares none has the titles as topics.
func (m *Material) topics() (all []string) {
	if len(m.Agent.Topics) == 0 {
		return m.titles()
	}
	language := cmp.Or(m.Language, m.Agent.Language)
	var said []string
	for i := range m.Lines {
		if l := &m.Lines[i]; l.By == Person {
			said = append(said, knowledge.Stems(l.Text, language))
		}
	}
	for _, title := range m.titles() {
		said = append(said, knowledge.Stems(title, language))
	}
	for i := range m.Agent.Topics {
		if len(all) < MaxTopics && about(said, &m.Agent.Topics[i], language) {
			all = append(all, m.Agent.Topics[i].Name)
		}
	}
	return all
}

func about(said []string, topic *agent.Topic, language string) bool {
	for _, phrase := range append([]string{topic.Name}, topic.Words...) {
		stems := knowledge.Stems(phrase, language)
		if strings.TrimSpace(stems) == "" {
			continue
		}
		if slices.ContainsFunc(said, func(text string) bool { return strings.Contains(text, stems) }) {
			return true
		}
	}
	return false
}

// titles returns the titles of the articles that answered.
func (m *Material) titles() (all []string) {
	for i := range m.Lines {
		for _, title := range m.Lines[i].Titles {
			if title = knowledge.Clip(title, maxQuoted); title != "" && !slices.Contains(all, title) && len(all) < MaxTopics {
				all = append(all, title)
			}
		}
	}
	return all
}

// Fit returns a value in the form of a result's type. ok is false if it does not fit.
func Fit(r *agent.Result, value any) (text string, ok bool) {
	switch v := value.(type) {
	case string:
		text = strings.TrimSpace(v)
	case bool:
		text = strconv.FormatBool(v)
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return "", false
	}
	switch r.Type {
	case "boolean":
		return text, text == "true" || text == "false"
	case "number":
		n, err := strconv.ParseFloat(text, 64)
		return text, err == nil && n-n == 0 // neither infinite nor not a number
	case "choice":
		for _, choice := range r.Choices {
			if strings.EqualFold(choice, text) {
				return choice, true
			}
		}
		return "", false
	}
	return knowledge.Clip(text, MaxText), text != ""
}
