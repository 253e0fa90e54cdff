"""What code can check without a model: quotes, orders to a judge, values, polarity.

A flag is a reason to look; it never changes a language model's verdict. Without a language model,
a mismatch between a claim and the chunks decides. Each check favours precision and misses much:

- `quotes`: a quote that was translated or reworded is not found.
- `injection`: it knows orders in English and Chinese, in the words of its list.
- `mismatch`: it ignores time zones, versions, ordinals in words, `one`, bounds such as `at least`,
  arithmetic, and plain numbers up to 12 outside near-copies. A value that the chunks give for
  something else counts as present.
- `polarity`: it compares near-copies alone, by the words of `contrasts.toml`; two things that
  change places are not seen.
"""
