package mcp

import (
	"errors"
	"fmt"

	"carillon/client"
)

// withAdvice appends advice for the assistant to an error (docs/reference/errors.md).
func withAdvice(err error) error {
	var refused *client.Error
	var gone *client.Unreachable
	switch {
	case errors.As(err, &refused):
		text := advice()[refused.Code]
		if text == "" {
			return err
		}
		if refused.RetryAfter > 0 {
			text = fmt.Sprintf("retry_after is %d seconds. %s", refused.RetryAfter, text)
		}
		return fmt.Errorf("%w\n%s", err, text)
	case errors.As(err, &gone):
		return fmt.Errorf(
			"%w\n%s", err,
			"Try once more later with the same send_id; if it goes on, the person has to check the address and the program.",
		)
	}
	return err
}

// advice returns the advice for each error code.
func advice() map[string]string {
	return map[string]string{
		"validation_failed": "Correct the field that details name, and call again.",
		"unauthorized":      "The access key is not valid any more. The person has to give this server another one.",
		"forbidden": "The access key may not do this, or not with this sender; details say why. The person decides " +
			"whether a key with another scope is used.",
		"not_found": "Check the id, of a template its language too; another company's objects are not found either.",
		"template_not_found": "list_templates shows the approved templates of a sender with their languages; name and language " +
			"must both match.",
		"template_not_approved": "Only approved templates can be sent. submit_template submits a " +
			"draft, and get_template shows the status.",
		"agent_not_found": "Check the agent's id; the panel shows the agents.",
		"conflict": "The state does not allow it, as the message says: what was sent or has begun can be neither " +
			"canceled nor moved; a call in progress ends by cancel_notification with hang_up. Read it again. With window_closed_at, " +
			"the person did not write within 24 hours: only send_message reaches them.",
		"idempotency_in_progress": "The first call with this send_id still runs. Wait a moment and call again with the same send_id.",
		"idempotency_key_reused":  "This send_id was used for other content. Take another one for another message.",
		"payload_too_large":       "Send less at once, or a smaller file.",
		"variable_mismatch": "The values are not those of the template: get_template shows its variables; give each a value in " +
			"values, and no others.",
		"limit_exceeded":      "The company has as many of these as it may have. The person has to remove one or have the limit raised.",
		"rate_limit_exceeded": "Wait for retry_after seconds, then call again with the same send_id.",
		"quota_exceeded":      "The day's quota is used up: nothing can be sent until the reset_time that get_usage shows.",
		"internal_error": "A failure of the service, not of the request. Try once more later with the same send_id, and give the " +
			"person the request_id.",
		"service_unavailable": "The service is in maintenance or overloaded. Try again after retry_after seconds with the same send_id.",
		"method_not_allowed":  "This installation is of another version than this server. The person has to update one of them.",
		"unexpected_answer":   "Something else than Carillon responds at the address. The person has to check it.",
	}
}
