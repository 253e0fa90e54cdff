"""What code can check without a model: quotes, orders to a judge, mismatches, contradictions.

A flag is a reason to look; it never changes a language model's verdict. Where none judges, what
contradicts a sentence decides. Each check is made for precision, and overlooks much:

- `quotes`: a quote that was translated, or put in other words, is not found.
- `injection`: orders in other languages than English and Chinese, or in other words than listed.
- `mismatch`: time zones and versions; ordinals, `one`, and a mere number below 13 unless the
  evidence counts the same thing; Chinese names of people and firms; a name in other letters
  (`Beijing`, `北京`), or of something else in the evidence; a word at the start of a sentence
  unless it is a name elsewhere.
- `contradictions`: what is said in other words (`the bar is dry`), beside another thing, or of less
  than six tenths of what the sentence says; and every word that `contrasts.toml` does not list.
"""
