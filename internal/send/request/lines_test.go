package request

import (
	"strings"
	"testing"

	"carillon"
	"carillon/internal/base/content"
)

// WhatsApp refuses messages whose variables contain line ends, tabs or long runs of spaces. The error names the
// variable.
func TestAValueOfATextIsOneLine(t *testing.T) {
	tpl := compiled(t, &carillon.Template{Components: []carillon.Component{
		{Type: content.TypeHeader, Text: "{{1}}"},
		{Type: content.TypeBody, Text: "Hola\n\n{{1}}, {{2}}"},
		{Type: content.TypeButtons, Buttons: []carillon.Button{{Type: content.ButtonQuickReply, Text: "Gracias"}}},
	}})
	for value, good := range map[string]bool{
		"Ana": true, "Ana    B": true, "Ana\u00a0\u00a0\u00a0\u00a0\u00a0B": true, "Ana\u2028B": true,
		"Ana\nB": false, "Ana\r\nB": false, "Ana\r": false, "Ana\tB": false, "Ana     B": false, "\nAna": false,
	} {
		for key, how := range map[string]string{
			"header_text_0": "static", "body_text_0": "static", "body_text_1": "of the second contact",
		} {
			components := object{"header_text_0": "h", "body_text_0": "a", "body_text_1": "b", "button_payload_0": "one\ntwo"}
			first, second := object{"number": "34600111222", "x": "x"}, object{"number": "34600111223", "x": value}
			if components[key] = value; how != "static" {
				components[key] = "{{x}}"
			}
			body := with(bulk(first, second), object{"components_push": dropped{}})
			r := parsed(t, with(body, object{"components_push": components}))
			err := r.CheckAgainst(tpl)
			if good {
				if err != nil {
					t.Errorf("%q in %s: %v", value, key, err)
				}
				continue
			}
			e := asError(t, err)
			reason, _ := e.Details.Find("reason").(string)
			if e.Code != carillon.ValidationFailed || e.Details.Find("field") != "components_push."+key ||
				!strings.HasPrefix(reason, content.LinesReason) ||
				strings.HasSuffix(reason, ", for contacts.1") != (how != "static") {
				t.Errorf("%q in %s: %v", value, key, e)
			}
			// A request that was accepted before is still filled: the channel decides.
			if filled, err := r.Content(tpl, 1); err != nil || filled.Body[0] == "" {
				t.Errorf("%q in %s is not filled: %v", value, key, err)
			}
		}
	}
}
