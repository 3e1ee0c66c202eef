"""Training from files: pictures and what people drew in, models out."""
