"""What a person has to look at: rows with a state, opened with the fact they tell of and closed when it is over."""
