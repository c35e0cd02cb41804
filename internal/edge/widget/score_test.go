package widget

import (
	"strings"
	"testing"
	"time"

	"carillon/internal/store/chats"
)

const scoring = `      - {id: 33333333-3333-4333-8333-333333333305, kind: chat, name: Plain, welcome: Hello., scores: false}
`

// answered stores an answer of an agent in a conversation, after a question. The answer is turn 2.
func (x *site) answered(id string) {
	x.t.Helper()
	change := &chats.Change{
		CompanyID: companyID, ConversationID: id,
		Result: &chats.Result{Outcome: chats.Answered, Passages: []chats.Passage{{Knowledge: "help", Title: "Hours"}}},
		Edit: func(*chats.Conversation) ([]chats.Turn, error) {
			return []chats.Turn{
				{Author: chats.Visitor, Kind: chats.KindText, Text: "When?", At: time.Now()},
				{Author: chats.Agent, Kind: chats.KindText, Text: "At nine.", At: time.Now(), Extra: chats.Extra{
					Name: "Robin", Sources: []chats.Source{{Title: "Hours", URL: "https://acme.test/"}}, Outcome: chats.Answered,
					Passages: []chats.Passage{{Knowledge: "internal-base", Title: "Hours", Text: "Inner passage.", Confidence: 0.75}},
				}},
			}, nil
		},
	}
	if err := x.store.Chats.Do(x.t.Context(), change); err != nil {
		x.t.Fatal(err)
	}
}

func TestAVisitorScoresTheAnswersOfTheirOwnConversation(t *testing.T) {
	x := newSite(t, scoring)
	token, claims := x.begin(widgetID, visitorID)
	id, _ := claims["conversation"].(string)
	x.answered(id)
	other, _ := x.begin(widgetID, visitor2ID)
	plain, _ := x.begin("33333333-3333-4333-8333-333333333305", visitorID)
	path := prefix + "/chat/score"
	for _, tt := range []struct {
		token, body string
		status      int
	}{
		{token, `{"seq":2,"score":"dislike"}`, 204},
		{token, `{"seq":2,"score":"like"}`, 204},
		{token, `{"seq":2,"score":""}`, 204},
		{token, `{"seq":2,"score":"dislike"}`, 204},
		{token, `{"seq":1,"score":"like"}`, 404}, // their own turn
		{token, `{"seq":99,"score":"like"}`, 404},
		{token, `{"seq":0,"score":"like"}`, 404},
		{token, `{"seq":2,"score":"meh"}`, 400},
		{token, `{"seq":2}`, 400},
		{token, `{"score":"like"}`, 400},
		{other, `{"seq":2,"score":"like"}`, 404},
		{plain, `{"seq":2,"score":"like"}`, 409},
	} {
		if status, text := x.send("POST", path, tt.token, tt.body); status != tt.status {
			t.Errorf("%s: %d %s, want %d", tt.body, status, text, tt.status)
		}
	}
	turns, err := x.store.Chats.TurnsBefore(t.Context(), companyID, id, 3, 1)
	if err != nil || turns[0].Extra.Score != chats.Dislike || turns[0].Extra.Scores != 4 {
		t.Errorf("%+v, %v", turns, err)
	}
	all, err := x.store.Questions.ArticleAnswers(t.Context(), companyID, "internal-base", 10)
	if err != nil || len(all) != 1 || all[0].Down != 1 || all[0].Up != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	_, text := x.send("POST", prefix+"/chat/session", "", `{"widget_id":"`+widgetID+`","customer_id":"`+visitorID+`"}`)
	if !strings.Contains(text, `"score":"dislike"`) || !strings.Contains(text, `"sources":[{"title":"Hours","url":"https://acme.test/"}]`) {
		t.Errorf("the history is %s", text)
	}
	for _, inner := range []string{"internal-base", "Inner passage", "confidence", "0.75", `"outcome"`} {
		if strings.Contains(text, inner) {
			t.Errorf("the visitor gets %s: %s", inner, text)
		}
	}
}

func TestAWidgetSaysWhetherItAsksForScoresOnlyIfNot(t *testing.T) {
	x := newSite(t, scoring)
	for id, want := range map[string]bool{widgetID: false, "33333333-3333-4333-8333-333333333305": true} {
		f, err := x.host().find(t.Context(), "chat", id)
		if err != nil {
			t.Fatal(err)
		}
		data, err := x.host().data(t.Context(), f, "", true)
		if err != nil || (data.Scores != nil && !*data.Scores) != want {
			t.Errorf("%s: %+v, %v", id, data, err)
		}
	}
}
