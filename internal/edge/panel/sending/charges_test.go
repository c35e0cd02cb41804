package sending_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/edge/panel/paneltest"
	"carillon/internal/store/messages"
)

// delivered stores a campaign whose messages the channel delivered with these categories.
func delivered(w *paneltest.World, companyID, campaign string, numbers, categories []string) {
	w.T.Helper()
	var sender int64
	seq := accepted(w, companyID, campaign, numbers, func(n *messages.Notification) { sender = n.SenderUID })
	if _, err := w.Store.DB.Exec(w.T.Context(), "UPDATE message SET attempt = 1, q = 0 WHERE id >= $1 AND id <= $2", int64(seq.Message(0)),
		int64(seq.LastMessage())); err != nil {
		w.T.Fatal(err)
	}
	list, _, err := w.Store.Notifications.List(w.T.Context(), companyID, messages.Filter{Campaign: campaign, Limit: 1}, time.Now())
	if err != nil || len(list) != 1 {
		w.T.Fatal(list, err)
	}
	var all []provider.Receipt
	for n, category := range categories {
		all = append(all, provider.Receipt{
			Ref: provider.Ref{NotificationID: list[0].ID, N: n, Attempt: 1}, SenderUID: sender, State: carillon.StateDelivered,
			At: time.Now(), Charge: provider.Charge{Type: "regular", Category: category},
		})
	}
	if err := w.Store.Messages.Receive(w.T.Context(), all); err != nil {
		w.T.Fatal(err)
	}
}

func TestChargesAreCountedAndPriced(t *testing.T) {
	w := paneltest.New(t)
	acme, owner := w.Company("acme"), w.As("owner@acme.test")
	w.Want(
		"POST", "/panel/v1/senders", owner,
		`{"id":"main","number":"15555550100","channel":"messaging","provider":"sandbox","settings":{}}`, 201, "", "",
	)
	delivered(w, acme.ID, "spring", []string{"34600111222", "34600111223", "573001234567"},
		[]string{"marketing", "marketing", "utility"})
	shown := func(query string) map[string]any {
		t.Helper()
		return w.Want("GET", "/panel/v1/charges"+query, owner, "", 200, "", "")
	}
	got := shown("?by=country")
	if fmt.Sprint(got["messages"], got["amount"], len(got["rows"].([]any))) != "3 <nil> 2" {
		t.Errorf("without prices: %v", got)
	}
	const first = `{"calling_code":"34","category":"marketing","price":"0.0615"}`
	w.Want("PUT", "/panel/v1/charges/prices", owner, `{"currency":"USD","prices":[`+first+`]}`, 200, "", "")
	got = shown("?by=country")
	rows := got["rows"].([]any)
	row := rows[0].(map[string]any)
	if fmt.Sprintf("%v %v %v", row["calling_code"], row["messages"], row["amount"]) != "34 2 0.123" || got["amount"] != nil {
		t.Errorf("with one price: %v", got)
	}
	w.Want("PUT", "/panel/v1/charges/prices", owner, `{"currency":"USD","prices":[`+first+
		`,{"calling_code":"","category":"utility","price":"0.01"}]}`, 200, "", "")
	if got = shown("?by=campaign"); got["amount"] != "0.133" || got["currency"] != "USD" {
		t.Errorf("with all prices: %v", got)
	}
	changes := w.Want("GET", "/panel/v1/activity/changes?kind=prices", owner, "", 200, "", "")["data"].([]any)
	if len(changes) != 2 {
		t.Fatalf("the changes of prices: %v", changes)
	}
	last := changes[0].(map[string]any)
	change := w.Want("GET", "/panel/v1/activity/changes/"+last["id"].(string), owner, "", 200, "", "")
	if got := fmt.Sprint(change["fields"]); got != "[map[after:0.01 path:utility]]" {
		t.Errorf("the last change: %s", got)
	}
	begin := w.Want("GET", "/panel/v1/activity/changes/"+changes[1].(map[string]any)["id"].(string), owner, "", 200, "", "")
	if got := fmt.Sprint(begin["fields"]); got != "[map[after:USD path:currency] map[after:0.0615 path:marketing 34]]" {
		t.Errorf("the first change: %s", got)
	}
	r := httptest.NewRequest("GET", "/panel/v1/charges/export?by=all", nil)
	r.Header.Set("Authorization", owner)
	file := httptest.NewRecorder()
	w.Router.ServeHTTP(file, r)
	if want := ",spring,greeting,34,regular,marketing,2,0.123,USD\n"; !strings.Contains(file.Body.String(), want) {
		t.Errorf("the file is %s", file.Body)
	}
	for query, field := range map[string]string{"?by=moon": "by", "?from=x": "from", "?from=2020-01-01": "to", "?to=2020-01-01": "to"} {
		w.Want("GET", "/panel/v1/charges"+query, owner, "", 400, "validation_failed", field)
	}
	prices := func(all string) string { return `{"currency":"USD","prices":[` + all + `]}` }
	for body, field := range map[string]string{
		`{}`: "currency", `{"currency":"usd"}`: "currency",
		prices(`{"category":"marketing","price":"-1"}`):                 "prices[0].price",
		prices(`{"category":"A b","price":"1"}`):                        "prices[0].category",
		prices(`{"calling_code":"x","category":"utility","price":"1"}`): "prices[0].calling_code",
		prices(first + `,` + first):                                     "prices[1]",
	} {
		w.Want("PUT", "/panel/v1/charges/prices", owner, body, 400, "validation_failed", field)
	}
}
