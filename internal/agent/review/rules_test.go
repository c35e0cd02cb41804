package review

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/agent"
)

// talk is a conversation with a bit of everything, in a language.
func talk(language, question, reply string) *Material {
	return &Material{
		Agent: &agent.Agent{
			Language: language, Goal: "The person has an answer",
			Topics: []agent.Topic{
				{Name: "Prices", Words: []string{"how much", "precio", "preço"}},
				{Name: "Dogs", Words: []string{"dog", "perro", "cachorro"}},
			},
		},
		Language: language,
		Lines: []Line{
			{By: Person, Text: "Hola"},
			{By: Agent, Text: "…"},
			{By: Person, Text: question},
			{By: Agent, Text: "29 €", Outcome: agent.Answered, Titles: []string{"Tours"}},
			{By: Person, Text: "And?"},
			{By: Agent, Text: "29 €", Outcome: agent.Answered, Titles: []string{"Tours"}},
			{By: Person, Text: "Kayak?"},
			{By: Agent, Text: "?", Outcome: agent.Unanswered},
			{By: Agent, Text: reply},
		},
		Used: []agent.Use{
			{Tool: "find", Status: agent.RanNothing},
			{Tool: "book", Status: agent.RanFailed},
			{Tool: "book", Status: agent.RanWell},
			{Tool: "send", Status: agent.RanUnknown},
			{Tool: "pay", Status: agent.RanRefused},
		},
		AskedForTeam: true, AskedReason: agent.AskedForPerson, Alone: true,
	}
}

func TestRulesInThreeLanguages(t *testing.T) {
	for _, x := range []struct {
		m               *Material
		summary, reason string
		topics          []string
	}{
		{
			talk("en", "How much are the tours?", "Sorry."),
			"Began with “How much are the tours?”. Questions: 2 answered, 1 unanswered. The person asked for the team. No one from the " +
				"team joined. Tools: find (nothing found), book, send (outcome unknown), pay (failed). Last reply: “Sorry.”.",
			"No one from the team joined.",
			[]string{"Prices"},
		},
		{
			talk("es-ES", "¿Qué precios tienen y puedo llevar perros?", "Lo siento."),
			"Empezó con «¿Qué precios tienen y puedo llevar perros?». Preguntas: 2 respondidas, 1 sin respuesta. La persona pidió hablar " +
				"con el equipo. No atendió nadie del equipo. Herramientas: find (sin resultados), book, send (resultado desconocido), " +
				"pay (falló). Última respuesta: «Lo siento.».",
			"No atendió nadie del equipo.",
			[]string{"Prices", "Dogs"},
		},
		{
			talk("pt-BR", "Quais são os preços?", "Desculpe."),
			"Começou com “Quais são os preços?”. Perguntas: 2 respondidas, 1 sem resposta. A pessoa pediu para falar com a equipe. " +
				"Ninguém da equipe atendeu. Ferramentas: find (nada encontrado), book, send (resultado desconhecido), pay (falhou). " +
				"Última resposta: “Desculpe.”.",
			"Ninguém da equipe atendeu.",
			[]string{"Prices"},
		},
	} {
		want := &Review{Summary: x.summary, Goal: NotReached, Reason: x.reason, Topics: x.topics, By: Rules}
		if diff := cmp.Diff(want, ByRules(x.m)); diff != "" {
			t.Errorf("%s: %s", x.m.Language, diff)
		}
	}
}

