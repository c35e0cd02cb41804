package stats

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"carillon/internal/store/audit"
	"carillon/internal/store/db"
)

// Charge is a number of delivered messages for which the channel charges the same.
type Charge struct {
	Day      string // UTC, as 2026-11-29
	Campaign string
	Template string
	Code     string // calling code of the numbers
	Type     string // in the channel's words: regular, or why it is free
	Category string // in the channel's words
	Messages int64
}

// Charges reads a company's charges of the days from first to last, which are included.
func (s *Store) Charges(ctx context.Context, companyID, first, last string) ([]Charge, error) {
	return db.Collect(ctx, s.d, "charges", func(scan db.Scan) (x Charge, err error) {
		err = scan(&x.Day, &x.Campaign, &x.Template, &x.Code, &x.Type, &x.Category, &x.Messages)
		return x, err
	}, `SELECT day, campaign, template, code, type, category, messages FROM charge_count WHERE company_id = $1 AND day >= $2 AND day <= $3
		ORDER BY company_id, day, campaign, template, code, type, category`, companyID, first, last)
}

// Price is the channel's price of a message of a category, as an administrator entered it.
type Price struct {
	Code     string // calling code; empty for all countries without a listed price
	Category string
	Micros   int64 // millionths of the currency
	Currency string
}

// Prices reads a company's prices.
func (s *Store) Prices(ctx context.Context, companyID string) ([]Price, error) {
	return prices(ctx, s.d, companyID)
}

func prices(ctx context.Context, q db.Querier, companyID string) ([]Price, error) {
	return db.Collect(ctx, q, "prices", func(scan db.Scan) (x Price, err error) {
		err = scan(&x.Code, &x.Category, &x.Micros, &x.Currency)
		return x, err
	}, "SELECT code, category, micros, currency FROM charge_price WHERE company_id = $1 ORDER BY company_id, code, category", companyID)
}

// PutPrices replaces a company's prices, and records the change.
func (s *Store) PutPrices(ctx context.Context, companyID string, all []Price) error {
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		before, err := prices(ctx, tx, companyID)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "DELETE FROM charge_price WHERE company_id = $1", companyID); err != nil {
			return err
		}
		rows := db.NewBulk("charge_price", "", "company_id:text", "code:text", "category:text", "micros:bigint", "currency:text")
		for _, x := range all {
			rows.Add(companyID, x.Code, x.Category, x.Micros, x.Currency)
		}
		if err := rows.Write(ctx, tx); err != nil {
			return err
		}
		return recordPrices(ctx, tx, companyID, before, all)
	})
	return db.Wrap(err, "store prices")
}

// recordPrices records a change of prices.
func recordPrices(ctx context.Context, tx *db.Tx, companyID string, before, after []Price) error {
	if len(before) == 0 && len(after) == 0 {
		return nil
	}
	e := audit.Entry{CompanyID: companyID, Kind: audit.Prices, ID: companyID, Action: audit.Changed}
	if len(before) > 0 {
		e.Before = pricesDoc(before)
	}
	if len(after) > 0 {
		e.After = pricesDoc(after)
	}
	return audit.Record(ctx, tx, time.Now(), e)
}

// pricesDoc returns the recorded form of prices: each by its category and calling code.
func pricesDoc(all []Price) map[string]any {
	doc := map[string]any{}
	for _, x := range all {
		doc["currency"] = x.Currency
		doc[strings.TrimSpace(x.Category+" "+x.Code)] = Decimal(x.Micros)
	}
	return doc
}

// micro is a millionth.
const micro = 1_000_000

// Decimal writes millionths as a decimal number, with two digits at least.
func Decimal(millionths int64) string {
	whole, rest := millionths/micro, strings.TrimRight(fmt.Sprintf("%06d", millionths%micro), "0")
	return strconv.FormatInt(whole, 10) + "." + rest + strings.Repeat("0", max(0, 2-len(rest)))
}
