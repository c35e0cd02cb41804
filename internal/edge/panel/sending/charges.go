package sending

import (
	"encoding/csv"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/base/jsonbody"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/stats"
)

// Charges serves what the channel charges for messages.
type Charges struct {
	Gate  *member.Gate
	Store *store.Store
}

func (x Charges) Routes() []httpio.Route {
	return []httpio.Route{
		member.Route(x.Gate, "GET", "/charges", auth.MayReadNotifications, x.show),
		x.Gate.Raw("GET", "/charges/export", auth.MayReadNotifications, x.export),
		member.Route(x.Gate, "GET", "/charges/prices", auth.MayReadNotifications, x.prices),
		member.Route(x.Gate, "PUT", "/charges/prices", auth.MayWriteSettings, x.putPrices).Taking(pricesShown{}),
	}
}

const (
	chargesDefault = 30  // days, including today
	maxChargeDays  = 366 // of one report
	maxPrices      = 2000
	micros         = 1_000_000
)

// chargeRow counts the delivered messages that have everything shown in common.
type chargeRow struct {
	Day      string `json:"day,omitempty"`
	Campaign string `json:"campaign,omitempty"`
	Template string `json:"template,omitempty"`
	Code     string `json:"calling_code,omitempty"`
	Type     string `json:"type"`     // regular, or why it is free
	Category string `json:"category"` // of the channel's price list
	Messages int64  `json:"messages"`
	Amount   string `json:"amount,omitempty"` // omitted if a price is missing
	cost     int64  // in micros
	priced   bool
}

type chargesShown struct {
	From     string      `json:"from"` // first day, UTC
	To       string      `json:"to"`   // last day, UTC
	By       string      `json:"by" enum:"day,campaign,template,country,all"`
	Currency string      `json:"currency,omitempty"`
	Messages int64       `json:"messages"`
	Amount   string      `json:"amount,omitempty"` // omitted if a price is missing
	Rows     []chargeRow `json:"rows"`
}

// show sums the charges of some days by one attribute.
func (x Charges) show(r *http.Request, by member.Member) (chargesShown, error) {
	f, err := readChargeFilter(r.URL.Query(), time.Now())
	if err != nil {
		return chargesShown{}, err
	}
	all, err := x.Store.Stats.Charges(r.Context(), by.CompanyID, f.From, f.To)
	if err != nil {
		return chargesShown{}, err
	}
	prices, err := x.Store.Stats.Prices(r.Context(), by.CompanyID)
	if err != nil {
		return chargesShown{}, err
	}
	f.add(all, prices)
	return f, nil
}

func readChargeFilter(q url.Values, now time.Time) (f chargesShown, err error) {
	f = chargesShown{By: "day", From: now.UTC().AddDate(0, 0, 1-chargesDefault).Format(time.DateOnly), To: now.UTC().Format(time.DateOnly)}
	for name, to := range map[string]*string{"from": &f.From, "to": &f.To} {
		if v := q.Get(name); v != "" {
			*to = v
		}
		if _, err := time.Parse(time.DateOnly, *to); err != nil {
			return f, carillon.InvalidValue(name, "Must be a day, such as 2026-11-29", carillon.Shorten(*to))
		}
	}
	from, _ := time.Parse(time.DateOnly, f.From)
	to, _ := time.Parse(time.DateOnly, f.To)
	if days := int(to.Sub(from).Hours()/24) + 1; days < 1 || days > maxChargeDays {
		return f, carillon.InvalidValue("to", fmt.Sprintf("Must be from's day or later, at most %d days in all", maxChargeDays), f.To)
	}
	if v := q.Get("by"); v != "" {
		f.By = v
	}
	if !slices.Contains([]string{"day", "campaign", "template", "country", "all"}, f.By) {
		return f, carillon.InvalidValue("by", "Must be day, campaign, template, country or all", carillon.Shorten(f.By))
	}
	return f, nil
}

// key returns the attributes of a charge by which the report is grouped.
func (f *chargesShown) key(c *stats.Charge) chargeRow {
	k := chargeRow{Type: c.Type, Category: c.Category}
	if f.By == "day" || f.By == "all" {
		k.Day = c.Day
	}
	if f.By == "campaign" || f.By == "all" {
		k.Campaign = c.Campaign
	}
	if f.By == "template" || f.By == "all" {
		k.Template = c.Template
	}
	if f.By == "country" || f.By == "all" {
		k.Code = c.Code
	}
	return k
}

// add sums charges with their prices.
func (f *chargesShown) add(all []stats.Charge, prices []stats.Price) {
	of := map[[2]string]int64{}
	for _, p := range prices {
		of[[2]string{p.Code, p.Category}] = p.Micros
		f.Currency = p.Currency
	}
	sums := map[chargeRow]*chargeRow{}
	total := chargeRow{priced: len(prices) > 0}
	for i := range all {
		c := &all[i]
		k := f.key(c)
		row := sums[k]
		if row == nil {
			next := k
			next.priced = len(prices) > 0
			row, sums[k] = &next, &next
		}
		price, priced := priceOf(of, c)
		for _, sum := range []*chargeRow{row, &total} {
			sum.Messages += c.Messages
			sum.cost += price * c.Messages
			sum.priced = sum.priced && priced
		}
	}
	f.Rows = []chargeRow{}
	for row := range maps.Values(sums) {
		row.Amount = amount(row.cost, row.priced)
		f.Rows = append(f.Rows, *row)
	}
	slices.SortFunc(f.Rows, func(a, b chargeRow) int { return strings.Compare(sortKey(&a), sortKey(&b)) })
	f.Messages, f.Amount = total.Messages, amount(total.cost, total.priced)
}