func TestTheGoalByRules(t *testing.T) {
	asked := []agent.Result{
		{Name: "confirmed", Type: "boolean", Question: "Do you come?"}, {Name: "people", Type: "number", Question: "How many?"},
	}
	set := func(name, kind, text string) agent.Value { return agent.Value{Name: name, Type: kind, Text: text} }
	lines := []Line{{By: Person, Text: "Hi"}, {By: Agent, Text: "Do you come?"}}
	for name, x := range map[string]struct {
		m      Material
		result string // that decides
		goal   Verdict
		reason string
	}{
		"nothing shows it": {Material{}, "", Unknown, "The conversation doesn't show it."},
		"a tool changed something": {
			Material{Used: []agent.Use{{Tool: "book", Status: agent.RanWell, Changes: true}}},
			"", Reached,
			"The tool book did what the person requested.",
		},
		"a tool that only reads": {Material{Used: []agent.Use{{Tool: "find", Status: agent.RanWell}}}, "", Unknown, ""},
		"a tool that failed":     {Material{Used: []agent.Use{{Tool: "book", Status: agent.RanFailed, Changes: true}}}, "", Unknown, ""},
		"the result says yes": {
			Material{Set: []agent.Value{set("confirmed", "boolean", "true")}}, "confirmed", Reached, "The result confirmed is: yes.",
		},
		"the result says no": {
			Material{Set: []agent.Value{set("confirmed", "boolean", "true"), set("confirmed", "boolean", "false")}, Rating: 5},
			"confirmed",
			NotReached, "The result confirmed is: no.",
		},
		"the result is a number": {
			Material{Set: []agent.Value{set("people", "number", "3")}}, "people", Reached, "The result people is: 3.",
		},
		"the result was asked for": {
			Material{Rating: 5}, "confirmed", NotReached, "The person didn't answer the question about confirmed.",
		},
		"a teammate took over": {
			Material{Rating: 5, Joined: true}, "confirmed", Reached, "The person rated the conversation 5 out of 5.",
		},
		"not asked for": {Material{Rating: 2}, "people", NotReached, "The person rated the conversation 2 out of 5."},
		"all answers": {
			Material{Set: []agent.Value{set("confirmed", "boolean", "true"), set("people", "number", "3")}},
			"", Reached,
			"The agent collected all answers.",
		},
		"one answer is no": {
			Material{Set: []agent.Value{set("confirmed", "boolean", "false"), set("people", "number", "3")}}, "", Unknown, "",
		},
		"one is missing":    {Material{Set: []agent.Value{set("people", "number", "3")}}, "", Unknown, ""},
		"a middling rating": {Material{Rating: 3}, "", Unknown, ""},
		"a thumb up": {
			Material{Lines: []Line{{By: Agent, Score: -1}, {By: Agent, Score: 1}}}, "", Reached, "The person marked the answer as helpful.",
		},
		"a thumb down": {
			Material{Lines: []Line{{By: Agent, Score: -1}}}, "", NotReached, "The person marked the answer as not helpful.",
		},
		"no answer": {
			Material{Lines: []Line{{By: Agent, Outcome: agent.Unanswered}}}, "", NotReached, "The agent couldn't answer.",
		},
		"some answers": {
			Material{Lines: []Line{{By: Agent, Outcome: agent.Unanswered}, {By: Agent, Outcome: agent.Answered}}}, "", Unknown, "",
		},
		"nobody came":              {Material{Alone: true}, "", NotReached, "No one from the team joined."},
		"somebody came in the end": {Material{Alone: true, Joined: true}, "", Unknown, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := x.m
			m.Agent = &agent.Agent{Language: "en", Goal: "It works", GoalResult: x.result, Result: asked}
			m.Lines = append(lines[:2:2], m.Lines...)
			r := ByRules(&m)
			if r.Goal != x.goal || x.reason != "" && r.Reason != x.reason {
				t.Errorf("%s: %s", r.Goal, r.Reason)
			}
		})
	}
	if r := ByRules(&Material{Agent: &agent.Agent{}, Lines: lines, Rating: 5}); r.Goal != "" || r.Reason != "" {
		t.Errorf("without a goal: %+v", r)
	}
}

