package panel

import (
	"carillon/internal/edge/panel/member"
	"fmt"
	"strings"
	"testing"
)

// to counts the e-mails to an address.
func (p *postbox) to(address string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.all {
		if strings.EqualFold(x.To, address) {
			n++
		}
	}
	return n
}

// mailer sends e-mails.
func (w *world) mailer() letters { return letters{w.limits, w.post} }

func TestAStrangerGetsFewInvitationsADayFromAllCompanies(t *testing.T) {
	w := newWorld(t)
	const stranger = "stranger@elsewhere.test"
	links := 0
	for _, name := range []string{"one", "two", "three", "four", "five", "six", "seven"} {
		w.company(name)
		made := w.want("POST", "/panel/v1/invitations", w.as("owner@"+name+".test"), `{"email":"`+stranger+`","role":"viewer"}`, 201, "", "")
		if made["link"] != nil {
			links++
			if made["sent_at"] != nil || !strings.Contains(fmt.Sprint(made["problem"]), "today") {
				t.Errorf("of an e-mail that did not leave: %v", made)
			}
		}
	}
	if n := w.post.to(stranger); n != invitationMails.most || links != 7-invitationMails.most {
		t.Errorf("the stranger got %d e-mails, and %d invitations have a link", n, links)
	}
	w.want("POST", "/panel/v1/invitations", w.as("owner@seven.test"), `{"email":"other@elsewhere.test","role":"viewer"}`, 201, "", "")
	if n := w.post.to("other@elsewhere.test"); n != 1 {
		t.Errorf("another one got %d", n)
	}
}

func TestACompanyAndItsMembersSendSoManyEmailsADay(t *testing.T) {
	w := newWorld(t)
	acme := w.company("acme")
	send := func(by member.Member, n int) (sent int) {
		t.Helper()
		for i := range n {
			m := forgottenMail("en", "https://panel.test/panel/forgotten#x")
			m.To = fmt.Sprintf("%s-%d@elsewhere.test", by.AccountID, i)
			left, problem, err := w.mailer().deliver(t.Context(), by, invitationMails, m)
			if err != nil || left == (problem != "") {
				t.Fatalf("sent %t, %q, %v", left, problem, err)
			}
			if left {
				sent++
			}
		}
		return sent
	}
	for account, want := range map[string]int{"a": accountMails, "b": accountMails} {
		if got := send(member.Member{AccountID: account, CompanyID: acme.ID}, accountMails+10); got != want {
			t.Errorf("%s sent %d", account, got)
		}
	}
	if got := send(member.Member{AccountID: "c", CompanyID: acme.ID}, 10); got != companyMails-2*accountMails {
		t.Errorf("a third member of the company sent %d", got)
	}
	if got := send(member.Member{AccountID: "d", CompanyID: "beta"}, 10); got != 10 {
		t.Errorf("another company sent %d", got)
	}
}

func TestAMailboxGetsFewLinksForAPasswordADay(t *testing.T) {
	w := newWorld(t)
	w.company("acme")
	x := forgotten{Gate: w.gate(), Store: w.store, Letters: w.mailer()}
	sent := 0
	for range passwordMails.most + 5 {
		if _, err := w.store.Exec(t.Context(), "DELETE FROM password_reset"); err != nil { // as if an hour had passed
			t.Fatal(err)
		}
		m, err := x.message(t.Context(), "viewer@acme.test", "en")
		if err != nil {
			t.Fatal(err)
		}
		if m != nil {
			sent++
		}
	}
	if sent != passwordMails.most {
		t.Errorf("%d e-mails", sent)
	}
	if m, err := x.message(t.Context(), "nobody@acme.test", "en"); m != nil || err != nil {
		t.Error(m, err)
	}
}
