"""Provider batch files at half the price: what they bring fills the cache."""
