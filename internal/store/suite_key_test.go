package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/resource/resourcetest"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/people"
	"carillon/internal/store/settings"
	"carillon/internal/store/storetest"
)

func sealingByCompany() []sentence {
	return []sentence{
		{"the secrets of a company are sealed by its own key", sealedByCompany},
		{"resealing an older company keeps its secrets readable", resealing},
		{"secrets that are written during the sealing are sealed by the company's key", writingWhileSealing},
		{"what was signed for a company stays valid when it gets a key", formerKeys},
		{"a company's key opens its secrets in another installation", movingKeys},
	}
}

// secrets of a company, in all tables that have some.
type secrets struct {
	company, session, account string
}

const keptSecret = "kept-secret"

// keep stores secrets of a company.
func (r *rig) keep(t *testing.T, company string) secrets {
	t.Helper()
	x := secrets{company: company}
	a := &accounts.Account{ID: carillon.NewID(r.now), Email: company + "@x.test", Name: "Ana", PasswordHash: "h", CreatedAt: r.now}
	x.account, x.session = a.ID, carillon.NewID(r.now)
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
		sender := *r.second
		sender.CompanyID, sender.ID, sender.Number = company, "sealed", "15555550177"
		sender.Settings = json.RawMessage(`{"token":"` + keptSecret + `"}`)
		return errors.Join(
			settings.PutSender(ctx, tx, &sender, r.now),
			accounts.PutKey(ctx, tx, &accounts.AccessKey{
				CompanyID: company, Label: "sealed", Key: keptSecret + company, Scopes: []string{"*"},
			}, r.now),
			accounts.PutAccount(ctx, tx, a, r.now),
		)
	})
	secret := thing(kindOf("secret"), "", "TOKEN")
	secret.Value = keptSecret
	r.putResource(t, company, kindOf("secret"), secret)
	ok, err := r.Sessions.StartBrowser(t.Context(), accounts.Browser{Session: accounts.Session{
		ID: x.session, AccountID: a.ID, CreatedAt: r.now, ExpiresAt: r.now.Add(time.Hour),
	}}, x.session, "h", "h")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := r.subscribe(t.Context(), x, "https://push.test/"+keptSecret+company); err != nil {
		t.Fatal(err)
	}
	return x
}

func (r *rig) subscribe(ctx context.Context, x secrets, endpoint string) error {
	return r.Notices.Subscribe(ctx, &accounts.Subscription{
		CompanyID: x.company, AccountID: x.account, SessionID: x.session, Endpoint: endpoint, P256DH: "p", Auth: "a", CreatedAt: r.now,
	})
}

// readsSecrets fails the test unless all of a company's secrets can be read.
func (r *rig) readsSecrets(t *testing.T, x secrets) {
	t.Helper()
	if err := r.secretsOf(t.Context(), x); err != nil {
		t.Error(err)
	}
}

func (r *rig) secretsOf(ctx context.Context, x secrets) error {
	all, senderErr := r.Senders.SendersNamed(ctx, x.company, "sealed")
	keys, keyErr := r.Keys.UsableKeys(ctx, x.company, r.now)
	found, pushErr := r.Notices.Subscriptions(ctx, x.company, x.account, r.now)
	resources, resourceErr := r.Resources.Resources(ctx, x.company, kindOf("secret"), "", 10)
	if err := errors.Join(senderErr, keyErr, pushErr, resourceErr); err != nil {
		return err
	}
	if len(all) != 1 || !strings.Contains(string(all[0].Settings), keptSecret) || len(keys) != 1 || keys[0].Key != keptSecret+x.company ||
		len(found) == 0 || !strings.Contains(found[0].Endpoint, keptSecret) || len(resources) != 1 ||
		resources[0].(*resourcetest.Thing).Value != keptSecret {
		return errors.New("not all secrets of " + x.company + " are there")
	}
	return nil
}

// sealedBy returns the beginnings of the values sealed for a company, each once.
func (r *rig) sealedBy(t *testing.T, company string) (forms []string) {
	t.Helper()
	for _, table := range []string{"sender", "access_key", "push_subscription", "resource"} {
		for _, text := range column(t, r, "SELECT sealed FROM "+table+" WHERE company_id = '"+company+"' AND sealed <> ''") {
			forms = append(forms, text[:strings.LastIndex(text, ":")])
		}
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

// keyless makes a company one from before companies had keys.
func (r *rig) keyless(t *testing.T, company string) {
	t.Helper()
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
		tx.Changes(company)
		_, err := tx.Exec(ctx, "DELETE FROM company_key WHERE company_id = $1", company)
		return err
	})
	if company == ours {
		r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
			return errors.Join(settings.PutSender(ctx, tx, r.sender, r.now), settings.PutSender(ctx, tx, r.second, r.now))
		})
	}
}

func (r *rig) reseal(t *testing.T, company string) {
	t.Helper()
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error { return store.Reseal(ctx, tx, company, r.now) })
}

