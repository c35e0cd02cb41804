package content

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/provider"
)

func TestRenderShowsWhatARecipientSees(t *testing.T) {
	x := &carillon.Template{Components: []carillon.Component{
		{Type: TypeHeader, Format: FormatText, Text: "Booking {{1}}"},
		{Type: TypeBody, Text: "Hello {{2}}, {{1}} and {{ 2 }}."},
		{Type: TypeFooter, Text: "Harbour"},
		{Type: TypeButtons, Buttons: []carillon.Button{
			{Type: ButtonURL, Text: "Open", URL: "https://harbour.test/{{1}}"},
			{Type: ButtonQuickReply, Text: "Thanks"},
			{Type: ButtonQuickReply, Text: "No"},
		}},
	}}
	got, err := Render(x, &provider.Content{
		HeaderText: "HT-1", Body: []string{"{{2}}", "Ana"},
		Buttons: []provider.ButtonValue{{Index: 0, Kind: "url", Value: "HT-1"}, {Index: 2, Kind: "quick_reply", Value: "p"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &Rendered{
		HeaderFormat: FormatText, Header: "Booking HT-1", Body: "Hello Ana, {{2}} and Ana.", Footer: "Harbour",
		Buttons: []RenderedButton{
			{Type: ButtonURL, Text: "Open", URL: "https://harbour.test/HT-1"},
			{Type: ButtonQuickReply, Text: "Thanks"},
			{Type: ButtonQuickReply, Text: "No", Payload: "p"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
