"""What the project measures and writes about itself: no part of the product, and in no image."""
