package flows

import (
	"context"
	"errors"
	"testing"

	"carillon/internal/talk/conversation"
	"carillon/internal/talk/flow"
)

func TestATestRunEndsWithItsRequest(t *testing.T) {
	p, err := flow.Compile(&flow.Flow{Name: "a", Steps: []flow.Step{{ID: "a", Ask: "x"}, {Goto: "a"}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if got, err := tryFlow(ctx, p, flow.Values{}, conversation.FlowWords("en"), []flowInput{
		{kind: "response", text: "a"},
	}); !errors.Is(err, context.Canceled) || got != nil {
		t.Error(got, err)
	}
}
