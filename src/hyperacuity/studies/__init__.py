"""The papers' experiments: what each of them found, found again."""
