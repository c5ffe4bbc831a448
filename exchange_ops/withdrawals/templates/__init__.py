"""Templates: payouts whose content is filled into the form of the next one. They request nothing by themselves."""