func sealedByCompany(t *testing.T, r *rig) {
	us, them := r.keep(t, ours), r.keep(t, theirs)
	a, b := r.sealedBy(t, ours), r.sealedBy(t, theirs)
	if len(a) != 1 || len(b) != 1 || !strings.HasPrefix(a[0], "v2:") || !strings.HasPrefix(b[0], "v2:") || a[0] == b[0] {
		t.Fatalf("sealed by %s and %s", a, b)
	}
	r.readsSecrets(t, us)
	r.readsSecrets(t, them)
	for name, statement := range map[string]string{
		"a value of another company": "UPDATE sender SET sealed = (SELECT f.sealed FROM sender AS f WHERE f.id = 'sealed' AND " +
			"f.company_id = 'theirs') WHERE id = 'sealed' AND company_id = 'ours'",
		"the key of another company": "UPDATE company_key SET sealed = (SELECT f.sealed FROM company_key AS f WHERE f.company_id = " +
			"'theirs') WHERE company_id = 'ours'",
		"no key": "DELETE FROM company_key WHERE company_id = 'ours'",
	} {
		err := r.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			if _, err := tx.Exec(ctx, statement); err != nil {
				t.Fatal(err)
			}
			x, err := settings.FindSender(ctx, tx, ours, "sealed")
			if err == nil {
				t.Errorf("%s opens %s", name, x.Settings)
			} else if strings.Contains(err.Error(), keptSecret) {
				t.Errorf("the error contains the secret: %v", err)
			}
			return errRolledBack
		})
		if !errors.Is(err, errRolledBack) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.readsSecrets(t, us)
}

var errRolledBack = errors.New("rolled back")

func resealing(t *testing.T, r *rig) {
	r.keyless(t, ours)
	us, them := r.keep(t, ours), r.keep(t, theirs)
	if forms := r.sealedBy(t, ours); len(forms) != 1 || !strings.HasPrefix(forms[0], "v1:") {
		t.Fatalf("without a key, sealed by %s", forms)
	}
	r.readsSecrets(t, us)
	before := r.sealedBy(t, theirs)
	r.reseal(t, ours)
	forms := r.sealedBy(t, ours)
	if len(forms) != 1 || !strings.HasPrefix(forms[0], "v2:") {
		t.Fatalf("sealed by %s", forms)
	}
	r.readsSecrets(t, us)
	r.reseal(t, ours) // the key stays
	if again := r.sealedBy(t, ours); !slices.Equal(again, forms) {
		t.Errorf("sealed by %s, and again by %s", forms, again)
	}
	r.readsSecrets(t, us)
	r.readsSecrets(t, them)
	if after := r.sealedBy(t, theirs); !slices.Equal(before, after) {
		t.Errorf("the other company's are sealed by %s, before by %s", after, before)
	}
	err := r.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return store.Reseal(ctx, tx, "nobody", r.now)
	})
	if !carillon.IsCode(err, carillon.NotFound) {
		t.Errorf("of an unknown company: %v", err)
	}
}

