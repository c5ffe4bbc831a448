"""The administration of people: inviting them, their roles and second factors, deactivating and reactivating them."""