func sortKey(x *chargeRow) string {
	return strings.Join([]string{x.Day, x.Campaign, x.Template, x.Code, x.Category, x.Type}, "\x00")
}

// priceOf returns the price of one message. Only regular messages cost something.
func priceOf(of map[[2]string]int64, c *stats.Charge) (int64, bool) {
	if c.Type != "regular" {
		return 0, true
	}
	price, found := of[[2]string{c.Code, c.Category}]
	if !found {
		price, found = of[[2]string{"", c.Category}]
	}
	return price, found
}

// amount writes millionths as a decimal number, with two digits at least.
func amount(cost int64, known bool) string {
	if !known {
		return ""
	}
	return stats.Decimal(cost)
}

// export responds with the report as CSV.
func (x Charges) export(w http.ResponseWriter, r *http.Request, by member.Member) error {
	f, err := x.show(r, by)
	if err != nil {
		return err
	}
	out := csv.NewWriter(httpio.OpenDownload(w, "charges.csv"))
	// errors of Write are reported by Error
	_ = out.Write([]string{"day", "campaign", "template", "calling_code", "type", "category", "messages", "amount", "currency"})
	for i := range f.Rows {
		c := &f.Rows[i]
		currency := ""
		if c.Amount != "" {
			currency = f.Currency
		}
		_ = out.Write([]string{
			c.Day, httpio.Cell(c.Campaign), httpio.Cell(c.Template), c.Code, c.Type, c.Category, strconv.FormatInt(c.Messages, 10),
			c.Amount, currency,
		})
	}
	out.Flush()
	return nil
}

// priceRow is a price per message.
type priceRow struct {
	Code     string `json:"calling_code"` // empty: all countries without a listed price
	Category string `json:"category"`
	Price    string `json:"price"` // a decimal number
}

type pricesShown struct {
	Currency string     `json:"currency"`
	Prices   []priceRow `json:"prices"`
}

func (x Charges) prices(r *http.Request, by member.Member) (pricesShown, error) {
	all, err := x.Store.Stats.Prices(r.Context(), by.CompanyID)
	shown := pricesShown{Prices: []priceRow{}}
	for _, p := range all {
		shown.Currency = p.Currency
		shown.Prices = append(shown.Prices, priceRow{p.Code, p.Category, amount(p.Micros, true)})
	}
	return shown, err
}

//nolint:gochecknoglobals // read-only
var (
	currencyForm = regexp.MustCompile(`^[A-Z]{3}$`)
	codeForm     = regexp.MustCompile(`^[0-9]{0,3}$`)
	categoryForm = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)
	priceForm    = regexp.MustCompile(`^([0-9]{1,6})(?:\.([0-9]{1,6}))?$`)
)

// putPrices replaces the company's prices.
func (x Charges) putPrices(r *http.Request, by member.Member) (pricesShown, error) {
	o, err := httpio.Object(r)
	if err != nil {
		return pricesShown{}, err
	}
	currency, err := o.Find("currency").Required("currency")
	if err != nil {
		return pricesShown{}, err
	}
	if !currencyForm.MatchString(currency) {
		return pricesShown{}, carillon.InvalidValue("currency", "Must be three letters such as USD", carillon.Shorten(currency))
	}
	given, _, err := o.Array("prices", "prices")
	if err != nil {
		return pricesShown{}, err
	}
	if len(given) > maxPrices {
		return pricesShown{}, carillon.Invalid("prices", fmt.Sprintf("At most %d prices", maxPrices))
	}
	all := make([]stats.Price, 0, len(given))
	seen := map[[2]string]bool{}
	for i, v := range given {
		p, err := readPrice(v, fmt.Sprintf("prices[%d]", i))
		if err != nil {
			return pricesShown{}, err
		}
		if k := [2]string{p.Code, p.Category}; seen[k] {
			return pricesShown{}, carillon.Invalid(fmt.Sprintf("prices[%d]", i), "The country and category have a price already")
		}
		seen[[2]string{p.Code, p.Category}] = true
		p.Currency = currency
		all = append(all, p)
	}
	if err := x.Store.Stats.PutPrices(r.Context(), by.CompanyID, all); err != nil {
		return pricesShown{}, err
	}
	return x.prices(r, by)
}

func readPrice(v jsonbody.Value, field string) (p stats.Price, err error) {
	o, given, err := v.Object(field)
	if err != nil {
		return p, err
	}
	if !given {
		return p, carillon.Missing(field)
	}
	if p.Code, _, err = o.String(field+".calling_code", "calling_code"); err != nil {
		return p, err
	}
	if p.Category, err = o.Find("category").Required(field + ".category"); err != nil {
		return p, err
	}
	price, err := o.Find("price").Required(field + ".price")
	if err != nil {
		return p, err
	}
	m := priceForm.FindStringSubmatch(price)
	switch {
	case !codeForm.MatchString(p.Code):
		return p, carillon.InvalidValue(field+".calling_code", "Must be a calling code such as 34, or empty for all others",
			carillon.Shorten(p.Code))
	case !categoryForm.MatchString(p.Category):
		return p, carillon.InvalidValue(field+".category", "Must be the channel's, such as marketing", carillon.Shorten(p.Category))
	case m == nil:
		return p, carillon.InvalidValue(field+".price", "Must be a decimal number such as 0.0615, as text", carillon.Shorten(price))
	}
	whole, _ := strconv.ParseInt(m[1], 10, 64)
	rest, _ := strconv.ParseInt((m[2] + "000000")[:6], 10, 64)
	p.Micros = whole*micros + rest
	return p, nil
}