func TestResultsByRules(t *testing.T) {
	m := &Material{
		Agent: &agent.Agent{Result: []agent.Result{
			{Name: "people", Type: "number"},
			{Name: "day", Type: "choice", Choices: []string{"Today", "Tomorrow"}},
			{Name: "note", Type: "text"},
			{Name: "sure", Type: "boolean"},
			{Name: "price", Type: "number"},
		}},
		Set: []agent.Value{
			{Name: "people", Text: "2"},
			{Name: "people", Text: "many"},
			{Name: "day", Text: "today"},
			{Name: "other", Text: "x"},
			{Name: "sure", Text: "perhaps"},
			{Name: "note", Text: strings.Repeat("long ", 200)},
		},
		Used: []agent.Use{
			{Tool: "book", Arguments: `{"sure":true,"people":7,"price":"free"}`, Status: agent.RanWell},
			{Tool: "book", Arguments: `{"price":1}`, Status: agent.RanFailed},
			{Tool: "book", Arguments: `{"price"`, Status: agent.RanWell},
		},
	}
	got := ByRules(m).Results
	if len(got) != 4 || len([]rune(got[2].Text)) > MaxText+1 {
		t.Fatal(got)
	}
	got[2].Text = ""
	want := []agent.Value{
		{Name: "people", Type: "number", Text: "2"},
		{Name: "day", Type: "choice", Text: "Today"},
		{Name: "note", Type: "text"},
		{Name: "sure", Type: "boolean", Text: "true"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTopicsByRules(t *testing.T) {
	m := &Material{Agent: &agent.Agent{Language: "en"}, Lines: []Line{
		{By: Person, Text: "Do you rent kayaks, and what about my dogs?"},
		{By: Agent, Text: "We sell kites.", Titles: []string{"Shop – Vouchers", "Shop – Vouchers", "Boats"}},
	}}
	if got := ByRules(m).Topics; !cmp.Equal(got, []string{"Shop – Vouchers", "Boats"}) {
		t.Errorf("without declared topics: %v", got)
	}
	m.Agent.Topics = []agent.Topic{
		{Name: "Kite"},
		{Name: "Dog"},
		{Name: "Vouchers"},
		{Name: "Rental", Words: []string{"rent kayak"}},
		{Name: "!", Words: []string{"?"}},
	}
	if got := ByRules(m).Topics; !cmp.Equal(got, []string{"Dog", "Vouchers", "Rental"}) {
		t.Errorf("%v", got)
	}
}

func TestAReviewIsBounded(t *testing.T) {
	long := strings.Repeat("á very long word ", 1000)
	m := &Material{Agent: &agent.Agent{Goal: "x"}, AskedForTeam: true, AskedReason: long}
	for range 100 {
		m.Lines = append(m.Lines, Line{By: Person, Text: long}, Line{By: Agent, Text: long, Titles: []string{long}})
		m.Used = append(m.Used, agent.Use{Tool: strings.Repeat("x", 64), Status: agent.RanFailed})
	}
	r := ByRules(m)
	if n := len([]rune(r.Summary)); n > MaxSummary+1 || n < MaxSummary/2 || strings.Contains(r.Summary, "%s") {
		t.Errorf("%d characters: %s", n, r.Summary)
	}
	if strings.Contains((texts{}).with("“%s” “%s”", "%s", "b"), "bb") {
		t.Error("a value adds a place")
	}
}

func TestTheSummaryOfACallWithQuestions(t *testing.T) {
	m := &Material{
		Agent: &agent.Agent{Language: "pt-BR", Result: []agent.Result{
			{Name: "vem", Type: "boolean", Question: "Você vem?"}, {Name: "pessoas", Type: "number", Question: "Quantas pessoas?"},
		}},
		Lines: []Line{
			{By: Agent, Text: "Olá! Você vem?"},
			{By: Person, Text: "Sim"},
			{By: Agent, Text: "Quantas pessoas?"},
			{By: Person, Text: "4"},
			{By: Agent, Text: "Anotado."},
		},
		Set: []agent.Value{{Name: "vem", Text: "true"}, {Name: "pessoas", Text: "4"}},
	}
	if got := ByRules(m).Summary; got != "Dados: vem: sim, pessoas: 4. Última resposta: “Anotado.”." {
		t.Error(got)
	}
	m.Lines = append(m.Lines, Line{By: Person, Text: "Posso levar um cachorro?"}, Line{By: Agent, Text: "Sim!"})
	want := "Começou com “Posso levar um cachorro?”. Dados: vem: sim, pessoas: 4. Última resposta: “Sim!”."
	if got := ByRules(m).Summary; got != want {
		t.Error(got)
	}
}