// In any order of the transactions, everything ends sealed by the company's key, and the last values count.
func writingWhileSealing(t *testing.T, r *rig) {
	for range 5 {
		r.keyless(t, theirs)
		r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
			for _, statement := range []string{"sender", "access_key", "push_subscription", "resource"} {
				if _, err := tx.Exec(ctx, "DELETE FROM "+statement+" WHERE company_id = $1", theirs); err != nil {
					return err
				}
			}
			_, err := tx.Exec(ctx, "DELETE FROM account WHERE email = 'theirs@x.test'")
			return err
		})
		x := r.keep(t, theirs)
		var all sync.WaitGroup
		for _, write := range []func(ctx context.Context) error{
			func(ctx context.Context) error {
				return r.Config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
					return store.Reseal(ctx, tx, theirs, r.now)
				})
			},
			func(ctx context.Context) error { return r.subscribe(ctx, x, "https://push.test/2"+keptSecret) },
			func(ctx context.Context) error {
				return r.Config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
					sender := *r.foreign
					sender.ID, sender.Number = "late", "15555550178"
					return settings.PutSender(ctx, tx, &sender, r.now)
				})
			},
		} {
			all.Go(func() {
				if err := write(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if forms := r.sealedBy(t, theirs); len(forms) != 1 || !strings.HasPrefix(forms[0], "v2:") {
			t.Fatalf("sealed by %s", forms)
		}
		r.readsSecrets(t, x)
	}
}

func formerKeys(t *testing.T, r *rig) {
	ctx := t.Context()
	derive := func(purpose string) configure.Derived {
		t.Helper()
		d, err := r.Config.Derived(ctx, ours, purpose)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	erased := func() string {
		t.Helper()
		p, err := r.Person(ctx, ours, people.Query{Number: "34600111222"})
		if err != nil {
			t.Fatal(err)
		}
		e, err := r.Erase(ctx, p, r.now)
		if err != nil {
			t.Fatal(err)
		}
		return e.Hash
	}
	r.keyless(t, ours)
	files, hash := derive(configure.FileAddresses), erased()
	links, err := r.Config.LinkKey(ctx, ours)
	if err != nil || files.Former != nil {
		t.Fatal(files.Former, err)
	}
	r.reseal(t, ours)
	if now := derive(configure.FileAddresses); !bytes.Equal(now.Former, files.Key) || bytes.Equal(now.Key, files.Key) {
		t.Error("addresses of files that were signed before are no longer valid, or the installation's key still signs")
	}
	if now, err := r.Config.LinkKey(ctx, ours); err != nil || !bytes.Equal(now, links) {
		t.Error("counted links have another key:", err)
	}
	if now := erased(); now != hash {
		t.Errorf("an erased person is %s, before %s", now, hash)
	}
	other, err := r.Config.Derived(ctx, theirs, configure.FileAddresses)
	if err != nil || other.Former != nil || bytes.Equal(other.Key, files.Key) {
		t.Error("a new company uses the installation's key:", err)
	}
	if now, err := r.Config.LinkKey(ctx, theirs); err != nil || !bytes.Equal(now, links) {
		t.Error("links of a new company have another key than those of the installation:", err)
	}
	if moved, err := r.Config.MovedLinkKeys(ctx); err != nil || len(moved) > 0 {
		t.Errorf("%d keys of other installations, %v", len(moved), err)
	}
}

// The other installation has another master key, and the company's rows as they are.
func movingKeys(t *testing.T, r *rig) {
	ctx := t.Context()
	x := r.keep(t, ours)
	var plain []byte
	r.configure(t, func(ctx context.Context, tx *configure.Tx) (err error) {
		plain, err = configure.ExportKey(ctx, tx, ours)
		return err
	})
	there := newRig(t, open(t, store.Options{Dir: storetest.Folder(t), MasterKey: [32]byte{7}}))
	y := there.keep(t, ours)
	there.configure(t, func(ctx context.Context, tx *configure.Tx) error {
		if _, err := tx.Exec(ctx, "DELETE FROM company_key WHERE company_id = $1", ours); err != nil {
			return err
		}
		return configure.ImportKey(ctx, tx, ours, plain, there.now)
	})
	if err := there.secretsOf(ctx, y); err == nil {
		t.Error("the imported key opens secrets that another key sealed")
	}
	// A sealed value is bound to the id of its row.
	uid := column(t, r, "SELECT uid FROM sender WHERE id = 'sealed'")[0]
	sealed := column(t, r, "SELECT sealed FROM sender WHERE id = 'sealed'")[0]
	there.configure(t, func(ctx context.Context, tx *configure.Tx) error {
		tx.Changes(ours)
		for _, statement := range []string{
			"DELETE FROM sender WHERE company_id = 'ours' AND id <> 'sealed'", "DELETE FROM template_sync WHERE sender > 0",
		} {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, "UPDATE sender SET uid = CAST($1 AS BIGINT), sealed = $2 WHERE id = 'sealed'", uid, sealed)
		return err
	})
	all, err := there.Senders.Senders(ctx, ours)
	if err != nil || len(all) != 1 || !strings.Contains(string(all[0].Settings), keptSecret) {
		t.Errorf("%v, %v", all, err)
	}
	links, err := r.Config.LinkKey(ctx, ours)
	if err != nil {
		t.Fatal(err)
	}
	if now, err := there.Config.LinkKey(ctx, ours); err != nil || !bytes.Equal(now, links) {
		t.Error("counted links have another key after the move:", err)
	}
	moved, err := there.Config.MovedLinkKeys(ctx)
	if err != nil || len(moved) != 1 || !bytes.Equal(moved[0], links) {
		t.Errorf("%d keys of other installations, %v", len(moved), err)
	}
	for _, bad := range []string{"", "{}", `{"secret":"AAAA"}`, strings.Replace(string(plain), "counted", "other", 1)} {
		err := there.Config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
			return configure.ImportKey(ctx, tx, theirs, []byte(bad), there.now)
		})
		if err == nil || bad != "" && strings.Contains(err.Error(), bad) {
			t.Errorf("the key %q: %v", bad, err)
		}
	}
	// Back home, its links are those of the installation again.
	r.configure(t, func(ctx context.Context, tx *configure.Tx) error {
		if _, err := tx.Exec(ctx, "DELETE FROM company_key WHERE company_id = $1", ours); err != nil {
			return err
		}
		return configure.ImportKey(ctx, tx, ours, plain, r.now)
	})
	if moved, err := r.Config.MovedLinkKeys(ctx); err != nil || len(moved) > 0 {
		t.Errorf("%d keys of other installations, %v", len(moved), err)
	}
	r.readsSecrets(t, x)
	r.keyless(t, theirs)
	err = r.Config.Change(ctx, func(ctx context.Context, tx *configure.Tx) error {
		_, err := configure.ExportKey(ctx, tx, theirs)
		return err
	})
	if !carillon.IsCode(err, carillon.NotFound) {
		t.Errorf("the key of a company without one: %v", err)
	}
}
