"""Sign-in by the company's directory (OpenID Connect): which company account is whose, and the pages of it."""
