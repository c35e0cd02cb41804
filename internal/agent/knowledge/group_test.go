package knowledge_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/agent/knowledge"
)

func TestQuestionsAboutOneSubjectAreOneGroup(t *testing.T) {
	questions := []string{
		"Is there parking nearby?", "where can I park", "Do you have parking?", "Price for kids?", "What is the price for adults?",
		"¿Hay aparcamiento?", "tienen aparcamientos", "what can I do?", "and you?", "?",
	}
	languages := []string{"en", "en", "", "en", "en", "es", "es", "en", "en", ""}
	want := [][]int{{0, 1, 2}, {3}, {4}, {5, 6}, {7}, {8}, {9}}
	for range 3 {
		if diff := cmp.Diff(want, knowledge.Group(questions, languages)); diff != "" {
			t.Fatal(diff)
		}
	}
	if got := knowledge.Group(nil, nil); got != nil {
		t.Error(got)
	}
}

func TestAThousandQuestionsAreGrouped(t *testing.T) {
	var questions []string
	for i := range 1000 {
		questions = append(questions, fmt.Sprintf("how much does the tour number%d of the harbor cost", i%250))
	}
	groups := knowledge.Group(questions, make([]string, len(questions)))
	n := 0
	for _, g := range groups {
		n += len(g)
	}
	if n != 1000 || len(groups) > 250 {
		t.Errorf("%d questions in %d groups", n, len(groups))
	}
}
