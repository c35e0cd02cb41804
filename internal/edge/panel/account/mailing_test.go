package account_test

import (
	"fmt"
	"strings"
	"testing"

	"carillon/internal/edge/panel/account"
	"carillon/internal/edge/panel/member"
	"carillon/internal/edge/panel/paneltest"
)

// mailer returns the sender of e-mails in a test.
func mailer(w *paneltest.World) account.Letters { return account.Letters{w.Limits, w.Post} }

func TestAStrangerGetsFewInvitationsADayFromAllCompanies(t *testing.T) {
	w := paneltest.New(t)
	const stranger = "stranger@elsewhere.test"
	links := 0
	for _, name := range []string{"one", "two", "three", "four", "five", "six", "seven"} {
		w.Company(name)
		made := w.Want(
			"POST", "/panel/v1/invitations", w.As("owner@"+name+".test"), `{"email":"`+stranger+`","role":"viewer"}`, 201, "", "",
		)
		if made["link"] != nil {
			links++
			if made["sent_at"] != nil || !strings.Contains(fmt.Sprint(made["problem"]), "today") {
				t.Errorf("an invitation without an e-mail: %v", made)
			}
		}
	}
	if n := w.Post.To(stranger); n != account.MaxInvitationMails || links != 7-account.MaxInvitationMails {
		t.Errorf("the stranger got %d e-mails, and %d invitations have a link", n, links)
	}
	w.Want("POST", "/panel/v1/invitations", w.As("owner@seven.test"), `{"email":"other@elsewhere.test","role":"viewer"}`, 201, "", "")
	if n := w.Post.To("other@elsewhere.test"); n != 1 {
		t.Errorf("another one got %d", n)
	}
}

func TestACompanyAndItsMembersSendSoManyEmailsADay(t *testing.T) {
	w := paneltest.New(t)
	acme := w.Company("acme")
	send := func(by member.Member, n int) (sent int) {
		t.Helper()
		for i := range n {
			m := account.ForgottenMail("en", "https://panel.test/panel/forgotten#x")
			m.To = fmt.Sprintf("%s-%d@elsewhere.test", by.AccountID, i)
			left, problem, err := mailer(w).DeliverInvitation(t.Context(), by, m)
			if err != nil || left == (problem != "") {
				t.Fatalf("sent %t, %q, %v", left, problem, err)
			}
			if left {
				sent++
			}
		}
		return sent
	}
	for person, want := range map[string]int{"a": account.AccountMails, "b": account.AccountMails} {
		if got := send(member.Member{AccountID: person, CompanyID: acme.ID}, account.AccountMails+10); got != want {
			t.Errorf("%s sent %d", person, got)
		}
	}
	if got := send(member.Member{AccountID: "c", CompanyID: acme.ID}, 10); got != account.CompanyMails-2*account.AccountMails {
		t.Errorf("a third member of the company sent %d", got)
	}
	if got := send(member.Member{AccountID: "d", CompanyID: "beta"}, 10); got != 10 {
		t.Errorf("another company sent %d", got)
	}
}

func TestAMailboxGetsFewLinksForAPasswordADay(t *testing.T) {
	w := paneltest.New(t)
	w.Company("acme")
	x := account.Forgotten{Gate: w.Gate(), Store: w.Store, Letters: mailer(w)}
	sent := 0
	for range account.MaxPasswordMails + 5 {
		if _, err := w.Store.DB.Exec(t.Context(), "DELETE FROM password_reset"); err != nil { // as if an hour had passed
			t.Fatal(err)
		}
		m, err := x.Message(t.Context(), "viewer@acme.test", "en")
		if err != nil {
			t.Fatal(err)
		}
		if m != nil {
			sent++
		}
	}
	if sent != account.MaxPasswordMails {
		t.Errorf("%d e-mails", sent)
	}
	if m, err := x.Message(t.Context(), "nobody@acme.test", "en"); m != nil || err != nil {
		t.Error(m, err)
	}
}
