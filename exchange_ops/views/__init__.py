"""One module per page. A view checks who may, makes one call of the domain and shows rows; it never calls out."""
