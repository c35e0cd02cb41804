package stats

import (
	"context"

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
	return db.Collect(ctx, s.d, "prices", func(scan db.Scan) (x Price, err error) {
		err = scan(&x.Code, &x.Category, &x.Micros, &x.Currency)
		return x, err
	}, "SELECT code, category, micros, currency FROM charge_price WHERE company_id = $1 ORDER BY company_id, code, category", companyID)
}

// PutPrices replaces a company's prices.
func (s *Store) PutPrices(ctx context.Context, companyID string, all []Price) error {
	err := s.d.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, "DELETE FROM charge_price WHERE company_id = $1", companyID); err != nil {
			return err
		}
		rows := db.NewBulk("charge_price", "", "company_id:text", "code:text", "category:text", "micros:bigint", "currency:text")
		for _, x := range all {
			rows.Add(companyID, x.Code, x.Category, x.Micros, x.Currency)
		}
		return rows.Write(ctx, tx)
	})
	return db.Wrap(err, "store prices")
}
