"""Pages that belong to no room: errors, the audit trail, the system, and how every page is answered."""
