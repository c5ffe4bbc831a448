"""People as administrators keep them: inviting, roles, second factors, switching off and on again."""
