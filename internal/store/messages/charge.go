package messages

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/provider"
	"carillon/internal/store/db"
	"carillon/internal/store/rank"
)

// maxCampaignName bounds the name of a campaign in the counts of charges, because it is part of their key.
const maxCampaignName = 200

// chargeKey is the key of a row of charge_count.
type chargeKey struct{ company, day, campaign, template, code, kind, category string }

// charged is a message whose charge was just stored.
type charged struct {
	number string
	day    string
	charge provider.Charge
}

// countCharges stores the charges that receipts report, each message's first one, and counts it. A receipt that is
// repeated, or that reports a message as read after it was delivered, finds the charge stored and counts nothing.
func countCharges(ctx context.Context, tx *db.Tx, receipts []receipt) error {
	type group struct {
		sender int64
		provider.Charge
	}
	groups := map[group][]int64{}
	for i := range receipts {
		r := &receipts[i]
		if r.Charge.Type != "" && (r.State == carillon.StateDelivered || r.State == carillon.StateRead) {
			k := group{r.SenderUID, r.Charge}
			groups[k] = append(groups[k], int64(r.Ref.Key()))
		}
	}
	found := map[carillon.Seq][]charged{}
	for _, k := range slices.SortedFunc(maps.Keys(groups), func(a, b group) int {
		return cmp.Or(cmp.Compare(a.sender, b.sender), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Category, b.Category))
	}) {
		if err := storeCharges(ctx, tx, k.sender, k.Charge, groups[k], found); err != nil {
			return err
		}
	}
	if len(found) == 0 {
		return nil
	}
	return addCharges(ctx, tx, found)
}

// storeCharges stores the charge of those messages that have none, and adds them to found.
func storeCharges(ctx context.Context, tx *db.Tx, sender int64, c provider.Charge, ids []int64, found map[carillon.Seq][]charged) error {
	d := tx.DB()
	err := db.Each(ctx, tx, func(scan db.Scan) error {
		var id, at int64
		x := charged{charge: c}
		if err := scan(&id, &x.number, &at); err != nil {
			return err
		}
		x.day = db.Instant(at).Format("2006-01-02")
		seq := carillon.MessageKey(id).Seq()
		found[seq] = append(found[seq], x)
		return nil
	}, "UPDATE message SET charge = $1 WHERE id "+d.In(2)+` AND sender = $3 AND charge = '' AND rank >= $4
		RETURNING id, number, COALESCE(delivered_at, read_at, 0)`, c.Type+"/"+c.Category, d.List(ids), sender, int(rank.Delivered))
	return db.Wrap(err, "store charges")
}

// addCharges adds messages to the counts, in the order of their key.
func addCharges(ctx context.Context, tx *db.Tx, found map[carillon.Seq][]charged) error {
	d := tx.DB()
	seqs := make([]int64, 0, len(found))
	for seq := range found {
		seqs = append(seqs, int64(seq))
	}
	counts := map[chargeKey]int64{}
	err := db.Each(ctx, tx, func(scan db.Scan) error {
		var seq int64
		var k chargeKey
		if err := scan(&seq, &k.company, &k.campaign, &k.template); err != nil {
			return err
		}
		if name := []rune(k.campaign); len(name) > maxCampaignName {
			k.campaign = string(name[:maxCampaignName])
		}
		for _, x := range found[carillon.Seq(seq)] {
			k.day, k.code, k.kind, k.category = x.day, identity.CallingCode(x.number), x.charge.Type, x.charge.Category
			counts[k]++
		}
		return nil
	}, "SELECT seq, company_id, campaign, name_template FROM notification WHERE seq "+d.In(1), d.List(seqs))
	if err != nil {
		return fmt.Errorf("read notifications of charges: %w", err)
	}
	rows := db.NewBulk("charge_count", `ON CONFLICT (company_id, day, campaign, template, code, type, category) DO UPDATE SET
		messages = charge_count.messages + excluded.messages`, "company_id:text", "day:text", "campaign:text", "template:text",
		"code:text", "type:text", "category:text", "messages:bigint")
	for _, k := range slices.SortedFunc(maps.Keys(counts), compareCharges) {
		rows.Add(k.company, k.day, k.campaign, k.template, k.code, k.kind, k.category, counts[k])
	}
	return db.Wrap(rows.Write(ctx, tx), "count charges")
}

func compareCharges(a, b chargeKey) int {
	return cmp.Or(cmp.Compare(a.company, b.company), cmp.Compare(a.day, b.day), cmp.Compare(a.campaign, b.campaign),
		cmp.Compare(a.template, b.template), cmp.Compare(a.code, b.code), cmp.Compare(a.kind, b.kind), cmp.Compare(a.category, b.category))
}
