package content

import (
	"slices"
	"strconv"
	"strings"

	"carillon"
)

// slot is a place of a template or of one of its cards.
type slot struct {
	card  int // -1 for the template itself
	place place
	n     int // of a numbered place
}

// key returns the slot's key in lists of variables.
func (s slot) key() string {
	key := string(s.place)
	if s.place == headerText || !s.place.single() {
		key += "_" + strconv.Itoa(s.n)
	}
	if s.card >= 0 {
		key = "card_" + strconv.Itoa(s.card) + "_" + key
	}
	return key
}

// eachRequired visits the places that need a value, in the order header, offer, body, buttons, cards.
func eachRequired(s *carillon.Shape, cards int, visit func(slot)) {
	requiredOf(s, -1, visit)
	for i := range cards {
		requiredOf(CardShape(s, i), i, visit)
	}
}

func requiredOf(s *carillon.Shape, card int, visit func(slot)) {
	switch s.HeaderFormat {
	case "":
	case FormatText:
		if s.HeaderVariable != "" {
			visit(slot{card, headerText, 0})
		}
	case FormatLocation:
		for _, p := range []place{headerLatitude, headerLongitude, headerPlaceName, headerAddress} {
			visit(slot{card, p, 0})
		}
	case FormatProduct:
		visit(slot{card, headerProduct, 0})
		visit(slot{card, headerCatalog, 0})
	default:
		visit(slot{card, place("header_" + strings.ToLower(s.HeaderFormat)), 0})
	}
	if s.OfferEnds {
		visit(slot{card, offerExpiration, 0})
	}
	if !s.Code {
		for i := range s.Markers {
			visit(slot{card, bodyText, i})
		}
	}
	for i := range s.Buttons {
		switch b := &s.Buttons[i]; {
		case b.Variable:
			visit(slot{card, buttonURL, i})
		case b.Type == ButtonCoupon:
			visit(slot{card, buttonCoupon, i})
		case b.Type == ButtonProducts:
			visit(slot{card, buttonProduct, i})
			visit(slot{card, buttonProducts, i})
		}
	}
}

// maxCards and minCards bound the cards of a carousel.
const (
	minCards = 2
	maxCards = 10
)

// ofProducts reports whether a template is a carousel of products, which is sent with any number of cards.
func ofProducts(s *carillon.Shape) bool {
	return len(s.Cards) > 0 && s.Cards[0].HeaderFormat == FormatProduct
}

// leastCards returns the number of cards that every message of the template has.
func leastCards(s *carillon.Shape) int {
	if ofProducts(s) {
		return minCards
	}
	return len(s.Cards)
}

// cardsOf returns the number of cards of a message with these components.
func cardsOf(s *carillon.Shape, components []Component) int {
	n := leastCards(s)
	if ofProducts(s) {
		for i := range components {
			if card := components[i].card; card < maxCards {
				n = max(n, card+1)
			}
		}
	}
	return n
}

// CardShape returns the form of a card, or nil if the template has no such card. Cards of products are alike.
func CardShape(s *carillon.Shape, card int) *carillon.Shape {
	switch {
	case ofProducts(s) && card < maxCards:
		return &s.Cards[0]
	case card < len(s.Cards):
		return &s.Cards[card]
	}
	return nil
}

// partOf returns the part of the template that a component belongs to: the template itself or a card.
func partOf(s *carillon.Shape, c *Component) *carillon.Shape {
	if c.card < 0 {
		return s
	}
	return CardShape(s, c.card)
}

func hasPlace(whole *carillon.Shape, c *Component) bool {
	s := partOf(whole, c)
	if s == nil || c.n < 0 {
		return false
	}
	switch c.place {
	case headerText:
		return c.n == 0 && s.HeaderVariable != ""
	case headerImage, headerVideo, headerDocument:
		return c.n == 0 && strings.EqualFold(string(c.place), "header_"+s.HeaderFormat)
	case headerLatitude, headerLongitude, headerPlaceName, headerAddress:
		return c.n == 0 && s.HeaderFormat == FormatLocation
	case headerProduct, headerCatalog:
		return c.n == 0 && s.HeaderFormat == FormatProduct
	case offerExpiration:
		return c.n == 0 && s.OfferEnds
	case bodyText:
		return c.n < len(s.Markers)
	}
	return c.n < len(s.Buttons) && buttonTakes(&s.Buttons[c.n], c.place)
}

func buttonTakes(b *carillon.ButtonShape, p place) bool {
	switch p {
	case buttonURL:
		return b.Variable
	case buttonPayload:
		return b.Type == ButtonQuickReply || b.Type == ButtonCall
	case buttonCoupon:
		return b.Type == ButtonCoupon
	case buttonProduct:
		return b.Type == ButtonCatalog || b.Type == ButtonProducts
	case buttonProducts:
		return b.Type == ButtonProducts
	case buttonFlow, buttonFlowData:
		return b.Type == ButtonFlow
	case buttonCallTTL:
		return b.Type == ButtonCall
	}
	return false
}

// optional reports whether a message without the component is complete. The template has a place for it.
func optional(whole *carillon.Shape, c *Component) bool {
	switch s := partOf(whole, c); c.place {
	case bodyText:
		return s.Code
	case buttonProduct:
		return s.Buttons[c.n].Type == ButtonCatalog
	}
	return slices.Contains([]place{buttonPayload, buttonFlow, buttonFlowData, buttonCallTTL}, c.place)
}
