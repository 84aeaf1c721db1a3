"""What play is worth: decisions as columns, advice and reviews, exact trees. It may use ``measure`` and below."""
